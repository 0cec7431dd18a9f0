/*
 * Queue: sorts the records of one stream by time, in bounded memory.
 *
 * perf drains the per-CPU ring buffers one after the other and writes FINISHED_ROUND when it has
 * drained them all: no later record is older than the newest record of the previous round. So at
 * the end of a round, all records up to the newest time of the previous round are complete.
 *
 *	rounds:      1: t <= 10   2: t <= 20   3: t <= 30
 *	released:    -            t <= 10      t <= 20      ... the rest at the end
 *
 * A stream without rounds (the files of a directory, other writers) is buffered up to a number of
 * bytes, then the older half is released. Records without a time bypass the buffer. Source:
 * tools/perf/util/ordered-events.c of Linux, which sorts in the same rounds.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_QUEUE_H
#define CTX_FORMATS_PERFDATA_PD_QUEUE_H

#include "formats/perfdata/pd_stream.h"

struct ctx_pd_queued {
	uint64_t time; /* on the file's clock; 0: none */
	struct ctx_pd_record record;
};

struct ctx_pd_queue {
	struct ctx_pd_stream stream;
	const struct ctx_pd_events *events; /* borrowed */
	size_t bytes_max;
	struct ctx_pd_queued *items; /* owned; [at, ready) is sorted and released, [ready, n) is buffered */
	size_t at, ready, n, cap;
	struct ctx_pd_queued *sorted; /* owned scratch */
	size_t sorted_cap;
	size_t *runs; /* owned scratch: starts of ascending runs */
	size_t runs_cap;
	size_t bytes;		     /* held by the items: themselves and their chunks */
	uint64_t round_max;	     /* newest time of the previous round */
	uint64_t newest;	     /* newest time read */
	struct ctx_pd_queued direct; /* a record without a time, which goes first */
	bool has_direct, has_damage, ended;
	uint64_t n_cut; /* rounds that were cut by the limit of bytes */
};

/*
 * Keeps queue->stream, which the caller has initialised. `events` is borrowed and must be settled
 * before the first peek.
 */
void ctx_pd_queue_init(struct ctx_pd_queue *queue, const struct ctx_pd_events *events, size_t bytes_max);
void ctx_pd_queue_deinit(struct ctx_pd_queue *queue);

/*
 * The next record in order, borrowed until ctx_pd_queue_take removes it. Damage comes first: then
 * *ret is NULL, and queue->stream.damage describes it. CTX_END at the end. Fails with CTX_E_IO,
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_queue_peek(struct ctx_pd_queue *queue, const struct ctx_pd_queued **ret,
						 struct ctx_err *err);
void ctx_pd_queue_take(struct ctx_pd_queue *queue);

#endif
