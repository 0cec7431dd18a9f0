/*
 * The marks and phases of a recording, for intervals that are named by them: -i mark:load, -i phase:B.
 */
#ifndef CTX_QUERY_MARKED_H
#define CTX_QUERY_MARKED_H

#include "model/mark_spans.h"
#include "model/phase.h"
#include "query/selection_spec.h"
#include "store/store.h"

struct ctx_marked {
	struct ctx_mark_spans spans; /* owned */
	struct ctx_mark_view view;   /* of them; names are borrowed from the store */
	struct ctx_phases *phases; /* owned; of each interval that names some: of the run or of its process */
	const struct ctx_phase_group **groups; /* owned; by interval; NULL where it names none */
	size_t n;			       /* intervals */
};

/*
 * Reads all marks if an interval of `spec` names one, and finds the phases for each that names those, else nothing;
 * `spec->marks` and `spec->phases` are set to them. `ret` must stay where it is as long as the spec is used. Fails as
 * ctx_store_scan_traced and ctx_query_phases do.
 */
CTX_MUST_CHECK enum ctx_status ctx_marked_load(struct ctx_store *store, struct ctx_selection_spec *spec,
					       struct ctx_marked *ret, struct ctx_err *err);
void ctx_marked_deinit(struct ctx_marked *marked);

#endif
