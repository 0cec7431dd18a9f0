#include "ctxan/comparing.h"

#include "base/mem.h"
#include "ctxan/opening.h"
#include "query/marked.h"
#include "query/store_source.h"
#include "report/diff_report.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 250u /* recordings of a side: their databases are open at the same time */

/* One recording that is open. */
struct opened {
	struct ctx_store *store;
	struct ctx_selection_spec words; /* borrows all its arrays */
	char *experiment, *lineage;	 /* owned; NULL unless the input is a process of an experiment */
	const char *interval;
	struct ctx_selection selection;
	struct ctx_report_source *source;
};

struct side {
	char *names; /* owned: of the recordings, each ended by a zero byte */
	struct opened *opened;
	struct ctx_report_source **sources;
	size_t n;
};

static void close_one(struct opened *opened)
{
	ctx_query_source_close(opened->source);
	ctx_selection_deinit(&opened->selection);
	if (opened->store != NULL)
		ctx_store_close(opened->store);
	free(opened->experiment);
	free(opened->lineage);
}

static void side_deinit(struct side *side)
{
	for (size_t i = 0; i < side->n; i++)
		close_one(&side->opened[i]);
	free(side->names);
	free(side->opened);
	free(side->sources);
}

/* `interval` NULL: those of the options. */
static enum ctx_status open_one(struct opened *opened, const char *name, const char *interval,
				const struct ctx_options *options, struct ctx_err *err)
{
	struct ctx_query_source_spec spec = {.path = name, .words = &opened->words, .options = ""};
	enum ctx_status status = ctx_opening_split(name, &opened->experiment, &opened->lineage, err);
	struct ctx_marked marked;

	if (status == CTX_OK)
		status = ctx_opening_open(opened->experiment != NULL ? opened->experiment : name,
					  &options->opening, &opened->store, err);
	if (status != CTX_OK)
		return status;
	opened->words = options->selection;
	opened->words.lineage = opened->lineage;
	opened->interval = interval;
	if (interval != NULL) {
		opened->words.intervals = &opened->interval;
		opened->words.n_intervals = 1;
	}
	status = ctx_marked_load(opened->store, &opened->words, &marked, err);
	if (status == CTX_OK)
		status = ctx_selection_make(&opened->words, ctx_store_profile(opened->store),
					    &opened->selection, err);
	ctx_marked_deinit(&marked);
	opened->words.marks = NULL;
	if (status != CTX_OK)
		return status;
	spec.store = opened->store;
	spec.selection = &opened->selection;
	return ctx_query_source_open(&spec, &opened->source, err);
}

/* "A1.er,A2.er"; a recording whose own name has a comma is not divided. */
static enum ctx_status open_side(struct side *side, const char *list, const char *interval,
				 const struct ctx_options *options, struct ctx_err *err)
{
	size_t n = 1;

	side->names = strdup(list);
	if (side->names == NULL)
		return ctx_err_nomem(err);
	for (char *comma = side->names; (comma = strchr(comma, ',')) != NULL; n++)
		*comma++ = '\0';
	if (n > RUNS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "--diff: %zu recordings on one side, at most %u", n,
				   RUNS_MAX);
	side->opened = ctx_calloc(n, sizeof(*side->opened));
	side->sources = ctx_calloc(n, sizeof(*side->sources));
	if (side->opened == NULL || side->sources == NULL)
		return ctx_err_nomem(err);
	for (const char *name = side->names; side->n < n; name += strlen(name) + 1) {
		struct opened *opened = &side->opened[side->n++];
		enum ctx_status status = open_one(opened, name, interval, options, err);

		if (status != CTX_OK)
			return status;
		side->sources[side->n - 1] = opened->source;
	}
	return CTX_OK;
}

/* One of --report, each a table of its own. */
static enum ctx_status print(const struct side sides[CTX_COMPARE_SIDES], const struct ctx_options *options,
			     const char *report, struct ctx_err *err)
{
	struct ctx_diff_spec spec = {
		.subject = strcmp(report, "objects") == 0 ? CTX_MATCH_OBJECTS : CTX_MATCH_FUNCTIONS,
		.total = options->report.sort != NULL && strcmp(options->report.sort, "inclusive") == 0};

	for (int i = 0; i < CTX_COMPARE_SIDES; i++)
		spec.sides[i] = (struct ctx_diff_side){sides[i].sources, sides[i].n};
	return ctx_diff_report_print(&spec, &options->report, err);
}

static enum ctx_status open_sides(struct side sides[CTX_COMPARE_SIDES], const struct ctx_options *options,
				  struct ctx_err *err)
{
	bool intervals = options->n_inputs == 1;
	enum ctx_status status = CTX_OK;

	for (int i = 0; i < CTX_COMPARE_SIDES && status == CTX_OK; i++)
		status = open_side(&sides[i], options->inputs[intervals ? 0 : i],
				   intervals ? options->selection.intervals[i] : NULL, options, err);
	return status;
}

enum ctx_status ctx_comparing_answer(const struct ctx_options *options, struct ctx_err *err)
{
	struct side sides[CTX_COMPARE_SIDES] = {0};
	enum ctx_status status = open_sides(sides, options, err);

	if (status == CTX_OK && options->n_reports == 0)
		status = print(sides, options, "functions", err);
	for (size_t i = 0; i < options->n_reports && status == CTX_OK; i++) {
		if (i != 0 && options->report.format == CTX_REPORT_TEXT)
			fputc('\n', options->report.out);
		status = print(sides, options, options->reports[i].kind->name, err);
	}
	for (int i = 0; i < CTX_COMPARE_SIDES; i++)
		side_deinit(&sides[i]);
	return status;
}
