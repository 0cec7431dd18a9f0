#include "ctxan/comparing.h"

#include "base/mem.h"
#include "compare/merged.h"
#include "ctxan/archiving.h"
#include "ctxan/called.h"
#include "ctxan/compared.h"
#include "ctxan/exporting.h"
#include "ctxan/opening.h"
#include "query/marked.h"
#include "query/store_source.h"
#include "report/diff_html.h"
#include "report/diff_report.h"
#include "report/report_exports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNS_MAX 250u /* recordings of a side: their databases are open at the same time */

/* One recording that is open, or a run of an archive. */
struct opened {
	struct ctx_store *store;
	char *name;			 /* owned; of a run: "base.db:2" */
	struct ctx_selection_spec words; /* borrows all its arrays */
	bool is_run;			 /* of an archive */
	struct stat file;		 /* st_ino 0: none of that name */
	char *experiment, *lineage;	 /* owned; NULL unless the input is a process of an experiment */
	struct ctx_selection selection;
	struct ctx_report_source *source; /* of the database */
	struct ctx_report_source *shown;  /* that, or in a view */
};

struct side {
	char *names;			 /* owned: of the recordings, each ended by a zero byte */
	struct ctx_selection_spec words; /* owned (ctx_side_words_deinit) */
	struct opened **opened;		 /* each owned */
	struct ctx_report_source **sources;
	size_t n, opened_cap, sources_cap;
	enum ctx_view view;
};

struct ctx_comparing {
	const struct ctx_options *options;
	struct side sides[CTX_COMPARE_SIDES];
	struct ctx_renames *renames;
	const char *metric;	    /* of the sources that are open; NULL: that of the options */
	struct ctx_diff_html *page; /* tables are put there instead of being printed; NULL: none */
	double least_share;	    /* of the page's tree */
};

static void close_source(struct opened *opened)
{
	if (opened->shown != opened->source)
		ctx_hiding_source_close(opened->shown);
	ctx_query_source_close(opened->source);
	ctx_selection_deinit(&opened->selection);
	opened->source = opened->shown = NULL;
}

static void close_one(struct opened *opened)
{
	close_source(opened);
	if (opened->store != NULL)
		ctx_store_close(opened->store);
	free(opened->experiment);
	free(opened->lineage);
	free(opened->name);
	free(opened);
}

static void side_deinit(struct side *side)
{
	for (size_t i = 0; i < side->n; i++)
		close_one(side->opened[i]);
	ctx_side_words_deinit(&side->words);
	free(side->names);
	free(side->opened);
	free(side->sources);
}

/* The source of a recording's selection; `metric` NULL: that of the options. */
static enum ctx_status open_source(struct side *side, size_t at, const char *metric, struct ctx_err *err)
{
	struct opened *opened = side->opened[at];
	struct ctx_query_source_spec spec = {.store = opened->store, .words = &opened->words, .options = ""};
	const struct ctx_hiding hiding = {.view = side->view};
	struct ctx_called_words called;
	struct ctx_marked marked;
	enum ctx_status status;

	opened->words = side->words;
	opened->words.lineage = opened->lineage;
	if (metric != NULL)
		opened->words.metric = metric;
	status = ctx_called_replace(opened->store, &opened->words, &called, err);
	if (status != CTX_OK)
		return status;
	status = ctx_marked_load(opened->store, &opened->words, &marked, err);
	if (status == CTX_OK)
		status = ctx_selection_make(&opened->words, ctx_store_profile(opened->store),
					    &opened->selection, err);
	if (status == CTX_OK)
		(void)ctx_selection_widen(&opened->selection, ctx_store_profile(opened->store), false);
	ctx_marked_deinit(&marked);
	opened->words.marks = NULL;
	spec.path = opened->name;
	opened->words.phases = NULL;
	ctx_called_restore(&called, &opened->words);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "%s", spec.path);
	spec.selection = &opened->selection;
	status = ctx_query_source_open(&spec, &opened->source, err);
	if (status == CTX_OK)
		status = ctx_hiding_source_open(opened->source, &hiding, &opened->shown, err);
	side->sources[at] = opened->shown;
	return status;
}

