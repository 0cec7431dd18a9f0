/*
 * The phases of a run, of all processes together and of each: where they begin and end, what dominates them, and by
 * which functions each differs from the one before.
 *
 *	Phase  Begin ms   End ms  CPUs  Like  Path
 *	1 A       0.000  302.734  1.00        _start › main › parse [app]
 *	2 B     302.734  700.195  1.00  0.01  _start › main › solve › multiply [app]
 *	                                        +99.6 % multiply
 *	                                        -66.2 % tokenize
 */
#include "base/mem.h"
#include "report/figures.h"
#include "report/fold.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define DISTINGUISHING 3u /* functions that are named for a phase */
#define LEAST_CHANGE 0.01 /* of a function's share that is named */
#define LEAST_ERRORS 3.5  /* standard errors of a change that is named, were samples independent */
#define LEAST_SAMPLES 8u  /* of phases whose functions are compared */
#define FIGURE_MAX 32u
#define STACKS_MANY 5000u /* different ones of a phase: light ones are cut */
#define LIGHT 1000u	  /* times as much have all */

enum {
	PROCESS,
	PHASE,
	LETTER,
	NAME, /* of text */
	BEGIN,
	END,
	CPUS,
	SIMILARITY,
	SAMPLES,
	WEIGHT,
	IDLE,
	FUNCTION,
	OBJECT,
	PATH,
	DISTINGUISHING_TEXT,
	TEXT, /* of text */
	N_COLUMNS,
};

static const struct ctx_column columns[N_COLUMNS] = {
	[PROCESS] = {"process", NULL, CTX_STYLE_COUNT},
	[PHASE] = {"phase", NULL, CTX_STYLE_COUNT},
	[LETTER] = {"letter", NULL, CTX_STYLE_NAME},
	[NAME] = {NULL, "Phase", CTX_STYLE_COUNT},
	[BEGIN] = {"begin", "Begin ms", CTX_STYLE_TIME},
	[END] = {"end", "End ms", CTX_STYLE_TIME},
	[CPUS] = {"cpus", "CPUs", CTX_STYLE_COUNT},
	[SIMILARITY] = {"similarity", "Alike", CTX_STYLE_COUNT},
	[SAMPLES] = {"samples", "Samples", CTX_STYLE_COUNT},
	[WEIGHT] = {"weight", NULL, CTX_STYLE_WEIGHT},
	[IDLE] = {"idle", NULL, CTX_STYLE_NAME},
	[FUNCTION] = {"function", NULL, CTX_STYLE_NAME},
	[OBJECT] = {"object", NULL, CTX_STYLE_NAME},
	[PATH] = {"path", NULL, CTX_STYLE_NAME},
	[DISTINGUISHING_TEXT] = {"distinguishing", NULL, CTX_STYLE_NAME},
	[TEXT] = {NULL, "Path, and functions that changed", CTX_STYLE_NAME},
};

static const struct ctx_column change_columns[] = {
	{"function", NULL, CTX_STYLE_NAME},	 {"object", NULL, CTX_STYLE_NAME},
	{"before", NULL, CTX_STYLE_COUNT},	 {"share", NULL, CTX_STYLE_COUNT},
	{"contribution", NULL, CTX_STYLE_COUNT},
};

static const struct ctx_column letter_columns[] = {
	{"process", NULL, CTX_STYLE_COUNT},
	{"letter", NULL, CTX_STYLE_NAME},
	{"other", NULL, CTX_STYLE_NAME},
	{"similarity", NULL, CTX_STYLE_COUNT},
};

static const struct ctx_column period_columns[] = {
	{"thread", NULL, CTX_STYLE_COUNT},   {"thread_id", NULL, CTX_STYLE_COUNT},
	{"function", NULL, CTX_STYLE_NAME},  {"period", NULL, CTX_STYLE_TIME},
	{"jitter", NULL, CTX_STYLE_TIME},    {"cycles", NULL, CTX_STYLE_COUNT},
	{"strength", NULL, CTX_STYLE_COUNT},
};

struct change { /* of a function's share of the samples, from one phase to the next */
	uint32_t function;
	double before, share, contribution;
};

struct page {
	struct ctx_out out;
	struct ctx_fold fold;
	const struct ctx_phases *phases;
	double *before, *shares;       /* by function */
	struct ctx_fold_frame **paths; /* owned, of text: of each row */
	struct ctx_cell_frames *frames;
	size_t n_paths;
	struct ctx_buf joined;
};

