/*
 * --merge: the recordings of the command line as one.
 */
#ifndef CTX_CTXAN_MERGING_H
#define CTX_CTXAN_MERGING_H

#include "ctxan/input_format.h"

#include <stddef.h>

struct ctx_merging_part {
	const char *path;
	const struct ctx_input_format *format;
};

struct ctx_merging_offsets { /* FILE=NS each, borrowed */
	const char *const *items;
	size_t n;
};

/* An open recording, or several as one. All zero is closed. */
struct ctx_merging {
	struct ctx_event_source *source;
	struct ctx_input *inputs; /* owned; without their sources if there are several */
	size_t n;
};

/*
 * Opens the recordings, of which there is one at least; several with the offsets between them. To be
 * closed after a failure, too. Fails as the readers and ctx_joint_place do; CTX_E_ARG: an offset is of none of them,
 * or no number.
 */
CTX_MUST_CHECK enum ctx_status ctx_merging_open(struct ctx_merging *merging,
						const struct ctx_merging_part *parts, size_t n,
						const struct ctx_merging_offsets *offsets,
						struct ctx_err *err);
void ctx_merging_close(struct ctx_merging *merging);

#endif
