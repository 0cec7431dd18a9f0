#include "report/metric_view.h"

#include "base/mem.h"
#include "report/calls.h"
#include "report/headings.h"
#include "report/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEADING 16
#define OBJECTS_FROM 50u /* minimum width of names at which objects are shown too */

const char *ctx_metric_word(const struct ctx_metric_info *metric)
{
	return metric->word != NULL ? metric->word : metric->name;
}

static const char *short_title(const struct ctx_metric_info *metric)
{
	static const struct {
		const char *word, *title;
	} titles[] = {
		{"system", "Sys. CPU"},	    {"lock", "Lock"},	     {"text-fault", "Text flt"},
		{"data-fault", "Data flt"}, {"other-wait", "Other"},
	};

	for (size_t i = 0; metric->word != NULL && i < CTX_COUNT_OF(titles); i++) {
		if (strcmp(metric->word, titles[i].word) == 0)
			return titles[i].title;
	}
	return metric->name;
}

/* Behind that title. */
static const char *heading_unit(const struct ctx_metric_info *metric, const char *title,
				const struct ctx_scale *scale)
{
	return metric->unit == CTX_UNIT_BYTES && strstr(title, "Bytes") != NULL ? "" : scale->unit;
}

static const struct ctx_metric_info *metric_of(const struct ctx_report_selection *selection, size_t i)
{
	uint32_t metric = selection->metrics[i];

	return metric < selection->profile->n_metrics ? &selection->profile->metrics[metric] : NULL;
}

static enum ctx_status add_weights(struct ctx_metric_view *view, const struct ctx_report_parts *parts,
				   struct ctx_err *err)
{
	view->weights = ctx_calloc(parts->n_metrics, sizeof(*view->weights));
	if (view->weights == NULL)
		return ctx_err_nomem(err);
	for (size_t part = 0; part < parts->n; part++) {
		for (size_t i = 0; i < parts->n_metrics; i++)
			view->weights[i] += parts->parts[part].histograms[i].weight;
	}
	return CTX_OK;
}

/* With few digits: a number takes at most 7 columns, up to a day. */
static struct ctx_scale narrow_scale(enum ctx_unit unit, uint64_t largest)
{
	struct ctx_scale scale = ctx_scale_for(unit, largest);

	if (scale.divisor == 1)
		return scale;
	if (scale.divisor == 1000 * 1000)
		scale.digits = largest < UINT64_C(1000) * 1000 * 1000 ? 2 : 1;
	else
		scale.digits = largest < UINT64_C(1000) * 1000 * 1000 * 1000 ? 2 : 1;
	return scale;
}

static char *format(struct ctx_arena *arena, const char *first, const char *between, const char *second)
{
	size_t n = strlen(first) + strlen(between) + strlen(second) + 1;
	char *text = ctx_arena_alloc(arena, n);

	if (text != NULL)
		snprintf(text, n, "%s%s%s", first, between, second);
	return text;
}

const char *ctx_metric_heading(const struct ctx_metric_info *metric, const struct ctx_scale *scale,
			       size_t width, bool ascii, struct ctx_arena *arena)
{
	const char *title = short_title(metric), *unit = heading_unit(metric, title, scale);
	struct ctx_buf safe = {0}, cut = {0};
	char *text = NULL;

	ctx_name_put_text(&safe, title, ascii);
	if (!safe.failed)
		ctx_text_cut(&cut, (const char *)safe.bytes, safe.n, width, ascii);
	ctx_buf_put_u8(&cut, '\0');
	if (!safe.failed && !cut.failed)
		text = format(arena, (const char *)cut.bytes, *unit != '\0' ? " " : "", unit);
	ctx_buf_deinit(&safe);
	ctx_buf_deinit(&cut);
	return text;
}

static size_t figure_width(uint64_t weight, const struct ctx_scale *scale)
{
	char figure[CTX_FIGURE_MAX];

	ctx_figure_fixed(figure, weight, scale->divisor, scale->digits);
	return strlen(figure);
}

