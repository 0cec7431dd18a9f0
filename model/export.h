/*
 * Export: what a writer of another tool's format gets, and how it is named.
 *
 * A writer (formats/export/, report/) turns the selected part of a profile into one file. It pulls what it needs from the
 * source (model/report_source.h) and knows neither the database nor the command line. What its format cannot hold it
 * reports with `remark`, once: a colleague who opens the file does not know what is missing.
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
	uint32_t metric;
	const char *const
		*reports; /* takes_reports: names of the reports that the reader wants to see first */
	size_t n_reports;
	size_t max_bytes; /* takes_max_size: of the file; 0: the kind's own limit */
	/* One line without its end, for stderr. */
	void (*remark)(void *context, const char *text);
	void *remark_context;
};

struct ctx_export_kind {
	const char *name;    /* "pprof" */
	const char *suffix;  /* of the usual file name: ".pb.gz" */
	bool binary;	     /* not for a terminal */
	bool takes_reports;  /* --report says what the reader sees first; else there is no such choice */
	bool takes_max_size; /* it can be made smaller */
	/* Writes the file. Write errors of `out` are the caller's to find (ferror). */
	enum ctx_status (*write)(const struct ctx_export_input *input, FILE *out, struct ctx_err *err);
	/*
	 * Instead of `write`, for a format that is a directory: fills the empty one at `path`, which gets another name when all is
	 * done. `suffix` is required then.
	 */
	enum ctx_status (*write_directory)(const struct ctx_export_input *input, const char *path,
					   struct ctx_err *err);
};

#endif
