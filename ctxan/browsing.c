#include "ctxan/browsing.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "browse/browse.h"
#include "ctxan/export_kinds.h"
#include "ctxan/exporting.h"
#include "ctxan/output.h"
#include "query/store_source.h"

#include <stdio.h>
#include <string.h>

struct host {
	struct ctx_store *store;
	const char *name;
	const struct ctx_options *options;
	const struct ctx_selection *given;
};

/* A source with what it borrows. */
struct opened {
	struct ctx_selection selection; /* a copy of the given one, with the arrays below */
	struct ctx_interval interval;
	uint32_t thread;
	uint32_t *metrics;		 /* owned */
	struct ctx_report_source *store; /* of the database */
	struct ctx_report_source *shown; /* that, or in a view, without hidden frames */
	struct opened *next;
};

struct opened_list {
	struct host host; /* first */
	struct opened *first;
};

/* The given selection, but for what the browser chooses. */
static enum ctx_status choose(const struct host *host, const struct ctx_browse_selection *chosen,
			      struct opened *opened, struct ctx_err *err)
{
	opened->selection = *host->given;
	opened->interval = chosen->interval;
	opened->selection.intervals = &opened->interval;
	opened->selection.n_intervals = 1;
	if (chosen->thread != CTX_NONE) {
		opened->thread = chosen->thread;
		opened->selection.threads = &opened->thread;
		opened->selection.n_threads = 1;
	}
	opened->metrics = ctx_calloc(chosen->n_metrics, sizeof(*opened->metrics));
	if (opened->metrics == NULL)
		return ctx_err_nomem(err);
	memcpy(opened->metrics, chosen->metrics, chosen->n_metrics * sizeof(*opened->metrics));
	opened->selection.metrics = opened->metrics;
	opened->selection.n_metrics = chosen->n_metrics;
	return CTX_OK;
}

static void release(struct opened *opened)
{
	if (opened->shown != opened->store)
		ctx_hiding_source_close(opened->shown);
	ctx_query_source_close(opened->store);
	free(opened->metrics);
	free(opened);
}

static enum ctx_status open_sources(const struct host *host, struct opened *opened, struct ctx_err *err)
{
	const struct ctx_query_source_spec spec = {.store = host->store,
						   .selection = &opened->selection,
						   .words = &host->options->selection,
						   .path = host->name,
						   .top_only = host->options->top_only};
	enum ctx_status status = ctx_query_source_open(&spec, &opened->store, err);

	opened->shown = opened->store;
	if (status == CTX_OK)
		status = ctx_hiding_source_open(opened->store, &host->options->hiding, &opened->shown, err);
	return status;
}

static enum ctx_status open_source(void *context, const struct ctx_browse_selection *chosen,
				   struct ctx_report_source **ret, struct ctx_err *err)
{
	struct opened_list *list = context;
	struct opened *opened = ctx_calloc(1, sizeof(*opened));
	enum ctx_status status;

	if (opened == NULL)
		return ctx_err_nomem(err);
	status = choose(&list->host, chosen, opened, err);
	if (status == CTX_OK)
		status = open_sources(&list->host, opened, err);
	if (status != CTX_OK) {
		release(opened);
		return status;
	}
	opened->next = list->first;
	list->first = opened;
	*ret = opened->shown;
	return CTX_OK;
}

static void close_source(void *context, struct ctx_report_source *source)
{
	struct opened_list *list = context;

	for (struct opened **at = &list->first; *at != NULL; at = &(*at)->next) {
		struct opened *opened = *at;

		if (opened->shown != source)
			continue;
		*at = opened->next;
		release(opened);
		return;
	}
}

struct exporting {
	const struct host *host;
	const struct ctx_selection *selection;
};

static enum ctx_status print_export(void *context, struct ctx_options *options, struct ctx_err *err)
{
	const struct exporting *exporting = context;

	return ctx_exporting_answer(exporting->host->store, exporting->host->name, exporting->selection,
				    options, err);
}

/* Not named `export`, which clang-format takes for a word of C++. */
static enum ctx_status export_to(void *context, const struct ctx_browse_selection *chosen, const char *format,
				 const char *path, struct ctx_err *err)
{
	const struct host *host = &((struct opened_list *)context)->host;
	struct opened opened = {0};
	struct exporting exporting = {host, &opened.selection};
	struct ctx_options options = *host->options;
	enum ctx_status status = ctx_output_check(&options, path, err);

	if (status == CTX_OK)
		status = choose(host, chosen, &opened, err);
	if (status != CTX_OK)
		return status;
	options.output.export = ctx_export_kind_find(format);
	options.output.path = path;
	options.report.ascii = false;
	options.n_reports = 0;
	/* Remarks have no place on the screen. */
	options.quiet = true;
	status = ctx_output_write(&options, &(struct ctx_output_answer){print_export, &exporting}, err);
	free(opened.metrics);
	return status;
}

static enum ctx_status name_formats(const char ***ret, struct ctx_err *err)
{
	size_t n = 0;

	while (ctx_export_kind_at(n) != NULL)
		n++;
	*ret = ctx_calloc(n + 1, sizeof(**ret));
	if (*ret == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		(*ret)[i] = ctx_export_kind_at(i)->name;
	return CTX_OK;
}

enum ctx_status ctx_browsing_answer(struct ctx_store *store, const char *name,
				    const struct ctx_selection *selection, const struct ctx_options *options,
				    struct ctx_err *err)
{
	const char **formats CTX_AUTO_FREE = NULL;
	struct opened_list list = {
		.host = {.store = store, .name = name, .options = options, .given = selection}};
	struct ctx_browse_host host = {.context = &list,
				       .profile = ctx_store_profile(store),
				       .name = name,
				       .interval = ctx_selection_hull(selection),
				       .metric = selection->metrics[0],
				       .threads = selection->threads,
				       .n_threads = selection->n_threads,
				       .open = open_source,
				       .close = close_source,
				       .export = export_to};
	const struct ctx_browse_options shown = {.ascii = options->report.ascii,
						 .color = options->report.color};
	enum ctx_status status = name_formats(&formats, err);

	if (status != CTX_OK)
		return status;
	host.formats = formats;
	return ctx_browse(&host, &shown, err);
}