static size_t at_least(size_t value, size_t least)
{
	return value > least ? value : least;
}

/* Columns of JSON and CSV. */
static size_t n_columns(const struct ctx_metric_view *view)
{
	return view->kind->n_columns - (view->has_seen ? 0 : view->form->n_traced);
}

static unsigned n_lead(const struct ctx_metric_view *view)
{
	return view->form->traced_lead && !view->has_seen ? 0 : view->form->n_lead;
}

/* Columns left for names; 0: none. */
static size_t room(const struct ctx_metric_view *view, const struct ctx_scale *scales,
		   const char *const *headings, size_t width)
{
	size_t used = view->has_lead && n_lead(view) != 0 ? view->form->lead_width : 0;

	for (size_t i = 0; i <= view->n_more; i++) {
		size_t figure = figure_width(view->weights[i], &scales[i]);
		size_t group = at_least(figure, strlen(view->form->cum_title)) + 1;

		if (!view->has_cum)
			group = 0;
		if (view->has_base)
			group += at_least(figure, strlen(view->form->base_title)) + 1;
		used += at_least(group, ctx_heading_width(headings[i]) + 1);
	}
	return width > used ? width - used : 0;
}

/* Drops parts of the table, one after the other, until names have enough columns. */
static void lay_out(struct ctx_metric_view *view, struct ctx_scale *scales, const char *const *headings)
{
	unsigned width = view->options->width;

	view->has_lead = view->has_base = true;
	if (width == 0)
		return;
	for (unsigned step = 1; step <= 3 && room(view, scales, headings, width) < view->form->wanted;
	     step++) {
		for (size_t i = 0; i <= view->n_more && step == 1; i++)
			scales[i] = narrow_scale(metric_of(view->selection, i)->unit, view->weights[i]);
		if (step == 2)
			view->has_lead = false;
		if (step == 3 && view->has_cum)
			view->has_base = false;
	}
	view->name_room = (unsigned)at_least(room(view, scales, headings, width), 12);
}

static enum ctx_status make_text(struct ctx_metric_view *view, struct ctx_err *err)
{
	size_t n_metrics = view->n_more + 1, n = 0;
	size_t most = view->form->n_lead + 2 * n_metrics + 1;
	struct ctx_scale *scales CTX_AUTO_FREE = ctx_calloc(n_metrics, sizeof(*scales));
	const char **headings CTX_AUTO_FREE = ctx_calloc(n_metrics, sizeof(*headings));

	view->columns = ctx_calloc(most, sizeof(*view->columns));
	view->cells = ctx_calloc(most, sizeof(*view->cells));
	view->scales = ctx_calloc(most, sizeof(*view->scales));
	view->groups = ctx_calloc(most, sizeof(*view->groups));
	if (scales == NULL || headings == NULL || view->columns == NULL || view->cells == NULL ||
	    view->scales == NULL || view->groups == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n_metrics; i++) {
		scales[i] = ctx_scale_for(metric_of(view->selection, i)->unit, view->weights[i]);
		headings[i] = ctx_metric_heading(metric_of(view->selection, i), &scales[i], MAX_HEADING,
						 view->options->ascii, &view->arena);
		if (headings[i] == NULL)
			return ctx_err_nomem(err);
	}
	lay_out(view, scales, headings);
	for (unsigned i = 0; view->has_lead && i < n_lead(view); i++)
		view->columns[n++] = view->own[i];
	for (size_t i = 0; i < n_metrics; i++) {
		for (int cum = view->has_base ? 0 : 1; cum < (view->has_cum ? 2 : 1); cum++) {
			view->columns[n].title = cum ? view->form->cum_title : view->form->base_title;
			view->columns[n].style = CTX_STYLE_WEIGHT;
			view->scales[n] = scales[i];
			view->groups[n++] = headings[i];
		}
	}
	view->columns[n++] = view->kind->columns[view->form->name];
	view->n_columns = n;
	return CTX_OK;
}

