#include "model/wait_kind.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "model/code_kind_of.h"
#include "model/omp.h"

#include <stdlib.h>
#include <string.h>

/* Of a function: its kind in the lower bits. */
#define KIND_MASK 0x1fu
#define IN_KERNEL 0x20u
#define IN_LIBRARY 0x40u /* of the C or C++ library, or the dynamic linker */
#define IS_NAMED 0x80u	 /* has a name of the C library's waits, wherever it is */
#define IS_JVM 0x400u	 /* of a virtual machine of Java; its kind is what it waits for in the C library */
#define IS_INTERPRETER 0x100u /* of the interpreter of Python, not a function that it runs */
#define IS_OMP 0x200u	      /* of a runtime of OpenMP, or no code: what a thread does there */

static const char *const texts[CTX_WAIT_KIND_N] = {
	[CTX_WAIT_KIND_OTHER] = "other",	 [CTX_WAIT_KIND_MUTEX] = "mutex",
	[CTX_WAIT_KIND_RWLOCK] = "rwlock",	 [CTX_WAIT_KIND_CONDITION] = "condition variable",
	[CTX_WAIT_KIND_JOIN] = "join",		 [CTX_WAIT_KIND_BARRIER] = "barrier",
	[CTX_WAIT_KIND_SEMAPHORE] = "semaphore", [CTX_WAIT_KIND_INTERPRETER] = "interpreter lock",
	[CTX_WAIT_KIND_SAFEPOINT] = "safepoint", [CTX_WAIT_KIND_PARK] = "park",
	[CTX_WAIT_KIND_FUTEX] = "futex",	 [CTX_WAIT_KIND_POLL] = "poll",
	[CTX_WAIT_KIND_PIPE] = "pipe",		 [CTX_WAIT_KIND_SOCKET] = "socket",
	[CTX_WAIT_KIND_FILE] = "file",		 [CTX_WAIT_KIND_TIMER] = "timer",
	[CTX_WAIT_KIND_CHILD] = "child",	 [CTX_WAIT_KIND_PAGE_FAULT] = "page fault",
	[CTX_WAIT_KIND_STOPPED] = "stopped",	 [CTX_WAIT_KIND_START] = "start",
};

struct name {
	const char *text;
	uint8_t kind;
};

/* Beginnings of the kernel's names. The first that fits counts. */
static const struct name kernel_names[] = {
	{"futex_", CTX_WAIT_KIND_FUTEX},
	{"do_futex", CTX_WAIT_KIND_FUTEX},
	{"poll_schedule_timeout", CTX_WAIT_KIND_POLL},
	{"do_sys_poll", CTX_WAIT_KIND_POLL},
	{"do_poll", CTX_WAIT_KIND_POLL},
	{"do_select", CTX_WAIT_KIND_POLL},
	{"core_sys_select", CTX_WAIT_KIND_POLL},
	{"ep_poll", CTX_WAIT_KIND_POLL},
	{"do_epoll_wait", CTX_WAIT_KIND_POLL},
	{"pipe_", CTX_WAIT_KIND_PIPE},
	{"anon_pipe_", CTX_WAIT_KIND_PIPE},
	{"fifo_", CTX_WAIT_KIND_PIPE},
	{"wait_for_partner", CTX_WAIT_KIND_PIPE},
	{"sock_", CTX_WAIT_KIND_SOCKET},
	{"sk_", CTX_WAIT_KIND_SOCKET},
	{"skb_", CTX_WAIT_KIND_SOCKET},
	{"tcp_", CTX_WAIT_KIND_SOCKET},
	{"udp_", CTX_WAIT_KIND_SOCKET},
	{"inet_", CTX_WAIT_KIND_SOCKET},
	{"unix_", CTX_WAIT_KIND_SOCKET},
	{"netlink_", CTX_WAIT_KIND_SOCKET},
	{"wait_for_connect", CTX_WAIT_KIND_SOCKET},
	{"do_nanosleep", CTX_WAIT_KIND_TIMER},
	{"hrtimer_nanosleep", CTX_WAIT_KIND_TIMER},
	{"do_wait", CTX_WAIT_KIND_CHILD},
	{"kernel_wait", CTX_WAIT_KIND_CHILD},
	{"kernel_clone", CTX_WAIT_KIND_CHILD}, /* vfork: until the child executes a program or ends */
	{"do_fork", CTX_WAIT_KIND_CHILD},
	{"folio_wait_", CTX_WAIT_KIND_FILE},
	{"wait_on_page_", CTX_WAIT_KIND_FILE},
	{"wait_on_buffer", CTX_WAIT_KIND_FILE},
	{"filemap_", CTX_WAIT_KIND_FILE},
	{"file_", CTX_WAIT_KIND_FILE},
	{"generic_file_", CTX_WAIT_KIND_FILE},
	{"submit_bio_wait", CTX_WAIT_KIND_FILE},
	{"blkdev_", CTX_WAIT_KIND_FILE},
	{"iomap_", CTX_WAIT_KIND_FILE},
	{"jbd2_", CTX_WAIT_KIND_FILE},
	{"ext4_", CTX_WAIT_KIND_FILE},
	{"xfs_", CTX_WAIT_KIND_FILE},
	{"btrfs_", CTX_WAIT_KIND_FILE},
	{"nfs_", CTX_WAIT_KIND_FILE},
	{"fuse_", CTX_WAIT_KIND_FILE},
	{"do_fsync", CTX_WAIT_KIND_FILE},
	{"vfs_fsync", CTX_WAIT_KIND_FILE},
	{"do_signal_stop", CTX_WAIT_KIND_STOPPED},
	{"ptrace_stop", CTX_WAIT_KIND_STOPPED},
};

