/*
 * What the recording of calls (rt_calls.h) is set to, what it keeps of a thread, and what it needs of the C library and the kernel: memory, a
 * ring, the clock.
 */
#ifndef CTX_RUNTIME_RT_CALLS_WORK_H
#define CTX_RUNTIME_RT_CALLS_WORK_H

#include "runtime/rt_call_tree.h"
#include "runtime/rt_ring.h"

#include "model/call_counter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_rt_calls_mode {
	CTX_RT_CALLS_OFF,
	CTX_RT_CALLS_FAST,  /* every call is kept, by the processor's clock */
	CTX_RT_CALLS_OTHER, /* anything else; also before the process has begun */
	CTX_RT_CALLS_SUMS,  /* calls are summed, by the processor's clock */
};
extern _Atomic uint32_t ctx_rt_calls_mode;

struct ctx_rt_calls_settings {
	uint64_t min_ticks;    /* shorter calls are left out; 0: none are */
	uint32_t depth_max;    /* deeper ones are left out; 0: none are */
	bool has_tsc;	       /* ticks are the processor's; else ns of CLOCK_MONOTONIC */
	bool sums;	       /* calls are summed (rt_calls_sums.h) */
	uint32_t share;	       /* see struct ctx_rt_tree_memory */
	uint64_t memory_bytes; /* the same: its limit */
	uint32_t counters;     /* that are read at calls, a bit for each of enum ctx_call_counter */
	const char *of;	       /* pattern of the functions that are patched, as in the setting; NULL: all */
};
extern struct ctx_rt_calls_settings ctx_rt_calls_settings;

struct ctx_rt_open_call {
	uint64_t place; /* of its return address; with a hook that it calls itself: the stack pointer then */
	uint64_t function; /* an address in it */
	uint64_t ticks;
	uint32_t node; /* of sums */
};

/* Calls that are summed. Times are of CLOCK_MONOTONIC. */
struct ctx_rt_sums {
	struct ctx_rt_tree tree;
	uint64_t border_ns, begin_ticks, begin_ns; /* the period goes on up to the border */
	uint64_t start_ns; /* of the recording: borders are whole seconds from there */
	uint64_t second_ticks;
	uint64_t pair_ticks, pair_ns; /* of both clocks, read together; 0: none yet */
	uint64_t lost, lost_from;     /* calls that could not be written; ticks */
	_Atomic uint64_t *unwritten;  /* of the ring's slot */
	uint32_t ends;		      /* so often its thread has ended */
};

/* How a call was seen, and what is to be done for its end. */
enum ctx_rt_call_hook {
	CTX_RT_CALL_BY_RETURN, /* it will return to ctx_rt_calls_return */
	CTX_RT_CALL_BY_HOOK,   /* another hook will say so, with a place that need not be the same */
	CTX_RT_CALL_BY_SLED,   /* the same, with the same place */
};

struct ctx_rt_deferred {
	uint64_t place, function, ticks;
	enum ctx_rt_call_hook hook;
	bool leaves;
};

#define CTX_RT_DEFERRED_MAX 256u
#define CTX_RT_OPEN_FIRST 1024u
#define CTX_RT_OPEN_MAX (1u << 24)

struct ctx_rt_calls_begun { /* when the hook at work began */
	uint64_t head;
	uint32_t depth, told;
};

struct ctx_rt_calls_counters {
	uint64_t counted[CTX_CALL_COUNTERS]; /* since the last hook */
	uint64_t read[CTX_CALL_COUNTERS];    /* the counters then */
};

/* Of a thread, in pages of its own. */
struct ctx_rt_calls {
	/* This page is empty after fork. */
	_Alignas(CTX_RT_PAGE) struct ctx_rt_ring ring;
	uint64_t limit;	 /* of ring.head: as far as there is room */
	uint64_t border; /* of sums, in ticks: from there on the tree is to be written */
	_Atomic uint32_t *closed, *beat;
	bool waits;
	/* And these are not. */
	_Alignas(CTX_RT_PAGE) uint64_t last; /* ticks of the last word */
	uint32_t busy;			     /* a hook is at work; 2: one that may write several words */
	uint32_t n_deferred;
	uint32_t depth, cap; /* of `open`, whose first is below all; cap is what there may be */
	struct ctx_rt_open_call *open;
	uint32_t room;	     /* of `open`, less than it has by one */
	uint32_t skipped;    /* calls that are too deep, and will be said to end */
	uint32_t told;	     /* so many of the open calls are in the ring; not kept where all are */
	uint64_t busy_place; /* where the hook at work has its frame */
	struct ctx_rt_calls_begun begun;
	uint32_t inherited;	  /* of the open calls: those that were in a ring before: from before fork */
	uint64_t lost, lost_from; /* words that found no room; ticks of the first */
	struct ctx_rt_calls_counters counters;
	uint64_t chunk, bias; /* return addresses of CFAs with this number are at CFA + bias */
	uint64_t stack_top, stack_bytes;
	struct ctx_rt_sums sums;
	struct ctx_rt_deferred deferred[CTX_RT_DEFERRED_MAX];
	struct ctx_rt_open_call first[CTX_RT_OPEN_FIRST];
};

