/*
 * Kinds of waits and their callers: stacks of Linux with glibc and musl, dynamic and static, with
 * and without the kernel's part.
 */
#include "model/wait_kind.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROGRAM, LIBC, LINKER, KERNEL, LIBSTDCXX, LIBCTXRT, LIBPYTHON, PYTHON, LIBGOMP, OPENMP, LIBJVM, JAVA };

static struct ctx_object_info objects[] = {
	[PROGRAM] = {"/home/user/app", "", ""},
	[LIBC] = {"/usr/lib/x86_64-linux-gnu/libc.so.6", "", ""},
	[LINKER] = {"/lib64/ld-linux-x86-64.so.2", "", ""},
	[KERNEL] = {"[kernel]", "", ""},
	[LIBSTDCXX] = {"/usr/lib/libstdc++.so.6.0.30", "", ""},
	[LIBCTXRT] = {"/usr/lib/ctxrec/libctxrt.so", "", ""},
	[LIBPYTHON] = {"/usr/lib/libpython3.11.so.1.0", "", ""},
	[PYTHON] = {"<Python functions>", "", ""},
	[LIBGOMP] = {"/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0", "", ""},
	[OPENMP] = {"<OpenMP>", "", ""},
	[LIBJVM] = {"/usr/lib/jvm/java-17/lib/server/libjvm.so", "", ""},
	[JAVA] = {"<Java methods>", "", ""},
};

#define FRAMES 12

struct frame {
	const char *name;
	uint32_t object;
};

struct expected {
	enum ctx_thread_state state;
	enum ctx_wait_kind kind;
	const char *caller;	     /* NULL: none */
	struct frame frames[FRAMES]; /* leaf first */
};

#define FUTEX                                                                                                \
	{"futex_do_wait", KERNEL}, {"futex_wait", KERNEL}, {"do_futex", KERNEL},                             \
	{                                                                                                    \
		"do_syscall_64", KERNEL                                                                      \
	}