/* Beginnings of names whose meaning does not depend on where they are; without leading underscores. */
static const struct name thread_names[] = {
	{"pthread_mutex_", CTX_WAIT_KIND_MUTEX},
	{"lll_", CTX_WAIT_KIND_MUTEX},
	{"mtx_lock", CTX_WAIT_KIND_MUTEX},
	{"mtx_timedlock", CTX_WAIT_KIND_MUTEX},
	{"pthread_rwlock_", CTX_WAIT_KIND_RWLOCK},
	{"pthread_cond_", CTX_WAIT_KIND_CONDITION},
	{"cnd_wait", CTX_WAIT_KIND_CONDITION},
	{"cnd_timedwait", CTX_WAIT_KIND_CONDITION},
	{"pthread_join", CTX_WAIT_KIND_JOIN},
	{"pthread_timedjoin", CTX_WAIT_KIND_JOIN},
	{"pthread_clockjoin", CTX_WAIT_KIND_JOIN},
	{"thrd_join", CTX_WAIT_KIND_JOIN},
	{"pthread_barrier_", CTX_WAIT_KIND_BARRIER},
	{"sem_wait", CTX_WAIT_KIND_SEMAPHORE},
	{"sem_timedwait", CTX_WAIT_KIND_SEMAPHORE},
	{"sem_clockwait", CTX_WAIT_KIND_SEMAPHORE},
	{"new_sem_", CTX_WAIT_KIND_SEMAPHORE},
	{"futex_abstimed_wait", CTX_WAIT_KIND_FUTEX},
	{"futex_wait", CTX_WAIT_KIND_FUTEX},
	{"futex_lock_pi", CTX_WAIT_KIND_FUTEX},
	{"futexwait", CTX_WAIT_KIND_FUTEX}, /* musl */
	{"timedwait", CTX_WAIT_KIND_FUTEX}, /* musl */
	{"sccp", CTX_WAIT_KIND_OTHER},	    /* musl: a system call where threads can be cancelled */
	{"syscall_cp", CTX_WAIT_KIND_OTHER},
};

/*
 * Whole names of the C library that a program may have too: they count right above the kernel. One is of libctxrt.so: until the
 * recorder has made the memory that it asks for.
 */
