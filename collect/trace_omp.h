/* Records of OpenMP as the runtime in the target writes them (runtime/rt_omp.h) -> events of the experiment. */
#ifndef CTX_COLLECT_TRACE_OMP_H
#define CTX_COLLECT_TRACE_OMP_H

#include "collect/trace_ring.h"
#include "formats/experiment/exp_writer.h"

#include <stdbool.h>

struct ctx_trace_omp { /* room for a stack with the construct's function */
	uint64_t frames[CTX_RT_FRAMES_MAX + 2];
};

static inline bool ctx_trace_omp_is(enum ctx_rt_kind kind)
{
	return kind == CTX_RT_OMP || kind == CTX_RT_OMP_BODY;
}

/*
 * Fills what the record says, except process and thread; the frames are borrowed from the record or from `room`. False: the record
 * makes no sense.
 */
bool ctx_trace_omp_read(const struct ctx_trace_record *record, struct ctx_trace_omp *room,
			struct ctx_exp_omp *ret);

#endif
