#include "report/code_rows.h"

#include "base/mem.h"
#include "report/function_names.h"
#include "report/order.h"

#include <string.h>

static enum ctx_status check_locations(const struct ctx_code *code, uint32_t n_functions, struct ctx_err *err)
{
	for (size_t i = 0; i < code->n_locations; i++) {
		const struct ctx_location *location = &code->locations[i];

		if (location->site != CTX_NONE && location->site >= code->n_sites)
			return ctx_err_set(err, CTX_E_FORMAT, "location %zu has site %u of %zu", i,
					   location->site, code->n_sites);
		if (location->function != CTX_NONE && location->function >= n_functions)
			return ctx_err_set(err, CTX_E_FORMAT, "location %zu has function %u of %u", i,
					   location->function, n_functions);
	}
	return CTX_OK;
}

static enum ctx_status check_sites(const struct ctx_code *code, uint32_t n_functions, struct ctx_err *err)
{
	for (size_t i = 0; i < code->n_sites; i++) {
		const struct ctx_site *site = &code->sites[i];

		if ((site->caller != CTX_NONE && site->caller >= i) || site->function >= n_functions ||
		    (site->file != CTX_NONE && site->file >= code->n_files))
			return ctx_err_set(err, CTX_E_FORMAT,
					   "site %zu: no such function, file or caller (%u, %u, %u)", i,
					   site->function, site->file, site->caller);
	}
	return CTX_OK;
}

enum ctx_status ctx_code_check(const struct ctx_code_view *view, struct ctx_err *err)
{
	const struct ctx_code *code = view->code;
	const struct ctx_trie *stacks;
	enum ctx_status status;

	if (code == NULL || view->raw == NULL)
		return ctx_err_set(err, CTX_E_ARG, "the addresses of the samples are not known");
	status = check_locations(code, view->profile->n_functions, err);
	if (status == CTX_OK)
		status = check_sites(code, view->profile->n_functions, err);
	if (status != CTX_OK)
		return status;
	stacks = code->raw_stacks;
	for (uint32_t i = 1; i < stacks->n; i++) {
		if (stacks->key[i] >= code->n_locations)
			return ctx_err_set(err, CTX_E_FORMAT, "raw stack %u has location %u of %zu", i,
					   stacks->key[i], code->n_locations);
	}
	for (size_t i = 0; i < view->raw->n; i++) {
		if (view->raw->entries[i].stack >= stacks->n)
			return ctx_err_set(err, CTX_E_ARG, "no raw stack %u: there are %u",
					   view->raw->entries[i].stack, stacks->n);
	}
	return CTX_OK;
}

enum ctx_status ctx_code_view_pull(struct ctx_report_source *source, const char *function,
				   struct ctx_code_view *ret, struct ctx_err *err)
{
	struct ctx_code_view view = {.profile = source->selection.profile};
	struct ctx_report_code code;
	enum ctx_status status = ctx_function_check(view.profile, function, err);

	if (status == CTX_OK)
		status = source->code(source, &code, err);
	if (status == CTX_OK)
		status = source->raw_histogram(source, &view.raw, err);
	if (status != CTX_OK)
		return status;
	view.code = code.code;
	view.reader = code.reader;
	*ret = view;
	return ctx_code_check(ret, err);
}

void ctx_code_begin(struct ctx_out *out, struct ctx_out_spec spec, const struct ctx_code_view *view)
{
	spec.totals = ctx_totals_of_raw(view->profile, view->code, view->raw);
	ctx_out_begin(out, &spec);
}

uint32_t ctx_code_real_function(const struct ctx_code *code, uint32_t location)
{
	uint32_t site = code->locations[location].site;

	if (site == CTX_NONE)
		return code->locations[location].function;
	while (code->sites[site].caller != CTX_NONE)
		site = code->sites[site].caller;
	return code->sites[site].function;
}

/* `stamp` of a row is the number of the last entry added to it. */
struct adding {
	const struct ctx_code *code;
	const uint32_t *by_site, *by_location;
	struct ctx_code_sum *sums;
	size_t *stamp;
	size_t entry; /* from 1 */
	uint64_t weight, samples;
};

static void count(struct adding *adding, uint32_t row)
{
	if (row == CTX_NONE || adding->stamp[row] == adding->entry)
		return;
	adding->stamp[row] = adding->entry;
	adding->sums[row].inclusive += adding->weight;
	adding->sums[row].inclusive_samples += adding->samples;
}

/* Counts the rows of a location; returns the innermost one. */
static uint32_t count_location(struct adding *adding, uint32_t location)
{
	uint32_t site = adding->by_site != NULL ? adding->code->locations[location].site : CTX_NONE;
	uint32_t row = site != CTX_NONE ? adding->by_site[site] : adding->by_location[location];

	count(adding, row);
	while (site != CTX_NONE && (site = adding->code->sites[site].caller) != CTX_NONE)
		count(adding, adding->by_site[site]);
	return row;
}

static void add_entry(struct adding *adding, uint32_t stack)
{
	const struct ctx_trie *stacks = adding->code->raw_stacks;
	bool leaf = true;

	for (; stack != CTX_TRIE_ROOT; stack = stacks->parent[stack]) {
		uint32_t location = stacks->key[stack], row;

		if (adding->code->locations[location].joins)
			continue;
		row = count_location(adding, location);
		if (leaf && row != CTX_NONE) {
			adding->sums[row].exclusive += adding->weight;
			adding->sums[row].exclusive_samples += adding->samples;
		}
		leaf = false;
	}
}