/* The keys of further metrics: base and cum of each. */
static enum ctx_status make_keys(struct ctx_metric_view *view, const char *const *sort_keys,
				 struct ctx_err *err)
{
	size_t n = 0;

	while (sort_keys != NULL && sort_keys[n] != NULL)
		n++;
	view->n_own_keys = n;
	view->sort_keys = ctx_calloc(n + 2 * view->n_more + 1, sizeof(*view->sort_keys));
	if (view->sort_keys == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		view->sort_keys[i] = sort_keys[i];
	for (size_t i = 1; i <= view->n_more; i++) {
		const char *word = ctx_metric_word(metric_of(view->selection, i));

		view->sort_keys[n++] = format(&view->arena, view->form->base_key, ".", word);
		view->sort_keys[n++] = format(&view->arena, view->form->cum_key, ".", word);
		if (view->sort_keys[n - 2] == NULL || view->sort_keys[n - 1] == NULL)
			return ctx_err_nomem(err);
	}
	return CTX_OK;
}

static enum ctx_status make_csv(struct ctx_metric_view *view, struct ctx_err *err)
{
	size_t n = n_columns(view) + 2 * view->n_more;

	view->columns = ctx_calloc(n, sizeof(*view->columns));
	view->cells = ctx_calloc(n, sizeof(*view->cells));
	if (view->columns == NULL || view->cells == NULL)
		return ctx_err_nomem(err);
	memcpy(view->columns, view->kind->columns, n_columns(view) * sizeof(*view->columns));
	for (size_t i = n_columns(view); i < n; i++)
		view->columns[i] =
			(struct ctx_column){.key = view->sort_keys[view->n_own_keys + i - n_columns(view)],
					    .style = CTX_STYLE_WEIGHT};
	view->n_columns = n;
	return CTX_OK;
}

enum ctx_status ctx_metric_view_pull(const struct ctx_metric_view *view, struct ctx_report_source *source,
				     bool calls, struct ctx_report_parts *ret, struct ctx_err *err)
{
	const struct ctx_parts_query query = {
		.per_thread = view->options->per_thread,
		.calls = calls || ctx_calls_are_seen(view->selection, view->selection->n_metrics),
		.every_metric = view->kind->metrics == CTX_REPORT_METRICS};

	return source->parts(source, &query, ret, err);
}

/* Without call stacks: the report's own columns, those of inclusive weights have no title. */
static enum ctx_status make_shown(struct ctx_metric_view *view, struct ctx_err *err)
{
	size_t n = view->kind->n_columns;

