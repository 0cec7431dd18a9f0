/*
 * Load objects: exclusive and inclusive weight of each.
 *
 * A sample counts once for every object on its stack. Functions without an object
 * (<Truncated-stack>, <Unknown>) have their own rows.
 */
#include "base/mem.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

static const struct ctx_column columns[] = {
	{NULL, "Self", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Total", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Samples", CTX_STYLE_COUNT},
	{NULL, "Build id", CTX_STYLE_NAME},
	{NULL, "Symbols", CTX_STYLE_PLACE},
	{"object", "Object", CTX_STYLE_PLACE},
	{"build_id", NULL, CTX_STYLE_NAME},
	{"symbols", NULL, CTX_STYLE_NAME},
	{"exclusive", NULL, CTX_STYLE_WEIGHT},
	{"inclusive", NULL, CTX_STYLE_WEIGHT},
	{"exclusive_samples", NULL, CTX_STYLE_COUNT},
	{"inclusive_samples", NULL, CTX_STYLE_COUNT},
	{"thread", NULL, CTX_STYLE_COUNT},
	{"thread_id", NULL, CTX_STYLE_COUNT},
};

static const char *const sort_keys[] = {
	"exclusive", "inclusive", "exclusive_samples", "inclusive_samples",
	"object",    "build_id",  "symbols",	       NULL,
};

#define BUILD_ID_SHOWN 8

struct sum {
	struct ctx_flat_row row; /* its function is not used */
	uint32_t on_path;	 /* how often it is on the path from the root to the current node */
};

/* Rows by object, followed by rows by function. */
static uint32_t place_of(const struct ctx_profile *profile, uint32_t function)
{
	uint32_t object = profile->functions[function].object;

	return object < profile->n_objects ? object : profile->n_objects + function;
}

/* Nodes are in depth-first order, so the path changes at its end only. O(nodes). */
static enum ctx_status add_up(const struct ctx_profile *profile, const struct ctx_calltree *tree,
			      struct sum *sums, struct ctx_err *err)
{
	uint32_t *path CTX_AUTO_FREE = ctx_calloc(tree->n, sizeof(*path));
	uint32_t depth = 0;

	if (path == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 1; i < tree->n; i++) {
		const struct ctx_calltree_node *node = &tree->nodes[i];
		struct sum *sum = &sums[place_of(profile, node->function)];

		while (depth >= node->level)
			sums[path[--depth]].on_path--;
		sum->row.base += node->base;
		sum->row.base_samples += node->base_samples;
		if (sum->on_path++ == 0) {
			sum->row.cum += node->cum;
			sum->row.cum_samples += node->cum_samples;
		}
		path[depth++] = (uint32_t)(sum - sums);
	}
	return CTX_OK;
}

static void put_row(const struct ctx_part_page *page, const struct ctx_flat_row *row, const char *name,
		    const struct ctx_object_info *object)
{
	struct ctx_out *out = page->out;
	uint32_t thread = page->thread;
	const char *id = object != NULL ? object->build_id : NULL;
	const char *symbols = object != NULL ? object->symbols : NULL;
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		ctx_cell_number(row->base),
		ctx_cell_number(row->base),
		ctx_cell_number(row->cum),
		ctx_cell_number(row->cum),
		ctx_cell_number(row->base_samples),
		ctx_cell_name(id != NULL ? ctx_out_format(out, "%.*s", BUILD_ID_SHOWN, id) : NULL),
		ctx_cell_name(symbols),
		ctx_cell_name(name),
		ctx_cell_name(id != NULL && *id != '\0' ? id : NULL),
		ctx_cell_name(symbols),
		ctx_cell_number(row->base),
		ctx_cell_number(row->cum),
		ctx_cell_number(row->base_samples),
		ctx_cell_number(row->cum_samples),
		ctx_thread_cell(out->profile, thread),
		ctx_thread_id_cell(out->profile, thread),
	};

	ctx_metric_view_hide_cum(page->view, cells);
	ctx_out_row(out, cells);
}

static void put_heads(const struct ctx_part_page *page)
{
	const struct ctx_out *out = page->out;
	const struct ctx_calltree *tree = page->tree;
	const struct ctx_report_omitted *omitted = &out->head.omitted;
	struct ctx_flat_row total = {.base = tree->nodes[0].cum, .base_samples = tree->nodes[0].cum_samples};
	struct ctx_flat_row other = {.base = omitted->weight, .base_samples = omitted->samples};
	bool has_other = out->head.has_other;

	total.base += has_other ? other.base : 0;
	total.base_samples += has_other ? other.base_samples : 0;
	total.cum = total.base;
	total.cum_samples = total.base_samples;
	other.cum = other.base;
	other.cum_samples = other.base_samples;
	put_row(page, &total, "<Total>", NULL);
	if (has_other)
		put_row(page, &other, "<Other>", NULL);
}

