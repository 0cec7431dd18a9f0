#include "base/mem.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <inttypes.h>

#define SHOWN_FRAMES 64

/* CSV has no lists: the last column has the joined names. */
static const struct ctx_column columns[] = {
	{"exclusive", NULL, CTX_STYLE_WEIGHT}, {"samples", NULL, CTX_STYLE_COUNT},
	{"thread", NULL, CTX_STYLE_COUNT},     {"thread_id", NULL, CTX_STYLE_COUNT},
	{"frames", NULL, CTX_STYLE_NAME},
};

static const struct ctx_column frame_columns[] = {
	{"function", NULL, CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME},
	{"inlined", NULL, CTX_STYLE_COUNT},
};

static const char *const sort_keys[] = {"exclusive", "samples", NULL};

struct page {
	struct ctx_out *out;
	const struct ctx_report_part *part;
	uint32_t *path;	  /* room for the deepest stack, root first */
	uint64_t covered; /* weight of the stacks so far */
	struct ctx_buf text;
};

static uint32_t fill_path(const struct page *page, uint32_t stack)
{
	const struct ctx_trie *cct = &page->out->profile->cct;
	uint32_t depth = cct->depth[stack];

	for (uint32_t i = depth; i-- > 0; stack = cct->parent[stack])
		page->path[i] = cct->key[stack];
	return depth;
}

static const char *joined(struct page *page, uint32_t depth)
{
	ctx_buf_clear(&page->text);
	for (uint32_t i = 0; i < depth; i++) {
		if (i != 0)
			ctx_buf_put_u8(&page->text, ';');
		ctx_buf_put_text(&page->text, ctx_function_cell(page->out->profile, page->path[i]).name);
	}
	ctx_buf_put_u8(&page->text, '\0');
	if (page->text.failed) {
		ctx_out_fail(page->out, CTX_E_NOMEM);
		return "";
	}
	return (const char *)page->text.bytes;
}

static void print_frame(struct page *page, struct ctx_cell name)
{
	ctx_out_name_line(page->out, "      ", &name);
}

static void print_stack_head(struct page *page, uint32_t number, uint64_t weight, uint64_t samples)
{
	struct ctx_out *out = page->out;
	char share[CTX_FIGURE_MAX], shown[CTX_FIGURE_MAX], cumulative[CTX_FIGURE_MAX];
	char count[CTX_HEAD_COUNT_MAX];

	ctx_head_count(&out->head, samples, count);
	ctx_figure_percent(share, weight, ctx_out_whole(out), 2);
	ctx_figure_percent(cumulative, page->covered, ctx_out_whole(out), 2);
	ctx_figure_fixed(shown, weight, out->head.scale.divisor, out->head.scale.digits);
	if (number > 1)
		ctx_out_line(out, "");
	ctx_out_line(out, ctx_out_format(out, "#%" PRIu32 "  %s %%  %s %s  %s (cumulative %s %%)", number,
					 share, shown, out->head.scale.unit, count, cumulative));
}

/* A stack whose path is stored in the page. */
struct shown {
	uint32_t number;
	uint32_t depth;	     /* 0: it has a name of its own */
	const char *special; /* that name */
	uint64_t weight, samples;
};

static void put_stack(struct page *page, const struct shown *stack)
{
	struct ctx_out *out = page->out;
	const char *special = stack->special;
	uint32_t depth = stack->depth;
	const struct ctx_profile *profile = out->profile;

	page->covered += stack->weight;
	if (ctx_out_is_text(out)) {
		print_stack_head(page, stack->number, stack->weight, stack->samples);
		if (depth == 0)
			print_frame(page, ctx_cell_name(special));
		for (uint32_t i = depth; i-- > 0;) {
			if (depth - i > SHOWN_FRAMES) {
				ctx_out_line(out, ctx_out_format(out, "      ... %" PRIu32 " more", i + 1));
				break;
			}
			print_frame(page, ctx_function_cell(profile, page->path[i]));
		}
		return;
	}
	ctx_out_row_begin(out,
			  (struct ctx_cell[]){ctx_cell_number(stack->weight), ctx_cell_number(stack->samples),
					      ctx_thread_cell(profile, page->part->thread),
					      ctx_thread_id_cell(profile, page->part->thread),
					      ctx_cell_name(depth == 0 ? special : joined(page, depth))});
	ctx_out_list_begin(out, "frames");
	if (depth == 0)
		ctx_out_list_row(
			out, frame_columns, CTX_COUNT_OF(frame_columns),
			(struct ctx_cell[]){ctx_cell_name(special), ctx_cell_name(NULL), ctx_cell_if(false)});
	for (uint32_t i = 0; i < depth; i++)
		ctx_out_list_row(out, frame_columns, CTX_COUNT_OF(frame_columns),
				 (struct ctx_cell[]){ctx_function_cell(profile, page->path[i]),
						     ctx_object_cell(profile, page->path[i]),
						     ctx_inlined_cell(profile, page->path[i])});
	ctx_out_list_end(out);
	ctx_out_row_end(out);
}

static bool passes(const struct page *page, uint32_t depth)
{
	const char *filter = page->out->options->function;
	bool found = filter == NULL;

	for (uint32_t i = 0; i < depth && !found; i++)
		found = ctx_function_matches(page->out->profile, page->path[i], filter);
	return found;
}

