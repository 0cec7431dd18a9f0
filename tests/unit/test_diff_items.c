/*
 * What comparisons have rows of: weights of every subject against the obvious slow way, by texts; what is renamed, and
 * lines that moved.
 */
#include "base/mem.h"
#include "chance.h"
#include "compare/diff.h"
#include "compare/line_matching.h"
#include "failing_malloc.h"
#include "fake_source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000u
#define N_FUNCTIONS 5u
#define N_THREADS 3u
#define N_SAMPLES 600u
#define DEPTH 6u
#define N_METRICS (1u + CTX_STATE_N)
#define KEYS_MAX 4000u

/* A recording; function ids of side B are turned, so that only names tell which are the same. */
struct world {
	struct ctx_function_info functions[N_FUNCTIONS];
	struct ctx_object_info objects[2];
	struct ctx_thread_info threads[N_THREADS];
	struct ctx_process_info process;
	struct ctx_metric_info metrics[N_METRICS];
	struct ctx_profile profile;
	struct ctx_interval intervals[2];
	struct ctx_sample samples[N_SAMPLES];
	struct ctx_histogram histogram;
	struct ctx_report_part part;
	struct fake_source fake;
	/* Of lines. */
	struct ctx_trie raw;
	struct ctx_location locations[8];
	struct ctx_site sites[8];
	struct ctx_source_file file;
	struct ctx_code code;
	struct ctx_code_reader reader;
	const char *text;
};

static const char *const NAMES[N_FUNCTIONS] = {"main", "parse", "hash", "read", "close"};

static bool is_selected(const struct world *world, uint64_t time_ns)
{
	return ctx_interval_has(world->intervals[0], time_ns) ||
	       ctx_interval_has(world->intervals[1], time_ns);
}

static enum ctx_status each_sample(void *context, const struct ctx_samples_query *query,
				   ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	struct world *world = context;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < N_SAMPLES && status == CTX_OK; i++) {
		const struct ctx_sample *sample = &world->samples[i];

		if (query->has_metric ? sample->metric == query->metric
				      : sample->metric == 0 && is_selected(world, sample->time_ns))
			status = each(each_context, sample, err);
	}
	return status;
}

static void make_profile(struct world *world, uint32_t turn)
{
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		const char *name = NAMES[(i + turn) % N_FUNCTIONS];

		world->functions[i] = (struct ctx_function_info){.name = name,
								 .linkage_name = name,
								 .aliases = "",
								 .object = strcmp(name, "hash") == 0 ? 1 : 0};
	}
	world->objects[0] = (struct ctx_object_info){.path = "/bin/app", .build_id = "", .symbols = ""};
	world->objects[1] = (struct ctx_object_info){.path = "/lib/libz.so.1", .build_id = "", .symbols = ""};
	for (uint32_t i = 0; i < N_THREADS; i++)
		world->threads[i] = (struct ctx_thread_info){
			.tid = i, .name = i == 0 ? "app" : "worker", .life = {0, 1000 * MS}, .weight = 1};
	world->metrics[0] = (struct ctx_metric_info){
		.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS};
	for (uint32_t i = 1; i < N_METRICS; i++)
		world->metrics[i] = (struct ctx_metric_info){
			.name = "state", .kind = CTX_METRIC_SPAN, .unit = CTX_UNIT_NS};
	world->intervals[0] = (struct ctx_interval){100 * MS, 400 * MS};
	world->intervals[1] = (struct ctx_interval){500 * MS, 900 * MS};
	world->profile = (struct ctx_profile){.name = "x.er",
					      .run = {0, 1000 * MS},
					      .has_states = true,
					      .states = 1,
					      .functions = world->functions,
					      .n_functions = N_FUNCTIONS,
					      .objects = world->objects,
					      .n_objects = 2,
					      .processes = &world->process,
					      .n_processes = 1,
					      .threads = world->threads,
					      .n_threads = N_THREADS,
					      .metrics = world->metrics,
					      .n_metrics = N_METRICS};
}

