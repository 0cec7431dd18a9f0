/*
 * labels.xml: intervals named by the user, as one or two marks each: "start", and "stop" at the
 * end.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_LABELS_H
#define CTX_FORMATS_GPROFNG_GP_LABELS_H

#include "formats/gprofng/gp_log.h"

struct ctx_gp_interval {
	const char *name, *comment; /* of the list's arena; comment "" none */
	bool has_begin, has_end;    /* neither: a comment alone */
	int64_t begin_ns, end_ns;   /* from the run */
};

struct ctx_gp_intervals { /* all zero is a valid empty list */
	struct ctx_arena arena;
	struct ctx_gp_interval *items; /* owned; one per name, in order of first appearance */
	size_t n, cap;
	uint64_t damaged;
};

void ctx_gp_intervals_deinit(struct ctx_gp_intervals *intervals);

/* Reads the tags of the labels.xml of the experiment that `log` belongs to. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_intervals_parse(struct ctx_gp_intervals *intervals,
						      struct ctx_gp_xml *xml, const struct ctx_gp_log *log,
						      struct ctx_err *err);

#endif