enum ctx_status ctx_code_add_up(const struct ctx_code_view *view, const struct ctx_code_adding *rows,
				struct ctx_err *err)
{
	size_t *stamp CTX_AUTO_FREE = ctx_calloc(rows->n, sizeof(*stamp));
	struct adding adding = {.code = view->code,
				.by_site = rows->by_site,
				.by_location = rows->by_location,
				.sums = rows->sums,
				.stamp = stamp};

	if (rows->n == 0)
		return CTX_OK;
	if (stamp == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < view->raw->n; i++) {
		adding.entry = i + 1;
		adding.weight = view->raw->entries[i].weight;
		adding.samples = view->raw->entries[i].samples;
		add_entry(&adding, view->raw->entries[i].stack);
	}
	return CTX_OK;
}

/* A place is a site, or (numbered after the sites) a location without one; with its line. */
struct item {
	struct ctx_line_key key;
	uint32_t place;
};

static int compare_keys(const struct ctx_line_key *a, const struct ctx_line_key *b)
{
	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int compare_items(const void *a, const void *b)
{
	return compare_keys(&((const struct item *)a)->key, &((const struct item *)b)->key);
}

static size_t collect(const struct ctx_code *code, ctx_line_key_fn key_of, const void *context,
		      struct item *items)
{
	size_t n = 0;

	for (size_t i = 0; i < code->n_sites; i++) {
		const struct ctx_site *site = &code->sites[i];

		items[n].place = (uint32_t)i;
		n += key_of(context, site->function, site->file, site->line, &items[n].key);
	}
	for (size_t i = 0; i < code->n_locations; i++) {
		const struct ctx_location *location = &code->locations[i];

		if (location->site != CTX_NONE || location->function == CTX_NONE || location->joins)
			continue;
		items[n].place = (uint32_t)(code->n_sites + i);
		n += key_of(context, location->function, CTX_NONE, 0, &items[n].key);
	}
	return n;
}

/* Assigns every place its row; returns the number of rows. */
static size_t number(const struct item *items, size_t n, uint32_t *row_of_place, struct ctx_line_total *rows)
{
	size_t n_rows = 0;

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || compare_keys(&items[i - 1].key, &items[i].key) != 0)
			rows[n_rows++].key = items[i].key;
		row_of_place[items[i].place] = (uint32_t)(n_rows - 1);
	}
	return n_rows;
}

enum ctx_status ctx_line_rows_build(const struct ctx_code_view *view, ctx_line_key_fn key_of,
				    const void *context, struct ctx_line_rows *ret, struct ctx_err *err)
{
	const struct ctx_code *code = view->code;
	size_t n_places = code->n_sites + code->n_locations, n;
	struct item *items CTX_AUTO_FREE = ctx_calloc(n_places, sizeof(*items));
	uint32_t *row_of_place CTX_AUTO_FREE = ctx_calloc(n_places, sizeof(*row_of_place));
	struct ctx_code_sum *sums CTX_AUTO_FREE = NULL;
	struct ctx_line_rows made = {0};
	enum ctx_status status;

	*ret = made;
	if (n_places == 0)
		return CTX_OK;
	if (items == NULL || row_of_place == NULL)
		return ctx_err_nomem(err);
	n = collect(code, key_of, context, items);
	if (n == 0)
		return CTX_OK;
	qsort(items, n, sizeof(*items), compare_items);
	memset(row_of_place, 0xff, n_places * sizeof(*row_of_place));
	made.rows = ctx_calloc(n, sizeof(*made.rows));
	if (made.rows == NULL)
		return ctx_err_nomem(err);
	made.n = number(items, n, row_of_place, made.rows);
	sums = ctx_calloc(made.n, sizeof(*sums));
	status = sums == NULL
			 ? ctx_err_nomem(err)
			 : ctx_code_add_up(view,
					   &(struct ctx_code_adding){
						   row_of_place, row_of_place + code->n_sites, sums, made.n},
					   err);
	if (status != CTX_OK) {
		ctx_line_rows_deinit(&made);
		return status;
	}
	for (size_t i = 0; i < made.n; i++)
		made.rows[i].sum = sums[i];
	*ret = made;
	return CTX_OK;
}

void ctx_line_rows_deinit(struct ctx_line_rows *rows)
{
	free(rows->rows);
	*rows = (struct ctx_line_rows){0};
}

#define SHORT_GAP 4

void ctx_code_mark_shown(const bool *has_weight, size_t n, size_t context, bool *shown)
{
	size_t end = 0; /* of what is marked */

	memset(shown, 0, n * sizeof(*shown));
	for (size_t i = 0; i < n; i++) {
		size_t begin = i > context ? i - context : 0;

		if (!has_weight[i])
			continue;
		if (begin < end + SHORT_GAP)
			begin = end;
		end = n - i > context ? i + context + 1 : n;
		if (n - end < SHORT_GAP)
			end = n;
		memset(shown + begin, 1, (end - begin) * sizeof(*shown));
	}
}