/* Room for one more, which is released with the side. NULL: an error. */
static struct opened *add(struct side *side, struct ctx_err *err)
{
	if (side->n == RUNS_MAX) {
		(void)ctx_err_set(err, CTX_E_LIMIT, "at most %u recordings on one side", RUNS_MAX);
		return NULL;
	}
	if (ctx_grow(&side->opened, &side->opened_cap, side->n + 1, err) != CTX_OK ||
	    ctx_grow(&side->sources, &side->sources_cap, side->n + 1, err) != CTX_OK)
		return NULL;
	side->opened[side->n] = ctx_calloc(1, sizeof(**side->opened));
	if (side->opened[side->n] == NULL)
		(void)ctx_err_nomem(err);
	return side->opened[side->n] != NULL ? side->opened[side->n++] : NULL;
}

static enum ctx_status open_recording(struct side *side, const char *name, const struct ctx_options *options,
				      struct ctx_err *err)
{
	struct opened *opened = add(side, err);
	enum ctx_status status;

	if (opened == NULL)
		return err != NULL ? err->status : CTX_E_NOMEM;
	opened->name = strdup(name);
	if (opened->name == NULL)
		return ctx_err_nomem(err);
	if (stat(name, &opened->file) != 0)
		opened->file.st_ino = 0;
	status = ctx_opening_split(name, &opened->experiment, &opened->lineage, err);
	if (status == CTX_OK)
		status = ctx_opening_open(opened->experiment != NULL ? opened->experiment : name,
					  &options->opening, &opened->store, err);
	return status == CTX_OK ? open_source(side, side->n - 1, NULL, err) : status;
}

static enum ctx_status open_run(struct side *side, struct ctx_archive *archive, const char *name, size_t run,
				struct ctx_err *err)
{
	struct opened *opened = add(side, err);
	enum ctx_status status;

	if (opened == NULL)
		return err != NULL ? err->status : CTX_E_NOMEM;
	if (asprintf(&opened->name, "%s:%zu", name, run + 1) < 0) {
		opened->name = NULL;
		return ctx_err_nomem(err);
	}
	opened->is_run = true;
	status = ctx_archive_open_run(archive, run, &opened->store, err);
	return status == CTX_OK ? open_source(side, side->n - 1, NULL, err) : status;
}

/* All runs of an archive, or one of them. */
static enum ctx_status open_archive(struct side *side, const char *name, uint32_t run, struct ctx_err *err)
{
	struct ctx_archive *archive;
	size_t only = 0;
	enum ctx_status status = ctx_archive_open(name, &archive, err);

	if (status != CTX_OK)
		return status;
	if (run != 0)
		status = ctx_archiving_choose(archive, name, run, &only, err);
	for (size_t i = 0; i < ctx_archive_n(archive) && status == CTX_OK; i++) {
		if (run == 0 || i == only)
			status = open_run(side, archive, name, i, err);
	}
	ctx_archive_close(archive);
	return status;
}

#define RUN_DIGITS 6u

/* "base.db:2", as runs are called: `*ret_run`, and the name is cut there. False: no run of an archive. */
static bool cut_run(char *name, uint32_t *ret_run)
{
	char *colon = strrchr(name, ':');
	size_t digits = colon != NULL ? strspn(colon + 1, "0123456789") : 0;

	if (digits == 0 || digits > RUN_DIGITS || colon[1 + digits] != '\0' || access(name, F_OK) == 0)
		return false;
	*colon = '\0';
	*ret_run = (uint32_t)strtoul(colon + 1, NULL, 10);
	if (*ret_run != 0 && ctx_archive_is(name))
		return true;
	*colon = ':';
	return false;
}

static enum ctx_status open_input(struct side *side, char *name, const struct ctx_options *options,
				  struct ctx_err *err)
{
	uint32_t run;

	if (ctx_archive_is(name))
		return open_archive(side, name, options->opening.run, err);
	if (cut_run(name, &run))
		return open_archive(side, name, run, err);
	return open_recording(side, name, options, err);
}

static bool is_same(const struct opened *a, const struct opened *b)
{
	if (a->is_run || b->is_run || a->file.st_ino == 0 || b->file.st_ino == 0)
		return strcmp(a->name, b->name) == 0;
	return a->file.st_ino == b->file.st_ino && a->file.st_dev == b->file.st_dev;
}