/* Samples by chance, of few functions: recursion and shared beginnings are frequent. */
static struct world *world_new(uint32_t turn)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	make_profile(world, turn);
	assert_int_equal(ctx_trie_init(&world->profile.cct, NULL), CTX_OK);
	for (size_t i = 0; i < N_SAMPLES; i++) {
		struct ctx_sample *sample = &world->samples[i];
		uint64_t depth = 1 + below(DEPTH);

		*sample = (struct ctx_sample){.time_ns = (i + 1) * MS * 3 / 2,
					      .weight = 1 + below(3 * MS),
					      .thread = (uint32_t)below(N_THREADS),
					      .metric = below(2) == 0 ? 0 : (uint32_t)below(N_METRICS)};
		for (uint64_t k = 0; k < depth; k++)
			assert_int_equal(ctx_trie_child(&world->profile.cct, sample->stack,
							(uint32_t)below(N_FUNCTIONS), &sample->stack, NULL),
					 CTX_OK);
		if (sample->metric != 0 || !is_selected(world, sample->time_ns))
			continue;
		assert_int_equal(ctx_histogram_add(&world->histogram,
						   (struct ctx_hist_entry){.weight = sample->weight,
									   .samples = 1,
									   .stack = sample->stack},
						   NULL),
				 CTX_OK);
	}
	world->part = (struct ctx_report_part){.thread = CTX_NONE, .histograms = &world->histogram};
	world->fake = (struct fake_source){.profile = &world->profile,
					   .path = turn == 0 ? "a.er" : "b.er",
					   .intervals = world->intervals,
					   .n_intervals = 2,
					   .parts = &world->part,
					   .n_parts = 1,
					   .samples = each_sample,
					   .samples_context = world};
	return world;
}

static void world_free(struct world *world)
{
	ctx_trie_deinit(&world->profile.cct);
	ctx_trie_deinit(&world->raw);
	ctx_histogram_deinit(&world->histogram);
	free(world);
}

static struct ctx_diff_spec spec_of(struct ctx_report_source *sources[2], enum ctx_diff_subject subject,
				    bool flag)
{
	return (struct ctx_diff_spec){.sides = {{&sources[0], 1}, {&sources[1], 1}},
				      .subject = subject,
				      .total = flag,
				      .folds = flag};
}

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

/* ---- lines ---- */

static enum ctx_status text_of(void *context, uint32_t file, const char **ret, size_t *ret_n,
			       struct ctx_err *err)
{
	const struct world *world = context;

	assert_int_equal(file, 0);
	if (world->text == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no text");
	*ret = world->text;
	*ret_n = strlen(world->text);
	return CTX_OK;
}

/* A sample of 10 ms of each line, in the one function "main"; `lines` ends with 0. */
static struct world *world_of_lines(const char *text, const uint32_t *lines)
{
	struct world *world = world_new(0);
	uint32_t n = 0;

	world->text = text;
	world->file = (struct ctx_source_file){.path = "/src/solve.c", .origin = "archive"};
	ctx_histogram_clear(&world->histogram);
	assert_int_equal(ctx_trie_init(&world->raw, NULL), CTX_OK);
	for (; lines[n] != 0; n++) {
		struct ctx_sample *sample = &world->samples[n];

		world->sites[n] =
			(struct ctx_site){.function = 0, .file = 0, .line = lines[n], .caller = CTX_NONE};
		world->locations[n] = (struct ctx_location){.function = 0, .address = n, .site = n};
		*sample = (struct ctx_sample){.time_ns = (200 + n) * MS, .weight = 10 * MS};
		assert_int_equal(ctx_trie_child(&world->raw, 0, n, &sample->raw_stack, NULL), CTX_OK);
		assert_int_equal(ctx_trie_child(&world->profile.cct, 0, 0, &sample->stack, NULL), CTX_OK);
		/* By stack and by raw stack: a number of both. */
		assert_int_equal(ctx_histogram_add(&world->histogram,
						   (struct ctx_hist_entry){.weight = 10 * MS,
									   .samples = 1,
									   .stack = sample->raw_stack},
						   NULL),
				 CTX_OK);
	}
	for (size_t i = n; i < N_SAMPLES; i++)
		world->samples[i].metric = N_METRICS; /* none that is asked for */
	world->code = (struct ctx_code){.raw_stacks = &world->raw,
					.locations = world->locations,
					.n_locations = n,
					.sites = world->sites,
					.n_sites = n,
					.files = &world->file,
					.n_files = 1};
	world->reader = (struct ctx_code_reader){.text = text_of, .context = world};
	world->fake.code = &world->code;
	world->fake.reader = &world->reader;
	world->fake.raw = &world->histogram;
	return world;
}

static void check_line(const struct ctx_diff *diff, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < diff->n; i++) {
		const struct ctx_diff_item *item = &diff->items.items[diff->rows[i].item];

		if (item->line[0] != a || item->line[1] != b)
			continue;
		assert_string_equal(item->file, "/src/solve.c");
		assert_true(diff->rows[i].weight[0] == (a != 0 ? 10.0 * MS : 0));
		assert_true(diff->rows[i].weight[1] == (b != 0 ? 10.0 * MS : 0));
		return;
	}
	fail_msg("no row of %u and %u", a, b);
}

