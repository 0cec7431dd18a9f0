#include "report/hot_functions.h"

#include "base/map64.h"
#include "base/mem.h"
#include "report/code_rows.h"

#include <stdlib.h>

/* Weight of a row in a line of the program, or in a callee. */
struct share {
	uint32_t row, first, second; /* file and line; the callee and 0 */
	uint64_t weight;
};

struct counting {
	struct ctx_fold *fold;
	const struct ctx_wait_kinds *kinds;
	struct ctx_code_view view;
	struct ctx_histogram stacks; /* by node of the CCT */
	struct ctx_histogram folded; /* by folded node */
	struct ctx_map64 row_of;     /* by function */
	struct ctx_hot_function *rows;
	size_t *counted; /* by row: 1 + the last entry of the histogram that was added to its total */
	size_t n, cap, counted_cap;
	uint32_t *path; /* of an entry, leaf first */
	size_t path_cap;
	struct share *lines, *callees;
	size_t n_lines, n_callees;
};

static void counting_deinit(struct counting *counting)
{
	ctx_histogram_deinit(&counting->stacks);
	ctx_histogram_deinit(&counting->folded);
	ctx_map64_deinit(&counting->row_of);
	free(counting->rows);
	free(counting->counted);
	free(counting->path);
	free(counting->lines);
	free(counting->callees);
}

static bool is_program(const struct counting *counting, uint32_t function)
{
	return ctx_wait_kinds_is_program(counting->kinds, function);
}

/* The row of a function, which is made if it is missing. */
static enum ctx_status find_row(struct counting *counting, uint32_t function, uint32_t *ret,
				struct ctx_err *err)
{
	uint32_t *at = ctx_map64_place(&counting->row_of, function);
	enum ctx_status status;

	if (at == NULL)
		return ctx_err_nomem(err);
	if (*at == CTX_MAP64_NONE) {
		status = ctx_grow(&counting->rows, &counting->cap, counting->n + 1, err);
		if (status == CTX_OK)
			status = ctx_grow(&counting->counted, &counting->counted_cap, counting->n + 1, err);
		if (status != CTX_OK)
			return status;
		counting->counted[counting->n] = 0;
		counting->rows[counting->n] =
			(struct ctx_hot_function){.function = function, .callee = CTX_NONE, .file = CTX_NONE};
		*at = (uint32_t)counting->n++;
	}
	*ret = *at;
	return CTX_OK;
}

/* The path of a folded node in `path`, leaf first; *ret_n is its length. */
static enum ctx_status take_path(struct counting *counting, uint32_t node, size_t *ret_n, struct ctx_err *err)
{
	const struct ctx_trie *cct = &counting->fold->profile.cct;
	enum ctx_status status;
	size_t n = 0;

	for (; node != CTX_TRIE_ROOT; node = cct->parent[node]) {
		status = ctx_grow(&counting->path, &counting->path_cap, n + 1, err);
		if (status != CTX_OK)
			return status;
		counting->path[n++] = cct->key[node];
	}
	*ret_n = n;
	return CTX_OK;
}

/* Counts an entry once in the total of a row. */
static enum ctx_status add_total(struct counting *counting, size_t i, uint32_t function, uint32_t *ret_row,
				 struct ctx_err *err)
{
	enum ctx_status status = find_row(counting, function, ret_row, err);

	if (status == CTX_OK && counting->counted[*ret_row] != i + 1) {
		counting->counted[*ret_row] = i + 1;
		counting->rows[*ret_row].total += counting->folded.entries[i].weight;
	}
	return status;
}

/*
 * Adds an entry to the totals of the program's functions on its path, and to the innermost one with
 * what it called.
 */
static enum ctx_status add_entry(struct counting *counting, size_t i, struct ctx_err *err)
{
	const struct ctx_hist_entry *entry = &counting->folded.entries[i];
	uint32_t row = CTX_NONE, leaf;
	size_t n;
	enum ctx_status status = take_path(counting, entry->stack, &n, err);

