/*
 * Where the browser's recording comes from: sources of any selection, and the export of one. And where a comparison's
 * tables come from.
 */
#ifndef CTX_BROWSE_HOST_H
#define CTX_BROWSE_HOST_H

#include "model/report_source.h"
#include "report/report.h"

/* What a source is asked for: intervals, threads and metrics that the profile has. */
struct ctx_browse_selection {
	struct ctx_interval interval;
	uint32_t thread; /* CTX_NONE: all that the command line selects */
	const uint32_t *metrics;
	size_t n_metrics;
};

/* Where the recording comes from, and goes to: the caller's. */
struct ctx_browse_host {
	void *context;
	const struct ctx_profile *profile;
	const char *name;	      /* of the recording, as the user gave it; any bytes */
	struct ctx_interval interval; /* selected at the beginning */
	uint32_t metric;	      /* the same */
	const uint32_t *threads;      /* that can be selected, ascending; NULL: all */
	size_t n_threads;
	const char *const *formats; /* of exports; ends with NULL */
	/* A source, closed by `close`. Reads nothing yet. */
	enum ctx_status (*open)(void *context, const struct ctx_browse_selection *selection,
				struct ctx_report_source **ret, struct ctx_err *err);
	void (*close)(void *context, struct ctx_report_source *source);
	/* Writes the selection to a file or directory, which does not exist yet. */
	enum ctx_status (*export)(void *context, const struct ctx_browse_selection *selection,
				  const char *format, const char *path, struct ctx_err *err);
};

/* A comparison: the caller's. */
struct ctx_sides_host {
	void *context;
	const char *names[2];	   /* of the sides, as the user gave them; any bytes */
	const char *const *tables; /* their titles */
	size_t n_tables;	   /* at least 1 */
	/* Prints a table with these options; a failure is shown in its place. */
	enum ctx_status (*print)(void *context, size_t table, const struct ctx_report_options *options,
				 struct ctx_err *err);
};

#endif