/* What needs more than integer registers. */
enum ctx_rt_calls_need {
	CTX_RT_CALLS_BEGIN, /* of a thread or process; `calls` is what the thread has, and the result what it has then */
	CTX_RT_CALLS_GROW,  /* room for more open calls */
	CTX_RT_CALLS_CHUNK, /* memory for the return address of a CFA, `value` */
	CTX_RT_CALLS_CLOCK,
	CTX_RT_CALLS_SYNC,   /* the record that says where the ring goes on; `value`: ticks. There is room */
	CTX_RT_CALLS_WAIT,   /* for room */
	CTX_RT_CALLS_BORDER, /* of sums; `value`: ticks */
	CTX_RT_CALLS_COUNT,  /* counters are read; the result: some have counted */
};

struct ctx_rt_calls_request {
	enum ctx_rt_calls_need need;
	struct ctx_rt_calls *calls;
	uint64_t value;
	uint64_t result; /* 0: it could not be done */
};

/* Behind the limit is room for any record. */
#define CTX_RT_CALLS_AHEAD ((uint64_t)2 * CTX_RT_RECORD_WORDS_MAX * 8)

/* Whether there is room for some words, or a record. */
static inline bool ctx_rt_calls_has_room(struct ctx_rt_calls *calls)
{
	uint64_t tail;

	if (calls->ring.slot == NULL)
		return false;
	if (calls->ring.head < calls->limit)
		return true;
	tail = atomic_load_explicit(&calls->ring.slot->tail, memory_order_acquire);
	/* A tail beyond the head is none that the recorder writes. */
	if (calls->ring.head - tail >= calls->ring.bytes - CTX_RT_CALLS_AHEAD)
		return false;
	calls->limit = tail + calls->ring.bytes - CTX_RT_CALLS_AHEAD;
	return true;
}

static inline void ctx_rt_calls_publish(struct ctx_rt_calls *calls)
{
	atomic_store_explicit(&calls->ring.slot->head, calls->ring.head, memory_order_release);
}

/* There must be room. */
static inline void ctx_rt_calls_append(struct ctx_rt_calls *calls, uint64_t word)
{
	calls->ring.words[(calls->ring.head & (calls->ring.bytes - 1)) / 8] = word;
	calls->ring.head += 8;
}

/* Of sums: time from the last hook up to `ticks` is that of the innermost open call. */
static inline void ctx_rt_calls_pass(struct ctx_rt_calls *calls, uint64_t ticks)
{
	if (ticks <= calls->last)
		return;
	ctx_rt_tree_pass(&calls->sums.tree, ticks - calls->last);
	calls->last = ticks;
}

/* What a setting says, "c" and so on; NULL: calls are not recorded. */
void ctx_rt_calls_set(const char *letters);

/* Reads the settings if they are not known. False: calls are not recorded. errno is changed. */
bool ctx_rt_calls_begin(void);

/* How calls are recorded has changed: the program pauses or goes on, or the recorder lets go. */
void ctx_rt_calls_choose_mode(void);

/* The rest is for rt_calls_needs.c. `calls` is what the thread has, if it has some; NULL: it can have none. */
struct ctx_rt_calls *ctx_rt_calls_take_ring(struct ctx_rt_calls *calls,
					    void (*take_over)(struct ctx_rt_calls *));
uint64_t ctx_rt_calls_now(void);
bool ctx_rt_calls_grow(struct ctx_rt_calls *calls);
bool ctx_rt_calls_make_chunk(uint64_t cfa);
/* Writes the record with which words begin. There must be room. */
void ctx_rt_calls_sync(struct ctx_rt_calls *calls, uint64_t ticks);
/* Reads the counters; what they have counted since the last time is in `counted`. Whether that is anything. */
bool ctx_rt_calls_count(struct ctx_rt_calls *calls);
/* As long as the recorder gives signs of life. */
void ctx_rt_calls_wait(struct ctx_rt_calls *calls);

#endif