static const struct expected cases[] = {
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_MUTEX,
	 "push",
	 {FUTEX,
	  {"__lll_lock_wait", LIBC},
	  {"pthread_mutex_lock", LIBC},
	  {"push", PROGRAM},
	  {"main", PROGRAM}}},
	/* The lock of Python's interpreter, and a lock of a program in Python. */
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_INTERPRETER,
	 "work",
	 {FUTEX,
	  {"pthread_cond_timedwait", LIBC},
	  {"take_gil", LIBPYTHON},
	  {"PyEval_RestoreThread", LIBPYTHON},
	  {"work", PYTHON},
	  {"_PyEval_EvalFrameDefault", LIBPYTHON}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_SEMAPHORE,
	 "work",
	 {FUTEX,
	  {"sem_wait", LIBC},
	  {"PyThread_acquire_lock_timed", LIBPYTHON},
	  {"work", PYTHON},
	  {"_PyEval_EvalFrameDefault", LIBPYTHON}}},
	/* Functions of Python were not recorded. */
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_INTERPRETER,
	 "take_gil",
	 {FUTEX,
	  {"pthread_cond_timedwait", LIBC},
	  {"take_gil", LIBPYTHON},
	  {"_PyEval_EvalFrameDefault", LIBPYTHON}}},
	/* A virtual machine of Java stops a thread, also one that enters a monitor; a monitor; a lock of java.util.concurrent; Thread.sleep. */
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_SAFEPOINT,
	 "J.run()",
	 {FUTEX,
	  {"syscall", LIBC},
	  {"LinuxWaitBarrier::wait(int)", LIBJVM},
	  {"SafepointSynchronize::block(JavaThread*)", LIBJVM},
	  {"SafepointMechanism::process(JavaThread*, bool)", LIBJVM},
	  {"ObjectMonitor::enter(JavaThread*)", LIBJVM},
	  {"J.run()", JAVA}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_MUTEX,
	 "J.run()",
	 {FUTEX,
	  {"pthread_cond_wait", LIBC},
	  {"os::PlatformEvent::park()", LIBJVM},
	  {"ObjectMonitor::EnterI(JavaThread*)", LIBJVM},
	  {"ObjectMonitor::enter(JavaThread*)", LIBJVM},
	  {"J.run()", JAVA}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_PARK,
	 "J.run()",
	 {FUTEX,
	  {"pthread_cond_wait", LIBC},
	  {"Parker::park(bool, long)", LIBJVM},
	  {"Unsafe_Park", LIBJVM},
	  {"jdk.internal.misc.Unsafe.park(boolean, long)", JAVA},
	  {"java.util.concurrent.locks.ReentrantLock.lock()", JAVA},
	  {"J.run()", JAVA}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_TIMER,
	 "java.lang.Thread.sleep(long)",
	 {FUTEX,
	  {"pthread_cond_timedwait", LIBC},
	  {"os::PlatformEvent::park_nanos(long)", LIBJVM},
	  {"JavaThread::sleep(long)", LIBJVM},
	  {"JVM_Sleep", LIBJVM},
	  {"java.lang.Thread.sleep(long)", JAVA}}},
	/* The virtual machine's functions have no names. */
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_CONDITION,
	 "J.run()",
	 {FUTEX, {"pthread_cond_wait", LIBC}, {"<static>@0x7 (libjvm.so)", LIBJVM}, {"J.run()", JAVA}}},
	/* Locks are traced: ctxrec's library calls the C library's function. */
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_MUTEX,
	 "push",
	 {FUTEX,
	  {"__lll_lock_wait", LIBC},
	  {"pthread_mutex_lock", LIBC},
	  {"take_mutex", LIBCTXRT},
	  {"pthread_mutex_lock", LIBCTXRT},
	  {"push", PROGRAM}}},
	/* The first traced operation of a process: the recorder makes its memory. */
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_START,
	 "push",
	 {{"unix_stream_read_generic", KERNEL},
	  {"do_syscall_64", KERNEL},
	  {"ctx_rt_syscall6 (inlined)", LIBCTXRT},
	  {"ctx_rt_recorder_request", LIBCTXRT},
	  {"acquire_first", LIBCTXRT},
	  {"malloc", LIBCTXRT},
	  {"push", PROGRAM}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_JOIN,
	 "finish",
	 {FUTEX,
	  {"__futex_abstimed_wait_common64 (inlined)", LIBC},
	  {"__pthread_clockjoin_ex", LIBC},
	  {"finish", PROGRAM}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_CONDITION,
	 "take",
	 {FUTEX,
	  {"__pthread_cond_wait_common", LIBC},
	  {"___pthread_cond_wait", LIBC},
	  {"std::condition_variable::wait(std::unique_lock<std::mutex>&)", LIBSTDCXX},
	  {"take", PROGRAM}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_RWLOCK,
	 "look_up",
	 {FUTEX,
	  {"__pthread_rwlock_rdlock_full64 (inlined)", LIBC},
	  {"___pthread_rwlock_rdlock", LIBC},
	  {"look_up", PROGRAM}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_SEMAPHORE,
	 "get",
	 {FUTEX,
	  {"__new_sem_wait_slow64.constprop.0", LIBC},
	  {"sem_wait@@GLIBC_2.34", LIBC},
	  {"get", PROGRAM}}},
	/* Linked into the program; without the kernel's part. */
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_BARRIER,
	 "phase",
	 {{"futex_wait (inlined)", PROGRAM},
	  {"futex_wait_simple (inlined)", PROGRAM},
	  {"pthread_barrier_wait", PROGRAM},
	  {"phase", PROGRAM}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_FUTEX,
	 "work",
	 {FUTEX, {"__syscall_cp_c", PROGRAM}, {"__timedwait_cp", PROGRAM}, {"work", PROGRAM}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_FUTEX,
	 "runtime.futexsleep",
	 {FUTEX, {"runtime.futexsleep", PROGRAM}}},
	/* The kernel's functions tell more than the system call. */
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_PIPE,
	 "parse",
	 {{"anon_pipe_read", KERNEL},
	  {"vfs_read", KERNEL},
	  {"__GI___libc_read (inlined)", LIBC},
	  {"read", LIBC},
	  {"parse", PROGRAM}}},
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_SOCKET,
	 "parse",
	 {{"sk_wait_data", KERNEL},
	  {"tcp_recvmsg", KERNEL},
	  {"vfs_read", KERNEL},
	  {"__libc_read", LIBC},
	  {"parse", PROGRAM}}},
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_FILE,
	 "save",
	 {{"folio_wait_bit_common", KERNEL}, {"ext4_sync_file", KERNEL}, {"fsync", LIBC}, {"save", PROGRAM}}},
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_POLL,
	 "loop",
	 {{"ep_poll", KERNEL}, {"epoll_wait", LIBC}, {"loop", PROGRAM}}},
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_TIMER,
	 "nap",
	 {{"do_nanosleep", KERNEL}, {"__nanosleep", LIBC}, {"nap", PROGRAM}}},
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_CHILD,
	 "sh",
	 {{"do_wait", KERNEL}, {"kernel_wait4", KERNEL}, {"__GI___wait4", LIBC}, {"sh", PROGRAM}}},
	/* A vfork waits until the child has executed a program. */
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_CHILD,
	 "run",
	 {{"wait_for_completion_state", KERNEL},
	  {"kernel_clone", KERNEL},
	  {"__x64_sys_vfork", KERNEL},
	  {"__vfork", LIBC},
	  {"run", PROGRAM}}},
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_CHILD,
	 "run",
	 {{"__wait_for_common", KERNEL},
	  {"kernel_clone", KERNEL},
	  {"__do_sys_clone3", KERNEL},
	  {"__GI___clone_internal", LIBC},
	  {"__spawnix", LIBC},
	  {"posix_spawn@@GLIBC_2.15", LIBC},
	  {"run", PROGRAM}}},
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_OTHER,
	 "pin",
	 {{"wait_for_completion", KERNEL}, {"sched_setaffinity", LIBC}, {"pin", PROGRAM}}},
	/* Of an ordinary user: no part of the kernel. */
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_TIMER,
	 "nap",
	 {{"clock_nanosleep@@GLIBC_2.17", LIBC}, {"nanosleep", LIBC}, {"nap", PROGRAM}}},
	{CTX_STATE_SLEEP, CTX_WAIT_KIND_OTHER, "parse", {{"read", LIBC}, {"parse", PROGRAM}}},
	{CTX_STATE_SLEEP, CTX_WAIT_KIND_CHILD, "run", {{"vfork", LIBC}, {"run", PROGRAM}}},
	/* A method of the program is not the C library's function of this name. */
	{CTX_STATE_SLEEP,
	 CTX_WAIT_KIND_PIPE,
	 "Reader::wait",
	 {{"pipe_read", KERNEL}, {"read", LIBC}, {"Reader::wait", PROGRAM}, {"wait", PROGRAM}}},
	/* The state decides. */
	{CTX_STATE_DATA_FAULT,
	 CTX_WAIT_KIND_PAGE_FAULT,
	 "touch",
	 {{"folio_wait_bit", KERNEL}, {"filemap_fault", KERNEL}, {"touch", PROGRAM}}},
	{CTX_STATE_TEXT_FAULT,
	 CTX_WAIT_KIND_PAGE_FAULT,
	 "_dl_relocate_object_caller",
	 {{"filemap_fault", KERNEL},
	  {"_dl_relocate_object", LINKER},
	  {"_dl_relocate_object_caller", PROGRAM}}},
	{CTX_STATE_STOPPED,
	 CTX_WAIT_KIND_STOPPED,
	 "main",
	 {{"do_signal_stop", KERNEL}, {"read", LIBC}, {"main", PROGRAM}}},
	/* OpenMP: a worker at the end of a region, whose stack goes on with that of the master; one in a critical section; one in no region. */
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_BARRIER,
	 "solve",
	 {FUTEX,
	  {"gomp_team_barrier_wait_end", LIBGOMP},
	  {"<OMP-implicit_barrier>", OPENMP},
	  {"start_thread", LIBC},
	  {"<OMP-team>", OPENMP},
	  {"solve", PROGRAM}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_MUTEX,
	 "solve._omp_fn.0",
	 {FUTEX,
	  {"gomp_mutex_lock_slow", LIBGOMP},
	  {"<OMP-critical_section_wait>", OPENMP},
	  {"solve._omp_fn.0", PROGRAM},
	  {"gomp_thread_start", LIBGOMP}}},
	{CTX_STATE_USER_LOCK,
	 CTX_WAIT_KIND_FUTEX,
	 "<OMP-idle>",
	 {FUTEX, {"gomp_thread_start", LIBGOMP}, {"<OMP-idle>", OPENMP}, {"start_thread", LIBC}}},
	{CTX_STATE_SLEEP, CTX_WAIT_KIND_OTHER, NULL, {{"schedule", KERNEL}, {"ret_from_fork", KERNEL}}},
};