/* ---- what a phase is of ---- */

/* By function: its share of the weight, as the innermost. Returns the samples. */
static uint64_t take_shares(const struct page *page, const struct ctx_histogram *histogram, double *shares)
{
	const struct ctx_profile *profile = page->out.profile;

	for (uint32_t i = 0; i < profile->n_functions; i++)
		shares[i] = 0;
	for (size_t i = 0; i < histogram->n && histogram->samples != 0; i++) {
		uint32_t function = profile->cct.key[histogram->entries[i].stack];

		if (function < profile->n_functions)
			shares[function] +=
				(double)histogram->entries[i].samples / (double)histogram->samples;
	}
	return histogram->samples;
}

static uint32_t heaviest_of(const struct page *page)
{
	uint32_t best = CTX_NONE;

	for (uint32_t i = 0; i < page->out.profile->n_functions; i++) {
		if (page->shares[i] > 0 && (best == CTX_NONE || page->shares[i] > page->shares[best]))
			best = i;
	}
	return best;
}

/* What a function adds to the Jensen-Shannon divergence of the two phases, in bits. */
static double contribution_of(double before, double share)
{
	double middle = (before + share) / 2, bits = 0;

	bits += before > 0 ? before * log2(before / middle) / 2 : 0;
	bits += share > 0 ? share * log2(share / middle) / 2 : 0;
	return bits;
}

static bool is_named(const struct change *change, double n_before, double n)
{
	double difference = fabs(change->share - change->before);
	double middle = (change->share * n + change->before * n_before) / (n + n_before);
	double error = sqrt(middle * (1 - middle) * (1 / n + 1 / n_before));

	return difference >= LEAST_CHANGE && difference >= LEAST_ERRORS * error;
}

/* The functions that differ most, in `ret`; returns how many. */
static size_t find_changes(const struct page *page, double n_before, double n_samples,
			   struct change ret[DISTINGUISHING])
{
	size_t n = 0;

	for (uint32_t i = 0; i < page->out.profile->n_functions; i++) {
		struct change change = {i, page->before[i], page->shares[i],
					contribution_of(page->before[i], page->shares[i])};
		size_t at = n;

		if (!is_named(&change, n_before, n_samples))
			continue;
		while (at > 0 && ret[at - 1].contribution < change.contribution)
			at--;
		if (at == DISTINGUISHING)
			continue;
		n += n < DISTINGUISHING;
		for (size_t j = n - 1; j > at; j--)
			ret[j] = ret[j - 1];
		ret[at] = change;
	}
	return n;
}

/* ---- cells ---- */

static struct ctx_cell figure(struct page *page, double value, int digits)
{
	return ctx_cell_figure(ctx_out_format(&page->out, "%.*f", digits, value));
}

static struct ctx_cell cpus_cell(struct page *page, const struct ctx_phase *phase)
{
	const struct ctx_metric_info metric = ctx_head_metric(&page->out.head);
	uint64_t length = phase->interval.end_ns - phase->interval.begin_ns;

	if (!ctx_metric_is_time(&metric) || length == 0)
		return ctx_cell_name(NULL);
	return figure(page, (double)phase->histogram.weight / (double)length, 2);
}

/*
 * Stacks in a subtree of the CCT that has less than a thousandth of the weight become the stack above it: of a million
 * different ones next to all are no part of a dominant path, and need not be folded.
 */
static enum ctx_status cut_light(const struct ctx_trie *cct, const struct ctx_histogram *from,
				 struct ctx_histogram *to)
{
	uint64_t *weight CTX_AUTO_FREE = ctx_calloc((size_t)cct->n + 1, sizeof(*weight));
	uint32_t *place CTX_AUTO_FREE = ctx_calloc((size_t)cct->n + 1, sizeof(*place));
	uint64_t least = from->weight / LIGHT + 1;
	enum ctx_status status = weight != NULL && place != NULL ? CTX_OK : CTX_E_NOMEM;

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < from->n; i++)
		weight[from->entries[i].stack] += from->entries[i].weight;
	/* Parents have lower ids. */
	for (uint32_t node = cct->n - 1; node > 0; node--)
		weight[cct->parent[node]] += weight[node];
	for (uint32_t node = 1; node < cct->n; node++)
		place[node] = weight[node] >= least ? node : place[cct->parent[node]];
	for (size_t i = 0; i < from->n && status == CTX_OK; i++) {
		struct ctx_hist_entry entry = from->entries[i];

		entry.stack = place[entry.stack];
		status = ctx_histogram_add(to, entry, NULL);
	}
	return status;
}

