/*
 * The browser in the terminal: a time line with an interval, and panes that follow it.
 *
 *	host --open--> struct ctx_report_source --> panes (rows) --> canvas (lines of a screen) --> terminal
 *	keys, mouse <------------------------------------------------------------------------------'
 *
 *	pure: brush.h (interval), list.h (selection, scroll, search), outline.h (expanding), layout.h,
 *	prompt.h, keys.h, canvas.h. panes: pane.h. The state: browser.h. curses: screen.h, rescue.h.
 */
#ifndef CTX_BROWSE_BROWSE_H
#define CTX_BROWSE_BROWSE_H

#include "model/report_source.h"

#include <stdbool.h>

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

struct ctx_browse_options {
	bool ascii, color;
};

/* CTX_E_ARG: standard input and output are no terminal, or one of an unknown type. */
CTX_MUST_CHECK enum ctx_status ctx_browse_check(struct ctx_err *err);

/*
 * Shows the recording on the terminal of standard input and output until the user quits. CTX_E_ARG:
 * there is no terminal, or its type is unknown. A signal that ends the program leaves the terminal as
 * it was.
 */
CTX_MUST_CHECK enum ctx_status ctx_browse(const struct ctx_browse_host *host,
					  const struct ctx_browse_options *options, struct ctx_err *err);

#endif