static const struct name call_names[] = {
	{"poll", CTX_WAIT_KIND_POLL},	    {"ppoll", CTX_WAIT_KIND_POLL},
	{"select", CTX_WAIT_KIND_POLL},	    {"pselect", CTX_WAIT_KIND_POLL},
	{"epoll_wait", CTX_WAIT_KIND_POLL}, {"epoll_pwait", CTX_WAIT_KIND_POLL},
	{"nanosleep", CTX_WAIT_KIND_TIMER}, {"clock_nanosleep", CTX_WAIT_KIND_TIMER},
	{"usleep", CTX_WAIT_KIND_TIMER},    {"sleep", CTX_WAIT_KIND_TIMER},
	{"wait", CTX_WAIT_KIND_CHILD},	    {"wait3", CTX_WAIT_KIND_CHILD},
	{"wait4", CTX_WAIT_KIND_CHILD},	    {"waitid", CTX_WAIT_KIND_CHILD},
	{"waitpid", CTX_WAIT_KIND_CHILD},   {"vfork", CTX_WAIT_KIND_CHILD},
	{"fsync", CTX_WAIT_KIND_FILE},	    {"fdatasync", CTX_WAIT_KIND_FILE},
	{"accept", CTX_WAIT_KIND_SOCKET},   {"accept4", CTX_WAIT_KIND_SOCKET},
	{"connect", CTX_WAIT_KIND_SOCKET},  {"recv", CTX_WAIT_KIND_SOCKET},
	{"recvfrom", CTX_WAIT_KIND_SOCKET}, {"recvmsg", CTX_WAIT_KIND_SOCKET},
	{"send", CTX_WAIT_KIND_SOCKET},	    {"sendto", CTX_WAIT_KIND_SOCKET},
	{"sendmsg", CTX_WAIT_KIND_SOCKET},  {"read", CTX_WAIT_KIND_OTHER},
	{"write", CTX_WAIT_KIND_OTHER},	    {"readv", CTX_WAIT_KIND_OTHER},
	{"writev", CTX_WAIT_KIND_OTHER},    {"ioctl", CTX_WAIT_KIND_OTHER},
	{"syscall", CTX_WAIT_KIND_OTHER},   {"ctx_rt_recorder_request", CTX_WAIT_KIND_START},
};

/* Of HotSpot, JDK 11 to 25. A thread is stopped for a safepoint here and nowhere else. */
static const struct name jvm_names[] = {
	{"SafepointSynchronize::block", CTX_WAIT_KIND_SAFEPOINT},
	{"ObjectMonitor::wait", CTX_WAIT_KIND_CONDITION},
	{"ObjectMonitor::enter", CTX_WAIT_KIND_MUTEX},
	{"ObjectMonitor::EnterI", CTX_WAIT_KIND_MUTEX},
	{"ObjectMonitor::ReenterI", CTX_WAIT_KIND_MUTEX},
	{"Unsafe_Park", CTX_WAIT_KIND_PARK},
	{"Parker::park", CTX_WAIT_KIND_PARK},
	{"JVM_Sleep", CTX_WAIT_KIND_TIMER},
	{"JavaThread::sleep", CTX_WAIT_KIND_TIMER},
};

const char *ctx_wait_kind_text(enum ctx_wait_kind kind)
{
	return texts[kind];
}

static const struct name *find_prefix(const struct name *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strncmp(name, names[i].text, strlen(names[i].text)) == 0)
			return &names[i];
	}
	return NULL;
}

/* "__GI___libc_read (inlined)" is "read": without what the C library puts before and behind. */
static size_t plain_name(const char **name)
{
	static const char *const fronts[] = {"GI_", "libc_"};

	for (bool again = true; again;) {
		again = false;
		while (**name == '_')
			(*name)++;
		for (size_t i = 0; i < CTX_COUNT_OF(fronts); i++) {
			if (strncmp(*name, fronts[i], strlen(fronts[i])) == 0) {
				*name += strlen(fronts[i]);
				again = true;
			}
		}
	}
	return strcspn(*name, " @(.");
}

static uint8_t classify_user(const char *name)
{
	const struct name *found;
	size_t n = plain_name(&name);

	found = find_prefix(thread_names, CTX_COUNT_OF(thread_names), name);
	if (found != NULL)
		return found->kind | IS_NAMED;
	for (size_t i = 0; i < CTX_COUNT_OF(call_names); i++) {
		if (strlen(call_names[i].text) == n && strncmp(call_names[i].text, name, n) == 0)
			return call_names[i].kind;
	}
	return CTX_WAIT_KIND_OTHER;
}

static bool is_library(const char *path)
{
	static const char *const names[] = {"libc.so",	"libc-2.",    "libc.musl-", "libpthread", "ld-linux",
					    "ld-2.",	"ld.so",      "ld-musl-",   "ld64.so",	  "librt.so",
					    "librt-2.", "linux-vdso", "libstdc++",  "libc++",	  "libgcc_s",
					    "libm.so",	"libm-2.",    "libctxrt.so"};
	const char *base = ctx_path_base(path);

	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	}
	return strcmp(path, "[vdso]") == 0;
}

