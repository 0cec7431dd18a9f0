/*
 * What tracing by the runtime in the target has missed, as texts for the user.
 */
#ifndef CTX_COLLECT_TRACE_TEXTS_H
#define CTX_COLLECT_TRACE_TEXTS_H

#include "collect/recargs.h"
#include "collect/trace.h"

#define CTX_TRACE_TEXTS 21u
#define CTX_TRACE_TEXT_MAX 640u

/*
 * Text `number` of CTX_TRACE_TEXTS; false: there is nothing to say. What ctx_trace_unfit_line says is left out of
 * the counts by the caller.
 */
bool ctx_trace_text(const struct ctx_trace_counts *counts, const struct ctx_rec_trace *trace, unsigned number,
		    char text[CTX_TRACE_TEXT_MAX]);

/* Since when a process is traced that ran already, and how long one of its threads stood still for it. */
void ctx_trace_attached_text(const struct ctx_rec_trace *trace, int64_t pid, uint64_t stopped_ns,
			     char text[CTX_TRACE_TEXT_MAX]);
/* One program that is without the runtime. */
void ctx_trace_unfit_line(const struct ctx_trace_unfit_program *program, const struct ctx_rec_trace *trace,
			  char text[CTX_TRACE_TEXT_MAX]);

#endif
