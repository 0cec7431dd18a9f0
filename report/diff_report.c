#include "report/diff_report.h"

#include "report/diff_page.h"
#include "report/diff_result.h"
#include "report/state_cells.h"

#include <inttypes.h>
#include <math.h>

static void put_total(struct ctx_diff_page *page)
{
	struct ctx_cell cells[CTX_DIFF_COLUMNS_MAX];

	ctx_diff_page_fill(page, CTX_NONE, cells);
	ctx_out_row(&page->out, cells);
}

static void put_row(struct ctx_diff_page *page, uint32_t row)
{
	struct ctx_cell cells[CTX_DIFF_COLUMNS_MAX];

	ctx_diff_page_fill(page, row, cells);
	if (!ctx_out_has_lists(&page->out)) {
		ctx_out_row(&page->out, cells);
		return;
	}
	ctx_out_row_begin(&page->out, cells);
	ctx_diff_put_lists(&page->out, &page->diff.items, page->diff.rows[row].item, page->spec->subject);
	ctx_out_row_end(&page->out);
}

/* In text, unless somebody asks for them: what is too light to be tested is many rows of a sample or two. */
static bool is_too_light(const struct ctx_diff_page *page, const struct ctx_diff_row *row)
{
	const struct ctx_report_options *options = page->options;

	return options->format == CTX_REPORT_TEXT && options->limit == 0 && !options->whole &&
	       options->function == NULL && page->spec->subject != CTX_DIFF_STATES && !row->tested;
}

static void put_rows(struct ctx_diff_page *page)
{
	uint32_t shown = 0, left_out = 0, light = 0;

	put_total(page);
	for (uint32_t i = 0; i < page->diff.n; i++) {
		if (!ctx_diff_item_matches(&page->diff.items, page->diff.rows[i].item,
					   page->options->function))
			continue;
		if (is_too_light(page, &page->diff.rows[i])) {
			light++;
			continue;
		}
		if (page->options->limit != 0 && shown == page->options->limit) {
			left_out++;
			continue;
		}
		shown++;
		put_row(page, i);
	}
	ctx_out_section(&page->out, NULL);
	ctx_out_more(&page->out, left_out, page->form->one);
	if (light != 0)
		ctx_out_line(&page->out,
			     ctx_out_format(&page->out,
					    "(%" PRIu32 " more with less than 0.1 %% of all, not tested: "
					    "--limit 0)",
					    light));
}

static bool is_of_states(const struct ctx_diff_spec *spec)
{
	return spec->subject == CTX_DIFF_STATES || spec->subject == CTX_DIFF_WAITS;
}

static enum ctx_status print(struct ctx_diff_page *page, struct ctx_err *err)
{
	const struct ctx_diff_spec *spec = page->spec;
	const struct ctx_diff_totals *a = &page->diff.sides[CTX_COMPARE_A],
				     *b = &page->diff.sides[CTX_COMPARE_B];
	struct ctx_head_topic topic = {
		.metric = {.name = spec->subject == CTX_DIFF_WAITS ? "Waits" : "Thread states",
			   .unit = CTX_UNIT_NS,
			   .kind = CTX_METRIC_SPAN},
		.counted = "spans"};
	struct ctx_out_spec out = {.kind = page->kind,
				   .selection = &spec->sides[CTX_COMPARE_A].sources[0]->selection,
				   .options = page->options,
				   .columns = page->columns,
				   .own_title = true};
	enum ctx_status status = CTX_OK;

	ctx_diff_page_columns(page);
	out.n_columns = page->n_columns;
	out.totals.samples = a->samples;
	out.totals.weight = (uint64_t)llround(fmax(a->weight, b->weight));
	topic.totals = out.totals;
	out.topic = is_of_states(spec) ? &topic : NULL;
	ctx_out_begin(&page->out, &out);
	ctx_diff_page_put_titles(page);
	ctx_diff_result_put(page);
	ctx_out_line(&page->out, "");
	if (spec->subject == CTX_DIFF_TREE)
		status = ctx_diff_page_put_tree(page, err);
	else
		put_rows(page);
	ctx_out_fail(&page->out, status);
	ctx_out_rows_end(&page->out);
	ctx_diff_page_put_lists(page);
	return ctx_out_end(&page->out, err);
}

enum ctx_status ctx_diff_report_print(const struct ctx_diff_spec *spec, const struct ctx_diff_named *named,
				      const struct ctx_report_options *options, struct ctx_err *err)
{
	struct ctx_diff_page page = {
		.spec = spec, .options = options, .form = ctx_diff_form_of(spec->subject)};
	enum ctx_status status = ctx_diff_make(spec, &page.diff, err);

	page.kind = named != NULL && named->kind != NULL ? named->kind : page.form->kind;
	page.title = named != NULL ? named->title : NULL;
	page.least_share = named != NULL ? named->least_share : 0;
	if (status != CTX_OK)
		return status;
	status = print(&page, err);
	ctx_diff_deinit(&page.diff);
	return status;
}