static enum ctx_status find_hottest(struct page *page, const struct ctx_histogram *histogram,
				    uint32_t *ret_node)
{
	struct ctx_histogram cut = {0};
	uint64_t weight;
	enum ctx_status status = CTX_OK;

	if (histogram->n > STACKS_MANY)
		status = cut_light(&page->out.profile->cct, histogram, &cut);
	if (status == CTX_OK)
		status =
			ctx_fold_hottest(&page->fold, cut.n != 0 ? &cut : histogram, ret_node, &weight, NULL);
	ctx_histogram_deinit(&cut);
	return status;
}

/* The dominant path: of text a line, of CSV its names joined. `frames` are kept until the report ends. */
static void put_path(struct page *page, const struct ctx_phase *phase, struct ctx_cell *cells)
{
	struct ctx_cell_frames *line = &page->frames[page->n_paths];
	struct ctx_fold_frame *frames = NULL;
	uint32_t node = CTX_TRIE_ROOT;
	enum ctx_status status = find_hottest(page, &phase->histogram, &node);

	if (status == CTX_OK)
		status = ctx_fold_path(&page->fold, node, &frames, &line->n, NULL);
	ctx_out_fail(&page->out, status);
	page->paths[page->n_paths++] = frames;
	line->frames = frames;
	cells[TEXT] = ctx_cell_name(phase->idle ? "(idle)" : "(nothing)");
	if (status != CTX_OK || line->n == 0 || phase->idle)
		return;
	cells[TEXT].frames = line;
	ctx_buf_clear(&page->joined);
	for (size_t i = 0; i < line->n; i++)
		ctx_buf_printf(&page->joined, "%s%s", i != 0 ? ";" : "", frames[i].name);
	ctx_buf_put_u8(&page->joined, '\0');
	cells[PATH] = ctx_cell_name(ctx_out_format(
		&page->out, "%s", page->joined.failed ? "" : (const char *)page->joined.bytes));
}

/* "more multiply +97.2 %, less tokenize -66.1 %" */
static const char *changes_text(struct page *page, const struct change *changes, size_t n)
{
	const struct ctx_profile *profile = page->out.profile;

	ctx_buf_clear(&page->joined);
	for (size_t i = 0; i < n; i++)
		ctx_buf_printf(&page->joined, "%s%s %s %+.1f %%", i != 0 ? ", " : "",
			       changes[i].share > changes[i].before ? "more" : "less",
			       profile->functions[changes[i].function].name,
			       (changes[i].share - changes[i].before) * 100);
	ctx_buf_put_u8(&page->joined, '\0');
	return ctx_out_format(&page->out, "%s", page->joined.failed ? "" : (const char *)page->joined.bytes);
}

static void put_lists(struct page *page, const struct change *changes, size_t n)
{
	const struct ctx_profile *profile = page->out.profile;
	const struct ctx_cell_frames *line = &page->frames[page->n_paths - 1];

	ctx_out_list_begin(&page->out, "path");
	for (size_t i = 0; i < line->n; i++)
		ctx_out_list_name(&page->out, line->frames[i].name);
	ctx_out_list_end(&page->out);
	ctx_out_list_begin(&page->out, "distinguishing");
	for (size_t i = 0; i < n; i++) {
		const struct ctx_cell cells[CTX_COUNT_OF(change_columns)] = {
			ctx_function_cell(profile, changes[i].function),
			ctx_object_cell(profile, changes[i].function),
			figure(page, changes[i].before, 4),
			figure(page, changes[i].share, 4),
			figure(page, changes[i].contribution, 4),
		};

		ctx_out_list_row(&page->out, change_columns, CTX_COUNT_OF(change_columns), cells);
	}
	ctx_out_list_end(&page->out);
}

/* ---- rows ---- */

/* For reading: a function below the row of its phase. */
static void put_change(struct page *page, const struct change *change)
{
	struct ctx_cell cells[N_COLUMNS] = {0};

	cells[TEXT] = ctx_function_cell(page->out.profile, change->function);
	cells[TEXT].object = NULL;
	cells[TEXT].drawing =
		ctx_out_format(&page->out, "%+7.1f %% ", (change->share - change->before) * 100);
	ctx_out_row(&page->out, cells);
}

