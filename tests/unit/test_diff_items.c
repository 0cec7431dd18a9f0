/*
 * What comparisons have rows of: weights of every subject, and of the merged profile, against the obvious slow way, by
 * texts.
 */
#include "base/mem.h"
#include "compare/merged.h"
#include "diff_fixture.h"
#include "failing_malloc.h"

#include <math.h>
#include <stdio.h>

/* ---- the slow way: weights by text ---- */

struct sums {
	char *keys[KEYS_MAX]; /* owned */
	uint64_t weights[KEYS_MAX][2];
	bool seen[KEYS_MAX]; /* of the sample that is added */
	size_t n;
};

static void sum(struct sums *sums, const char *key, int side, uint64_t weight)
{
	size_t i = 0;

	while (i < sums->n && strcmp(sums->keys[i], key) != 0)
		i++;
	if (i == sums->n) {
		assert_true(i < KEYS_MAX);
		sums->keys[sums->n++] = strdup(key);
	}
	if (!sums->seen[i])
		sums->weights[i][side] += weight;
	sums->seen[i] = true;
}

static void free_sums(struct sums *sums)
{
	for (size_t i = 0; i < sums->n; i++)
		free(sums->keys[i]);
	free(sums);
}

static const char *name_at(const struct world *world, uint32_t node)
{
	return node != 0 ? world->functions[world->profile.cct.key[node]].name : "-";
}

/* "main;parse" with, folded, recursion as its first instance: the text is cut there. */
static void put_folded(char *path, const char *name, bool folds)
{
	char whole[16];

	snprintf(whole, sizeof(whole), ";%s;", name);
	if (folds && strstr(path, whole) != NULL)
		strstr(path, whole)[strlen(whole)] = '\0';
	else
		strcat(path, whole + 1);
}

static void sum_tree(struct sums *sums, const struct world *world, int side, const struct ctx_sample *sample,
		     bool folds, bool leaf_only)
{
	const struct ctx_trie *cct = &world->profile.cct;
	char path[256] = ";";

	for (uint32_t depth = 1; depth <= cct->depth[sample->stack]; depth++)
		put_folded(path, name_at(world, ctx_trie_ancestor(cct, sample->stack, depth)), folds);
	/* All beginnings of what is left. */
	for (size_t n = strlen(path); n > 1; n--) {
		if (path[n - 1] != ';')
			continue;
		path[n] = '\0';
		sum(sums, path, side, sample->weight);
		if (leaf_only)
			return;
	}
}

static void sum_sample(struct sums *sums, const struct world *world, int side,
		       const struct ctx_sample *sample, const struct ctx_diff_spec *spec)
{
	const struct ctx_trie *cct = &world->profile.cct;
	char key[64];

	memset(sums->seen, 0, sizeof(sums->seen));
	switch (spec->subject) {
	case CTX_DIFF_FUNCTIONS:
		for (uint32_t node = sample->stack; node != 0; node = spec->total ? cct->parent[node] : 0)
			sum(sums, name_at(world, node), side, sample->weight);
		break;
	case CTX_DIFF_CALLERS:
		for (uint32_t node = sample->stack; node != 0; node = cct->parent[node]) {
			bool is_outermost = true;

			for (uint32_t up = cct->parent[node]; up != 0; up = cct->parent[up])
				is_outermost &= strcmp(name_at(world, up), name_at(world, node)) != 0;
			snprintf(key, sizeof(key), "%s>%s", name_at(world, cct->parent[node]),
				 name_at(world, node));
			if (is_outermost)
				sum(sums, key, side, sample->weight);
		}
		break;
	case CTX_DIFF_STACKS:
		sum_tree(sums, world, side, sample, false, true);
		break;
	case CTX_DIFF_TREE:
		sum_tree(sums, world, side, sample, spec->folds, false);
		break;
	case CTX_DIFF_THREADS:
		sum(sums, world->threads[sample->thread].name, side, sample->weight);
		break;
	default:
		fail();
	}
}

/* The part of a span in the intervals, by microseconds. */
static uint64_t slow_overlap(const struct world *world, const struct ctx_sample *sample)
{
	uint64_t begin = ctx_sample_begin(sample), end = sample->time_ns + 1, ns = 0;

	for (int i = 0; i < 2; i++) {
		uint64_t from = begin > world->intervals[i].begin_ns ? begin : world->intervals[i].begin_ns;
		uint64_t to = end < world->intervals[i].end_ns ? end : world->intervals[i].end_ns;

		ns += to > from ? to - from : 0;
	}
	return ns;
}

