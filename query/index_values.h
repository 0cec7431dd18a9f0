/*
 * The values that the keys of an index have for a sample: those of expressions change along a span of
 * time, the others are looked up by thread, call stack or state, and stay.
 */
#ifndef CTX_QUERY_INDEX_VALUES_H
#define CTX_QUERY_INDEX_VALUES_H

#include "base/strtab.h"
#include "model/expression.h"
#include "model/report_source.h"
#include "model/topology.h"
#include "model/wait_kind.h"
#include "query/index_key.h"

struct ctx_index_values {
	const struct ctx_profile *profile;     /* of the samples */
	const struct ctx_index_stacks *stacks; /* NULL: those of the profile */
	size_t n;			       /* of the keys */
	enum ctx_index_entity entities[CTX_INDEX_KEYS_MAX];
	/* Owned; of keys that are names: the name by thread, of constructs of OpenMP by node of the CCT; NULL. */
	uint32_t *of_thread[CTX_INDEX_KEYS_MAX];
	struct ctx_strtab names;
	struct ctx_topology_groups
		groups[CTX_TOPOLOGY_N]; /* of such keys: by processor; of a PMU by metric, too */
	uint32_t *pmu_of_metric;	/* owned; CTX_NONE: its name has none; NULL */
	/* Of the keys that are expressions, in their order: owned. */
	struct ctx_expression *expressions[CTX_INDEX_KEYS_MAX];
	size_t places[CTX_INDEX_KEYS_MAX]; /* numbers of the keys */
	size_t n_expressions;
	bool asks_operations; /* some expression uses what only traced operations have */
	int64_t *of_raw;      /* owned; of a key that is a line: by raw stack; NULL */
	size_t n_raw;
	const struct ctx_source_file *files; /* of such a key */
	struct ctx_wait_kinds kinds;	     /* of a key that is a wait */
	uint8_t *kind_of; /* owned; by state and stack: 1 + enum ctx_wait_kind; 0: not looked up yet */
};

/* What else the values are made of. */
struct ctx_index_base {
	const struct ctx_profile *profile;
	const struct ctx_code *code; /* NULL: no key is a line */
	const struct ctx_index_stacks *stacks;
};

/*
 * Parses and binds. Call ctx_index_values_deinit in any case. CTX_E_ARG: an expression is invalid, or the
 * recording has no thread states for a key that is a wait, or nothing of its processors for one that asks that. O(functions + threads + raw stacks), as
 * far as the keys ask.
 */
CTX_MUST_CHECK enum ctx_status ctx_index_values_init(const struct ctx_index_keys *keys,
						     const struct ctx_index_base *base,
						     struct ctx_index_values *ret, struct ctx_err *err);
void ctx_index_values_deinit(struct ctx_index_values *values);

/* Of the keys that are no expressions; the others' places stay. O(depth) for a wait of a new stack. */
void ctx_index_values_fixed(const struct ctx_index_values *values, const struct ctx_sample *sample,
			    int64_t *ret);

#endif