/* A recording that counts as several runs is false evidence; of which first is said. */
static void warn_of_twins(const struct side *side, char letter)
{
	for (size_t i = 0; i < side->n; i++) {
		size_t times = 1;

		for (size_t k = i + 1; k < side->n; k++)
			times += is_same(side->opened[i], side->opened[k]);
		if (times == 1)
			continue;
		fprintf(stderr,
			"ctxan: --diff: side %c has %s %zu times: as several runs it is false evidence\n",
			letter, side->opened[i]->name, times);
		return;
	}
}

/* "A1.er,A2.er" */
static enum ctx_status open_side(struct side *side, const char *list, const struct ctx_options *options,
				 struct ctx_err *err)
{
	size_t n = 1;
	enum ctx_status status = CTX_OK;

	side->view = options->hiding.view;
	side->names = strdup(list);
	if (side->names == NULL)
		return ctx_err_nomem(err);
	for (char *comma = side->names; (comma = strchr(comma, ',')) != NULL; n++)
		*comma++ = '\0';
	if (n > RUNS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "--diff: %zu recordings on one side, at most %u", n,
				   RUNS_MAX);
	for (char *name = side->names, *next; n-- > 0 && status == CTX_OK; name = next) {
		next = name + strlen(name) + 1;
		status = open_input(side, name, options, err);
	}
	return status;
}

/* Of one recording each of two intervals that are for both sides is one side's. */
static void divide_intervals(struct ctx_comparing *comparing)
{
	for (int i = 0; i < CTX_COMPARE_SIDES; i++) {
		struct ctx_selection_spec *words = &comparing->sides[i].words;
		const char *text;

		if (comparing->options->n_inputs != 1 || words->n_intervals != 2 ||
		    comparing->options->selection.n_intervals != 2 ||
		    ctx_side_of(comparing->options->selection.intervals[0], &text) != CTX_COMPARE_SIDES)
			continue;
		words->intervals[0] = words->intervals[i];
		words->n_intervals = 1;
	}
}

static enum ctx_status open_sides(struct ctx_comparing *comparing, struct ctx_err *err)
{
	const struct ctx_options *options = comparing->options;
	enum ctx_status status = CTX_OK;

	for (int i = 0; i < CTX_COMPARE_SIDES && status == CTX_OK; i++)
		status = ctx_side_words_make(&options->selection, &options->diff.alone[i],
					     (enum ctx_compare_side)i, &comparing->sides[i].words, err);
	if (status == CTX_OK)
		divide_intervals(comparing);
	for (int i = 0; i < CTX_COMPARE_SIDES && status == CTX_OK; i++)
		status = open_side(&comparing->sides[i], options->inputs[options->n_inputs == 1 ? 0 : i],
				   options, err);
	for (int i = 0; i < CTX_COMPARE_SIDES && status == CTX_OK && !options->quiet; i++)
		warn_of_twins(&comparing->sides[i], "AB"[i]);
	return status;
}

/* Why a table of the heap cannot be made: the first recording without allocations. */
static enum ctx_status check_heap(const struct ctx_comparing *comparing, struct ctx_err *err)
{
	for (int i = 0; i < CTX_COMPARE_SIDES; i++) {
		for (size_t k = 0; k < comparing->sides[i].n; k++) {
			const struct opened *opened = comparing->sides[i].opened[k];

			if (ctx_store_profile(opened->store)->traced[CTX_TRACED_HEAP] == 0)
				return ctx_err_set(err, CTX_E_NOTFOUND,
						   "%s has no allocations (ctxrec --heap)", opened->name);
		}
	}
	return CTX_OK;
}

/* A table may be of another metric than the selected one. */
static enum ctx_status choose_metric(struct ctx_comparing *comparing, const char *metric, struct ctx_err *err)
{
	static const char none[] = ""; /* not all sources are open: a failure */
	enum ctx_status status = CTX_OK;

