/*
 * Time trees of several M and N: build time, size of the lists, and query time.
 *
 *	bench_timetree [SAMPLES...]      (default: 100000 1000000 10000000)
 *
 * The samples are generated from a fixed seed, modelled on a real recording: 32 k stacks, 25 of
 * them have half of the samples; 8 us to 1.5 ms between samples, equal weights; a sample shares
 * most of the stack of the previous one. Prints a Markdown table; times are CPU time of the only
 * thread.
 */
#include "timetree/timetree.h"

#include "base/mem.h"

#include <stdio.h>
#include <time.h>

#define STACKS 32000u
#define HOT 25u
#define QUERIES 200

struct data {
	struct ctx_trie cct;
	struct ctx_sample *samples;
	size_t n;
	struct ctx_interval run;
};

struct tally { /* a sink that forwards to the tree in memory */
	struct ctx_timetree_sink tree;
	uint64_t nodes, list_bytes;
};

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static double now_s(void)
{
	struct timespec at;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static enum ctx_status make_cct(struct ctx_trie *cct, struct ctx_err *err)
{
	enum ctx_status status = ctx_trie_init(cct, err);
	uint32_t node;

	while (status == CTX_OK && cct->n < STACKS) {
		uint32_t back = 1 + (uint32_t)rnd(cct->n < 40 ? cct->n : 40);

		status = ctx_trie_child(cct, cct->n - back, cct->n, &node, err);
	}
	return status;
}

/*
 * Half of the samples are in the hot stacks, the rest decreases towards the rare ones; the frequent
 * stacks change slowly over time.
 */
static uint32_t some_stack(size_t i, size_t n)
{
	uint64_t phase = i * 20 / n;

	if (rnd(2) == 0)
		return (uint32_t)(1 + rnd(HOT) * 1277 % (STACKS - 1));
	return (uint32_t)((phase * 1500 + rnd(1 + rnd(STACKS))) % STACKS);
}

static enum ctx_status make_data(struct data *data, size_t n, struct ctx_err *err)
{
	enum ctx_status status = make_cct(&data->cct, err);
	uint64_t time_ns = 0;

	data->n = n;
	data->samples = ctx_calloc(n, sizeof(*data->samples));
	if (status != CTX_OK || data->samples == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		struct ctx_sample *sample = &data->samples[i];
		uint32_t depth;

		time_ns += rnd(1000) == 0 ? 1500000 : 8000 + rnd(4000);
		sample->time_ns = time_ns;
		sample->weight = 1000000;
		sample->stack = some_stack(i, n);
		depth = data->cct.depth[sample->stack];
		sample->kept_depth = rnd(4) == 0 ? depth : depth - (uint32_t)rnd(depth < 4 ? depth + 1 : 5);
	}
	data->run = (struct ctx_interval){0, time_ns + 1};
	return CTX_OK;
}

static void data_free(struct data *data)
{
	ctx_trie_deinit(&data->cct);
	free(data->samples);
	*data = (struct data){0};
}

static enum ctx_status tally_leaf(void *context, uint32_t node, const struct ctx_sample *samples, size_t n,
				  struct ctx_err *err)
{
	struct tally *tally = context;

	return tally->tree.context != NULL ? tally->tree.leaf(tally->tree.context, node, samples, n, err)
					   : CTX_OK;
}

static enum ctx_status tally_node(void *context, const struct ctx_timenode *node, struct ctx_err *err)
{
	struct tally *tally = context;

	tally->nodes++;
	tally->list_bytes += node->top_bytes + node->tail_bytes + node->calls_bytes;
	return tally->tree.context != NULL ? tally->tree.node(tally->tree.context, node, err) : CTX_OK;
}

static enum ctx_status build(const struct ctx_timetree_params *params, const struct data *data,
			     struct tally *tally, struct ctx_err *err)
{
	struct ctx_timetree_sink sink = {.context = tally, .leaf = tally_leaf, .node = tally_node};
	struct ctx_timetree_builder *builder = NULL;
	enum ctx_status status = ctx_timetree_builder_create(
		&(struct ctx_timetree_plan){
			.params = *params, .run = data->run, .cct = &data->cct, .sink = sink},
		&builder, err);

	for (size_t i = 0; status == CTX_OK && i < data->n; i++)
		status = ctx_timetree_builder_add(builder, &data->samples[i], err);
	if (status == CTX_OK)
		status = ctx_timetree_builder_finish(builder, err);
	ctx_timetree_builder_destroy(builder);
	return status;
}

/* Mean time and nodes of windows of `part` permille of the run. */
static enum ctx_status ask(const struct ctx_timetree_reader *reader, struct ctx_interval run, uint64_t part,
			   struct ctx_err *err)
{
	uint64_t width = run.end_ns / 1000 * part;
	struct ctx_timetree_cost cost = {0};
	struct ctx_histogram out = {0};
	enum ctx_status status = CTX_OK;
	double begin_s = now_s();

	for (unsigned i = 0; status == CTX_OK && i < QUERIES; i++) {
		uint64_t begin = rnd(run.end_ns - width);

		ctx_histogram_clear(&out);
		status = ctx_timetree_query(reader, (struct ctx_timetree_request){{begin, begin + width}, 0},
					    &out, &cost, err);
	}
	printf(" %.0f / %.0f |", (now_s() - begin_s) / QUERIES * 1e6, (double)cost.nodes_visited / QUERIES);
	ctx_histogram_deinit(&out);
	return status;
}

static enum ctx_status measure(const struct data *data, uint32_t leaf_samples, uint32_t fanout,
			       struct ctx_err *err)
{
	struct ctx_timetree_params params = ctx_timetree_default_params();
	struct tally alone = {0}, tally = {0};
	struct ctx_timetree *tree = NULL;
	struct ctx_timetree_reader reader;
	enum ctx_status status;
	double begin_s = now_s(), build_s;

	params.leaf_samples = leaf_samples;
	params.fanout = fanout;
	status = build(&params, data, &alone, err);
	build_s = now_s() - begin_s;
	if (status == CTX_OK)
		status = ctx_timetree_create(&tree, err);
	if (status != CTX_OK)
		return status;
	tally.tree = ctx_timetree_sink(tree);
	status = build(&params, data, &tally, err);
	printf("| %zu | %u | %u | %.0f | %.2f | %.1f |", data->n, leaf_samples, fanout,
	       build_s * 1e9 / (double)data->n, (double)tally.list_bytes / (double)data->n,
	       (double)tally.nodes * 1000 / (double)data->n);
	reader = ctx_timetree_reader(tree, &data->cct);
	for (size_t i = 0; status == CTX_OK && i < 3; i++)
		status = ask(&reader, data->run, (uint64_t[]){10, 100, 400}[i], err);
	printf("\n");
	fflush(stdout);
	ctx_timetree_destroy(tree);
	return status;
}

static enum ctx_status measure_all(size_t n, struct ctx_err *err)
{
	static const uint32_t ms[] = {250, 1000, 4000}, ns[] = {2, 4, 8, 16, 32};
	struct data data = {0};
	enum ctx_status status = make_data(&data, n, err);

	for (size_t m = 0; m < CTX_COUNT_OF(ms); m++) {
		for (size_t i = 0; status == CTX_OK && i < CTX_COUNT_OF(ns); i++)
			status = measure(&data, ms[m], ns[i], err);
	}
	data_free(&data);
	return status;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {100000, 1000000, 10000000};
	enum ctx_status status = CTX_OK;
	struct ctx_err err = {0};

	printf("| samples | M | N | build ns/sample | list bytes/sample | nodes/1000 samples | 1 %% us / "
	       "nodes "
	       "| 10 %% us / nodes | 40 %% us / nodes |\n|---|---|---|---|---|---|---|---|---|\n");
	for (int i = 1; status == CTX_OK && i < argc; i++)
		status = strtoull(argv[i], NULL, 10) != 0 ? measure_all(strtoull(argv[i], NULL, 10), &err)
							  : CTX_E_ARG;
	for (size_t i = 0; argc == 1 && status == CTX_OK && i < CTX_COUNT_OF(sizes); i++)
		status = measure_all(sizes[i], &err);
	if (status != CTX_OK)
		fprintf(stderr, "bench_timetree: %s\n", err.msg);
	return status == CTX_OK ? 0 : 1;
}