static void test_diff_lines__are_the_same_where_they_moved(void **unused)
{
	static const char
		before[] = "int f(void)\n{\n\tstep();\n\treturn go(1, 2);\n}\n",
		after[] = "#include <x.h>\n\nint f(void)\n{\n\tlog();\n\tstep();\n\treturn go(1, 3);\n}\n";
	struct world *a = world_of_lines(before, (const uint32_t[]){3, 4, 0});
	struct world *b = world_of_lines(after, (const uint32_t[]){5, 6, 7, 0});
	struct ctx_report_source *sources[] = {fake_open(&a->fake), fake_open(&b->fake)};
	const struct ctx_diff_spec spec = spec_of(sources, CTX_DIFF_LINES, false);
	struct ctx_diff diff;
	enum ctx_status status = CTX_E_NOMEM;

	(void)unused;
	for (long i = 0; status != CTX_OK; i++) {
		fail_after = i;
		status = ctx_diff_make(&spec, &diff, NULL);
		fail_after = -1;
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
		assert_true(i < 1000);
	}
	assert_int_equal(diff.n, 3);
	check_line(&diff, 3, 6);
	check_line(&diff, 4, 7);
	check_line(&diff, 0, 5);
	ctx_diff_deinit(&diff);
	/* Without the text of one side: by number. */
	b->text = NULL;
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
	assert_int_equal(diff.n, 5);
	check_line(&diff, 3, 0);
	check_line(&diff, 0, 7);
	ctx_diff_deinit(&diff);
	b->sites[0].line = 4;
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
	check_line(&diff, 4, 4);
	ctx_diff_deinit(&diff);
	/* An id that does not exist. */
	b->sites[0].file = 1;
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_E_FORMAT);
	world_free(a);
	world_free(b);
}

static struct ctx_line_text text_at(const char *text)
{
	return (struct ctx_line_text){text, strlen(text)};
}

static void assert_lines(const char *a, const char *b, const uint32_t *expected, size_t n)
{
	uint32_t *b_of_a;
	size_t n_lines;

	assert_int_equal(ctx_lines_match(text_at(a), text_at(b), &b_of_a, &n_lines, NULL), CTX_OK);
	assert_int_equal(n_lines, n + 1);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(b_of_a[i + 1], expected[i]);
	free(b_of_a);
}