static void sum_states(struct sums *sums, const struct world *world, int side)
{
	for (size_t i = 0; i < N_SAMPLES; i++) {
		const struct ctx_sample *sample = &world->samples[i];
		uint64_t ns = slow_overlap(world, sample);

		memset(sums->seen, 0, sizeof(sums->seen));
		if (sample->metric != 0 && ns != 0)
			sum(sums, ctx_state_name((enum ctx_thread_state)(sample->metric - 1)), side, ns);
	}
}

static void put_path(const struct ctx_diff_items *items, uint32_t item, char *out)
{
	if (item == CTX_NONE) {
		strcpy(out, ";");
		return;
	}
	put_path(items, items->items[item].parent, out);
	strcat(out, items->items[item].profile->functions[items->items[item].function].name);
	strcat(out, ";");
}

static void put_key(const struct ctx_diff *diff, const struct ctx_diff_spec *spec, uint32_t item, char *out)
{
	const struct ctx_diff_item *it = &diff->items.items[item];
	const char *name = it->function != CTX_NONE ? it->profile->functions[it->function].name : "";

	switch (spec->subject) {
	case CTX_DIFF_CALLERS:
		sprintf(out, "%s>%s", it->caller != CTX_NONE ? it->profile->functions[it->caller].name : "-",
			name);
		break;
	case CTX_DIFF_STACKS:
	case CTX_DIFF_TREE:
		put_path(&diff->items, item, out);
		break;
	case CTX_DIFF_THREADS:
		strcpy(out, it->profile->threads[it->thread].name);
		break;
	case CTX_DIFF_STATES:
		strcpy(out, ctx_state_name(it->state));
		break;
	default:
		strcpy(out, name);
	}
}

/* Each row is a sum of the slow way, and each sum a row. */
static void check_rows(const struct ctx_diff *diff, const struct ctx_diff_spec *spec, struct sums *sums,
		       const double scale[2])
{
	size_t n = 0;

	for (size_t i = 0; i < diff->n; i++) {
		const struct ctx_diff_row *row = &diff->rows[i];
		char key[256];
		size_t k = 0;

		put_key(diff, spec, row->item, key);
		while (k < sums->n && strcmp(sums->keys[k], key) != 0)
			k++;
		assert_true(k < sums->n);
		for (int side = 0; side < 2; side++)
			assert_true(fabs(row->weight[side] - (double)sums->weights[k][side] * scale[side]) <=
				    1e-9 * row->weight[side]);
		assert_true(fabs(row->evidence.change - (row->weight[1] - row->weight[0])) == 0);
	}
	for (size_t k = 0; k < sums->n; k++)
		n += sums->weights[k][0] + sums->weights[k][1] != 0;
	assert_int_equal(diff->n, n);
}

static void check_subject(struct world *worlds[2], enum ctx_diff_subject subject, bool flag)
{
	struct ctx_report_source *sources[] = {fake_open(&worlds[0]->fake), fake_open(&worlds[1]->fake)};
	struct ctx_diff_spec spec = spec_of(sources, subject, flag);
	static const double seconds[] = {1 / 0.7, 1 / 0.7}, none[] = {1, 1}, counts[] = {1 / 4.0, 1 / 5.0};
	struct sums *sums = calloc(1, sizeof(*sums));
	struct ctx_diff diff;

	assert_non_null(sums);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < N_SAMPLES && subject != CTX_DIFF_STATES; i++) {
			const struct ctx_sample *sample = &worlds[side]->samples[i];

			if (sample->metric == 0 && is_selected(worlds[side], sample->time_ns))
				sum_sample(sums, worlds[side], side, sample, &spec);
		}
		if (subject == CTX_DIFF_STATES)
			sum_states(sums, worlds[side], side);
	}
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
	check_rows(&diff, &spec, sums, none);
	ctx_diff_deinit(&diff);
	spec.weighting.weights = CTX_WEIGHTS_PER_SECOND;
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
	check_rows(&diff, &spec, sums, seconds);
	ctx_diff_deinit(&diff);
	spec.weighting = (struct ctx_weighting){CTX_WEIGHTS_PER_COUNT, {4, 5}, NULL};
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
	check_rows(&diff, &spec, sums, counts);
	ctx_diff_deinit(&diff);
	spec.weighting.weights = CTX_WEIGHTS_SHARE;
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
	for (int side = 0; side < 2; side++)
		assert_true(fabs(diff.sides[side].weight - 100) < 1e-9);
	assert_true(diff.total.p == 1);
	ctx_diff_deinit(&diff);
	free_sums(sums);
}

