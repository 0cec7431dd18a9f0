/*
 * Export: the interface of writers of other tools' formats.
 *
 * A writer (formats/export/, report/) turns the selected part of a profile into one file. It pulls
 * what it needs from the source (model/report_source.h) and knows neither the database nor the
 * command line. What its format cannot hold it reports once with `remark`.
 */
#ifndef CTX_MODEL_EXPORT_H
#define CTX_MODEL_EXPORT_H

#include "model/report_source.h"

#include <stdbool.h>
#include <stdio.h>

struct ctx_export_input {
	struct ctx_report_source *source;
	const struct ctx_report_selection *selection; /* the source's, as the next two */
	const struct ctx_profile *profile;
	uint32_t metric;	    /* the first of the selection's */
	bool metric_named;	    /* the user named the metrics; else the first is the default */
	const char *const *reports; /* takes_reports: names of the reports to show first */
	size_t n_reports;
	bool is_difference; /* takes_difference: the threads are the sides of a comparison, 0 A and 1 B */
	size_t max_bytes;   /* takes_max_size: of the file; 0: the kind's own limit */
	/* One line without its end, for stderr. */
	void (*remark)(void *context, const char *text);
	void *remark_context;
};

struct ctx_export_kind {
	const char *name;      /* "pprof" */
	const char *suffix;    /* of the usual file name: ".pb.gz" */
	bool binary;	       /* not written to a terminal */
	bool takes_reports;    /* --report selects what is shown first; else not supported */
	bool takes_max_size;   /* it can be made smaller */
	bool takes_metrics;    /* several; else the first only */
	bool takes_difference; /* of two sides */
	/* Writes the file. The caller checks `out` for write errors (ferror). */
	enum ctx_status (*write)(const struct ctx_export_input *input, FILE *out, struct ctx_err *err);
	/*
	 * Instead of `write`, for a format that is a directory: fills the empty directory at
	 * `path`, which is renamed when complete. `suffix` is required then.
	 */
	enum ctx_status (*write_directory)(const struct ctx_export_input *input, const char *path,
					   struct ctx_err *err);
};

#endif
