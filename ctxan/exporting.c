#include "ctxan/exporting.h"

#include "base/mem.h"
#include "ctxan/exporting_places.h"
#include "query/store_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void remark(void *context, const char *text)
{
	const struct ctx_options *options = context;

	if (!options->quiet)
		fprintf(stderr, "ctxan: %s: %s\n", options->output.export->name, text);
}

static enum ctx_status write_shown(struct ctx_report_source *source, const struct ctx_options *options,
				   struct ctx_err *err)
{
	const struct ctx_export_kind *kind = options->output.export;
	const char **names CTX_AUTO_FREE = ctx_calloc(options->n_reports, sizeof(*names));
	struct ctx_options shown = *options;
	const struct ctx_export_input input = {
		.source = source,
		.selection = &source->selection,
		.profile = source->selection.profile,
		.metric = source->selection.metrics[0],
		.metric_named = options->selection.metric != NULL,
		.reports = names,
		.n_reports = options->n_reports,
		.max_bytes = options->output.max_size,
		.is_difference = options->diff.wanted,
		.remark = remark,
		.remark_context = &shown,
	};

	if (names == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < options->n_reports; i++)
		names[i] = options->reports[i].kind->name;
	return kind->write_directory != NULL ? kind->write_directory(&input, options->output.directory, err)
					     : kind->write(&input, options->report.out, err);
}

/* In the view, without hidden frames. */
static enum ctx_status write_export(struct ctx_report_source *source, const struct ctx_options *options,
				    struct ctx_err *err)
{
	struct ctx_report_source *shown;
	enum ctx_status status;

	status = ctx_hiding_source_open(source, &options->hiding, &shown, err);
	if (status != CTX_OK)
		return status;
	status = write_shown(shown, options, err);
	if (shown != source)
		ctx_hiding_source_close(shown);
	return status;
}

enum ctx_status ctx_exporting_check_terminal(const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_export_kind *kind = options->output.export;

	if (!kind->binary || options->output.path != NULL || !isatty(STDOUT_FILENO))
		return CTX_OK;
	return ctx_err_set(err, CTX_E_ARG, "--export %s is not for a terminal: use -o FILE%s", kind->name,
			   kind->suffix);
}

enum ctx_status ctx_exporting_difference(struct ctx_report_source *merged, const struct ctx_options *options,
					 struct ctx_err *err)
{
	return write_shown(merged, options, err);
}

enum ctx_status ctx_exporting_answer(struct ctx_store *store, const char *name,
				     const struct ctx_selection *selection, const struct ctx_options *options,
				     struct ctx_err *err)
{
	struct ctx_export_objects objects = {
		.recording = name, .profile = ctx_store_profile(store), .options = &options->opening};
	const struct ctx_query_source_spec spec = {.store = store,
						   .selection = selection,
						   .words = &options->selection,
						   .path = name,
						   .object_file = ctx_export_objects_read,
						   .object_context = &objects};
	struct ctx_report_source *source;
	enum ctx_status status;

	if (selection->asks_operations)
		return ctx_err_set(err, CTX_E_ARG,
				   "--export excludes filters that use traced operations (HSIZE, IOFD, ...)");
	status = ctx_exporting_check_terminal(options, err);
	if (status != CTX_OK)
		return status;
	status = ctx_query_source_open(&spec, &source, err);
	if (status != CTX_OK)
		return status;
	status = write_export(source, options, err);
	ctx_query_source_close(source);
	ctx_export_objects_close(&objects);
	return status;
}