static void test_diff_items__have_the_weights_of_the_obvious_way(void **unused)
{
	static const enum ctx_diff_subject SUBJECTS[] = {CTX_DIFF_FUNCTIONS, CTX_DIFF_CALLERS,
							 CTX_DIFF_STACKS,    CTX_DIFF_TREE,
							 CTX_DIFF_THREADS,   CTX_DIFF_STATES};

	(void)unused;
	for (int round = 0; round < 3; round++) {
		struct world *worlds[] = {world_new(0), world_new(1 + (uint32_t)round)};

		for (size_t i = 0; i < CTX_COUNT_OF(SUBJECTS); i++) {
			for (int flag = 0; flag < 2; flag++) {
				/* `total` has no meaning for these. */
				if (flag && SUBJECTS[i] != CTX_DIFF_FUNCTIONS && SUBJECTS[i] != CTX_DIFF_TREE)
					continue;
				check_subject(worlds, SUBJECTS[i], flag);
			}
		}
		world_free(worlds[0]);
		world_free(worlds[1]);
	}
}

/* Calls of "hash" are entered at each sample of it here. */
static void test_diff_items__are_weighed_per_call(void **unused)
{
	struct world *worlds[] = {world_new(0), world_new(2)};
	struct ctx_report_source *sources[] = {fake_open(&worlds[0]->fake), fake_open(&worlds[1]->fake)};
	struct ctx_diff_spec spec = spec_of(sources, CTX_DIFF_FUNCTIONS, false);
	double weights[2];
	int64_t calls[2] = {0};
	struct ctx_err err = {0};
	struct ctx_diff diff;

	(void)unused;
	for (int side = 0; side < 2; side++) {
		const struct ctx_trie *cct = &worlds[side]->profile.cct;

		weights[side] = (double)worlds[side]->histogram.weight;
		for (size_t i = 0; i < worlds[side]->histogram.n; i++) {
			struct ctx_hist_entry *entry = &worlds[side]->histogram.entries[i];

			entry->calls = (int64_t)below(4) - 1;
			for (uint32_t node = entry->stack; node != 0; node = cct->parent[node])
				calls[side] +=
					strcmp(name_at(worlds[side], node), "hash") == 0 ? entry->calls : 0;
		}
		assert_true(calls[side] > 0);
	}
	spec.weighting = (struct ctx_weighting){.weights = CTX_WEIGHTS_PER_COUNT, .function = "hash"};
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
	for (int side = 0; side < 2; side++)
		assert_true(fabs(diff.sides[side].weight - weights[side] / (double)calls[side]) < 1e-6);
	ctx_diff_deinit(&diff);
	spec.weighting.function = "nobody";
	assert_int_equal(ctx_diff_make(&spec, &diff, &err), CTX_E_ARG);
	assert_string_equal(err.msg, "a.er has no calls of a function 'nobody'");
	world_free(worlds[0]);
	world_free(worlds[1]);
}

static void test_diff_items__need_what_they_compare(void **unused)
{
	struct world *worlds[] = {world_new(0), world_new(2)};
	struct ctx_report_source *sources[] = {fake_open(&worlds[0]->fake), fake_open(&worlds[1]->fake)};
	struct ctx_diff_spec spec = spec_of(sources, CTX_DIFF_STATES, false);
	struct ctx_err err = {0};
	struct ctx_diff diff;

	(void)unused;
	worlds[1]->profile.has_states = false;
	assert_int_equal(ctx_diff_make(&spec, &diff, &err), CTX_E_ARG);
	assert_string_equal(err.msg, "b.er has no thread states: they are not known");
	worlds[1]->profile.losses.call_stacks = true;
	spec.subject = CTX_DIFF_TREE;
	assert_int_equal(ctx_diff_make(&spec, &diff, &err), CTX_E_ARG);
	assert_string_equal(err.msg, "b.er has no call stacks: inclusive times are not known");
	spec.subject = CTX_DIFF_LINES;
	assert_int_equal(ctx_diff_make(&spec, &diff, &err), CTX_E_ARG);
	assert_string_equal(err.msg, "a.er: the addresses of the samples are not known");
	ctx_histogram_clear(&worlds[0]->histogram);
	spec.subject = CTX_DIFF_FUNCTIONS;
	assert_int_equal(ctx_diff_make(&spec, &diff, &err), CTX_E_ARG);
	assert_string_equal(err.msg, "a.er has no samples in the selection: there is nothing to compare");
	world_free(worlds[0]);
	world_free(worlds[1]);
}

