/*
 * Queue: puts the records of one stream into order of time, in bounded memory.
 *
 * perf writes what it finds in the rings of the processors one ring after the other, and says FINISHED_ROUND when it
 * has been through all of them: nothing that comes later is older than the newest record of the round before. So
 * at the end of a round everything up to the newest time of the round before it is in order.
 *
 *	rounds:      1: t <= 10   2: t <= 20   3: t <= 30
 *	given out:   -            t <= 10      t <= 20      ... the rest at the end
 *
 * A stream without rounds (a directory's files, other writers) is kept up to a number of bytes, then the older half
 * goes. Records without a time come in the place where they stand, before all that waits. Source:
 * tools/perf/util/ordered-events.c of Linux, which sorts in the same rounds.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_QUEUE_H
#define CTX_FORMATS_PERFDATA_PD_QUEUE_H

#include "formats/perfdata/pd_stream.h"

struct ctx_pd_queued {
	uint64_t time; /* on the file's clock; 0: none of its own */
	struct ctx_pd_record record;
};

struct ctx_pd_queue {
	struct ctx_pd_stream stream;
	const struct ctx_pd_events *events; /* borrowed */
	size_t bytes_max;
	struct ctx_pd_queued *items; /* owned; [at, ready) is in order and may go, [ready, n) waits */
	size_t at, ready, n, cap;
	struct ctx_pd_queued *sorted; /* owned scratch */
	size_t sorted_cap;
	size_t *runs; /* owned scratch: where ascending runs begin */
	size_t runs_cap;
	size_t bytes;		     /* that the items hold: themselves and their chunks */
	uint64_t round_max;	     /* newest time of the round before */
	uint64_t newest;	     /* time that was read */
	struct ctx_pd_queued direct; /* a record without time, that goes first */
	bool has_direct, has_damage, ended;
	uint64_t n_cut; /* times that memory ended a round */
};

/* `events` must be settled before the first call of next, and stay. */
void ctx_pd_queue_init(struct ctx_pd_queue *queue, const struct ctx_pd_events *events, size_t bytes_max);
void ctx_pd_queue_deinit(struct ctx_pd_queue *queue);

/*
 * The next record in order, without taking it: borrowed until ctx_pd_queue_take. When damage was met on the way it
 * comes first: then *ret is NULL, and queue->stream.damage says it. CTX_END, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_queue_peek(struct ctx_pd_queue *queue, const struct ctx_pd_queued **ret,
						 struct ctx_err *err);
void ctx_pd_queue_take(struct ctx_pd_queue *queue);

#endif
