/*
 * The row of a recording in ctx_recording: who, when, labels, metrics, groups of threads, what was lost.
 */
#ifndef CTX_FLEET_PUSH_MANIFEST_H
#define CTX_FLEET_PUSH_MANIFEST_H

#include "fleet/push_parts.h"

#define CTX_PUSH_LABEL_PROPERTY "label." /* a property of the recording: ctxrec --label */

/*
 * The labels of a recording: its own ("label.KEY" among the properties), then those of the spec, which replace them. `*ret` is malloc'ed,
 * the texts are borrowed. CTX_E_ARG: a key that is empty; CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_push_labels(const struct ctx_push_spec *spec, struct ctx_push_label **ret,
					       size_t *ret_n, struct ctx_err *err);

/* Fills in `metrics` and `threads`. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_push_manifest_prepare(struct ctx_push *push, struct ctx_err *err);
/* Appends the row. CTX_E_ARG: labels; CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_push_manifest_put(const struct ctx_push *push, struct ctx_buf *row,
						     struct ctx_err *err);
void ctx_push_manifest_deinit(struct ctx_push *push);

#endif