	if (status != CTX_OK || n == 0)
		return status;
	leaf = counting->path[0];
	for (size_t at = n; status == CTX_OK && at > 0; at--) {
		if (is_program(counting, counting->path[at - 1]))
			status = add_total(counting, i, counting->path[at - 1], &row, err);
	}
	if (status == CTX_OK && row == CTX_NONE)
		status = add_total(counting, i, leaf, &row, err);
	if (status != CTX_OK)
		return status;
	counting->rows[row].with_callees += entry->weight;
	if (counting->rows[row].function == leaf)
		counting->rows[row].self += entry->weight;
	else
		counting->callees[counting->n_callees++] = (struct share){row, leaf, 0, entry->weight};
	return CTX_OK;
}

uint32_t ctx_hot_function_of(const struct ctx_fold *fold, const struct ctx_wait_kinds *kinds, uint32_t node)
{
	const struct ctx_trie *cct = &fold->profile.cct;
	uint32_t leaf = cct->key[node];

	while (node != CTX_TRIE_ROOT && !ctx_wait_kinds_is_program(kinds, cct->key[node]))
		node = cct->parent[node];
	return node != CTX_TRIE_ROOT ? cct->key[node] : leaf;
}

static uint32_t leaf_row(const struct counting *counting, uint32_t node)
{
	return ctx_map64_get(&counting->row_of, ctx_hot_function_of(counting->fold, counting->kinds, node));
}

/*
 * The site of the innermost frame of the program on a raw stack; CTX_NONE: unknown. What a function of the
 * program has inlined of a library is at one location with it.
 */
static uint32_t program_site(const struct counting *counting, uint32_t raw)
{
	const struct ctx_code *code = counting->view.code;

	for (; raw != CTX_TRIE_ROOT; raw = code->raw_stacks->parent[raw]) {
		const struct ctx_location *location = &code->locations[code->raw_stacks->key[raw]];

		if (location->joins)
			continue;
		for (uint32_t site = location->site; site != CTX_NONE; site = code->sites[site].caller) {
			if (is_program(counting, code->sites[site].function))
				return site;
		}
		if (location->site == CTX_NONE && location->function != CTX_NONE &&
		    is_program(counting, location->function))
			return CTX_NONE;
	}
	return CTX_NONE;
}

static enum ctx_status collect_line(struct counting *counting, const struct ctx_hist_entry *entry,
				    struct ctx_err *err)
{
	const struct ctx_code *code = counting->view.code;
	uint32_t site = program_site(counting, entry->stack), node;
	enum ctx_status status = ctx_fold_find(counting->fold, code->raw_to_stack[entry->stack], &node, err);

	if (status != CTX_OK || site == CTX_NONE || node == CTX_NONE || node == CTX_TRIE_ROOT ||
	    code->sites[site].file == CTX_NONE || code->sites[site].line == 0)
		return status;
	counting->lines[counting->n_lines++] = (struct share){
		leaf_row(counting, node), code->sites[site].file, code->sites[site].line, entry->weight};
	return CTX_OK;
}

/* By row, then by what it is a share of. */
static int compare_shares(const void *left, const void *right)
{
	const struct share *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->second < b->second ? -1 : a->second > b->second;
}

/* Calls `set` with the largest sum of each row, in order of the shares where sums are equal. */
static enum ctx_status find_largest(struct counting *counting, struct share *shares, size_t n,
				    void (*set)(struct ctx_hot_function *row, const struct share *share),
				    struct ctx_err *err)
{
	uint64_t *most CTX_AUTO_FREE = ctx_calloc(counting->n, sizeof(*most));

