/*
 * Recording waits for locks and other objects, how long locks are held, and in which order a thread takes
 * them.
 *
 * A lock that is got at once costs no clock and no record, unless all are to be recorded: it is only noted as
 * held. A wait is recorded when it is over, if it was long enough; how long a lock was held, if its thread had
 * waited for it or all are recorded; that a thread takes a lock while it holds another, once for each pair.
 */
#ifndef CTX_RUNTIME_RT_WAITS_H
#define CTX_RUNTIME_RT_WAITS_H

#include "runtime/rt_process.h"

#include "model/traced.h"

enum ctx_rt_sync {
	CTX_RT_SYNC_UNKNOWN = 0, /* the process has not begun */
	CTX_RT_SYNC_OFF,
	CTX_RT_SYNC_LONG, /* waits that are long enough */
	CTX_RT_SYNC_ALL,  /* and how long locks are held */
};
extern enum ctx_rt_sync ctx_rt_sync;

/* Sets it, from ctx_rt_settings. */
void ctx_rt_sync_settle(void);

/* A wait that goes on; zero in the first field: it is not recorded. */
struct ctx_rt_waiting {
	uint64_t since_ns;
	uint64_t object;
	struct ctx_rt_wait what;
	uint64_t holder_pc; /* where the holder took it; 0 unknown */
};

/*
 * Before a wait. Of a lock the order in which it is taken is recorded now: the wait may never end.
 */
struct ctx_rt_waiting ctx_rt_wait_begin(struct ctx_rt_wait what, uint64_t object,
					const struct ctx_rt_registers *caller);

/* After it. Returns when it was over, if it was long enough to be recorded, else 0. errno is kept. */
uint64_t ctx_rt_wait_end(const struct ctx_rt_waiting *waiting, bool failed,
			 const struct ctx_rt_registers *caller);

/* The thread has the lock now, at `since_ns` (0: not known). */
void ctx_rt_lock_note(const struct ctx_rt_held *held, bool is_tried, const struct ctx_rt_registers *caller);

/* Where the thread holds the lock, and when it is about to release it. */
struct ctx_rt_releasing {
	uint64_t object;
	uint32_t at;	   /* in its locks; CTX_RT_HELD_MAX: it is not known */
	uint64_t since_ns; /* 0: not known */
	uint64_t to_ns;	   /* 0: how long it was held is not recorded */
};

struct ctx_rt_releasing ctx_rt_lock_find(const volatile void *object);

/*
 * Before and after a function that releases it, takes it again, and may be cancelled in between: the thread holds
 * it then, but not since it took it first. `ctx_rt_lock_stayed`: the function has done nothing.
 */
void ctx_rt_lock_rest(const struct ctx_rt_releasing *releasing);
void ctx_rt_lock_stayed(const struct ctx_rt_releasing *releasing);

/* A lock that is not among its own was released by the thread, which `owner` (0: nobody) held. */
void ctx_rt_lock_released_for(int32_t owner, const volatile void *object);

/* It was released; `stays`: only until it is taken again, as by a wait for a condition variable. */
void ctx_rt_lock_gone(const struct ctx_rt_releasing *releasing, bool stays,
		      const struct ctx_rt_registers *caller);

/* Such a lock was taken again. */
void ctx_rt_lock_again(const void *object, const struct ctx_rt_registers *caller);

#endif
