#include "ctxan/fleet_difference.h"

#include "base/mem.h"
#include "compare/merged.h"
#include "ctxan/compared.h"
#include "ctxan/exporting.h"
#include "query/metric_choice.h"
#include "report/diff_html.h"
#include "report/diff_report.h"
#include "report/hiding_source.h"
#include "report/report_exports.h"

#include <stdlib.h>
#include <string.h>

/* So many hosts of each side and more are the blocks; otherwise recordings are. */
#define HOSTS_MIN 3u

struct side {
	const char *name;   /* borrowed: its terms as given */
	const char **terms; /* owned; those of both sides, then its own, which are cut out of `owned` */
	size_t n_terms;
	char *owned;
	struct ctx_report_source *source;
	size_t n_hosts; /* with samples */
	struct ctx_fleet_blocks *blocks;
	struct ctx_report_source *const *sources; /* the blocks' */
	struct ctx_report_source **shown;	  /* owned; each that of `sources`, or in the view */
	size_t n_shown;
};

static void side_deinit(struct side *side)
{
	for (size_t i = 0; i < side->n_shown; i++) {
		if (side->shown[i] != side->sources[i])
			ctx_hiding_source_close(side->shown[i]);
	}
	free(side->shown);
	ctx_fleet_blocks_destroy(side->blocks);
	ctx_fleet_source_close(side->source);
	free(side->terms);
	free(side->owned);
}

static enum ctx_status read_terms(struct side *side, const struct ctx_fleet_choice_spec *choice,
				  const char *own, struct ctx_err *err)
{
	size_t n_common = choice->n_terms - CTX_COMPARE_SIDES, n = n_common + strlen(own) + 1;
	char *at, *end;

	side->owned = strdup(own);
	side->terms = ctx_calloc(n, sizeof(*side->terms));
	if (side->owned == NULL || side->terms == NULL)
		return ctx_err_nomem(err);
	for (; side->n_terms < n_common; side->n_terms++)
		side->terms[side->n_terms] = choice->terms[side->n_terms];
	for (at = side->owned; at != NULL; at = end) {
		end = strchr(at, ',');
		if (end != NULL)
			*end++ = '\0';
		side->terms[side->n_terms++] = at;
	}
	return CTX_OK;
}

static enum ctx_status load(struct side *side, const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_report_fleet_group *hosts;
	uint32_t *metrics CTX_AUTO_FREE = NULL;
	size_t n, n_hosts;
	enum ctx_status status = ctx_metric_choice_read(&options->selection, side->source->selection.profile,
							&metrics, &n, err);

	if (status == CTX_OK && n != 1)
		return ctx_err_set(err, CTX_E_ARG, "--diff compares a single metric");
	if (status == CTX_OK)
		status = ctx_fleet_source_load(side->source, metrics, 1, false, err);
	if (status == CTX_OK)
		status = side->source->fleet_groups(side->source, "host", &hosts, &n_hosts, err);
	for (size_t i = 0; status == CTX_OK && i < n_hosts; i++)
		side->n_hosts += hosts[i].sum.samples != 0;
	return status;
}

