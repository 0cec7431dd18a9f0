#include "base/mem.h"
#include "ctxan/gprofng_names.h"
#include "ctxan/options.h"

#include <string.h>

/*
 * The part after the name of a report: "=SUBJECT" to the end of the text, for kinds that have one.
 */
static enum ctx_status parse_subject(struct ctx_option_report *report, const char *text, bool is_function,
				     struct ctx_err *err)
{
	if (*text != '=')
		return CTX_OK;
	is_function |= report->kind->takes_function;
	if (!report->kind->takes_subject && !is_function)
		return ctx_err_set(err, CTX_E_ARG, "the report '%s' takes no '%s'", report->kind->name, text);
	if (text[1] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--report %s= requires a name", report->kind->name);
	*(is_function ? &report->function : &report->subject) = text + 1;
	return CTX_OK;
}

/* "cpus", "indxobj=KEY" */
static enum ctx_status parse_index(struct ctx_option_report *report, const char *name, const char *text,
				   struct ctx_err *err)
{
	if (*report->by != '\0')
		return *text != '='
			       ? CTX_OK
			       : ctx_err_set(err, CTX_E_ARG, "the report '%s' takes no '%s'", name, text);
	if (text[0] != '=' || text[1] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--report %s=KEY requires a key of --by", name);
	report->by = text + 1;
	return CTX_OK;
}

/*
 * "functions,tree", "lines,source=FUNC". A subject extends to the end of the argument, because
 * function names contain commas ("map<int, int>::at").
 */
enum ctx_status ctx_option_reports_parse(struct ctx_options *options, const char *text, struct ctx_err *err)
{
	while (*text != '\0') {
		size_t n = strcspn(text, ",=");
		struct ctx_option_report report = {0};
		bool is_function = false;
		char name[64];
		enum ctx_status status;

		if (n < sizeof(name)) {
			memcpy(name, text, n);
			name[n] = '\0';
			report.kind = ctx_report_find(name);
			if (report.kind == NULL) {
				report.kind = ctx_report_find_alias(name, &is_function);
				report.no_fold = report.kind != NULL && report.kind->alias_unfolded;
			}
		}
		if (report.kind == NULL && n < sizeof(name) && (report.by = ctx_gprofng_index(name)) != NULL)
			report.kind = ctx_report_find("index");
		if (report.kind == NULL)
			return ctx_gprofng_refuse_report(text, n, err);
		status = report.by != NULL ? parse_index(&report, name, text + n, err)
					   : parse_subject(&report, text + n, is_function, err);
		if (status == CTX_OK)
			status = ctx_grow(&options->reports, &options->reports_cap, options->n_reports + 1,
					  err);
		if (status != CTX_OK)
			return status;
		options->reports[options->n_reports++] = report;
		if (report.subject != NULL || report.function != NULL ||
		    (report.by != NULL && text[n] == '='))
			break;
		text += n + (text[n] == ',');
	}
	return options->n_reports != 0 ? CTX_OK : ctx_err_set(err, CTX_E_ARG, "--report requires a name");
}