	if (comparing->metric == metric)
		return CTX_OK;
	for (int i = 0; i < CTX_COMPARE_SIDES; i++) {
		struct side *side = &comparing->sides[i];

		for (size_t k = 0; k < side->n && status == CTX_OK; k++) {
			close_source(side->opened[k]);
			status = open_source(side, k, metric, err);
		}
	}
	comparing->metric = status == CTX_OK ? metric : none;
	return status;
}

/* --sort inclusive; of what has no self time it is no question. */
static bool is_total(const struct ctx_options *options, enum ctx_diff_subject subject)
{
	return options->report.sort != NULL && strcmp(options->report.sort, "inclusive") == 0 &&
	       (subject == CTX_DIFF_FUNCTIONS || subject == CTX_DIFF_OBJECTS || subject == CTX_DIFF_LINES);
}

static bool prints_text(const struct ctx_comparing *comparing)
{
	return comparing->page == NULL && comparing->options->report.format == CTX_REPORT_TEXT;
}

enum ctx_status ctx_comparing_print(struct ctx_comparing *comparing, const struct ctx_compared *table,
				    const struct ctx_report_options *report, struct ctx_err *err)
{
	const struct ctx_options *options = comparing->options;
	const struct ctx_diff_named named = {.kind = ctx_report_find(table->report),
					     .title = table->title,
					     .least_share = comparing->least_share};
	struct ctx_diff_spec spec = {
		.subject = table->subject,
		.total = is_total(options, table->subject),
		.folds = comparing->page == NULL && !report->no_fold &&
			 (report->format == CTX_REPORT_TEXT || report->format == CTX_REPORT_ROWS),
		.renames = comparing->renames,
		.weighting = options->diff.weighting};
	enum ctx_status status = choose_metric(comparing, table->metric, err);

	for (int i = 0; i < CTX_COMPARE_SIDES; i++)
		spec.sides[i] = (struct ctx_diff_side){comparing->sides[i].sources, comparing->sides[i].n};
	if (status != CTX_OK)
		return status;
	return comparing->page != NULL ? ctx_diff_html_add(comparing->page, &spec, &named, report, err)
				       : ctx_diff_report_print(&spec, &named, report, err);
}

bool ctx_comparing_has_metric(const struct ctx_comparing *comparing, const char *metric)
{
	bool has = metric == NULL;

	for (int i = 0; i < CTX_COMPARE_SIDES; i++) {
		for (size_t k = 0; k < comparing->sides[i].n && !has; k++) {
			const struct ctx_profile *profile =
				ctx_store_profile(comparing->sides[i].opened[k]->store);
			uint32_t found = ctx_profile_find_metric(profile, metric);

			has = found != CTX_NONE && profile->metrics[found].samples != 0;
		}
	}
	return has;
}

static enum ctx_status print_report(struct ctx_comparing *comparing, const struct ctx_option_report *wanted,
				    bool is_first, struct ctx_err *err)
{
	size_t n, printed = 0;
	const struct ctx_compared *tables = ctx_compared_of(wanted->kind->name, &n);
	struct ctx_report_options report = comparing->options->report;
	enum ctx_status status = CTX_OK;

	if (wanted->function != NULL)
		report.function = wanted->function;
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		/* Nothing of it on either side; the first says what is missing. */
		if (!ctx_comparing_has_metric(comparing, tables[i].metric) && (i != 0 || n == 1))
			continue;
		if (tables[i].metric != NULL && printed == 0)
			status = check_heap(comparing, err);
		if (status != CTX_OK)
			break;
		if ((!is_first || printed != 0) && prints_text(comparing))
			fputc('\n', comparing->options->report.out);
		status = ctx_comparing_print(comparing, &tables[i], &report, err);
		printed++;
	}
	return status;
}

/* Of several reports one that has nothing to compare is a line of text in its place, unless that is so of all. */
static enum ctx_status print_reports(struct ctx_comparing *comparing, struct ctx_err *err)
{
	const struct ctx_options *options = comparing->options;
	bool goes_on = options->n_reports > 1 && options->report.format == CTX_REPORT_TEXT;
	enum ctx_status status = CTX_OK;
	size_t n_missing = 0;

