/*
 * Static HTML for printing: one page without a script, with a list of reports of the selection
 * (report/html_tables.h). The content is that of the reports.
 */
#include "base/mem.h"
#include "report/html_tables.h"
#include "report/kinds.h"
#include "report/report_exports.h"

/* Fewer than the reports' defaults: the page is for reading. */
static const struct section {
	const struct ctx_report_kind *kind;
	const char *sort;
	uint32_t limit;
	double min_percent;
} sections[] = {
	{&ctx_report_header, NULL, 0, 0},
	{&ctx_report_functions, NULL, 100, 0},
	{&ctx_report_stacks, NULL, 10, 0},
	{&ctx_report_tree, NULL, 1500, 0.5},
	{&ctx_report_callers_callees, "base", 10, 0},
	{&ctx_report_states, NULL, 500, 0},
	{&ctx_report_threads, NULL, 500, 0},
	{&ctx_report_processes, NULL, 500, 0},
};

static enum ctx_status put_sections(struct ctx_report_source *source, struct ctx_html_tables *page, FILE *out,
				    struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	enum ctx_status status = CTX_OK;

	ctx_html_tables_recording(page, profile->name);
	for (size_t i = 0; i < CTX_COUNT_OF(sections) && status == CTX_OK; i++) {
		const struct ctx_report_options options = {.format = CTX_REPORT_HTML,
							   .out = out,
							   .page = page,
							   .limit = sections[i].limit,
							   .sort = sections[i].sort,
							   .min_percent = sections[i].min_percent};

		if (sections[i].kind != &ctx_report_states || profile->has_states)
			status = ctx_report_print(sections[i].kind, source, &options, err);
	}
	return status;
}

static enum ctx_status write_html_static(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	struct ctx_html_tables *page = NULL;
	enum ctx_status status = ctx_html_tables_create(&page, err);

	if (status == CTX_OK)
		status = put_sections(input->source, page, out, err);
	if (status == CTX_OK)
		status = ctx_html_tables_write(page, out, err);
	ctx_html_tables_destroy(page);
	return status;
}

const struct ctx_export_kind ctx_export_html_static = {
	.name = "html-static",
	.suffix = ".html",
	.write = write_html_static,
};
