/*
 * The words of people who come from gprofng and Solaris Studio: its commands that are options here or nothing at all, index objects
 * that are reports there, and orders in the notation of its metrics (query/metric_names.h).
 */
#ifndef CTX_CTXAN_GPROFNG_NAMES_H
#define CTX_CTXAN_GPROFNG_NAMES_H

#include "query/selection.h"
#include "report/report.h"

/* The index object that a report is: "cpus" is --by cpu; "indxobj" with a subject is any. NULL: none; "": the subject. */
const char *ctx_gprofng_index(const char *report);

/* Of a word that is no report: "no report 'functons', perhaps 'functions'", or what to do instead. Always CTX_E_ARG. */
enum ctx_status ctx_gprofng_refuse_report(const char *word, size_t n, struct ctx_err *err);

/* An argument such as "-functions" or "-limit", which gprofng takes and getopt would split into letters. CTX_E_ARG with what to write. */
CTX_MUST_CHECK enum ctx_status ctx_gprofng_check_arguments(int argc, char **argv, struct ctx_err *err);

struct ctx_gprofng_sort {
	const char *sort; /* as --sort has it; NULL: none */
	char *buffer;	  /* of `size` bytes, for the key */
	size_t size;
};

/*
 * The key of a report for an order such as "e.totalcpu" or "i.%sync"; a text that is not of that form is a key already. `*ret` is the sort
 * or the buffer. CTX_E_ARG: the metric is not shown, or the report has no such order.
 */
CTX_MUST_CHECK enum ctx_status ctx_gprofng_sort_key(const struct ctx_gprofng_sort *place,
						    const struct ctx_report_kind *kind,
						    const struct ctx_selection *selection, const char **ret,
						    struct ctx_err *err);

#endif