	if (options->n_reports == 0)
		return print_report(comparing,
				    &(struct ctx_option_report){.kind = ctx_report_find("functions")}, true,
				    err);
	for (size_t i = 0; i < options->n_reports && status == CTX_OK; i++) {
		status = print_report(comparing, &options->reports[i], i == 0, err);
		if (!goes_on || (status != CTX_E_ARG && status != CTX_E_NOTFOUND))
			continue;
		if (++n_missing == options->n_reports)
			return status;
		fprintf(options->report.out, "%s: %s\n", options->reports[i].kind->name, err->msg);
		status = CTX_OK;
	}
	return status;
}

/* ---- --export html ---- */

#define PAGE_BYTES ((size_t)20 << 20) /* unless --max-size says otherwise */
#define TEXT_BYTES ((size_t)64 << 20) /* of tables, as the browser reads them */

/* The report as it was asked for; NULL: nobody did. */
static const struct ctx_option_report *find_wanted(const struct ctx_options *options, const char *report)
{
	for (size_t i = 0; i < options->n_reports; i++) {
		if (strcmp(options->reports[i].kind->name, report) == 0)
			return &options->reports[i];
	}
	return NULL;
}

static enum ctx_status add_functions(struct ctx_comparing *comparing, const struct ctx_option_report *wanted,
				     struct ctx_err *err)
{
	const struct ctx_option_report usual = {.kind = ctx_report_find("functions")};

	return print_report(comparing, wanted != NULL ? wanted : &usual, true, err);
}

/* Recordings may have no call stacks: a reason why there is no tree, unless it was asked for. */
static enum ctx_status add_tree(struct ctx_comparing *comparing, const struct ctx_option_report *wanted,
				struct ctx_err *err)
{
	const struct ctx_option_report usual = {.kind = ctx_report_find("tree")};
	struct ctx_err why = {0};
	enum ctx_status status;

	if (wanted != NULL)
		return print_report(comparing, wanted, true, err);
	status = print_report(comparing, &usual, true, &why);
	if (status == CTX_E_ARG) {
		ctx_diff_html_leave_out(comparing->page, why.msg);
		return CTX_OK;
	}
	if (status != CTX_OK && err != NULL)
		*err = why;
	return status;
}

/* Functions and the tree, then what else was asked for. */
static enum ctx_status fill_page(struct ctx_comparing *comparing, struct ctx_err *err)
{
	const struct ctx_options *options = comparing->options;
	const struct ctx_option_report *functions = find_wanted(options, "functions"),
				       *tree = find_wanted(options, "tree");
	enum ctx_status status = add_functions(comparing, functions, err);

	if (status == CTX_OK)
		status = add_tree(comparing, tree, err);
	for (size_t i = 0; i < options->n_reports && status == CTX_OK; i++) {
		const struct ctx_option_report *report = &options->reports[i];

		if (report != functions && report != tree)
			status = print_report(comparing, report, true, err);
	}
	return status;
}

/* The page with the nodes of the tree that have at least this share. CTX_E_LIMIT: too large. */
static enum ctx_status write_page_of(struct ctx_comparing *comparing, double least_share, struct ctx_err *err)
{
	const struct ctx_options *options = comparing->options;
	size_t most = options->output.max_size != 0 ? options->output.max_size : PAGE_BYTES;
	struct ctx_diff_spec spec = {0};
	char text[128];
	enum ctx_status status = choose_metric(comparing, NULL, err);

	for (int i = 0; i < CTX_COMPARE_SIDES; i++)
		spec.sides[i] = (struct ctx_diff_side){comparing->sides[i].sources, comparing->sides[i].n};
	if (status == CTX_OK)
		status = ctx_diff_html_create(&spec, &comparing->page, err);
	if (status != CTX_OK)
		return status;
	comparing->least_share = least_share;
	status = fill_page(comparing, err);
	if (least_share > 0) {
		snprintf(text, sizeof(text), "calls with less than %g %% of either side are not in the tree",
			 100 * least_share);
		ctx_diff_html_leave_out(comparing->page, text);
	}
	if (status == CTX_OK && ctx_diff_html_size(comparing->page) > TEXT_BYTES)
		status = ctx_err_set(err, CTX_E_LIMIT, "its tables are too large for a browser");
	if (status == CTX_OK)
		status = ctx_diff_html_write(comparing->page, most, options->report.out, err);
	ctx_diff_html_destroy(comparing->page);
	comparing->page = NULL;
	if (status == CTX_OK && least_share > 0 && !options->quiet)
		fprintf(stderr, "ctxan: html: %s: the page would be too large\n", text);
	return status;
}