static void put_phase(struct page *page, const struct ctx_phase_group *group, size_t i)
{
	const struct ctx_phase *phase = &group->phases[i];
	struct ctx_cell cells[N_COLUMNS] = {0};
	struct change changes[DISTINGUISHING];
	size_t n_changes = 0;
	uint64_t samples_before =
		i != 0 ? take_shares(page, &group->phases[i - 1].histogram, page->before) : 0;
	uint64_t samples = take_shares(page, &phase->histogram, page->shares);
	uint32_t function = phase->idle ? CTX_NONE : heaviest_of(page);
	bool is_json = ctx_out_has_lists(&page->out);

	if (samples_before >= LEAST_SAMPLES && samples >= LEAST_SAMPLES)
		n_changes = find_changes(page, (double)samples_before, (double)samples, changes);
	cells[PROCESS] = ctx_pid_cell(page->out.profile, group->process);
	cells[PHASE] = ctx_cell_number(i + 1);
	cells[LETTER] = ctx_cell_name(ctx_phase_letter(phase->letter));
	cells[NAME] =
		ctx_cell_figure(ctx_out_format(&page->out, "%zu %s", i + 1, ctx_phase_letter(phase->letter)));
	cells[BEGIN] = ctx_cell_number(phase->interval.begin_ns);
	cells[END] = ctx_cell_number(phase->interval.end_ns);
	cells[CPUS] = cpus_cell(page, phase);
	if (i != 0)
		cells[SIMILARITY] = figure(
			page,
			group->similarity[group->phases[i - 1].letter * group->n_letters + phase->letter], 2);
	cells[SAMPLES] = ctx_cell_number(samples);
	cells[WEIGHT] = ctx_cell_number(phase->histogram.weight);
	cells[IDLE] = ctx_cell_bool(phase->idle);
	if (function != CTX_NONE) {
		cells[FUNCTION] = ctx_function_cell(page->out.profile, function);
		cells[OBJECT] = ctx_object_cell(page->out.profile, function);
	}
	put_path(page, phase, cells);
	if (n_changes != 0)
		cells[DISTINGUISHING_TEXT] = ctx_cell_name(changes_text(page, changes, n_changes));
	if (is_json)
		cells[PATH].kind = cells[DISTINGUISHING_TEXT].kind = CTX_CELL_ABSENT;
	ctx_out_row_begin(&page->out, cells);
	if (is_json)
		put_lists(page, changes, n_changes);
	ctx_out_row_end(&page->out);
	for (size_t c = 0; c < n_changes && ctx_out_is_text(&page->out); c++)
		put_change(page, &changes[c]);
}

static const char *title_of(struct page *page, const struct ctx_phase_group *group)
{
	const struct ctx_profile *profile = page->out.profile;

	if (page->phases->n_groups == 1)
		return NULL;
	if (group->process >= profile->n_processes)
		return "All processes";
	return ctx_out_format(&page->out, "Process %" PRId64 ": %s", profile->processes[group->process].pid,
			      profile->processes[group->process].command);
}

static void put_group(struct page *page, const struct ctx_phase_group *group)
{
	ctx_out_section(&page->out, title_of(page, group));
	for (size_t i = 0; i < group->n; i++)
		put_phase(page, group, i);
	ctx_out_section(&page->out, NULL);
	if (ctx_profile_is_timeless(page->out.profile))
		ctx_out_line(&page->out, "Without times there are no phases.");
	else if (group->too_few)
		ctx_out_line(&page->out,
			     ctx_out_format(&page->out,
					    "%" PRIu64
					    " samples: too few to tell phases apart (%u are needed)",
					    group->samples, CTX_PHASE_LEAST_SAMPLES));
	else if (group->n == 1)
		ctx_out_line(&page->out, "One phase: nothing changes by more than by chance.");
}

static void put_periods_text(struct page *page)
{
	const struct ctx_profile *profile = page->out.profile;

	for (size_t i = 0; i < page->phases->n_periods; i++) {
		const struct ctx_phase_period *period = &page->phases->periods[i];
		char length[FIGURE_MAX], jitter[FIGURE_MAX];

		ctx_time_format(period->length_ns, length, sizeof(length));
		ctx_time_format(period->jitter_ns, jitter, sizeof(jitter));
		ctx_out_wrapped(
			&page->out, i == 0 ? "Period: " : "        ",
			ctx_out_format(&page->out,
				       "%s, jitter %s, %" PRIu64 " times, of thread %" PRId64 " (%s)%s%s",
				       length, jitter, period->cycles, ctx_head_tid(profile, period->thread),
				       period->thread < profile->n_threads
					       ? profile->threads[period->thread].name
					       : "",
				       period->function < profile->n_functions ? ": " : "",
				       period->function < profile->n_functions
					       ? profile->functions[period->function].name
					       : ""),
			8);
	}
}