/* What a thread waits for in a runtime of OpenMP, whose own functions do not tell. */
static enum ctx_wait_kind kind_of_omp_state(const char *name)
{
	static const struct {
		uint8_t state, kind;
	} rows[] = {
		{CTX_OMP_IMPLICIT_BARRIER, CTX_WAIT_KIND_BARRIER},
		{CTX_OMP_EXPLICIT_BARRIER, CTX_WAIT_KIND_BARRIER},
		{CTX_OMP_LOCK_WAIT, CTX_WAIT_KIND_MUTEX},
		{CTX_OMP_CRITICAL_WAIT, CTX_WAIT_KIND_MUTEX},
		{CTX_OMP_ATOMIC_WAIT, CTX_WAIT_KIND_MUTEX},
	};

	for (size_t i = 0; i < CTX_COUNT_OF(rows); i++) {
		if (strcmp(name, ctx_omp_state_function((enum ctx_omp_state)rows[i].state)) == 0)
			return rows[i].kind;
	}
	return CTX_WAIT_KIND_OTHER;
}

static uint16_t classify_omp(enum ctx_code_kind code, const char *name)
{
	if (code == CTX_CODE_OMP_STATE)
		return (uint16_t)(IN_LIBRARY | IS_OMP | kind_of_omp_state(name));
	if (code == CTX_CODE_OMP_RUNTIME)
		return IN_LIBRARY | IS_OMP;
	return code == CTX_CODE_GRAFT ? IN_LIBRARY : 0;
}

static uint8_t kind_of_jvm(const char *name)
{
	const struct name *found = find_prefix(jvm_names, CTX_COUNT_OF(jvm_names), name);

	return found != NULL ? found->kind : CTX_WAIT_KIND_OTHER;
}

static uint16_t classify(const struct ctx_profile *profile, const uint8_t *of_object, uint32_t function)
{
	const struct ctx_function_info *info = &profile->functions[function];
	enum ctx_code_kind code;
	uint16_t omp, where = info->object < profile->n_objects ? of_object[info->object] : 0;

	if ((where & IN_KERNEL) != 0) {
		const char *name = info->name;
		const struct name *found;

		while (*name == '_')
			name++;
		found = find_prefix(kernel_names, CTX_COUNT_OF(kernel_names), name);
		return (uint16_t)(where | (found != NULL ? found->kind : CTX_WAIT_KIND_OTHER));
	}
	/* The C++ library's templates are instantiated in the program. */
	if (strncmp(info->name, "std::", 5) == 0 || strncmp(info->name, "__gnu_cxx::", 11) == 0 ||
	    strncmp(info->name, "operator new", 12) == 0 || strncmp(info->name, "operator delete", 15) == 0)
		where |= IN_LIBRARY;
	code = ctx_code_kind_of(profile, function);
	if (code == CTX_CODE_JVM)
		return (uint16_t)(IS_JVM | kind_of_jvm(info->name));
	if (code == CTX_CODE_PYTHON_VM || code == CTX_CODE_PYTHON_EVAL)
		where |= IS_INTERPRETER;
	omp = classify_omp(code, info->name);
	return omp != 0 ? omp : (uint16_t)(where | classify_user(info->name));
}

enum ctx_status ctx_wait_kinds_init(struct ctx_wait_kinds *kinds, const struct ctx_profile *profile,
				    struct ctx_err *err)
{
	uint8_t *of_object CTX_AUTO_FREE = ctx_calloc(profile->n_objects, sizeof(*of_object));

	*kinds = (struct ctx_wait_kinds){profile, ctx_calloc(profile->n_functions, sizeof(uint16_t))};
	if (of_object == NULL || kinds->of_function == NULL) {
		ctx_wait_kinds_deinit(kinds);
		return ctx_err_nomem(err);
	}
	for (uint32_t i = 0; i < profile->n_objects; i++)
		of_object[i] = ctx_object_is_kernel(profile->objects[i].path) ? IN_KERNEL
			       : is_library(profile->objects[i].path)	      ? IN_LIBRARY
									      : 0;
	for (uint32_t i = 0; i < profile->n_functions; i++)
		kinds->of_function[i] = classify(profile, of_object, i);
	return CTX_OK;
}