static void test_lines__match_by_text_wherever_they_are(void **unused)
{
	(void)unused;
	assert_lines("", "", NULL, 0);
	assert_lines("", "x\n", NULL, 0);
	assert_lines("x", "", (const uint32_t[]){0}, 1);
	assert_lines("a\nb\nc\n", "a\nb\nc", (const uint32_t[]){1, 2, 3}, 3);
	/* A block that moved, with lines that are everywhere. */
	assert_lines("f\n{\n}\ng\n{\n}\n", "g\n{\n}\nf\n{\n}\n", (const uint32_t[]){4, 5, 6, 1, 2, 3}, 6);
	/* Indented. */
	assert_lines("a\n  call();\nb\n", "a\n\tcall();\r\nb\n", (const uint32_t[]){1, 2, 3}, 3);
	/* Edited, one more in front of it. */
	assert_lines("begin\nsum += weight[i];\nend\n", "begin\nnew();\nsum += weights[i] * 2;\nend\n",
		     (const uint32_t[]){1, 3, 4}, 3);
	/* Nothing alike. */
	assert_lines("begin\nabc\nend\n", "begin\nxyz\nend\n", (const uint32_t[]){1, 0, 3}, 3);
	assert_true(ctx_line_likeness(text_at("abcd"), text_at("abcd")) == 1);
	assert_true(ctx_line_likeness(text_at("abcd"), text_at("wxyz")) == 0);
	assert_true(fabs(ctx_line_likeness(text_at("abc"), text_at("abd")) - 0.5) < 1e-9);
	assert_true(ctx_line_likeness(text_at(""), text_at("")) == 1);
}

/* Files of lines that are there once each, cut, shuffled and added to: each line is where it is found by looking. */
static void test_lines__match_as_by_looking_for_each(void **unused)
{
	(void)unused;
	for (int round = 0; round < 200; round++) {
		uint32_t of_a[40], of_b[40], *b_of_a;
		size_t n_a = below(40), n_b = below(40), n_lines, used = 0;
		char a[400] = "", b[400] = "";

		for (size_t i = 0; i < 40; i++) {
			size_t k = below(i + 1);

			of_a[i] = of_a[k];
			of_a[k] = (uint32_t)i;
		}
		memcpy(of_b, of_a, sizeof(of_b));
		for (size_t i = 0; i < 5; i++) {
			size_t x = below(40), y = below(40);
			uint32_t swapped = of_b[x];

			of_b[x] = of_b[y];
			of_b[y] = swapped;
		}
		/* No two are alike: letters of its own. */
		for (size_t i = 0; i < n_a; i++)
			sprintf(a + strlen(a), "%c%c%c\n", 'A' + of_a[i], 'A' + of_a[i], '!' + of_a[i] % 30);
		for (size_t i = 0; i < n_b; i++)
			sprintf(b + strlen(b), "%c%c%c\n", 'A' + of_b[i], 'A' + of_b[i], '!' + of_b[i] % 30);
		assert_int_equal(ctx_lines_match(text_at(a), text_at(b), &b_of_a, &n_lines, NULL), CTX_OK);
		for (size_t i = 0; i < n_a; i++) {
			uint32_t found = 0;

			for (size_t k = 0; k < n_b; k++)
				found = of_b[k] == of_a[i] ? (uint32_t)k + 1 : found;
			assert_int_equal(b_of_a[i + 1], found);
			used += found != 0;
		}
		assert_true(used <= n_b);
		free(b_of_a);
	}
}

/* ---- names ---- */

static void assert_renamed(const char *rule, const char *name, const char *expected)
{
	struct ctx_renames *renames;
	struct ctx_buf out CTX_AUTO_BUF = {0};

	assert_int_equal(ctx_renames_make(&rule, 1, &renames, NULL), CTX_OK);
	ctx_renames_put(renames, name, strlen(name), &out);
	ctx_buf_put_u8(&out, '\0');
	assert_string_equal((const char *)out.bytes, expected);
	ctx_renames_destroy(renames);
}

static void refuse_rename(const char *rule, const char *expected)
{
	struct ctx_renames *renames;
	struct ctx_err err = {0};

	assert_int_equal(ctx_renames_make(&rule, 1, &renames, &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, expected));
}

