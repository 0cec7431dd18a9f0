#include "runtime/rt_stack.h"

#include "runtime/rt_filter.h"
#include "runtime/rt_syscall.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_MAX ((uint64_t)1 << 30) /* of the main thread */
#define STACK_LEAST ((uint64_t)120 << 20)

#pragma weak __libc_stack_end
extern void *__libc_stack_end;

__thread struct ctx_rt_scratch ctx_rt_scratch CTX_RT_TLS;
static uint64_t main_thread; /* as pthread_self says */
static uint64_t main_stack;  /* bytes that the main thread's can grow to */

/*
 * The kernel maps nothing else in what the stack may grow to by the limit at exec, and nothing in 128 MB in any case,
 * of which the environment takes some. A limit that the program raises itself is none: other stacks are there.
 */
static uint64_t find_main_stack(void)
{
	struct rlimit limit = {0};

	(void)getrlimit(RLIMIT_STACK, &limit);
	if (limit.rlim_cur < STACK_LEAST)
		return STACK_LEAST;
	return limit.rlim_cur < STACK_MAX ? limit.rlim_cur : STACK_MAX;
}

void ctx_rt_stack_begin(bool at_start)
{
	/* Elsewhere a thread is known by where its stack is. */
	main_thread = at_start || ctx_rt_syscall(SYS_gettid) == getpid() ? (uint64_t)pthread_self() : 0;
	/* Later it is not known what the limit was at exec. */
	main_stack = at_start ? find_main_stack() : STACK_LEAST;
}

/*
 * Functions that hold a lock of the thread: pthread_getattr_np, which this needs too, allocates meanwhile, and in
 * the others a signal may arrive.
 */
static bool holds_its_lock(const struct ctx_rt_walker *walker)
{
	return ctx_rt_walk_has(walker, (const void *)&pthread_getattr_np) ||
	       ctx_rt_walk_has(walker, (const void *)&pthread_getschedparam) ||
	       ctx_rt_walk_has(walker, (const void *)&pthread_setschedparam) ||
	       ctx_rt_walk_has(walker, (const void *)&pthread_setschedprio);
}

/*
 * The bounds of the stack that the thread runs on: of others no more than a page is read. The
 * library's function reads a file for the main thread, and allocates for others: in memory of the thread, since the
 * caller may have interrupted the allocator. Behind the thread's first stack, which is walked
 * without them.
 */
bool ctx_rt_stack_find(struct ctx_rt_walker *walker, void *room, size_t bytes)
{
	uint64_t sp = (uintptr_t)__builtin_frame_address(0);
	pthread_attr_t attributes;
	void *low;
	size_t n;

	walker->top = &__libc_stack_end != NULL ? (uintptr_t)__libc_stack_end : 0;
	walker->low = walker->top - main_stack;
	if ((sp >= walker->low && sp < walker->top) || (uint64_t)pthread_self() == main_thread)
		return true;
	walker->low = walker->top = 0;
	if (ctx_rt_is_restricted())
		return true;
	if (holds_its_lock(walker))
		return false;
	ctx_rt_scratch = (struct ctx_rt_scratch){room, bytes};
	if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
		if (pthread_attr_getstack(&attributes, &low, &n) == 0) {
			walker->low = (uintptr_t)low;
			walker->top = (uintptr_t)low + n;
		}
		pthread_attr_destroy(&attributes);
	}
	ctx_rt_scratch = (struct ctx_rt_scratch){0};
	return true;
}