/* Of a page that is too large the tree is made smaller: other tables have a row for each function at most. */
static enum ctx_status write_page(struct ctx_comparing *comparing, struct ctx_err *err)
{
	static const double leasts[] = {0, 1e-5, 1e-4, 1e-3, 1e-2};
	enum ctx_status status = CTX_E_LIMIT;

	for (size_t i = 0; i < CTX_COUNT_OF(leasts) && status == CTX_E_LIMIT; i++) {
		if (err != NULL)
			*err = (struct ctx_err){0};
		status = write_page_of(comparing, leasts[i], err);
	}
	return status;
}

/* --export: the stacks of both sides. */
static enum ctx_status export_sides(struct ctx_comparing *comparing, struct ctx_err *err)
{
	struct ctx_diff_spec spec = {.renames = comparing->renames,
				     .weighting = comparing->options->diff.weighting};
	struct ctx_merged *merged;
	enum ctx_status status = ctx_exporting_check_terminal(comparing->options, err);

	if (status != CTX_OK)
		return status;
	if (comparing->options->output.export == &ctx_export_html)
		return write_page(comparing, err);
	for (int i = 0; i < CTX_COMPARE_SIDES; i++)
		spec.sides[i] = (struct ctx_diff_side){comparing->sides[i].sources, comparing->sides[i].n};
	status = ctx_merged_make(&spec, &merged, err);
	if (status != CTX_OK)
		return status;
	status = ctx_exporting_difference(ctx_merged_source(merged), comparing->options, err);
	ctx_merged_destroy(merged);
	return status;
}

static enum ctx_status open_all(struct ctx_comparing *comparing, const char *input, struct ctx_err *err)
{
	const struct ctx_options *options = comparing->options;
	struct side *alone = &comparing->sides[CTX_COMPARE_B];
	enum ctx_status status =
		ctx_renames_make(options->diff.renames, options->diff.n_renames, &comparing->renames, err);

	if (status != CTX_OK || options->diff.wanted)
		return status == CTX_OK ? open_sides(comparing, err) : status;
	status = ctx_side_words_make(&options->selection, &options->diff.alone[CTX_COMPARE_B], CTX_COMPARE_B,
				     &alone->words, err);
	return status == CTX_OK ? open_side(alone, input, options, err) : status;
}

enum ctx_status ctx_comparing_open(const struct ctx_options *options, const char *input,
				   struct ctx_comparing **ret, struct ctx_err *err)
{
	struct ctx_comparing *comparing = ctx_calloc(1, sizeof(*comparing));
	enum ctx_status status;

	if (comparing == NULL)
		return ctx_err_nomem(err);
	comparing->options = options;
	status = open_all(comparing, input, err);
	if (status != CTX_OK) {
		ctx_comparing_close(comparing);
		return status;
	}
	*ret = comparing;
	return CTX_OK;
}

struct ctx_diff_side ctx_comparing_side(const struct ctx_comparing *comparing, enum ctx_compare_side side)
{
	return (struct ctx_diff_side){comparing->sides[side].sources, comparing->sides[side].n};
}

const struct ctx_renames *ctx_comparing_renames(const struct ctx_comparing *comparing)
{
	return comparing->renames;
}

void ctx_comparing_close(struct ctx_comparing *comparing)
{
	if (comparing == NULL)
		return;
	for (int i = 0; i < CTX_COMPARE_SIDES; i++)
		side_deinit(&comparing->sides[i]);
	ctx_renames_destroy(comparing->renames);
	free(comparing);
}

enum ctx_status ctx_comparing_answer(const struct ctx_options *options, struct ctx_err *err)
{
	struct ctx_comparing *comparing;
	enum ctx_status status = ctx_comparing_open(options, NULL, &comparing, err);

	if (status != CTX_OK)
		return status;
	status =
		options->output.export != NULL ? export_sides(comparing, err) : print_reports(comparing, err);
	ctx_comparing_close(comparing);
	return status;
}