static enum ctx_code_kind code_of(const struct frame *frame)
{
	if (frame->object == OPENMP)
		return strcmp(frame->name, "<OMP-team>") == 0 ? CTX_CODE_GRAFT : CTX_CODE_OMP_STATE;
	return frame->object == PYTHON ? CTX_CODE_PYTHON : CTX_CODE_NATIVE;
}

/* A profile with the stack of one case; a function for each frame. */
static uint32_t make(const struct expected *expected, struct ctx_profile *profile)
{
	uint32_t keys[FRAMES], nodes[FRAMES], n = 0;

	*profile = (struct ctx_profile){.objects = objects,
					.n_objects = CTX_COUNT_OF(objects),
					.functions = ctx_calloc(FRAMES, sizeof(*profile->functions))};
	assert_non_null(profile->functions);
	while (n < FRAMES && expected->frames[n].name != NULL)
		n++;
	for (uint32_t i = 0; i < n; i++) {
		const struct frame *frame = &expected->frames[n - 1 - i];

		profile->functions[i] = (struct ctx_function_info){.name = frame->name,
								   .linkage_name = frame->name,
								   .object = frame->object,
								   .code_kind = code_of(frame)};
		keys[i] = i;
	}
	profile->n_functions = n;
	assert_int_equal(ctx_trie_init(&profile->cct, NULL), CTX_OK);
	assert_int_equal(
		ctx_trie_path(&profile->cct, CTX_TRIE_ROOT, (struct ctx_trie_keys){keys, n}, nodes, NULL),
		CTX_OK);
	return nodes[n - 1];
}

