/*
 * Export: what a writer of another tool's format gets, and how it is named.
 *
 * A writer (formats/export/, report/) turns the selected part of a profile into one file. It knows neither the database
 * nor the command line. What its format cannot hold it says with `remark`, once: a colleague who opens the file
 * does not know what is missing.
 */
#ifndef CTX_MODEL_EXPORT_H
#define CTX_MODEL_EXPORT_H

#include "base/buf.h"
#include "model/code.h"
#include "model/histogram.h"
#include "model/interval.h"
#include "model/profile.h"
#include "model/sample.h"

#include <stdbool.h>
#include <stdio.h>

struct ctx_export_part { /* the stacks of one thread */
	uint32_t thread;
	const struct ctx_histogram *histogram;
};

/* Called for every selected sample. */
typedef enum ctx_status (*ctx_export_sample_fn)(void *context, const struct ctx_sample *sample,
						struct ctx_err *err);

struct ctx_export_input {
	const struct ctx_profile *profile;
	const char *path;		      /* as the user named the recording */
	const struct ctx_interval *intervals; /* selected; sorted, disjoint; the whole run: one */
	size_t n_intervals;
	const uint32_t *threads; /* selected, ascending; NULL: all */
	size_t n_threads;
	const char *filter; /* other filters in words ("cpu 3"); NULL or "": none */
	uint32_t metric;
	const char *const *reports; /* names of the reports that the reader wants to see first */
	size_t n_reports;
	const struct ctx_histogram *whole;   /* needs_whole: all selected threads together */
	const struct ctx_export_part *parts; /* needs_parts: each selected thread with samples */
	size_t n_parts;
	/* needs_code. All three are NULL where nothing in the recording has line numbers. */
	const struct ctx_code *code;
	const struct ctx_histogram
		*raw; /* of the selection, also with whole_run: all its threads together, by raw stack */
	const struct ctx_code_reader *reader;
	/* needs_places: `code` always, and where objects were mapped. */
	const struct ctx_mapping_info *mappings;
	size_t n_mappings;
	/*
	 * needs_places: appends the file of a load object, as it was when it was recorded, to `out`. CTX_E_NOTFOUND: it is not to
	 * be had (any more); `out` is then as it was.
	 */
	enum ctx_status (*object_file)(void *context, uint32_t object, struct ctx_buf *out,
				       struct ctx_err *err);
	void *object_context;
	/*
	 * needs_samples: hands the selected samples (whole_run: all) of one thread out, in order of time (thread CTX_NONE: of all
	 * selected threads together). May be called again and again; each call reads the database.
	 */
	enum ctx_status (*samples)(void *context, uint32_t thread, ctx_export_sample_fn each,
				   void *each_context, struct ctx_err *err);
	/*
	 * The same of another metric, which has samples of its own (no sum of others), of one thread: spans as they are recorded, never cut.
	 */
	enum ctx_status (*metric_samples)(void *context, uint32_t metric, uint32_t thread,
					  ctx_export_sample_fn each, void *each_context, struct ctx_err *err);
	void *samples_context; /* of both */
	size_t max_bytes;      /* of the file, for kinds that can be made smaller; 0: their own limit */
	/* One line without its end, for stderr. */
	void (*remark)(void *context, const char *text);
	void *remark_context;
};

struct ctx_export_kind {
	const char *name;    /* "pprof" */
	const char *suffix;  /* of the usual file name: ".pb.gz" */
	const char *summary; /* one line for --help */
	bool binary;	     /* not for a terminal */
	bool needs_whole, needs_parts, needs_samples, needs_code, needs_places;
	/* Gets the samples of the whole run and of all threads; the selection is what the reader sees first. */
	bool whole_run;
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
