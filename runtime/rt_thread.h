/*
 * A thread that is traced: its memory, and writing its operations.
 */
#ifndef CTX_RUNTIME_RT_THREAD_H
#define CTX_RUNTIME_RT_THREAD_H

#include "runtime/rt_held.h"
#include "runtime/rt_ring.h"
#include "runtime/rt_stack.h"
#include "runtime/rt_walk.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In memory of its own. */
struct ctx_rt_thread {
	struct ctx_rt_ring ring;
	_Atomic uint32_t *closed; /* the recorder's word */
	_Atomic uint32_t *beat;
	int32_t tid;
	bool waits;	  /* where the ring is full */
	bool knows_stack; /* its bounds have been looked for */
	struct ctx_rt_walker walker;
	uint64_t frames[CTX_RT_FRAMES_MAX]; /* of the current operation, leaf first */
	struct ctx_rt_locks locks;
};

/* The calling thread, if the generation is that of its process; NULL: it found no place. */
struct ctx_rt_own {
	struct ctx_rt_thread *thread;
	uint32_t generation;
	uint64_t muted;	      /* so often */
	uint64_t acquired_at; /* the frame that acquired the thread; 0: none has */
};
extern __thread struct ctx_rt_own ctx_rt_own CTX_RT_TLS;
/* Tells a process from its parent; 0 after fork. */
extern const uint32_t *ctx_rt_generation;

/* The calling thread if it has begun; NULL also if it could not. */
static inline struct ctx_rt_thread *ctx_rt_thread_known(void)
{
	return __builtin_expect(ctx_rt_own.generation == *ctx_rt_generation, 1) ? ctx_rt_own.thread : NULL;
}

/* An acquired thread (rt_process.h) is so no more. */
static inline void ctx_rt_thread_release(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	ctx_rt_own.acquired_at = 0;
}

/*
 * Records an operation of an acquired thread: takes the stack of `caller` (NULL: none), writes. If the ring
 * is full, counts it as dropped, or waits for the recorder as long as that is alive.
 */
void ctx_rt_record(struct ctx_rt_thread *thread, struct ctx_rt_operation *operation,
		   const struct ctx_rt_registers *caller);

/*
 * What the runtime itself does from here on, on this thread, is not recorded: for what calls functions that
 * are. They nest.
 */
static inline void ctx_rt_mute(void)
{
	ctx_rt_own.muted++;
}

static inline void ctx_rt_unmute(void)
{
	ctx_rt_own.muted--;
}

#define CTX_RT_NO_SIGNALS UINT64_MAX

/* No handler leaves by longjmp, and nobody cancels the thread, while it has a lock. Returns what was blocked; CTX_RT_NO_SIGNALS: nothing is to be done. */
uint64_t ctx_rt_signals_block(void);
void ctx_rt_signals_restore(uint64_t before);

#endif