static void put_part(struct page *page, const struct ctx_order_item *items, size_t n)
{
	const struct ctx_head *head = &page->out->head;
	uint32_t limit = page->out->options->limit, shown = 0;
	uint64_t left_out = 0;

	if (page->out->profile->losses.call_stacks)
		return;
	if (page->part->thread != CTX_NONE)
		ctx_out_section(page->out, ctx_thread_title(page->out, page->part->thread));
	for (size_t i = 0; i < n; i++) {
		const struct ctx_hist_entry *entry = &page->part->histograms->entries[items[i].index];
		uint32_t depth = fill_path(page, entry->stack);

		if (!passes(page, depth))
			continue;
		if (limit != 0 && shown == limit)
			left_out++;
		else
			put_stack(page,
				  &(struct shown){++shown, depth, "<Total>", entry->weight, entry->samples});
	}
	if (head->has_other && page->out->options->function == NULL && left_out == 0)
		put_stack(page, &(struct shown){++shown, 0, "<Other>", head->omitted.weight,
						head->omitted.samples});
	if (left_out != 0) {
		ctx_out_line(page->out, "");
		ctx_out_line(page->out, ctx_out_format(page->out, "(%" PRIu64 " more stacks)", left_out));
	}
}

static enum ctx_status sort_part(const struct ctx_report_part *part, size_t key, struct ctx_order_item **ret,
				 size_t *ret_n, struct ctx_err *err)
{
	const struct ctx_histogram *histogram = part->histograms;
	struct ctx_order_item *items = ctx_calloc(histogram->n, sizeof(*items));
	size_t n = 0;

	if (items == NULL)
		return ctx_err_nomem(err);
	/*
	 * Equal weights are sorted by stack id, independent of the order of the histogram: the id
	 * is the second key, and the entry is looked up again below.
	 */
	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];

		if (entry->samples != 0 || entry->weight != 0)
			items[n++] = (struct ctx_order_item){
				.number = key == 0 ? entry->weight : entry->samples, .index = entry->stack};
	}
	ctx_order_sort(items, n);
	for (size_t i = 0; i < n; i++)
		items[i].index =
			(uint32_t)(ctx_histogram_get(histogram, items[i].index) - histogram->entries);
	*ret = items;
	*ret_n = n;
	return CTX_OK;
}

static enum ctx_status check_parts(const struct ctx_trie *cct, const struct ctx_report_parts *parts,
				   struct ctx_err *err)
{
	for (size_t part = 0; part < parts->n; part++) {
		for (size_t i = 0; i < parts->parts[part].histograms->n; i++) {
			uint32_t stack = parts->parts[part].histograms->entries[i].stack;

			if (stack >= cct->n)
				return ctx_err_set(err, CTX_E_ARG, "no call stack %u: there are %u", stack,
						   cct->n);
		}
	}
	return CTX_OK;
}

static uint32_t deepest(const struct ctx_trie *cct)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < cct->n; i++)
		depth = cct->depth[i] > depth ? cct->depth[i] : depth;
	return depth;
}

static enum ctx_status print_parts(const struct ctx_out_spec *spec, const struct ctx_report_parts *parts,
				   size_t key, struct ctx_err *err)
{
	uint32_t *path CTX_AUTO_FREE = ctx_calloc(deepest(&spec->selection->profile->cct), sizeof(*path));
	struct ctx_out out;
	struct page page = {.out = &out, .path = path};
	enum ctx_status status = CTX_OK;

	if (path == NULL)
		return ctx_err_nomem(err);
	ctx_out_begin(&out, spec);
	for (size_t i = 0; i < parts->n && status == CTX_OK; i++) {
		struct ctx_order_item *items CTX_AUTO_FREE = NULL;
		size_t n = 0;

		page.part = &parts->parts[i];
		page.covered = 0;
		ctx_out_part(&out, page.part->thread, page.part->histograms->weight);
		status = sort_part(page.part, key, &items, &n, err);
		if (status == CTX_OK)
			put_part(&page, items, n);
		ctx_out_fail(&out, status);
	}
	ctx_out_rows_end(&out);
	ctx_buf_deinit(&page.text);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_out_spec spec = {.kind = &ctx_report_stacks,
				    .selection = &source->selection,
				    .options = options,
				    .columns = columns,
				    .n_columns = CTX_COUNT_OF(columns)};
	struct ctx_report_parts parts;
	size_t key;
	enum ctx_status status = ctx_order_find("stacks", options->sort, sort_keys, &key, err);

	if (options->format == CTX_REPORT_JSON)
		spec.n_columns--; /* the frames are a list */
	if (status == CTX_OK)
		status = ctx_function_check(profile, options->function, err);
	if (status == CTX_OK)
		status = source->parts(source, &(struct ctx_parts_query){.per_thread = options->per_thread},
				       &parts, err);
	if (status == CTX_OK)
		status = check_parts(&profile->cct, &parts, err);
	if (status != CTX_OK)
		return status;
	ctx_out_spec_parts(&spec, &parts);
	if (parts.n == 0) /* --per-thread, and no thread has samples */
		spec.totals = ctx_totals_of_run(spec.selection);
	return print_parts(&spec, &parts, key, err);
}

const struct ctx_report_kind ctx_report_stacks = {
	.name = "stacks",
	.sort_exclusive = "exclusive",
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