void ctx_wait_kinds_deinit(struct ctx_wait_kinds *kinds)
{
	free(kinds->of_function);
	kinds->of_function = NULL;
}

/* What stands for a stack that was not recorded is no caller. */
static bool is_known(const struct ctx_profile *profile, uint32_t function)
{
	return function < profile->n_functions &&
	       (profile->functions[function].kind == CTX_FUNCTION_ORDINARY ||
		profile->functions[function].object != CTX_NONE);
}

bool ctx_wait_kinds_is_program(const struct ctx_wait_kinds *kinds, uint32_t function)
{
	return is_known(kinds->profile, function) &&
	       (kinds->of_function[function] & (IN_KERNEL | IN_LIBRARY)) == 0;
}

/* Of a stack: what its kernel part and its library part say. */
struct found {
	enum ctx_wait_kind kernel, library;
	uint32_t caller;
};

static uint16_t class_of(const struct ctx_wait_kinds *kinds, uint32_t stack)
{
	uint32_t function = kinds->profile->cct.key[stack];

	return function < kinds->profile->n_functions ? kinds->of_function[function] : 0;
}

/*
 * A wait of the interpreter itself: its condition variable is that of its lock, since locks of Python's programs are semaphores. The caller is
 * the function of Python that it runs, where that was recorded.
 */
static void look_at_interpreter(const struct ctx_wait_kinds *kinds, uint32_t stack, struct found *found)
{
	const struct ctx_trie *cct = &kinds->profile->cct;

	if (found->caller == CTX_NONE || (kinds->of_function[found->caller] & IS_INTERPRETER) == 0)
		return;
	if (found->library == CTX_WAIT_KIND_CONDITION)
		found->library = CTX_WAIT_KIND_INTERPRETER;
	while (stack != CTX_TRIE_ROOT && (class_of(kinds, stack) & IS_INTERPRETER) != 0)
		stack = cct->parent[stack];
	if (stack != CTX_TRIE_ROOT && cct->key[stack] < kinds->profile->n_functions &&
	    kinds->profile->functions[cct->key[stack]].code_kind == CTX_CODE_PYTHON)
		found->caller = cct->key[stack];
}

static bool is_method(const struct ctx_wait_kinds *kinds, uint32_t stack)
{
	uint32_t function = kinds->profile->cct.key[stack];

	return stack != CTX_TRIE_ROOT && function < kinds->profile->n_functions &&
	       ctx_code_is_java(ctx_code_kind_of(kinds->profile, function));
}

