/* A time tree in memory, made of samples. */
#ifndef CTX_TESTS_UNIT_TIMETREE_BUILDING_H
#define CTX_TESTS_UNIT_TIMETREE_BUILDING_H

#include "timetree/timetree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * Of samples in order of time and inside the run; owned by the caller. `cct`: NULL for a tree
 * without call counts.
 */
static inline struct ctx_timetree *build(const struct ctx_timetree_params *params, struct ctx_interval run,
					 const struct ctx_trie *cct, const struct ctx_sample *samples,
					 size_t n)
{
	struct ctx_timetree *tree;
	struct ctx_timetree_sink sink;
	struct ctx_timetree_builder *builder;

	assert_int_equal(ctx_timetree_create(&tree, NULL), CTX_OK);
	sink = ctx_timetree_sink(tree);
	assert_int_equal(
		ctx_timetree_builder_create(
			&(struct ctx_timetree_plan){.params = *params, .run = run, .cct = cct, .sink = sink},
			&builder, NULL),
		CTX_OK);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ctx_timetree_builder_add(builder, &samples[i], NULL), CTX_OK);
	assert_int_equal(ctx_timetree_builder_finish(builder, NULL), CTX_OK);
	assert_int_equal(ctx_timetree_builder_moved(builder), 0);
	ctx_timetree_builder_destroy(builder);
	return tree;
}

#endif
