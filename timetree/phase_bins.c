#include "timetree/phase_bins.h"

#include "base/mem.h"

#include <stdlib.h>

#define LEAST_BINS 64u
#define MOST_BINS 1024u
#define WINDOW_SAMPLES 16u /* of the windows in which idle time is looked for */
#define QUIET 8u	   /* idle: one part in so many of the samples of a busy window */
#define BUSY_PERCENT 90u   /* the window that is the measure: so many percent of them are not busier */
#define LEAST_PERCENT 1u   /* of the bins that a stretch of idle time has */

size_t ctx_phase_bins_wanted(uint64_t samples)
{
	size_t n = LEAST_BINS;

	while (n < MOST_BINS && n * 4 <= samples)
		n *= 2;
	return n;
}

enum ctx_status ctx_phase_bins_init(struct ctx_phase_bins *bins, struct ctx_interval span, size_t n,
				    const struct ctx_phase_classes *classes, struct ctx_err *err)
{
	*bins = (struct ctx_phase_bins){.span = span, .classes = classes, .n = n};
	bins->cells = ctx_calloc(n, classes->n * sizeof(*bins->cells));
	return bins->cells != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_phase_bins_deinit(struct ctx_phase_bins *bins)
{
	free(bins->cells);
	bins->cells = NULL;
}

/* ---- samples ---- */

static uint64_t edge_of(const struct ctx_phase_bins *bins, size_t bin)
{
	unsigned __int128 length = bins->span.end_ns - bins->span.begin_ns;

	return bins->span.begin_ns + (uint64_t)((length * bin + bins->n - 1) / bins->n);
}

struct ctx_interval ctx_phase_bins_interval(const struct ctx_phase_bins *bins, size_t begin, size_t end)
{
	return (struct ctx_interval){edge_of(bins, begin), edge_of(bins, end)};
}

static size_t bin_of(const struct ctx_phase_bins *bins, uint64_t time_ns)
{
	return (size_t)((unsigned __int128)(time_ns - bins->span.begin_ns) * bins->n /
			(bins->span.end_ns - bins->span.begin_ns));
}

static double *cell_of(const struct ctx_phase_bins *bins, size_t bin, uint32_t stack)
{
	return &bins->cells[bin * bins->classes->n + bins->classes->of[stack]];
}

void ctx_phase_bins_add_sample(struct ctx_phase_bins *bins, const struct ctx_sample *sample)
{
	if (ctx_interval_has(bins->span, sample->time_ns))
		*cell_of(bins, bin_of(bins, sample->time_ns), sample->stack) += 1;
}

void ctx_phase_bins_add_span(struct ctx_phase_bins *bins, const struct ctx_sample *span, double count)
{
	struct ctx_sample part = *span;
	uint64_t begin_ns, length = span->weight;
	size_t first, last;

	if (!ctx_sample_clip(&part, bins->span))
		return;
	begin_ns = ctx_sample_begin(&part);
	first = bin_of(bins, begin_ns);
	last = bin_of(bins, part.time_ns);
	for (size_t i = first; i <= last; i++) {
		uint64_t from_ns = i == first ? begin_ns : edge_of(bins, i);
		uint64_t to_ns = i == last ? part.time_ns + 1 : edge_of(bins, i + 1);

		*cell_of(bins, i, span->stack) += count * (double)(to_ns - from_ns) / (double)length;
	}
}

/* ---- time trees ---- */

static enum ctx_status add_items(void *context, uint64_t time_ns, const struct ctx_hist_item *items, size_t n,
				 struct ctx_err *err)
{
	struct ctx_phase_bins *bins = context;
	size_t bin = bin_of(bins, time_ns);

	for (size_t i = 0; i < n; i++) {
		if (items[i].stack >= bins->classes->n_nodes)
			return ctx_err_set(err, CTX_E_FORMAT, "a stack that is not in the tree");
		*cell_of(bins, bin, items[i].stack) += (double)items[i].samples;
	}
	return CTX_OK;
}

static bool is_in_one(void *context, struct ctx_interval interval)
{
	const struct ctx_phase_bins *bins = context;

	return ctx_interval_contains(bins->span, interval) &&
	       bin_of(bins, interval.begin_ns) == bin_of(bins, interval.end_ns - 1);
}

enum ctx_status ctx_phase_bins_add_tree(struct ctx_phase_bins *bins, const struct ctx_timetree_reader *reader,
					struct ctx_interval window, struct ctx_timetree_cost *cost,
					struct ctx_err *err)
{
	const struct ctx_timetree_walk walk = {
		.window = window, .is_fine = is_in_one, .items = add_items, .context = bins};

	return ctx_timetree_walk(reader, &walk, cost, err);
}

/* ---- idle time ---- */

struct idle {
	struct ctx_phase_bins *bins;
	double *totals;	 /* samples of the bins before, for each one and the end */
	double *windows; /* by bin: samples of the window around it */
	size_t width;	 /* bins of a window */
	double busy;	 /* samples of a busy window */
};

static double samples_in(const struct idle *idle, size_t begin, size_t end)
{
	return idle->totals[end] - idle->totals[begin];
}

static void sum_up(struct idle *idle)
{
	const struct ctx_phase_bins *bins = idle->bins;
	size_t n = bins->n, n_classes = bins->classes->n;

	for (size_t i = 0; i < n; i++) {
		idle->totals[i + 1] = idle->totals[i];
		for (size_t c = 0; c < n_classes; c++)
			idle->totals[i + 1] += bins->cells[i * n_classes + c];
	}
	idle->width = 1;
	while (idle->width < n && idle->totals[n] * (double)idle->width / (double)n < WINDOW_SAMPLES)
		idle->width++;
	for (size_t i = 0; i < n; i++) {
		size_t begin = i > idle->width / 2 ? i - idle->width / 2 : 0;

		begin = begin + idle->width > n ? n - idle->width : begin;
		idle->windows[i] = samples_in(idle, begin, begin + idle->width);
	}
}

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static bool is_quiet(const struct idle *idle, size_t bin)
{
	return idle->windows[bin] * QUIET < idle->busy;
}

/* Whether the bin alone has as many samples as one of idle time may have. */
static bool is_empty(const struct idle *idle, size_t bin)
{
	return samples_in(idle, bin, bin + 1) * (double)idle->width * QUIET < idle->busy;
}

/* The stretch around quiet windows, up to the first bins that are not empty. Returns its end. */
static size_t mark(const struct idle *idle, size_t begin)
{
	const struct ctx_phase_bins *bins = idle->bins;
	size_t end = begin;

	while (end < bins->n && is_quiet(idle, end))
		end++;
	while (begin > 0 && is_empty(idle, begin - 1))
		begin--;
	while (end < bins->n && is_empty(idle, end))
		end++;
	while (begin < end && !is_empty(idle, begin))
		begin++;
	while (end > begin && !is_empty(idle, end - 1))
		end--;
	if ((end - begin) * 100 < bins->n * LEAST_PERCENT || end - begin < idle->width)
		return end;
	for (size_t i = begin; i < end; i++) {
		double missing = idle->busy / (double)idle->width - samples_in(idle, i, i + 1);

		bins->cells[i * bins->classes->n + CTX_PHASE_IDLE] = missing > 0 ? missing : 0;
	}
	return end;
}

enum ctx_status ctx_phase_bins_find_idle(struct ctx_phase_bins *bins, struct ctx_err *err)
{
	double *places CTX_AUTO_FREE = ctx_calloc(3 * bins->n + 1, sizeof(*places));
	struct idle idle = {.bins = bins, .totals = places};
	double *sorted;

	if (places == NULL)
		return ctx_err_nomem(err);
	idle.windows = places + bins->n + 1;
	sorted = idle.windows + bins->n;
	sum_up(&idle);
	for (size_t i = 0; i < bins->n; i++)
		sorted[i] = idle.windows[i];
	qsort(sorted, bins->n, sizeof(*sorted), ascending);
	idle.busy = sorted[bins->n * BUSY_PERCENT / 100];
	for (size_t i = 0; i < bins->n && idle.busy >= QUIET;) {
		size_t end = is_quiet(&idle, i) ? mark(&idle, i) : i + 1;

		i = end > i ? end : i + 1;
	}
	return CTX_OK;
}
