#include "browse/timeline_strip.h"

#include "base/mem.h"
#include "model/mark_spans.h"
#include "report/state_cells.h"

#include <stdlib.h>

void ctx_timeline_strip_close(struct ctx_timeline_strip *strip, const struct ctx_browse_host *host)
{
	if (strip->source != NULL)
		host->close(host->context, strip->source);
	free(strip->marks);
	free(strip->phases);
	*strip = (struct ctx_timeline_strip){0};
}

static double load_of(const struct ctx_report_slice *slice)
{
	uint64_t length = slice->interval.end_ns - slice->interval.begin_ns;

	return length != 0 ? (double)slice->weight / (double)length : 0;
}

/* One busy CPU fills a block, unless more are busy. */
static void find_full(struct ctx_timeline_strip *strip, const struct ctx_browse_data *data)
{
	const struct ctx_profile *profile = data->host->profile;

	strip->is_time =
		data->metric < profile->n_metrics && ctx_metric_is_time(&profile->metrics[data->metric]);
	strip->full = strip->is_time ? 1 : 0;
	for (size_t i = 0; i < strip->strips.slices.n; i++) {
		double load = load_of(&strip->strips.slices.slices[i]);

		strip->full = load > strip->full ? load : strip->full;
	}
}

static void note_mark(struct ctx_timeline_strip *strip, uint64_t time_ns)
{
	uint64_t length = strip->span.end_ns - strip->span.begin_ns;

	if (ctx_interval_has(strip->span, time_ns))
		strip->marks[(__uint128_t)(time_ns - strip->span.begin_ns) * strip->columns / length] = true;
}

static enum ctx_status load_marks(struct ctx_timeline_strip *strip, const struct ctx_profile *profile,
				  struct ctx_err *err)
{
	struct ctx_mark_spans spans = {0};
	struct ctx_report_traced marks;
	enum ctx_status status;

	if (profile->traced[CTX_TRACED_MARK] == 0)
		return CTX_OK;
	status = strip->source->traced(strip->source, CTX_TRACED_MARK, &marks, err);
	if (status == CTX_OK)
		status = ctx_mark_spans_make(marks.items, marks.n, profile->run.end_ns, &spans, err);
	if (status != CTX_OK)
		return status;
	strip->marks = ctx_calloc(strip->columns, sizeof(*strip->marks));
	for (size_t i = 0; i < spans.n && strip->marks != NULL; i++) {
		note_mark(strip, spans.items[i].begin_ns);
		note_mark(strip, spans.items[i].end_ns);
	}
	ctx_mark_spans_deinit(&spans);
	return strip->marks != NULL ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status load_phases(struct ctx_timeline_strip *strip, struct ctx_err *err)
{
	uint64_t length = strip->span.end_ns - strip->span.begin_ns;
	const struct ctx_phases *phases;
	enum ctx_status status = strip->source->phases(strip->source, true, &phases, err);

	if (status != CTX_OK || phases->n_groups == 0 || phases->groups[0].n < 2)
		return status;
	strip->phases = ctx_calloc(strip->columns, sizeof(*strip->phases));
	for (size_t i = 0; i < phases->groups[0].n && strip->phases != NULL; i++) {
		const struct ctx_phase *phase = &phases->groups[0].phases[i];
		uint64_t at_ns = phase->interval.begin_ns - strip->span.begin_ns;

		if (ctx_interval_has(strip->span, phase->interval.begin_ns))
			strip->phases[(__uint128_t)at_ns * strip->columns / length] = ctx_phase_mark(phase);
	}
	return strip->phases != NULL ? CTX_OK : ctx_err_nomem(err);
}

char ctx_timeline_strip_phase(const struct ctx_timeline_strip *strip, unsigned column)
{
	return strip->phases != NULL && column < strip->columns ? strip->phases[column] : '\0';
}

bool ctx_timeline_strip_has_mark(const struct ctx_timeline_strip *strip, unsigned column)
{
	return strip->marks != NULL && column < strip->columns && strip->marks[column];
}

enum ctx_status ctx_timeline_strip_load(struct ctx_timeline_strip *strip, struct ctx_browse_data *data,
					struct ctx_interval span, unsigned columns, struct ctx_err *err)
{
	struct ctx_report_slices slices;
	enum ctx_status status;

	if (strip->source != NULL && strip->span.begin_ns == span.begin_ns &&
	    strip->span.end_ns == span.end_ns && strip->thread == data->thread &&
	    strip->metric == data->metric && strip->columns == columns)
		return CTX_OK;
	ctx_timeline_strip_close(strip, data->host);
	status = ctx_browse_data_open(data, span, &strip->source, err);
	if (status != CTX_OK)
		return status;
	strip->span = span;
	strip->thread = data->thread;
	strip->metric = data->metric;
	strip->columns = columns;
	status = strip->source->slices(strip->source, columns, 0, &slices, err);
	if (status == CTX_OK)
		status = ctx_strips_init(&strip->strips, &strip->source->selection, &slices, err);
	if (status == CTX_OK)
		status = load_marks(strip, data->host->profile, err);
	if (status == CTX_OK)
		status = load_phases(strip, err);
	if (status == CTX_OK)
		find_full(strip, data);
	else
		ctx_timeline_strip_close(strip, data->host);
	return status;
}

const char *ctx_timeline_strip_block(const struct ctx_timeline_strip *strip, unsigned column, bool ascii)
{
	if (strip->source == NULL || column >= strip->strips.slices.n || strip->full <= 0)
		return " ";
	return ctx_strip_block(load_of(&strip->strips.slices.slices[column]) / strip->full, ascii);
}

char ctx_timeline_strip_letter(const struct ctx_timeline_strip *strip, const struct ctx_profile *profile,
			       unsigned column, unsigned *ret_state)
{
	const struct ctx_report_slice *slice;

	*ret_state = CTX_STATE_N;
	if (strip->source == NULL || column >= strip->strips.slices.n)
		return ' ';
	slice = &strip->strips.slices.slices[column];
	if (profile->has_states) {
		*ret_state = ctx_state_most(slice->state_ns);
		return *ret_state < CTX_STATE_N ? ctx_state_letter((enum ctx_thread_state) * ret_state) : ' ';
	}
	return ctx_strip_letter(&strip->strips, slice->function);
}