	if (most == NULL)
		return ctx_err_nomem(err);
	if (n != 0)
		qsort(shares, n, sizeof(*shares), compare_shares);
	for (size_t i = 0; i < n;) {
		const struct share *first = &shares[i];
		uint64_t weight = 0;

		for (; i < n && compare_shares(first, &shares[i]) == 0; i++)
			weight += shares[i].weight;
		if (first->row < counting->n && weight > most[first->row]) {
			most[first->row] = weight;
			set(&counting->rows[first->row], first);
		}
	}
	return CTX_OK;
}

static void set_line(struct ctx_hot_function *row, const struct share *share)
{
	row->file = share->first;
	row->line = share->second;
}

static void set_callee(struct ctx_hot_function *row, const struct share *share)
{
	row->callee = share->first;
}

static enum ctx_status find_lines(struct counting *counting, struct ctx_err *err)
{
	const struct ctx_histogram *raw = counting->view.raw;
	enum ctx_status status = CTX_OK;

	counting->lines = ctx_calloc(raw->n, sizeof(*counting->lines));
	if (counting->lines == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; status == CTX_OK && i < raw->n; i++)
		status = collect_line(counting, &raw->entries[i], err);
	return status == CTX_OK ? find_largest(counting, counting->lines, counting->n_lines, set_line, err)
				: status;
}

static enum ctx_status fold_raw(struct counting *counting, struct ctx_err *err)
{
	const struct ctx_histogram *raw = counting->view.raw;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; status == CTX_OK && i < raw->n; i++) {
		struct ctx_hist_entry entry = raw->entries[i];

		entry.stack = counting->view.code->raw_to_stack[entry.stack];
		status = ctx_histogram_add(&counting->stacks, entry, err);
	}
	return status == CTX_OK
		       ? ctx_fold_histogram(counting->fold, &counting->stacks, &counting->folded, err)
		       : status;
}

/* By descending weight, then total, then id. */
static int compare_rows(const void *left, const void *right)
{
	const struct ctx_hot_function *a = left, *b = right;

	if (a->with_callees != b->with_callees)
		return a->with_callees > b->with_callees ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static enum ctx_status count(struct counting *counting, struct ctx_hot_functions *ret, struct ctx_err *err)
{
	enum ctx_status status = fold_raw(counting, err);

	counting->callees = ctx_calloc(counting->folded.n, sizeof(*counting->callees));
	if (status == CTX_OK && counting->callees == NULL)
		status = ctx_err_nomem(err);
	for (size_t i = 0; status == CTX_OK && i < counting->folded.n; i++)
		status = add_entry(counting, i, err);
	if (status == CTX_OK)
		status = find_lines(counting, err);
	if (status == CTX_OK)
		status = find_largest(counting, counting->callees, counting->n_callees, set_callee, err);
	if (status != CTX_OK)
		return status;
	if (counting->n != 0)
		qsort(counting->rows, counting->n, sizeof(*counting->rows), compare_rows);
	status =
		ctx_fold_hottest(counting->fold, &counting->stacks, &ret->hottest, &ret->hottest_weight, err);
	if (status != CTX_OK)
		return status;
	ret->rows = counting->rows;
	ret->n = counting->n;
	ret->weight = counting->folded.weight;
	ret->samples = counting->folded.samples;
	ret->code = counting->view.code;
	ret->totals = ctx_totals_of_raw(counting->view.profile, counting->view.code, counting->view.raw);
	counting->rows = NULL;
	return CTX_OK;
}

enum ctx_status ctx_hot_functions_build(struct ctx_report_source *source, struct ctx_fold *fold,
					const struct ctx_wait_kinds *kinds, struct ctx_hot_functions *ret,
					struct ctx_err *err)
{
	struct counting counting = {.fold = fold, .kinds = kinds};
	enum ctx_status status = ctx_code_view_pull(source, NULL, &counting.view, err);

	*ret = (struct ctx_hot_functions){0};
	if (status == CTX_OK)
		status = count(&counting, ret, err);
	counting_deinit(&counting);
	return status;
}

void ctx_hot_functions_deinit(struct ctx_hot_functions *functions)
{
	free(functions->rows);
}