static enum ctx_status open_side(struct side *side, const struct ctx_fleet_source_spec *both, const char *own,
				 const struct ctx_options *options, struct ctx_err *err)
{
	struct ctx_fleet_source_spec spec = *both;
	enum ctx_status status = read_terms(side, &both->choice, own, err);

	side->name = own;
	if (status != CTX_OK)
		return status;
	spec.choice.terms = side->terms;
	spec.choice.n_terms = side->n_terms;
	status = ctx_fleet_source_open(&spec, &side->source, err);
	if (status == CTX_OK)
		status = load(side, options, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", own);
}

/* The blocks of a side in the view. */
static enum ctx_status show(struct side *side, enum ctx_view view, struct ctx_diff_side *ret,
			    struct ctx_err *err)
{
	const struct ctx_hiding hiding = {.view = view};
	enum ctx_status status = CTX_OK;

	side->sources = ctx_fleet_blocks_sources(side->blocks, &ret->n);
	side->shown = ctx_calloc(ret->n, sizeof(*side->shown));
	if (side->shown == NULL)
		return ctx_err_nomem(err);
	while (side->n_shown < ret->n && status == CTX_OK) {
		size_t k = side->n_shown;

		status = ctx_hiding_source_open(side->sources[k], &hiding, &side->shown[k], err);
		side->n_shown += status == CTX_OK;
	}
	ret->sources = side->shown;
	return status;
}

/* Recordings of one host are not independent: hosts are the units where both sides have at least HOSTS_MIN. */
static enum ctx_status make_blocks(struct side *sides, enum ctx_view view, struct ctx_diff_spec *spec,
				   struct ctx_err *err)
{
	bool hosts = sides[0].n_hosts >= HOSTS_MIN && sides[1].n_hosts >= HOSTS_MIN;
	bool pooled = false;
	const char *key = hosts ? "host" : "recording";
	enum ctx_status status;

	for (int i = 0; i < CTX_COMPARE_SIDES; i++) {
		status = ctx_fleet_source_blocks(sides[i].source, key, &sides[i].blocks, err);
		if (status == CTX_OK)
			status = show(&sides[i], view, &spec->sides[i], err);
		if (status != CTX_OK)
			return ctx_err_prefix(err, status, "%s", sides[i].name);
		pooled |= ctx_fleet_blocks_n_groups(sides[i].blocks) > spec->sides[i].n;
	}
	spec->unit = !pooled ? key : hosts ? "host group" : "recording group";
	return CTX_OK;
}

/* What needs samples one by one is not compared: NULL. */
static const struct ctx_compared *find_table(const struct ctx_report_kind *kind)
{
	size_t n;
	const struct ctx_compared *tables = ctx_compared_of(kind->name, &n);
	bool is_known =
		n == 1 && (tables->subject == CTX_DIFF_FUNCTIONS || tables->subject == CTX_DIFF_OBJECTS ||
			   tables->subject == CTX_DIFF_CALLERS || tables->subject == CTX_DIFF_STACKS ||
			   tables->subject == CTX_DIFF_TREE);

	return is_known ? tables : NULL;
}

/* Prints a table, or appends it to the page, if there is one. */
static enum ctx_status put(struct ctx_diff_spec *spec, struct ctx_diff_html *page,
			   const struct ctx_option_report *wanted, const struct ctx_options *options,
			   struct ctx_err *err)
{
	struct ctx_report_options report = options->report;
	struct ctx_diff_named named = {.kind = wanted->kind};
	const struct ctx_compared *table = find_table(wanted->kind);

	if (table == NULL)
		return ctx_err_set(err, CTX_E_ARG,
				   "fleets are compared by functions, objects, callers-callees, stacks and "
				   "tree, not by %s",
				   wanted->kind->name);
	if (wanted->function != NULL)
		report.function = wanted->function;
	spec->subject = table->subject;
	spec->total = report.sort != NULL && strcmp(report.sort, "inclusive") == 0 &&
		      (table->subject == CTX_DIFF_FUNCTIONS || table->subject == CTX_DIFF_OBJECTS);
	spec->folds = page == NULL && !report.no_fold && report.format == CTX_REPORT_TEXT;
	return page != NULL ? ctx_diff_html_add(page, spec, &named, &report, err)
			    : ctx_diff_report_print(spec, &named, &report, err);
}

static enum ctx_status print_all(struct ctx_diff_spec *spec, const struct ctx_options *options,
				 struct ctx_err *err)
{
	const struct ctx_option_report usual = {.kind = ctx_report_find("functions")};
	size_t n = options->n_reports != 0 ? options->n_reports : 1;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		if (i != 0 && options->report.format == CTX_REPORT_TEXT)
			fputc('\n', options->report.out);
		status = put(spec, NULL, options->n_reports != 0 ? &options->reports[i] : &usual, options,
			     err);
	}
	return status;
}

/* ---- exports ---- */

#define PAGE_BYTES ((size_t)20 << 20) /* unless --max-size says otherwise */

