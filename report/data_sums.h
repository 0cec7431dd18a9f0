/*
 * Sums of accesses to memory by data object and member, for the reports of them.
 *
 *	access --where its data or its instruction is--> question --namer--> data object, member
 *
 * Each instruction and each address is asked once.
 */
#ifndef CTX_REPORT_DATA_SUMS_H
#define CTX_REPORT_DATA_SUMS_H

#include "base/strtab.h"
#include "report/traced_page.h"

#define CTX_DATA_UNKNOWN_OBJECT "<Unknown>"
#define CTX_DATA_SCALARS "<Scalars>"
#define CTX_DATA_PADDING "<padding>"

struct ctx_data_row {
	const char *object; /* "{structure:foo}", "<Scalars>", "<Unknown>" */
	const char *member; /* "{int i}", "<padding>"; NULL of unknown ones */
	uint64_t offset, size;
	struct ctx_traced_sums sums;
};

struct ctx_data_sums {
	struct ctx_data_row *members; /* owned; by object and member */
	size_t n_members, members_cap;
	struct ctx_data_row *objects; /* owned; sums of them */
	size_t n_objects, objects_cap;
	struct ctx_strtab texts;
	uint64_t no_debug; /* accesses without an answer */
};

/* Adds all accesses of the page that pass. Fails as the source does. */
CTX_MUST_CHECK enum ctx_status ctx_data_sums_collect(struct ctx_data_sums *sums,
						     struct ctx_report_source *source,
						     struct ctx_traced_page *page, struct ctx_err *err);
void ctx_data_sums_deinit(struct ctx_data_sums *sums);

#endif