static void put_periods(struct page *page)
{
	const struct ctx_profile *profile = page->out.profile;

	ctx_out_list_begin(&page->out, "periods");
	for (size_t i = 0; i < page->phases->n_periods; i++) {
		const struct ctx_phase_period *period = &page->phases->periods[i];
		const struct ctx_cell cells[CTX_COUNT_OF(period_columns)] = {
			ctx_thread_cell(profile, period->thread),
			ctx_cell_number(period->thread),
			period->function < profile->n_functions ? ctx_function_cell(profile, period->function)
								: ctx_cell_name(NULL),
			ctx_cell_number(period->length_ns),
			ctx_cell_number(period->jitter_ns),
			ctx_cell_number(period->cycles),
			figure(page, period->strength, 3),
		};

		ctx_out_list_row(&page->out, period_columns, CTX_COUNT_OF(period_columns), cells);
	}
	ctx_out_list_end(&page->out);
}

/* Every pair of letters, once. */
static void put_letters(struct page *page)
{
	ctx_out_list_begin(&page->out, "letters");
	for (size_t g = 0; g < page->phases->n_groups; g++) {
		const struct ctx_phase_group *group = &page->phases->groups[g];

		for (uint32_t a = 0; a < group->n_letters; a++) {
			for (uint32_t b = a + 1; b < group->n_letters; b++) {
				const struct ctx_cell cells[CTX_COUNT_OF(letter_columns)] = {
					ctx_pid_cell(page->out.profile, group->process),
					ctx_cell_name(ctx_phase_letter(a)),
					ctx_cell_name(ctx_phase_letter(b)),
					figure(page, group->similarity[a * group->n_letters + b], 4),
				};

				ctx_out_list_row(&page->out, letter_columns, CTX_COUNT_OF(letter_columns),
						 cells);
			}
		}
	}
	ctx_out_list_end(&page->out);
}

static void put_page(struct page *page)
{
	const struct ctx_phases *phases = page->phases;

	for (size_t i = 0; i < phases->n_groups; i++)
		put_group(page, &phases->groups[i]);
	if (ctx_out_is_text(&page->out)) {
		ctx_out_more(&page->out, phases->processes_left_out, "program image");
		put_periods_text(page);
	}
	ctx_out_rows_end(&page->out);
	put_letters(page);
	put_periods(page);
}

static enum ctx_status page_init(struct page *page, const struct ctx_profile *profile, struct ctx_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < page->phases->n_groups; i++)
		n += page->phases->groups[i].n;
	page->before = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*page->before));
	page->shares = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*page->shares));
	page->paths = ctx_calloc(n + 1, sizeof(*page->paths));
	page->frames = ctx_calloc(n + 1, sizeof(*page->frames));
	if (page->before == NULL || page->shares == NULL || page->paths == NULL || page->frames == NULL)
		return ctx_err_nomem(err);
	return ctx_fold_init(&page->fold, profile,
			     &(struct ctx_fold_options){.recursion = true, .kernel = true}, err);
}

static void page_deinit(struct page *page)
{
	for (size_t i = 0; i < page->n_paths; i++)
		free(page->paths[i]);
	free(page->paths);
	free(page->frames);
	free(page->before);
	free(page->shares);
	ctx_buf_deinit(&page->joined);
	ctx_fold_deinit(&page->fold);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct ctx_out_spec spec = {
		.kind = &ctx_report_phases, .selection = &source->selection, .options = options};
	struct ctx_report_parts parts;
	struct page page = {0};
	enum ctx_status status = source->parts(source, &(struct ctx_parts_query){0}, &parts, err);

	if (status == CTX_OK)
		status = source->phases(source, false, &page.phases, err);
	if (status == CTX_OK)
		status = page_init(&page, source->selection.profile, err);
	if (status == CTX_OK) {
		ctx_out_spec_parts(&spec, &parts);
		ctx_out_begin(&page.out, &spec);
		put_page(&page);
		status = ctx_out_end(&page.out, err);
	}
	page_deinit(&page);
	return status;
}

const struct ctx_report_kind ctx_report_phases = {
	.name = "phases",
	.no_function = true,
	.order = ": it is in order of time",
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
