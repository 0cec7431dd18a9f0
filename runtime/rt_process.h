/*
 * The traced process: its segments, and the slots that its threads have in them.
 *
 * It begins with the first operation of a process whose environment has CTX_RT_VARIABLE. A forked
 * child is a process of its own: the mappings of its parent are not there (MADV_DONTFORK), and a page
 * that the kernel wipes at fork (MADV_WIPEONFORK) says so, however it was forked. A child of vfork runs in
 * its parent's memory, and is its parent until it executes something. Whatever fails switches tracing
 * off for the process; it goes on as if alone.
 *
 * No descriptor stays open, no thread is started, no signal is used.
 */
#ifndef CTX_RUNTIME_RT_PROCESS_H
#define CTX_RUNTIME_RT_PROCESS_H

#include "runtime/attach_result.h"
#include "runtime/program_check.h"
#include "runtime/rt_thread.h"

#include <stdbool.h>
#include <stdint.h>

/* What a process records, as CTX_RT_VARIABLE says. */
enum ctx_rt_what {
	CTX_RT_WHAT_HEAP = 1,
	CTX_RT_WHAT_SYNC = 2,
	CTX_RT_WHAT_IO = 4,
	CTX_RT_WHAT_MARKS = 8,
	CTX_RT_WHAT_CALLS = 16,
	CTX_RT_WHAT_OMP = 32,
	CTX_RT_WHAT_ONCE = 64,
	CTX_RT_WHAT_COUNT = 128,
	CTX_RT_WHAT_ALL = 255,
};

struct ctx_rt_settings {
	uint32_t what;	     /* of enum ctx_rt_what; 0 also as long as nothing has begun */
	bool waits;	     /* where a ring is full */
	bool gives_way;	     /* OpenMP: to a tool of the program's own */
	bool has_tsc;	     /* the processor's ticks can be converted to times by the recorder */
	const char *letters; /* all of them; of an attached process as long as that is not done */
	uint64_t sync_threshold_ns;
};
extern struct ctx_rt_settings ctx_rt_settings;

/* What may be recorded at all: everything until the process has read what is. */
extern _Atomic uint32_t ctx_rt_topics;

/* Whether operations of any of these kinds are: what else there is to do is left out otherwise. */
static inline bool ctx_rt_is_on(uint32_t what)
{
	return (atomic_load_explicit(&ctx_rt_topics, memory_order_relaxed) & what) != 0;
}

/*
 * The program has paused recording (ctx_trace.h). What others need is recorded nevertheless: releases of
 * memory, and what opens, closes and names descriptors. A forked child begins as its parent is.
 */
extern _Atomic uint32_t ctx_rt_paused;

static inline bool ctx_rt_is_paused(void)
{
	return __builtin_expect(atomic_load_explicit(&ctx_rt_paused, memory_order_relaxed) != 0, 0);
}

/* Reads the settings if they are not known; returns ctx_rt_settings.what. errno is kept. */
uint32_t ctx_rt_begin(void);

/*
 * For a process that runs already: begins anew with a setting as of CTX_RT_VARIABLE, and sends a segment. Nothing
 * is recorded before ctx_rt_process_go_on. Returns an enum ctx_rt_attach; unless it is CTX_RT_ATTACH_DONE or
 * CTX_RT_ATTACH_TRACED, nothing is recorded any more. By one thread at a time. errno is changed.
 */
int ctx_rt_process_attach(const char *setting);
void ctx_rt_process_go_on(void);

/* Nothing more is recorded. Memory of threads and segments stays: a thread may be just using it. */
void ctx_rt_process_detach(void);

/* Another thread of this process, by its id. It may have ended; its memory stays. NULL: unknown. */
struct ctx_rt_thread *ctx_rt_thread_of(int32_t tid);
/* Allocations are sampled so many bytes apart (rt_sampler.h). 0: all are recorded, or none has been yet. */
extern uint64_t ctx_rt_sample_bytes;

/*
 * The calling thread if its operations of this kind are to be recorded, else NULL. Between this and
 * ctx_rt_thread_release, operations of the same thread (in a signal handler, or by the runtime itself)
 * get NULL. errno is kept.
 */
struct ctx_rt_thread *ctx_rt_thread_acquire(uint32_t what);

/*
 * The same in the usual case; NULL: it is another one, and that has to be called. Whether the recorder still reads is not looked at:
 * the ring is full soon if it does not. The function that uses this must have a frame pointer.
 */
static inline struct ctx_rt_thread *ctx_rt_thread_take(uint32_t what)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_known();

	if (__builtin_expect(thread == NULL || (ctx_rt_own.muted | ctx_rt_own.acquired_at) != 0 ||
				     !ctx_rt_is_on(what),
			     0))
		return NULL;
	ctx_rt_own.acquired_at = (uintptr_t)__builtin_frame_address(0);
	atomic_signal_fence(memory_order_seq_cst);
	return thread;
}

/* A ring for the calls of a thread, besides that of its operations (rt_calls.h). */
struct ctx_rt_place {
	struct ctx_rt_ring ring;
	_Atomic uint32_t *closed, *beat;
	int32_t tid;
	void **memory; /* of who had it before, and has ended; NULL there: nobody had. To be set */
};

/* For the calling thread. False: there is none, which is counted. errno is changed. */
bool ctx_rt_process_take_place(struct ctx_rt_place *ret);

/* The header of the process's first segment; NULL: it has none. */
const struct ctx_rt_header *ctx_rt_process_header(void);

/* Whether the calling process is that of the segments: not a child of vfork, or one that has not begun. */
bool ctx_rt_process_is_own(void);

/* The memory of each ring of calls (struct ctx_rt_place) that has some. The process has segments. */
void ctx_rt_process_each_calls(void (*visit)(void *memory));

/* The process is known to the recorder from here on, with what was patched, also if it has no call. errno is changed. */
void ctx_rt_process_note_calls(uint64_t patched, uint64_t unpatched);

/* Descriptors of the process whose names the recorder knows; of the process, empty after fork. */
#define CTX_RT_DESCRIPTORS_MAX 65536u
struct ctx_rt_descriptors {
	_Atomic uint32_t listed; /* those that it began with are told */
	_Atomic uint64_t known[CTX_RT_DESCRIPTORS_MAX / 64];
};

/* While a thread is acquired. */
struct ctx_rt_descriptors *ctx_rt_process_descriptors(void);

/* How many of them were closed, or may have been: counted before they are. Shared with the recorder. */
_Atomic uint64_t *ctx_rt_process_closes(void);

/* The process is about to execute a program that is without the runtime; `file` may be NULL. errno is kept. */
void ctx_rt_note_unfit(enum ctx_program why, const char *file);

/*
 * From here on the runtime makes no system call of its own (rt_filter.h), in this process and its children. Before that it makes what
 * it can for threads to come: 16 of this process have rings.
 */
void ctx_rt_process_restrict(void);

/* Nothing is recorded any more: the thread may not read the clock (the strict mode of seccomp forbids that, too). */
void ctx_rt_process_stop(void);

/* A library is about to be opened whose calls do not come here. */
void ctx_rt_note_apart(const char *name);

/* The program has an allocator of its own. */
void ctx_rt_note_own_allocator(void);

/* What has become of a tool for OpenMP of the program's own. */
void ctx_rt_note_omp_tool(enum ctx_rt_omp_tool what);

#endif
