/* Elements by their id (a process, a thread), in any order. */
#ifndef CTX_COLLECT_ID_TABLE_H
#define CTX_COLLECT_ID_TABLE_H

#include "base/err.h"
#include "base/map64.h"

struct ctx_id_table {
	struct ctx_map64 rows_by_id;
	struct ctx_id_row {
		int64_t id;
		void *element; /* borrowed */
	} * rows;	       /* owned; without gaps */
	size_t n, cap;
};

void ctx_id_table_deinit(struct ctx_id_table *table);

/* NULL: not there. */
void *ctx_id_table_find(const struct ctx_id_table *table, int64_t id);

/* The id is not in the table. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_id_table_add(struct ctx_id_table *table, int64_t id, void *element,
						struct ctx_err *err);

/* The id is in the table. */
void ctx_id_table_remove(struct ctx_id_table *table, int64_t id);

#endif