static void test_wait_kind__stacks_have_a_kind_and_a_caller(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_profile profile;
		struct ctx_wait_kinds kinds;
		uint32_t stack = make(&cases[i], &profile);
		struct ctx_wait_place place;

		assert_int_equal(ctx_wait_kinds_init(&kinds, &profile, NULL), CTX_OK);
		place = ctx_wait_kinds_find(&kinds, cases[i].state, stack);
		if (place.kind != cases[i].kind)
			fail_msg("%s: %s, not %s", cases[i].frames[0].name, ctx_wait_kind_text(place.kind),
				 ctx_wait_kind_text(cases[i].kind));
		if (cases[i].caller != NULL && place.caller == CTX_NONE)
			fail_msg("%s: no caller", cases[i].caller);
		if (cases[i].caller == NULL)
			assert_int_equal(place.caller, CTX_NONE);
		else
			assert_string_equal(profile.functions[place.caller].name, cases[i].caller);
		ctx_wait_kinds_deinit(&kinds);
		ctx_trie_deinit(&profile.cct);
		free(profile.functions);
	}
}

static void test_wait_kind__an_empty_or_unknown_stack_has_the_kind_of_its_state(void **state)
{
	struct ctx_profile profile;
	struct ctx_wait_kinds kinds;

	(void)state;
	(void)make(&cases[0], &profile);
	assert_int_equal(ctx_wait_kinds_init(&kinds, &profile, NULL), CTX_OK);
	for (uint32_t stack = CTX_TRIE_ROOT; stack != 200; stack = stack == CTX_TRIE_ROOT ? 100 : 200) {
		struct ctx_wait_place place = ctx_wait_kinds_find(&kinds, CTX_STATE_USER_LOCK, stack);

		assert_int_equal(place.kind, CTX_WAIT_KIND_FUTEX);
		assert_int_equal(place.caller, CTX_NONE);
		assert_int_equal(ctx_wait_kinds_find(&kinds, CTX_STATE_SLEEP, stack).kind,
				 CTX_WAIT_KIND_OTHER);
	}
	ctx_wait_kinds_deinit(&kinds);
	ctx_trie_deinit(&profile.cct);
	free(profile.functions);
}

static void test_wait_kind__every_kind_has_a_text(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CTX_WAIT_KIND_N; i++) {
		assert_non_null(ctx_wait_kind_text((enum ctx_wait_kind)i));
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(ctx_wait_kind_text((enum ctx_wait_kind)i),
						ctx_wait_kind_text((enum ctx_wait_kind)k));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait_kind__stacks_have_a_kind_and_a_caller),
		cmocka_unit_test(test_wait_kind__an_empty_or_unknown_stack_has_the_kind_of_its_state),
		cmocka_unit_test(test_wait_kind__every_kind_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