/* Whether a method is of the locks that park threads, and says nothing of who waits. */
static bool is_of_locks(const struct ctx_wait_kinds *kinds, uint32_t function)
{
	static const char *const prefixes[] = {"jdk.internal.misc.Unsafe.", "sun.misc.Unsafe.",
					       "java.util.concurrent.locks."};
	const char *name = kinds->profile->functions[function].name;

	for (size_t i = 0; i < CTX_COUNT_OF(prefixes); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

/* A wait of a virtual machine of Java: the innermost of its functions that has a kind tells. The caller is the method, where that was recorded. */
static void look_at_jvm(const struct ctx_wait_kinds *kinds, uint32_t stack, struct found *found)
{
	const struct ctx_trie *cct = &kinds->profile->cct;
	unsigned kind = CTX_WAIT_KIND_OTHER;

	if (found->caller == CTX_NONE || (kinds->of_function[found->caller] & IS_JVM) == 0)
		return;
	for (; stack != CTX_TRIE_ROOT && (class_of(kinds, stack) & IS_JVM) != 0; stack = cct->parent[stack]) {
		if (kind == CTX_WAIT_KIND_OTHER)
			kind = class_of(kinds, stack) & KIND_MASK;
	}
	if (kind != CTX_WAIT_KIND_OTHER)
		found->library = (enum ctx_wait_kind)kind;
	for (; is_method(kinds, stack); stack = cct->parent[stack]) {
		found->caller = cct->key[stack];
		if (kind != CTX_WAIT_KIND_PARK || !is_of_locks(kinds, found->caller))
			return;
	}
}

/*
 * From the leaf: the kernel's part, then the library's. A function of the program that is named as
 * one of the C library is taken for it if nothing but such functions is between it and the kernel.
 */
static struct found look(const struct ctx_wait_kinds *kinds, uint32_t stack)
{
	const struct ctx_trie *cct = &kinds->profile->cct;
	struct found found = {CTX_WAIT_KIND_OTHER, CTX_WAIT_KIND_OTHER, CTX_NONE};
	enum ctx_wait_kind kind;
	uint32_t runtime = CTX_NONE;
	uint16_t bits;

	for (; stack != CTX_TRIE_ROOT; stack = cct->parent[stack]) {
		bits = class_of(kinds, stack);
		if ((bits & IN_KERNEL) == 0)
			break;
		if (found.kernel == CTX_WAIT_KIND_OTHER)
			found.kernel = bits & KIND_MASK;
	}
	for (; stack != CTX_TRIE_ROOT; stack = cct->parent[stack]) {
		bits = class_of(kinds, stack);
		if ((bits & IS_JVM) != 0 ||
		    ((bits & (IN_LIBRARY | IS_NAMED)) == 0 && (bits & KIND_MASK) == CTX_WAIT_KIND_OTHER))
			break;
		/* The outermost name says most: a barrier waits in a futex. */
		kind = bits & KIND_MASK;
		if (kind != CTX_WAIT_KIND_OTHER &&
		    (kind != CTX_WAIT_KIND_FUTEX || found.library == CTX_WAIT_KIND_OTHER))
			found.library = kind;
		/* The mark of a state is behind the runtime's frames. */
		if ((bits & IS_OMP) != 0)
			runtime = cct->key[stack];
	}
	found.caller = stack != CTX_TRIE_ROOT && is_known(kinds->profile, cct->key[stack]) ? cct->key[stack]
											   : runtime;
	look_at_interpreter(kinds, stack, &found);
	look_at_jvm(kinds, stack, &found);
	return found;
}

static bool is_lock(enum ctx_wait_kind kind)
{
	return kind >= CTX_WAIT_KIND_MUTEX && kind <= CTX_WAIT_KIND_FUTEX;
}

/* Thread.sleep of Java waits in a futex. */
static bool is_in_futex(enum ctx_wait_kind kind)
{
	return is_lock(kind) || kind == CTX_WAIT_KIND_TIMER;
}

/* The kernel knows best, but for a futex, which it does not divide. */
static enum ctx_wait_kind kind_of(enum ctx_thread_state state, const struct found *found)
{
	switch (state) {
	case CTX_STATE_TEXT_FAULT:
	case CTX_STATE_DATA_FAULT:
	case CTX_STATE_KERNEL_FAULT:
		return CTX_WAIT_KIND_PAGE_FAULT;
	case CTX_STATE_STOPPED:
		return CTX_WAIT_KIND_STOPPED;
	case CTX_STATE_USER_LOCK:
		return is_in_futex(found->library) ? found->library : CTX_WAIT_KIND_FUTEX;
	default:
		break;
	}
	if (found->library == CTX_WAIT_KIND_START)
		return CTX_WAIT_KIND_START;
	if (found->kernel == CTX_WAIT_KIND_FUTEX)
		return is_in_futex(found->library) ? found->library : CTX_WAIT_KIND_FUTEX;
	return found->kernel != CTX_WAIT_KIND_OTHER ? found->kernel : found->library;
}

struct ctx_wait_place ctx_wait_kinds_find(const struct ctx_wait_kinds *kinds, enum ctx_thread_state state,
					  uint32_t stack)
{
	struct found found = {CTX_WAIT_KIND_OTHER, CTX_WAIT_KIND_OTHER, CTX_NONE};

	if (stack < kinds->profile->cct.n)
		found = look(kinds, stack);
	return (struct ctx_wait_place){kind_of(state, &found), found.caller};
}

bool ctx_wait_is_start(const struct ctx_profile *profile, const struct ctx_sample *span)
{
	return span->thread == 0 && profile->n_threads != 0 && span->stack < profile->cct.n &&
	       profile->cct.depth[span->stack] <= 1 &&
	       ctx_sample_begin(span) <= profile->threads[0].life.begin_ns &&
	       strcmp(ctx_profile_property(profile, "target", ""), "command") == 0;
}