static void test_renames__replace_as_sed_does(void **unused)
{
	static const char *const both[] = {"old=mid", "mid=new"};
	struct ctx_renames *renames;
	struct ctx_buf out CTX_AUTO_BUF = {0};

	(void)unused;
	assert_renamed("old_(.*)=new_\\1", "old_sum", "new_sum");
	assert_renamed("o=0", "foo::bo", "f00::b0");
	assert_renamed("^v1::=v2::", "v1::v1::f", "v2::v1::f");
	assert_renamed("(a)(b)=\\2\\1[&]\\0\\&\\\\", "xaby", "xba[ab]ab&\\y");
	assert_renamed("operator\\=\\==equals", "T::operator==", "T::equals");
	assert_renamed("x*=-", "ab", "-a-b-");
	assert_renamed("(a)|(b)=<\\2>", "ab", "<><b>");
	assert_renamed("none=some", "main", "main");
	assert_renamed("main=", "main", "");
	assert_int_equal(ctx_renames_make(both, 2, &renames, NULL), CTX_OK);
	ctx_renames_put(renames, "old", 3, &out);
	assert_int_equal(out.n, 3);
	assert_memory_equal(out.bytes, "new", 3);
	ctx_renames_destroy(renames);
	assert_int_equal(ctx_renames_make(NULL, 0, &renames, NULL), CTX_OK);
	assert_null(renames);
	refuse_rename("abc", "--rename 'abc': expected RE=TEXT");
	refuse_rename("=abc", "expected RE=TEXT");
	refuse_rename("a\\=b", "expected RE=TEXT");
	refuse_rename("(=x", "--rename '(=x': ");
	refuse_rename("(a)=\\2", "\\2, but the expression has 1 groups");
}

static void assert_clone(const char *name, const char *expected)
{
	assert_int_equal(ctx_match_without_clones(name, strlen(name)), strlen(expected));
	assert_memory_equal(name, expected, strlen(expected));
}

static void test_matching__finds_renamed_functions_clones_and_build_ids(void **unused)
{
	struct world *worlds[] = {world_new(0), world_new(0)};
	const struct ctx_match_recording recordings[] = {{&worlds[0]->profile, CTX_COMPARE_A},
							 {&worlds[1]->profile, CTX_COMPARE_B}};
	const char *rule = "^rd$=read";
	struct ctx_match_spec spec = {.recordings = recordings, .n = 2};
	struct ctx_renames *renames;
	struct ctx_matching matching;

	(void)unused;
	assert_clone("f.isra.0", "f");
	assert_clone("f.constprop.0.isra.1.cold", "f");
	assert_clone("f(int) [clone .part.0]", "f(int)");
	assert_clone("f.llvm.1234", "f");
	assert_clone("f.0", "f.0");
	assert_clone("main.work", "main.work");
	assert_clone(".cold", ".cold");
	worlds[1]->functions[1].name = worlds[1]->functions[1].linkage_name = "parse.isra.0";
	worlds[1]->functions[3].name = worlds[1]->functions[3].linkage_name = "rd";
	worlds[1]->functions[4].name = worlds[1]->functions[4].linkage_name = "sub_4000";
	assert_int_equal(ctx_renames_make(&rule, 1, &renames, NULL), CTX_OK);
	spec.renames = renames;
	assert_int_equal(ctx_matching_make(&spec, &matching, NULL), CTX_OK);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		assert_int_equal(matching.item_of[0][i] == matching.item_of[1][i], i != 4);
	ctx_matching_deinit(&matching);
	for (int side = 0; side < 2; side++) {
		worlds[side]->objects[0].build_id = "c0ffee";
		for (uint32_t i = 0; i < N_FUNCTIONS; i++)
			worlds[side]->functions[i].offset = 0x1000 * i;
	}
	spec.renames = NULL;
	assert_int_equal(ctx_matching_make(&spec, &matching, NULL), CTX_OK);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		assert_int_equal(matching.item_of[0][i], matching.item_of[1][i]);
	ctx_matching_deinit(&matching);
	ctx_renames_destroy(renames);
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
		cmocka_unit_test(test_diff_lines__are_the_same_where_they_moved),
		cmocka_unit_test(test_lines__match_by_text_wherever_they_are),
		cmocka_unit_test(test_lines__match_as_by_looking_for_each),
		cmocka_unit_test(test_renames__replace_as_sed_does),
		cmocka_unit_test(test_matching__finds_renamed_functions_clones_and_build_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