/* Functions and the tree, then what else was asked for. */
static enum ctx_status fill_page(struct ctx_diff_html *page, struct ctx_diff_spec *spec,
				 const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_option_report functions = {.kind = ctx_report_find("functions")},
				       tree = {.kind = ctx_report_find("tree")};
	enum ctx_status status = put(spec, page, &functions, options, err);

	if (status == CTX_OK)
		status = put(spec, page, &tree, options, err);
	for (size_t i = 0; i < options->n_reports && status == CTX_OK; i++) {
		const struct ctx_report_kind *kind = options->reports[i].kind;

		if (kind != functions.kind && kind != tree.kind)
			status = put(spec, page, &options->reports[i], options, err);
	}
	return status;
}

static enum ctx_status write_page(struct ctx_diff_spec *spec, const struct ctx_options *options,
				  struct ctx_err *err)
{
	size_t most = options->output.max_size != 0 ? options->output.max_size : PAGE_BYTES;
	struct ctx_diff_html *page;
	enum ctx_status status = ctx_diff_html_create(spec, &page, err);

	if (status != CTX_OK)
		return status;
	status = fill_page(page, spec, options, err);
	if (status == CTX_OK)
		status = ctx_diff_html_write(page, most, options->report.out, err);
	ctx_diff_html_destroy(page);
	return status;
}

/* Other exports: the stacks of both sides. */
static enum ctx_status export_sides(struct ctx_diff_spec *spec, const struct ctx_options *options,
				    struct ctx_err *err)
{
	struct ctx_merged *merged;
	enum ctx_status status = ctx_exporting_check_terminal(options, err);

	if (status != CTX_OK)
		return status;
	if (options->output.export == &ctx_export_html)
		return write_page(spec, options, err);
	spec->weighting = (struct ctx_weighting){0};
	status = ctx_merged_make(spec, &merged, err);
	if (status != CTX_OK)
		return status;
	status = ctx_exporting_difference(ctx_merged_source(merged), options, err);
	ctx_merged_destroy(merged);
	return status;
}

static enum ctx_status compare(struct side *sides, const struct ctx_options *options, struct ctx_err *err)
{
	struct ctx_diff_spec spec = {.weighting = options->diff.weighting};
	struct ctx_renames *renames = NULL;
	enum ctx_status status = make_blocks(sides, options->hiding.view, &spec, err);

	/* Sides are of any number of hosts and hours. */
	if (spec.weighting.weights == CTX_WEIGHTS_ABSOLUTE)
		spec.weighting.weights = CTX_WEIGHTS_SHARE;
	if (status == CTX_OK)
		status = ctx_renames_make(options->diff.renames, options->diff.n_renames, &renames, err);
	spec.renames = renames;
	if (status == CTX_OK)
		status = options->output.export != NULL ? export_sides(&spec, options, err)
							: print_all(&spec, options, err);
	ctx_renames_destroy(renames);
	return status;
}

enum ctx_status ctx_fleet_difference(const struct ctx_fleet_source_spec *spec,
				     const struct ctx_options *options, struct ctx_err *err)
{
	struct side sides[CTX_COMPARE_SIDES] = {0};
	enum ctx_status status = CTX_OK;

	if (spec->choice.n_terms < CTX_COMPARE_SIDES)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--diff: of a fleet the last two words are the sides (ctxan fleet URL service=web "
			"--diff version=1.3 version=1.4)");
	if (options->diff.weighting.function != NULL)
		return ctx_err_set(err, CTX_E_ARG,
				   "--per-count calls:FUNC: a comparison of fleets has no calls");
	for (size_t i = 0; i < CTX_COMPARE_SIDES && status == CTX_OK; i++)
		status = open_side(&sides[i], spec, spec->choice.terms[spec->choice.n_terms - 2 + i], options,
				   err);
	if (status == CTX_OK)
		status = compare(sides, options, err);
	for (size_t i = 0; i < CTX_COMPARE_SIDES; i++)
		side_deinit(&sides[i]);
	return status;
}
