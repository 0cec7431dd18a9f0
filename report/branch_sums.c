#include "report/branch_sums.h"

#include "base/mem.h"
#include "report/code_rows.h"

#include <stdlib.h>

void ctx_branch_sums_deinit(struct ctx_branch_sums *sums)
{
	free(sums->edges);
	free(sums->blocks);
	free(sums->begins);
	free(sums->ends);
	free(sums->loops);
	ctx_map64_deinit(&sums->edge_of);
	ctx_map64_deinit(&sums->block_of);
	*sums = (struct ctx_branch_sums){0};
}

static void add(struct ctx_branch_sum *sum, const struct ctx_traced *branch)
{
	sum->taken++;
	sum->known += (branch->detail & CTX_BRANCH_IS_PREDICTED) != 0;
	sum->mispredicted += branch->failed;
	if (branch->cycles == 0)
		return;
	sum->least = sum->timed == 0 || branch->cycles < sum->least ? branch->cycles : sum->least;
	sum->most = branch->cycles > sum->most ? branch->cycles : sum->most;
	sum->cycles += branch->cycles;
	sum->timed++;
}

void ctx_branch_sum_join(struct ctx_branch_sum *to, const struct ctx_branch_sum *from)
{
	if (from->timed != 0) {
		to->least = to->timed == 0 || from->least < to->least ? from->least : to->least;
		to->most = from->most > to->most ? from->most : to->most;
	}
	to->taken += from->taken;
	to->known += from->known;
	to->mispredicted += from->mispredicted;
	to->timed += from->timed;
	to->cycles += from->cycles;
}

/* The location of a node of the raw stacks; CTX_NONE: it has none. */
static uint32_t location_of(const struct ctx_code *code, uint32_t raw)
{
	const struct ctx_trie *stacks = code->raw_stacks;
	uint32_t location = raw != CTX_TRIE_ROOT && raw < stacks->n ? stacks->key[raw] : CTX_NONE;

	return location < code->n_locations ? location : CTX_NONE;
}

static enum ctx_status add_edge(struct ctx_branch_sums *sums, const struct ctx_traced *branch, uint32_t from,
				struct ctx_err *err)
{
	const struct ctx_trie *stacks = sums->code->raw_stacks;
	uint32_t *place = ctx_map64_place(&sums->edge_of, branch->raw_stack);
	struct ctx_branch_edge *edge;

	if (place == NULL || ctx_grow(&sums->edges, &sums->edges_cap, sums->n_edges + 1, NULL) != CTX_OK)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		*place = (uint32_t)sums->n_edges++;
		sums->edges[*place] = (struct ctx_branch_edge){
			.from = from,
			.to = from != CTX_NONE ? location_of(sums->code, stacks->parent[branch->raw_stack])
					       : CTX_NONE,
		};
	}
	edge = &sums->edges[*place];
	if (branch->operation != CTX_BRANCH_UNKNOWN)
		edge->kind = branch->operation;
	add(&edge->sum, branch);
	return CTX_OK;
}

static enum ctx_status add_block(struct ctx_branch_sums *sums, const struct ctx_traced *branch, uint32_t end,
				 struct ctx_err *err)
{
	uint64_t address = sums->code->locations[end].address, length = branch->block - 1;
	uint32_t *place;

	if (length > address || length >= (uint64_t)1 << 32)
		return CTX_OK;
	place = ctx_map64_place(&sums->block_of, (uint64_t)end << 32 | length);
	if (place == NULL || ctx_grow(&sums->blocks, &sums->blocks_cap, sums->n_blocks + 1, NULL) != CTX_OK)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		*place = (uint32_t)sums->n_blocks++;
		sums->blocks[*place] = (struct ctx_branch_block){.end = end, .begin = address - length};
	}
	add(&sums->blocks[*place].sum, branch);
	return CTX_OK;
}

enum ctx_status ctx_branch_sums_add(struct ctx_branch_sums *sums, const struct ctx_traced *branch,
				    struct ctx_err *err)
{
	uint32_t from = location_of(sums->code, branch->raw_stack);
	enum ctx_status status = add_edge(sums, branch, from, err);

	add(&sums->total, branch);
	if (status != CTX_OK || branch->block == 0 || from == CTX_NONE)
		return status;
	return add_block(sums, branch, from, err);
}

/* ---- what was passed ---- */

