/*
 * The outermost frames of stacks whose copy ended too early. The kernel copies from the stack pointer
 * upward; the other end is read from the memory of the process (process_vm_readv), a little later.
 *
 *	cut stack --> thread's stack mapping --> its outermost bytes --unwind/outer_chain.c--> frames up to the root
 *
 * What is read is from another time than the sample. It holds for the sample only if
 *  - one of its functions is among those next to the cut: the thread was in the same recursion, and
 *  - the thread was seen so at least twice, CTX_OUTERMOST_APART_NS apart; of what the last reads
 *    found, the frames from the root on that are the same in all are used.
 * Nothing is read of a thread before it had two cut stacks so far apart: most that end soon cost nothing.
 * x86-64 only. Bounded: beyond CTX_OUTERMOST_THREADS, threads share places and displace each other.
 */
#ifndef CTX_COLLECT_OUTERMOST_H
#define CTX_COLLECT_OUTERMOST_H

#include "base/clock.h"
#include "collect/codemaps.h"
#include "collect/stack_memory.h"

#define CTX_OUTERMOST_THREADS 256u
#define CTX_OUTERMOST_APART_NS UINT64_C(10000000)

struct ctx_outermost;

CTX_MUST_CHECK enum ctx_status ctx_outermost_create(ctx_clock_fn *clock, struct ctx_outermost **ret,
						    struct ctx_err *err);
void ctx_outermost_destroy(struct ctx_outermost *outermost);

struct ctx_outermost_cut { /* a stack that was cut */
	struct ctx_code_view *view;
	uint64_t time_ns; /* when it was taken */
	uint32_t thread;  /* number */
	uint64_t sp;
	struct ctx_stack_part part; /* its frames; at least one */
};

/*
 * Its outermost frames, leaf first; `frames` is NULL where they are not known. Borrowed until the next
 * call. One read of some KiB for each thread in CTX_OUTERMOST_APART_NS; where the bytes are new,
 * some 20 us. All this takes at most 1 % of the time.
 */
struct ctx_stack_part ctx_outermost_find(struct ctx_outermost *outermost,
					 const struct ctx_outermost_cut *cut);

/* Cut stacks of processes whose memory this user may not read. */
uint64_t ctx_outermost_unread(const struct ctx_outermost *outermost);

#endif
