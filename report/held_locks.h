/*
 * How long each thread held locks, by slice of a time line: where ctxrec --sync recorded it. Locks that are held at
 * the same time count once each, up to the length of the slice.
 */
#ifndef CTX_REPORT_HELD_LOCKS_H
#define CTX_REPORT_HELD_LOCKS_H

#include "model/report_source.h"

struct ctx_held_locks {
	uint64_t *ns; /* owned; by slice, as in the slices; NULL: nothing was recorded */
	size_t n;
};

/*
 * Of the locks that were released in the selection, unless more operations than `most` were recorded in the run. Slices of a
 * thread follow each other without a gap. CTX_E_NOMEM, and what reading fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_held_locks_make(struct ctx_report_source *source,
						   const struct ctx_report_slices *slices, uint64_t most,
						   struct ctx_held_locks *ret, struct ctx_err *err);
void ctx_held_locks_deinit(struct ctx_held_locks *held);

/* Whether any slice from `first` on, of `n`, has some. */
bool ctx_held_locks_any(const struct ctx_held_locks *held, size_t first, size_t n);

/* '=' for more than half of the time, '-' for some of it, ' '. */
char ctx_held_locks_mark(uint64_t held_ns, uint64_t length_ns);

#endif
