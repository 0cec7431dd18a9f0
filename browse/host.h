/*
 * Where the browser's recording comes from: sources of any selection, and the export of one.
 */
#ifndef CTX_BROWSE_HOST_H
#define CTX_BROWSE_HOST_H

#include "model/report_source.h"

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

#endif