	view->shown = ctx_calloc(n, sizeof(*view->shown));
	if (view->shown == NULL)
		return ctx_err_nomem(err);
	memcpy(view->shown, view->own, n * sizeof(*view->shown));
	for (unsigned i = 0; i < 2; i++)
		view->shown[view->form->cum_column + i].title = NULL;
	return CTX_OK;
}

/* The first columns have no title: of text they are not shown. NULL: no memory. */
static const struct ctx_column *without_lead(struct ctx_metric_view *view)
{
	size_t n = view->kind->n_columns;
	struct ctx_column *columns = ctx_arena_alloc(&view->arena, n * sizeof(*columns));

	for (size_t i = 0; columns != NULL && i < n; i++) {
		columns[i] = view->kind->columns[i];
		if (i < view->form->n_lead)
			columns[i].title = NULL;
	}
	return columns;
}

enum ctx_status ctx_metric_view_init(struct ctx_metric_view *view, const struct ctx_report_parts *parts,
				     const char *const *sort_keys, struct ctx_err *err)
{
	enum ctx_status status;

	view->n_more = parts->n_metrics - 1;
	view->own = view->kind->columns;
	view->has_seen = ctx_calls_are_seen(view->selection, parts->n_metrics);
	if (view->form->traced_lead && !view->has_seen)
		view->own = without_lead(view);
	if (view->form->has_calls)
		view->own = ctx_calls_columns(view->selection, view->options, view->kind, &view->arena);
	if (view->own == NULL)
		return ctx_err_nomem(err);
	view->has_cum = !view->selection->profile->losses.call_stacks || view->form->cum_column == 0;
	for (size_t i = 0; i <= view->n_more && view->n_more != 0; i++) {
		if (metric_of(view->selection, i) == NULL)
			return ctx_err_set(err, CTX_E_ARG, "there is no metric number %zu", i);
	}
	status = add_weights(view, parts, err);
	if (status == CTX_OK)
		status = make_keys(view, sort_keys, err);
	if (status == CTX_OK && view->n_more == 0 && !view->has_cum)
		status = make_shown(view, err);
	if (status != CTX_OK || view->n_more == 0)
		return status;
	if (view->options->format == CTX_REPORT_CSV)
		return make_csv(view, err);
	return view->options->format == CTX_REPORT_JSON ? CTX_OK : make_text(view, err);
}

void ctx_metric_view_deinit(struct ctx_metric_view *view)
{
	free(view->weights);
	free(view->columns);
	free(view->shown);
	free(view->cells);
	free(view->scales);
	free(view->groups);
	free(view->sort_keys);
	ctx_arena_deinit(&view->arena);
	*view = (struct ctx_metric_view){0};
}

void ctx_metric_view_begin(const struct ctx_metric_view *view, struct ctx_out *out,
			   const struct ctx_report_parts *parts)
{
	struct ctx_out_spec spec = {.kind = view->kind,
				    .selection = view->selection,
				    .options = view->options,
				    .columns = view->columns != NULL ? view->columns : view->own,
				    .n_columns = view->columns != NULL ? view->n_columns : n_columns(view),
				    .more_weights = view->weights + 1,
				    .n_more = view->n_more};

	if (view->shown != NULL) {
		spec.columns = view->shown;
		spec.n_columns = n_columns(view);
	}
	ctx_out_spec_parts(&spec, parts);
	ctx_out_begin(out, &spec);
	out->scales = view->scales;
	out->groups = view->groups;
}

static struct ctx_cell cum_cell(const struct ctx_metric_view *view, uint64_t number)
{
	return view->has_cum ? ctx_cell_number(number) : ctx_cell_name(NULL);
}

void ctx_metric_view_hide_cum(const struct ctx_metric_view *view, struct ctx_cell *cells)
{
	const struct ctx_metric_form *form = view->form;

	for (size_t i = 0; !view->has_cum && i < view->kind->n_columns; i++) {
		const char *key = view->kind->columns[i].key;

		if (key != NULL &&
		    (strcmp(key, form->cum_key) == 0 ||
		     (form->cum_samples_key != NULL && strcmp(key, form->cum_samples_key) == 0)))
			cells[i] = ctx_cell_name(NULL);
	}
}

/* One object for each further metric. */
static void put_metrics(const struct ctx_metric_view *view, struct ctx_out *out,
			const struct ctx_flat_row *more)
{
	const struct ctx_metric_form *form = view->form;
	const struct ctx_column columns[] = {
		{"name", NULL, CTX_STYLE_NAME},
		{"word", NULL, CTX_STYLE_NAME},
		{"unit", NULL, CTX_STYLE_NAME},
		{form->base_key, NULL, CTX_STYLE_WEIGHT},
		{form->cum_key, NULL, CTX_STYLE_WEIGHT},
		{form->base_samples_key, NULL, CTX_STYLE_COUNT},
		{form->cum_samples_key, NULL, CTX_STYLE_COUNT},
		{form->has_calls ? "calls" : NULL, NULL, CTX_STYLE_COUNT},
		{form->has_calls ? "calls_exact" : NULL, NULL, CTX_STYLE_COUNT},
	};

	ctx_out_list_begin(out, "metrics");
	for (size_t i = 0; i < view->n_more; i++) {
		const struct ctx_metric_info *metric = metric_of(view->selection, i + 1);
		const struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
			ctx_cell_name(metric->name),
			ctx_cell_name(metric->word),
			ctx_cell_name(ctx_unit_word(metric->unit)),
			ctx_cell_number(more[i].base),
			cum_cell(view, more[i].cum),
			ctx_cell_number(more[i].base_samples),
			cum_cell(view, more[i].cum_samples),
			ctx_cell_signed(more[i].calls),
			ctx_cell_bool(ctx_calls_exact(out->profile, view->selection->metrics[i + 1])),
		};

		ctx_out_list_row(out, columns, CTX_COUNT_OF(columns), cells);
	}
	ctx_out_list_end(out);
}