static void test_diff_items__survive_each_failing_allocation(void **unused)
{
	struct world *worlds[] = {world_new(0), world_new(2)};
	struct ctx_report_source *sources[] = {fake_open(&worlds[0]->fake), fake_open(&worlds[1]->fake)};

	(void)unused;
	for (enum ctx_diff_subject subject = CTX_DIFF_FUNCTIONS; subject < CTX_DIFF_SUBJECTS; subject++) {
		struct ctx_diff_spec spec = spec_of(sources, subject, true);
		enum ctx_status status = CTX_E_NOMEM;
		struct ctx_diff diff;

		spec.total = subject == CTX_DIFF_FUNCTIONS;
		if (subject == CTX_DIFF_LINES) /* below */
			continue;
		for (long i = 0; status != CTX_OK; i++) {
			fail_after = i;
			status = ctx_diff_make(&spec, &diff, NULL);
			fail_after = -1;
			assert_true(status == CTX_OK || status == CTX_E_NOMEM);
			assert_true(i < 2000);
		}
		ctx_diff_deinit(&diff);
	}
	world_free(worlds[0]);
	world_free(worlds[1]);
}

/* The sums of a side of a merged profile, by the names on the stack. */
static void sum_merged(struct sums *sums, struct ctx_report_source *source, int side)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_report_parts parts;

	assert_int_equal(source->parts(source, &(struct ctx_parts_query){.per_thread = true}, &parts, NULL),
			 CTX_OK);
	assert_int_equal(parts.n, 2);
	assert_int_equal(parts.parts[side].thread, side);
	for (size_t i = 0; i < parts.parts[side].histograms->n; i++) {
		const struct ctx_hist_entry *entry = &parts.parts[side].histograms->entries[i];
		char path[256] = ";";

		for (uint32_t depth = 1; depth <= profile->cct.depth[entry->stack]; depth++)
			put_folded(path,
				   profile->functions[profile->cct.key[ctx_trie_ancestor(
							      &profile->cct, entry->stack, depth)]]
					   .name,
				   false);
		memset(sums->seen, 0, sizeof(sums->seen));
		sum(sums, path, side, entry->weight);
	}
}

static enum ctx_status count_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	uint64_t *weight = context;

	(void)err;
	weight[sample->thread] += sample->weight;
	return CTX_OK;
}

static void test_merged__has_both_sides_by_stack(void **unused)
{
	struct world *worlds[] = {world_new(0), world_new(3)};
	struct ctx_report_source *sources[] = {fake_open(&worlds[0]->fake), fake_open(&worlds[1]->fake)};
	struct ctx_diff_spec spec = spec_of(sources, CTX_DIFF_FUNCTIONS, true);
	struct sums *sums = calloc(2, sizeof(*sums));
	uint64_t weight[2] = {0};
	struct ctx_report_source *source;
	enum ctx_status status = CTX_E_NOMEM;
	struct ctx_merged *merged;

	(void)unused;
	for (long i = 0; status != CTX_OK; i++) {
		fail_after = i;
		status = ctx_merged_make(&spec, &merged, NULL);
		fail_after = -1;
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
		assert_true(i < 2000);
	}
	source = ctx_merged_source(merged);
	assert_string_equal(source->selection.profile->threads[1].name, "B");
	assert_int_equal(source->selection.profile->n_objects, 2);
	for (int side = 0; side < 2; side++) {
		sum_merged(&sums[0], source, side);
		for (size_t i = 0; i < N_SAMPLES; i++) {
			const struct ctx_sample *sample = &worlds[side]->samples[i];

			memset(sums[1].seen, 0, sizeof(sums[1].seen));
			if (sample->metric == 0 && is_selected(worlds[side], sample->time_ns))
				sum_tree(&sums[1], worlds[side], side, sample, false, true);
		}
	}
	assert_int_equal(sums[0].n, sums[1].n);
	for (size_t i = 0; i < sums[0].n; i++) {
		size_t k = 0;

		while (k < sums[1].n && strcmp(sums[0].keys[i], sums[1].keys[k]) != 0)
			k++;
		assert_true(k < sums[1].n);
		assert_memory_equal(sums[0].weights[i], sums[1].weights[k], sizeof(sums[0].weights[i]));
	}
	assert_int_equal(source->samples(source, &(struct ctx_samples_query){.thread = CTX_NONE},
					 count_sample, weight, NULL),
			 CTX_OK);
	for (int side = 0; side < 2; side++)
		assert_int_equal(weight[side], worlds[side]->histogram.weight);
	ctx_merged_destroy(merged);
	spec.weighting.weights = CTX_WEIGHTS_SHARE;
	assert_int_equal(ctx_merged_make(&spec, &merged, NULL), CTX_E_ARG);
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < sums[i].n; k++)
			free(sums[i].keys[k]);
	}
	free(sums);
	world_free(worlds[0]);
	world_free(worlds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff_items__have_the_weights_of_the_obvious_way),
		cmocka_unit_test(test_diff_items__are_weighed_per_call),
		cmocka_unit_test(test_diff_items__need_what_they_compare),
		cmocka_unit_test(test_diff_items__survive_each_failing_allocation),
		cmocka_unit_test(test_merged__has_both_sides_by_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
