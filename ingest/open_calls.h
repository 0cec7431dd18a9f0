/*
 * Exact calls: keeps the open calls of each thread, and turns the time between two events of a thread
 * into spans at them.
 *
 *	enter, exit, on, off --> open calls of the thread --spans, each ending now--> sink
 *	                              `--completed calls, each ending now-----------> sink
 *
 *	A             |-------------------------------|
 *	B                   |---------|       |   |
 *	not running             |-|
 *	spans         |--A--|AB.|-|AB.|---A---|AB |-A-|		of metric `running`, or `off` for the one in which it does not run
 *
 * A span has the calls that were entered at its begin: its kept stack is the deepest one that stayed
 * open since the thread's span before, of either metric. `off` never has calls. Calls that begin and end in
 * the same ns become a sample without weight, at that time. So calls are exact in every interval, and
 * weights add up to the time in which any call is open.
 *
 * Samples of other metrics hang below the open calls (ctx_calls_merge). A sampled stack has frames
 * of functions that are not traced, too:
 *
 *	open calls   A      B		sampled   main A x B y z	becomes   A B y z
 *	open calls   A      B      C	sampled   main A x B y		          A B C y	C was called by a jump, or is not entered yet
 *	open calls   A      B		sampled   <truncated> y z	          A B <truncated> y z
 *
 * The frames up to the topmost one of the deepest open call that is on the stack are replaced by the
 * open calls; if none is on it, all of it hangs below them. Only the CTX_CALLS_MATCHED deepest are
 * looked for.
 *
 * Sums: each call that an event enters has as many calls as it says, in a sample without weight at its begin. What is given for completed calls
 * is, without a duration, how often a path was called and its time in each second; and what an event says of durations, below no caller. Whether threads run, and what samples
 * hang below, is not looked at: the order of calls within a period is none of the program.
 *
 * Where events are missing (<Lost-calls>) that is below the calls that are open all the time, and no call. Those that end or begin there are counted; the
 * completed call has what is known of its duration, and is marked as left without return.
 *
 * Memory: 48 bytes an open call; what is in the same ns; a fixed table for finding callees. Source:
 * requirements C2, C3, C4, C11, C12.
 */
#ifndef CTX_INGEST_OPEN_CALLS_H
#define CTX_INGEST_OPEN_CALLS_H

#include "ingest/stackdict.h"
#include "model/loss.h"
#include "model/sample.h"
#include "model/traced.h"

#define CTX_CALLS_MATCHED 64u

struct ctx_calls_sink {
	void *context;
	/*
	 * In order of time for each metric; raw_stack, stack, and the kept stack with its depth are set.
	 * The thread's own CPU is unknown.
	 */
	enum ctx_status (*sample)(void *context, const struct ctx_sample *sample, struct ctx_err *err);
	enum ctx_status (*call)(void *context, const struct ctx_traced *call, struct ctx_err *err);
	/* Events of a thread are missing: a loss of calls. NULL: it is not wanted. */
	enum ctx_status (*lost)(void *context, const struct ctx_loss *loss, struct ctx_err *err);
	/* After the last sample of a thread. */
	enum ctx_status (*thread_end)(void *context, uint32_t thread, struct ctx_err *err);
};

struct ctx_calls_options {
	struct ctx_stack_forest *stacks; /* borrowed */
	struct ctx_calls_sink sink;
	uint64_t last_ns; /* of the run: later events are there, and what is open then ends */
	/* Metrics. Without states `off` is not used. Counters follow from first_counter on. */
	uint32_t running, off, first_counter, n_counters;
	bool sums; /* events are sums: see struct ctx_source_info */
};

struct ctx_calls;

/* CTX_E_NOMEM. All below fail with it, CTX_E_LIMIT, and as the sink does. */
CTX_MUST_CHECK enum ctx_status ctx_calls_create(const struct ctx_calls_options *options,
						struct ctx_calls **ret, struct ctx_err *err);
void ctx_calls_destroy(struct ctx_calls *calls);

/*
 * A CTX_EV_CALL. `scope` is that of the event's process. Times never decrease over all calls: an
 * earlier one counts as now. A thread that enters or leaves a call runs.
 */
CTX_MUST_CHECK enum ctx_status ctx_calls_event(struct ctx_calls *calls, const struct ctx_stack_scope *scope,
					       const struct ctx_event *event, struct ctx_err *err);

/* A thread gets a CPU or leaves it. */
CTX_MUST_CHECK enum ctx_status ctx_calls_run(struct ctx_calls *calls, uint32_t thread, uint64_t time_ns,
					     bool runs, struct ctx_err *err);

/*
 * The raw stack of a sample of the thread, below its open calls; itself if there are none. An empty one
 * becomes the open calls. O(1) for a pair of stacks that was merged before.
 */
CTX_MUST_CHECK enum ctx_status ctx_calls_merge(struct ctx_calls *calls, uint32_t thread, uint32_t raw_stack,
					       uint32_t *ret, struct ctx_err *err);

/* The thread ends, and its open calls with it, as left without return. */
CTX_MUST_CHECK enum ctx_status ctx_calls_end(struct ctx_calls *calls, uint32_t thread, uint64_t time_ns,
					     struct ctx_err *err);

/* The recording ends. */
CTX_MUST_CHECK enum ctx_status ctx_calls_finish(struct ctx_calls *calls, struct ctx_err *err);

/*
 * Emits what waits for the end of the current ns: before a thread's trees end. Spans that end with it
 * come late then.
 */
CTX_MUST_CHECK enum ctx_status ctx_calls_flush(struct ctx_calls *calls, struct ctx_err *err);

/* Events that came with an earlier time than one before. */
uint64_t ctx_calls_late(const struct ctx_calls *calls);

#endif
