#include "report/summary_time.h"

#include "base/mem.h"
#include "report/strip.h"

#include <inttypes.h>

#define LETTERS_LEAST 20u /* a letter is shown if it has one of so many columns */

static void put_bar(struct ctx_buf *line, double share, size_t width, bool ascii)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	size_t steps = (size_t)(share * (double)width * 8 + 0.5), full = steps / 8;

	for (size_t i = 0; i < full; i++)
		ctx_buf_put_text(line, ascii ? "#" : "█");
	if (!ascii)
		ctx_buf_put_text(line, eighths[steps % 8]);
	for (size_t i = full + (!ascii && steps % 8 != 0); i < width; i++)
		ctx_buf_put_u8(line, ' ');
}

static void put_share(struct ctx_summary_screen *screen, const char *text, uint64_t ns)
{
	const struct ctx_summary *summary = screen->summary;
	size_t numbers = 22, bar = screen->width - CTX_SUMMARY_LABEL - numbers - 1;
	uint64_t whole = summary->thread_ns != 0 ? summary->thread_ns : 1;
	char percent[CTX_FIGURE_MAX];
	struct ctx_buf time = {0};

	ctx_buf_printf(&screen->line, "  %-*s", (int)CTX_SUMMARY_LABEL - 2, text);
	put_bar(&screen->line, (double)ns / (double)whole, bar, screen->out->options->ascii);
	ctx_figure_percent(percent, ns, whole, 1);
	ctx_summary_put_time(&time, ns);
	ctx_buf_put_u8(&time, '\0');
	if (time.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		ctx_buf_printf(&screen->line, " %5s %%  %12s", percent, (const char *)time.bytes);
	ctx_buf_deinit(&time);
	ctx_summary_end_line(screen);
}

void ctx_summary_put_shares(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	uint64_t rest = 0;

	if (screen->plan.shares == 0)
		return;
	ctx_summary_put_blank(screen);
	ctx_buf_put_text(&screen->line, "Where thread time went: ");
	ctx_summary_put_time(&screen->line, summary->thread_ns);
	ctx_buf_printf(&screen->line, " in %" PRIu32 " thread%s", summary->n_threads,
		       summary->n_threads == 1 ? "" : "s");
	ctx_summary_end_line(screen);
	for (size_t i = 0; i < summary->n_shares; i++) {
		if (i + 1 >= screen->plan.shares && summary->n_shares > screen->plan.shares)
			rest += summary->shares[i].ns;
		else
			put_share(screen, summary->shares[i].text, summary->shares[i].ns);
	}
	if (rest != 0)
		put_share(screen, "everything else", rest);
}

/* ---- Over time ---- */

static double busy_of(const struct ctx_summary *summary, const struct ctx_report_slice *slice)
{
	uint64_t length = slice->interval.end_ns - slice->interval.begin_ns;
	uint64_t busy = slice->weight;

	if (summary->profile->has_states)
		busy = slice->state_ns[CTX_STATE_USER] + slice->state_ns[CTX_STATE_SYSTEM] +
		       slice->state_ns[CTX_STATE_TRAP];
	return length != 0 ? (double)busy / (double)length : 0;
}

static size_t strip_columns(const struct ctx_summary_screen *screen)
{
	size_t room = screen->width - CTX_SUMMARY_LABEL - 10, n = screen->summary->n_slices;

	return n < room ? n : room;
}

/* The mean of the slices of a column. */
static double column_height(const struct ctx_summary_screen *screen, size_t column, size_t n_columns)
{
	const struct ctx_report_slices *slices = &screen->summary->slices;
	size_t begin = column * screen->summary->n_slices / n_columns;
	size_t end = (column + 1) * screen->summary->n_slices / n_columns;
	double sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += busy_of(screen->summary, &slices->slices[i]);
	return end > begin ? sum / (double)(end - begin) : 0;
}

/* The row of the function with the most weight in a column; SIZE_MAX: none of those shown. */
static size_t column_row(const struct ctx_summary_screen *screen, size_t column, size_t n_columns)
{
	const struct ctx_summary *summary = screen->summary;
	size_t begin = column * summary->n_slices / n_columns;
	size_t end = (column + 1) * summary->n_slices / n_columns;
	const struct ctx_slice_top *top = NULL;

	for (size_t i = begin; i < end && summary->tops != NULL; i++) {
		if (top == NULL || summary->tops[i].weight > top->weight)
			top = &summary->tops[i];
	}
	for (size_t i = 0; top != NULL && top->weight != 0 && i < screen->plan.functions; i++) {
		if (summary->functions.rows[i].function == top->function)
			return i;
	}
	return SIZE_MAX;
}

bool ctx_summary_has_letters(const struct ctx_summary_screen *screen)
{
	size_t n = strip_columns(screen), columns[CTX_SUMMARY_ROWS] = {0}, rulers = 0;

	for (size_t i = 0; i < n; i++) {
		size_t row = column_row(screen, i, n);

		if (row < CTX_COUNT_OF(columns))
			columns[row]++;
	}
	for (size_t i = 0; i < CTX_COUNT_OF(columns); i++)
		rulers += columns[i] != 0 && columns[i] >= n / LETTERS_LEAST;
	return rulers > 1;
}

static void put_letters(struct ctx_summary_screen *screen, size_t n)
{
	ctx_buf_printf(&screen->line, "%-*s", (int)CTX_SUMMARY_LABEL, "Top function");
	for (size_t i = 0; i < n; i++) {
		size_t row = column_row(screen, i, n);

		ctx_buf_put_u8(&screen->line, row != SIZE_MAX			? (uint8_t)('A' + row)
					      : column_height(screen, i, n) > 0 ? '.'
										: ' ');
	}
	ctx_summary_end_line(screen);
}

static void put_phases(struct ctx_summary_screen *screen, size_t n)
{
	const struct ctx_summary *summary = screen->summary;

	ctx_buf_printf(&screen->line, "%-*s", (int)CTX_SUMMARY_LABEL, "Phase (-r phases)");
	for (size_t i = 0; i < n; i++) {
		size_t slice = (2 * i + 1) * summary->n_slices / (2 * n);
		const struct ctx_phase *phase =
			ctx_phase_at(summary->phases, summary->slices.slices[slice].interval.begin_ns);

		ctx_buf_put_u8(&screen->line, (uint8_t)ctx_phase_mark(phase));
	}
	ctx_summary_end_line(screen);
}

void ctx_summary_put_strip(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	size_t n = strip_columns(screen);
	double full = summary->cpus != 0 && ctx_metric_is_time(&summary->metric) ? (double)summary->cpus : 0;
	bool time = ctx_summary_has_load(summary);
	uint64_t end_ns;

	if (n == 0)
		return;
	ctx_summary_put_blank(screen);
	for (size_t i = 0; i < n; i++) {
		double height = column_height(screen, i, n);

		full = height > full ? height : full;
	}
	ctx_buf_put_text(&screen->line, time ? "CPUs busy" : "Over time");
	if (time && summary->cpus != 0)
		ctx_buf_printf(&screen->line, ", of %" PRIu64, summary->cpus);
	for (size_t used = screen->line.n; used < CTX_SUMMARY_LABEL; used++)
		ctx_buf_put_u8(&screen->line, ' ');
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_text(&screen->line,
				 ctx_strip_block(full > 0 ? column_height(screen, i, n) / full : 0,
						 screen->out->options->ascii));
	ctx_buf_put_text(&screen->line, screen->out->options->ascii ? "| " : "▏");
	end_ns = summary->slices.slices[summary->n_slices - 1].interval.end_ns;
	ctx_summary_put_time(&screen->line, end_ns < summary->end_ns ? end_ns : summary->end_ns);
	ctx_summary_end_line(screen);
	if (screen->plan.letters)
		put_letters(screen, n);
	if (screen->plan.phases)
		put_phases(screen, n);
}
