/*
 * Building in cascade mode. Private to timetree/.
 */
#ifndef CTX_TIMETREE_TIMETREE_CASCADE_H
#define CTX_TIMETREE_TIMETREE_CASCADE_H

#include "timetree/timetree_output.h"

/* Builds the whole tree from the run's samples, which it rearranges. Fails as the builder's
 * finish. */
CTX_MUST_CHECK enum ctx_status ctx_timetree_build_cascade(struct ctx_timetree_output *output,
							  struct ctx_sample *samples, size_t n,
							  struct ctx_err *err);

#endif
