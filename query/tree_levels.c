#include "query/query.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

struct levels {
	struct ctx_report_level *levels;
	size_t n, cap;
};

static enum ctx_status add_level(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	struct levels *levels = context;
	enum ctx_status status = ctx_grow(&levels->levels, &levels->cap, levels->n + 1, err);
	uint64_t values[6] = {0};

	if (status != CTX_OK)
		return status;
	for (int i = 0; i < row->n && i < (int)CTX_COUNT_OF(values); i++)
		values[i] = row->values[i] != NULL ? strtoull(row->values[i], NULL, 10) : 0;
	levels->levels[levels->n++] = (struct ctx_report_level){
		.level = (uint32_t)values[0],
		.nodes = values[1],
		.leaves = values[2],
		.samples_in_leaves = values[3],
		.top_bytes = values[4],
		.tail_bytes = values[5],
	};
	return CTX_OK;
}

enum ctx_status ctx_query_levels(struct ctx_query *query, uint32_t metric, struct ctx_report_level **ret,
				 size_t *ret_n, struct ctx_err *err)
{
	size_t n;
	const uint32_t *metrics = ctx_query_base_metrics(query->profile, &metric, &n);
	const struct ctx_tree_info *tree = NULL;
	struct levels levels = {0};
	char sql[512];
	enum ctx_status status;

	*ret = NULL;
	*ret_n = 0;
	/* A sum is represented by the first of its parts that has a tree. */
	for (size_t i = 0; i < n && tree == NULL; i++)
		tree = ctx_store_find_tree(query->store, CTX_NONE, metrics[i]);
	if (tree == NULL)
		return CTX_OK;
	snprintf(sql, sizeof(sql),
		 "SELECT level, count(*), sum(n_children = 0), sum(CASE WHEN n_children = 0 THEN n ELSE 0 "
		 "END),"
		 " sum(coalesce(length(top), 0)), sum(coalesce(length(tail), 0))"
		 " FROM time_node WHERE tree = %u GROUP BY level ORDER BY level",
		 tree->id);
	status = ctx_store_sql(query->store, sql, add_level, &levels, err);
	if (status != CTX_OK) {
		free(levels.levels);
		return status;
	}
	*ret = levels.levels;
	*ret_n = levels.n;
	return CTX_OK;
}
