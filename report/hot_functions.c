#include "report/hot_functions.h"

#include "base/map64.h"
#include "base/mem.h"
#include "report/code_rows.h"

#include <stdlib.h>

/* Self weight of a row in a line of the program. */
struct line {
	uint32_t row, file, line;
	uint64_t weight;
};

struct counting {
	struct ctx_fold *fold;
	const struct ctx_wait_kinds *kinds;
	struct ctx_code_view view;
	struct ctx_histogram folded; /* by folded node */
	struct ctx_map64 row_of;     /* by caller and function */
	struct ctx_hot_function *rows;
	size_t *counted; /* by row: 1 + the last entry of the histogram that was added to its total */
	size_t n, cap, counted_cap;
	uint32_t *path; /* of an entry, leaf first */
	size_t path_cap;
	struct line *lines;
	size_t n_lines;
};

static void counting_deinit(struct counting *counting)
{
	ctx_histogram_deinit(&counting->folded);
	ctx_map64_deinit(&counting->row_of);
	free(counting->rows);
	free(counting->counted);
	free(counting->path);
	free(counting->lines);
}

static bool is_program(const struct counting *counting, uint32_t function)
{
	return ctx_wait_kinds_is_program(counting->kinds, function);
}

/* The row of a function, which is made if it is missing. */
static enum ctx_status find_row(struct counting *counting, uint32_t function, uint32_t caller, uint32_t *ret,
				struct ctx_err *err)
{
	uint32_t *at = ctx_map64_place(&counting->row_of, (uint64_t)caller << 32 | function);
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
			(struct ctx_hot_function){.function = function, .caller = caller, .file = CTX_NONE};
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

/* Adds an entry to the total of each row on its path, once, and to the self weight of the last. */
static enum ctx_status add_entry(struct counting *counting, size_t i, struct ctx_err *err)
{
	const struct ctx_hist_entry *entry = &counting->folded.entries[i];
	uint32_t caller = CTX_NONE, row = 0;
	size_t n;
	enum ctx_status status = take_path(counting, entry->stack, &n, err);

	for (size_t at = n; status == CTX_OK && at > 0; at--) {
		uint32_t function = counting->path[at - 1];
		bool program = is_program(counting, function);

		status = find_row(counting, function, program ? CTX_NONE : caller, &row, err);
		if (status == CTX_OK && counting->counted[row] != i + 1) {
			counting->counted[row] = i + 1;
			counting->rows[row].total += entry->weight;
		}
		caller = program ? function : caller;
	}
	if (status == CTX_OK && n != 0)
		counting->rows[row].self += entry->weight;
	return status;
}

/* The row of the samples that ended at a folded node, which has one. */
static uint32_t leaf_row(const struct counting *counting, uint32_t node)
{
	const struct ctx_trie *cct = &counting->fold->profile.cct;
	uint32_t function = cct->key[node], caller = CTX_NONE;

	if (!is_program(counting, function)) {
		while (node != CTX_TRIE_ROOT && !is_program(counting, cct->key[node]))
			node = cct->parent[node];
		caller = node != CTX_TRIE_ROOT ? cct->key[node] : CTX_NONE;
	}
	return ctx_map64_get(&counting->row_of, (uint64_t)caller << 32 | function);
}

/* The site of the innermost frame of the program on a raw stack; CTX_NONE: unknown. */
static uint32_t program_site(const struct counting *counting, uint32_t raw)
{
	const struct ctx_code *code = counting->view.code;

	for (; raw != CTX_TRIE_ROOT; raw = code->raw_stacks->parent[raw]) {
		const struct ctx_location *location = &code->locations[code->raw_stacks->key[raw]];

		if (!location->joins && location->function != CTX_NONE &&
		    is_program(counting, location->function))
			return location->site;
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
	counting->lines[counting->n_lines++] = (struct line){leaf_row(counting, node), code->sites[site].file,
							     code->sites[site].line, entry->weight};
	return CTX_OK;
}

/* By row, file and line. */
static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Each row gets its line with the most self weight. */
static enum ctx_status find_lines(struct counting *counting, struct ctx_err *err)
{
	const struct ctx_histogram *raw = counting->view.raw;
	uint64_t *most CTX_AUTO_FREE = ctx_calloc(counting->n, sizeof(*most));
	enum ctx_status status = CTX_OK;

	counting->lines = ctx_calloc(raw->n, sizeof(*counting->lines));
	if (most == NULL || counting->lines == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; status == CTX_OK && i < raw->n; i++)
		status = collect_line(counting, &raw->entries[i], err);
	if (counting->n_lines != 0)
		qsort(counting->lines, counting->n_lines, sizeof(*counting->lines), compare_lines);
	for (size_t i = 0; i < counting->n_lines;) {
		const struct line *first = &counting->lines[i];
		uint64_t weight = 0;

		for (; i < counting->n_lines && compare_lines(first, &counting->lines[i]) == 0; i++)
			weight += counting->lines[i].weight;
		if (first->row < counting->n && weight > most[first->row]) {
			most[first->row] = weight;
			counting->rows[first->row].file = first->file;
			counting->rows[first->row].line = first->line;
		}
	}
	return status;
}

static enum ctx_status fold_raw(struct counting *counting, struct ctx_err *err)
{
	const struct ctx_histogram *raw = counting->view.raw;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; status == CTX_OK && i < raw->n; i++) {
		struct ctx_hist_entry entry = raw->entries[i];

		status = ctx_fold_find(counting->fold, counting->view.code->raw_to_stack[entry.stack],
				       &entry.stack, err);
		if (status == CTX_OK && entry.stack != CTX_NONE)
			status = ctx_histogram_add(&counting->folded, entry, err);
	}
	return status;
}

/* By descending self, then total, then ids. */
static int compare_rows(const void *left, const void *right)
{
	const struct ctx_hot_function *a = left, *b = right;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->caller < b->caller ? -1 : a->caller > b->caller;
}

static enum ctx_status count(struct counting *counting, struct ctx_hot_functions *ret, struct ctx_err *err)
{
	enum ctx_status status = fold_raw(counting, err);

	for (size_t i = 0; status == CTX_OK && i < counting->folded.n; i++)
		status = add_entry(counting, i, err);
	if (status == CTX_OK)
		status = find_lines(counting, err);
	if (status != CTX_OK)
		return status;
	if (counting->n != 0)
		qsort(counting->rows, counting->n, sizeof(*counting->rows), compare_rows);
	status =
		ctx_fold_hottest(counting->fold, &counting->folded, &ret->hottest, &ret->hottest_weight, err);
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
