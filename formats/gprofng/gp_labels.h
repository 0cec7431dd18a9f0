/*
 * labels.xml: intervals that a user named, as one or two marks each: "start", and "stop" at its end.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_LABELS_H
#define CTX_FORMATS_GPROFNG_GP_LABELS_H

#include "formats/gprofng/gp_log.h"

struct ctx_gp_interval {
	const char *name, *comment; /* of the list's arena; comment "" none */
	bool has_begin, has_end;    /* neither: a comment alone */
	int64_t begin_ns, end_ns;   /* from the run */
};

struct ctx_gp_intervals { /* all zero is an empty list */
	struct ctx_arena arena;
	struct ctx_gp_interval *items; /* owned; by name, as they are first met */
	size_t n, cap;
	uint64_t damaged;
};

void ctx_gp_intervals_deinit(struct ctx_gp_intervals *intervals);

/* Reads the tags of a labels.xml of the experiment that `log` is of. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_intervals_parse(struct ctx_gp_intervals *intervals,
						      struct ctx_gp_xml *xml, const struct ctx_gp_log *log,
						      struct ctx_err *err);

#endif
