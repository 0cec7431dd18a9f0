/*
 * Synchronisation as the runtime in the target records it (runtime/rt_waits.h) -> operations of the experiment.
 */
#ifndef CTX_COLLECT_TRACE_SYNC_H
#define CTX_COLLECT_TRACE_SYNC_H

#include "collect/proctree.h"
#include "collect/trace_ring.h"
#include "formats/experiment/exp_writer.h"

#include <stdbool.h>

/*
 * The shortest wait that is worth a record, in ns: six times what it costs to take a free lock, or the longest
 * that it took, up to the next microsecond, as gprofng does it; of several rounds the smallest, since other
 * programs run too. Costs some 20 us.
 */
uint64_t ctx_trace_sync_calibrate(void);

static inline bool ctx_trace_sync_is(enum ctx_rt_kind kind)
{
	return kind >= CTX_RT_SYNC_FIRST && kind < CTX_RT_SYNC_END;
}

/* What a record says: an operation of its thread, and of the thread that it waited for. */
struct ctx_trace_sync {
	struct ctx_exp_sync operations[2];
	unsigned n; /* 0: it makes no sense */
	uint64_t holder_frame;
};

/* `who` has process and thread. The result borrows from the record and points into itself. */
void ctx_trace_sync_read(const struct ctx_trace_record *record, const struct ctx_exp_sync *who,
			 const struct ctx_proctree *tree, struct ctx_trace_sync *ret);

#endif