static void fill_text(struct ctx_metric_view *view, const struct ctx_cell *cells,
		      const struct ctx_flat_row *numbers, const struct ctx_flat_row *more)
{
	size_t n = 0;

	struct ctx_calls_seen seen = ctx_calls_seen_of(view->selection, numbers, more, view->n_more);

	for (unsigned i = 0; view->has_lead && i < n_lead(view); i++)
		view->cells[n++] = cells[i];
	for (size_t i = 0; i <= view->n_more; i++) {
		const struct ctx_flat_row *row = i == 0 ? numbers : &more[i - 1];
		bool is_empty = seen.known && row->cum_samples == 0 && row->cum == 0 && row->calls == 0;

		if (view->has_base)
			view->cells[n++] = is_empty ? ctx_cell_name(NULL) : ctx_cell_number(row->base);
		if (view->has_cum)
			view->cells[n++] = is_empty ? ctx_cell_name(NULL) : ctx_cell_number(row->cum);
	}
	view->cells[n] = cells[view->form->name];
	/* In a narrow table the name gets the width. */
	if (view->name_room != 0 && view->name_room < OBJECTS_FROM)
		view->cells[n].object = NULL;
}

static void fill_csv(struct ctx_metric_view *view, const struct ctx_cell *cells,
		     const struct ctx_flat_row *more)
{
	size_t n = n_columns(view);

	memcpy(view->cells, cells, n * sizeof(*cells));
	for (size_t i = 0; i < view->n_more; i++) {
		view->cells[n++] = ctx_cell_number(more[i].base);
		view->cells[n++] = cum_cell(view, more[i].cum);
	}
}

void ctx_metric_view_row_begin(struct ctx_metric_view *view, struct ctx_out *out,
			       const struct ctx_cell *cells, const struct ctx_flat_row *numbers,
			       const struct ctx_flat_row *more)
{
	if (view->columns == NULL) {
		ctx_out_row_begin(out, cells);
		if (view->n_more != 0)
			put_metrics(view, out, more);
		return;
	}
	if (ctx_out_is_text(out))
		fill_text(view, cells, numbers, more);
	else
		fill_csv(view, cells, more);
	ctx_out_row_begin(out, view->cells);
}

void ctx_metric_view_row(struct ctx_metric_view *view, struct ctx_out *out, const struct ctx_cell *cells,
			 const struct ctx_flat_row *numbers, const struct ctx_flat_row *more)
{
	ctx_metric_view_row_begin(view, out, cells, numbers, more);
	ctx_out_row_end(out);
}

void ctx_metric_view_list_row(const struct ctx_metric_view *view, struct ctx_out *out,
			      const struct ctx_cell *cells, const struct ctx_flat_row *more)
{
	ctx_out_list_row_begin(out, view->kind->columns, view->kind->n_columns, cells);
	if (view->n_more != 0)
		put_metrics(view, out, more);
	ctx_out_list_row_end(out);
}

bool ctx_metric_view_key(const struct ctx_metric_view *view, size_t key, size_t *ret_metric, bool *ret_cum)
{
	if (key < view->n_own_keys)
		return false;
	*ret_metric = (key - view->n_own_keys) / 2 + 1;
	*ret_cum = (key - view->n_own_keys) % 2 != 0;
	return true;
}
