/*
 * Names of gprofng and Solaris Studio: commands that are options here or not supported, index
 * objects that are reports there, and sort keys in the notation of its metrics
 * (query/metric_names.h).
 */
#ifndef CTX_CTXAN_GPROFNG_NAMES_H
#define CTX_CTXAN_GPROFNG_NAMES_H

#include "query/selection.h"
#include "report/report.h"

/*
 * The index object of a report: "cpus" is --by cpu; "indxobj" takes it from the subject. NULL:
 * none; "": the subject.
 */
const char *ctx_gprofng_index(const char *report);

/*
 * Error for an unknown report: "no report 'functons', perhaps 'functions'", or the replacement.
 * Always CTX_E_ARG.
 */
enum ctx_status ctx_gprofng_refuse_report(const char *word, size_t n, struct ctx_err *err);

/*
 * Detects arguments such as "-functions" or "-limit", which gprofng accepts and getopt would split
 * into letters. CTX_E_ARG with the replacement.
 */
CTX_MUST_CHECK enum ctx_status ctx_gprofng_check_arguments(int argc, char **argv, struct ctx_err *err);

struct ctx_gprofng_sort {
	const char *sort; /* as --sort has it; NULL: none */
	char *buffer;	  /* of `size` bytes, for the key */
	size_t size;
};

/*
 * The report's sort key for "e.totalcpu" or "i.%sync"; a text not of that form is returned as a
 * key. `*ret` is `sort` or the buffer. CTX_E_ARG: the metric is not shown, or the report has no
 * such key.
 */
CTX_MUST_CHECK enum ctx_status ctx_gprofng_sort_key(const struct ctx_gprofng_sort *place,
						    const struct ctx_report_kind *kind,
						    const struct ctx_selection *selection, const char **ret,
						    struct ctx_err *err);

#endif