static int by_address(const void *a, const void *b)
{
	const struct ctx_branch_bound *left = a, *right = b;

	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

/* Sorts, and adds up each object's from the lowest address on. */
static void accumulate(struct ctx_branch_bound *bounds, size_t n)
{
	qsort(bounds, n, sizeof(*bounds), by_address);
	for (size_t i = 1; i < n; i++) {
		if (bounds[i].object == bounds[i - 1].object)
			bounds[i].n += bounds[i - 1].n;
	}
}

/* The sum of the object's bounds up to an address. */
static uint64_t up_to(const struct ctx_branch_bound *bounds, size_t n, uint32_t object, uint64_t address)
{
	const struct ctx_branch_bound key = {.object = object, .address = address};
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_address(&bounds[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low != 0 && bounds[low - 1].object == object ? bounds[low - 1].n : 0;
}

/* Runs with an address inside: begun at or before it, and ended behind it. */
static uint64_t runs_over(const struct ctx_branch_sums *sums, uint32_t object, uint64_t address)
{
	return up_to(sums->begins, sums->n_blocks, object, address) -
	       up_to(sums->ends, sums->n_blocks, object, address);
}

uint64_t ctx_branch_sums_passed(const struct ctx_branch_sums *sums, uint32_t location)
{
	const struct ctx_location *place = &sums->code->locations[location];

	return runs_over(sums, place->object, place->address);
}

static enum ctx_status make_bounds(struct ctx_branch_sums *sums, struct ctx_err *err)
{
	sums->begins = ctx_calloc(sums->n_blocks + 1, sizeof(*sums->begins));
	sums->ends = ctx_calloc(sums->n_blocks + 1, sizeof(*sums->ends));
	if (sums->begins == NULL || sums->ends == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < sums->n_blocks; i++) {
		const struct ctx_branch_block *block = &sums->blocks[i];
		const struct ctx_location *end = &sums->code->locations[block->end];

		sums->begins[i] = (struct ctx_branch_bound){end->object, block->begin, block->sum.taken};
		sums->ends[i] = (struct ctx_branch_bound){end->object, end->address, block->sum.taken};
	}
	accumulate(sums->begins, sums->n_blocks);
	accumulate(sums->ends, sums->n_blocks);
	return CTX_OK;
}

/* ---- loops ---- */

/* Whether it goes back within a function, and neither calls nor returns. */
static bool goes_back(const struct ctx_branch_sums *sums, const struct ctx_branch_edge *edge)
{
	const struct ctx_code *code = sums->code;
	const struct ctx_location *from, *to;
	uint32_t function;

	if (edge->from == CTX_NONE || edge->to == CTX_NONE)
		return false;
	from = &code->locations[edge->from];
	to = &code->locations[edge->to];
	function = ctx_code_real_function(code, edge->from);
	if (function == CTX_NONE || function != ctx_code_real_function(code, edge->to) ||
	    from->object != to->object || to->address > from->address ||
	    sums->profile->functions[function].kind != CTX_FUNCTION_ORDINARY)
		return false;
	if (edge->kind != CTX_BRANCH_UNKNOWN)
		return edge->kind == CTX_BRANCH_CONDITIONAL || edge->kind == CTX_BRANCH_JUMP ||
		       edge->kind == CTX_BRANCH_INDIRECT;
	return to->address != sums->profile->functions[function].offset; /* a call of itself */
}

static struct ctx_branch_loop *loop_at(struct ctx_branch_sums *sums, struct ctx_map64 *of_head, uint32_t head)
{
	uint32_t *place = ctx_map64_place(of_head, head);

	if (place == NULL || ctx_grow(&sums->loops, &sums->loops_cap, sums->n_loops + 1, NULL) != CTX_OK)
		return NULL;
	if (*place == CTX_MAP64_NONE) {
		*place = (uint32_t)sums->n_loops;
		sums->loops[sums->n_loops++] = (struct ctx_branch_loop){.head = head};
	}
	return &sums->loops[*place];
}

/* Runs that begin before the head and go over it. */
static uint64_t fallen_into(const struct ctx_branch_sums *sums, uint32_t head)
{
	const struct ctx_location *place = &sums->code->locations[head];
	uint64_t before = place->address;

	if (before == 0)
		return 0;
	before--;
	/* Of those that began before it, those that had not ended before it: they may end with a branch at it. */
	return up_to(sums->begins, sums->n_blocks, place->object, before) -
	       up_to(sums->ends, sums->n_blocks, place->object, before);
}

static enum ctx_status find_loops(struct ctx_branch_sums *sums, struct ctx_map64 *of_head,
				  struct ctx_err *err)
{
	for (size_t i = 0; i < sums->n_edges; i++) {
		const struct ctx_branch_edge *edge = &sums->edges[i];
		struct ctx_branch_loop *loop;

		if (!goes_back(sums, edge))
			continue;
		loop = loop_at(sums, of_head, edge->to);
		if (loop == NULL)
			return ctx_err_nomem(err);
		loop->back += edge->sum.taken;
		ctx_branch_sum_join(&loop->sum, &edge->sum);
	}
	for (size_t i = 0; i < sums->n_edges; i++) {
		const struct ctx_branch_edge *edge = &sums->edges[i];
		uint32_t number = edge->to != CTX_NONE ? ctx_map64_get(of_head, edge->to) : CTX_MAP64_NONE;

		if (number != CTX_MAP64_NONE && !goes_back(sums, edge))
			sums->loops[number].entries += edge->sum.taken;
	}
	for (size_t i = 0; i < sums->n_loops; i++)
		sums->loops[i].entries += fallen_into(sums, sums->loops[i].head);
	return CTX_OK;
}

enum ctx_status ctx_branch_sums_finish(struct ctx_branch_sums *sums, struct ctx_err *err)
{
	struct ctx_map64 of_head CTX_CLEANUP(ctx_map64_deinit) = {0};
	enum ctx_status status = make_bounds(sums, err);

	return status == CTX_OK ? find_loops(sums, &of_head, err) : status;
}
