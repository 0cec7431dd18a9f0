/*
 * The store as a source of reports and exports: struct ctx_report_source of a database and a
 * selection.
 *
 * Results are kept until the source is closed, so that several reports of one command share them.
 */
#ifndef CTX_QUERY_STORE_SOURCE_H
#define CTX_QUERY_STORE_SOURCE_H

#include "model/report_source.h"
#include "query/selection.h"
#include "store/store.h"
#include "timetree/timetree.h"

struct ctx_query_source_spec { /* everything is borrowed until the source is closed */
	struct ctx_store *store;
	const struct ctx_selection *selection;
	const struct ctx_selection_spec *words; /* --by and --index */
	const char *path;			/* as the user named the recording */
	const char *options;			/* struct ctx_report_selection has it; NULL: none */
	bool top_only; /* --coverage top: only the heaviest stacks of each node of the time tree are read */
	/*
	 * The file of a load object, as struct ctx_report_source has it; NULL: none are available.
	 */
	enum ctx_status (*object_file)(void *context, uint32_t object, struct ctx_buf *out,
				       struct ctx_err *err);
	void *object_context;
	const struct ctx_data_namer *data_namer; /* NULL: none */
};

/* Reads nothing yet. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_query_source_open(const struct ctx_query_source_spec *spec,
						     struct ctx_report_source **ret, struct ctx_err *err);
void ctx_query_source_close(struct ctx_report_source *base); /* NULL does nothing */

/* The queries made since the source was opened or since the last call. */
struct ctx_query_source_cost {
	struct ctx_timetree_cost tree;
	uint64_t samples_scanned; /* for filters, index objects, addresses and the states of slices */
	double cpu_ms;
};

struct ctx_query_source_cost ctx_query_source_take_cost(struct ctx_report_source *base);

#endif