static const char *name_of(const struct ctx_profile *profile, uint32_t place)
{
	return place < profile->n_objects ? profile->objects[place].path
					  : profile->functions[place - profile->n_objects].name;
}

static void put_part(const struct ctx_part_page *page, const struct sum *sums,
		     const struct ctx_order_item *items, size_t n)
{
	struct ctx_out *out = page->out;
	uint32_t thread = page->thread;
	const struct ctx_profile *profile = out->profile;
	uint32_t limit = out->options->limit;

	if (thread != CTX_NONE)
		ctx_out_section(out, ctx_thread_title(out, thread));
	put_heads(page);
	for (size_t i = 0; i < n && (limit == 0 || i < limit); i++) {
		uint32_t place = items[i].index;

		put_row(page, &sums[place].row, name_of(profile, place),
			place < profile->n_objects ? &profile->objects[place] : NULL);
	}
	ctx_out_section(out, NULL);
	if (limit != 0 && n > limit)
		ctx_out_more(out, n - limit, "object");
}

/* With --function: the objects that have a function of this name. */
static void mark_matching(const struct ctx_profile *profile, const char *filter, bool *matches)
{
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		if (ctx_function_matches(profile, i, filter))
			matches[place_of(profile, i)] = true;
	}
}

/* By which rows are sorted: name, build id, place of the symbols. Functions have the first alone. */
static const char *text_of(const struct ctx_profile *profile, uint32_t place, size_t key)
{
	if (key == 4)
		return name_of(profile, place);
	if (place >= profile->n_objects)
		return "";
	return key == 5 ? profile->objects[place].build_id : profile->objects[place].symbols;
}

/* In exclusive order, ties are sorted by inclusive weight. */
static size_t sort_rows(const struct ctx_profile *profile, const struct sum *sums, const bool *matches,
			size_t key, struct ctx_order_item *items)
{
	uint32_t n_places = profile->n_objects + profile->n_functions;
	size_t n = 0;

	for (uint32_t i = 0; i < n_places; i++) {
		const struct ctx_flat_row *row = &sums[i].row;
		const uint64_t numbers[] = {row->base, row->cum, row->base_samples, row->cum_samples, 0,
					    0,	       0};

		if ((row->cum == 0 && row->cum_samples == 0) || !matches[i])
			continue;
		items[n++] = (struct ctx_order_item){.text = key >= 4 ? text_of(profile, i, key) : NULL,
						     .number = numbers[key],
						     .second = row->cum,
						     .index = i};
	}
	ctx_order_sort(items, n);
	return n;
}

static enum ctx_status put_page(const struct ctx_part_page *page, struct ctx_err *err)
{
	struct ctx_out *out = page->out;
	const struct ctx_profile *profile = out->profile;
	size_t n_places = (size_t)profile->n_objects + profile->n_functions;
	struct sum *sums CTX_AUTO_FREE = ctx_calloc(n_places, sizeof(*sums));
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(n_places, sizeof(*items));
	bool *matches CTX_AUTO_FREE = ctx_calloc(n_places, sizeof(*matches));
	enum ctx_status status;

	if (n_places != 0 && (sums == NULL || items == NULL || matches == NULL))
		return ctx_err_nomem(err);
	mark_matching(profile, out->options->function, matches);
	status = add_up(profile, page->tree, sums, err);
	if (status == CTX_OK)
		put_part(page, sums, items, sort_rows(profile, sums, matches, page->key, items));
	return status;
}

static const struct ctx_metric_form form = {.base_key = "exclusive",
					    .cum_key = "inclusive",
					    .cum_samples_key = "inclusive_samples",
					    .cum_column = 2};

static const struct ctx_part_report report = {
	.kind = &ctx_report_objects, .form = &form, .sort_keys = sort_keys, .put = put_page};

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	return ctx_part_trees_report(source, options, &report, err);
}

static const struct ctx_report_alias aliases[] = {
	{"objects-list", false}, {"object-list", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_objects = {
	.name = "objects",
	.sort_exclusive = "exclusive",
	.sort_inclusive = "inclusive",
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
