/*
 * --open: where the page is written, and the browser.
 *
 *	run.er, run.er/	 run.er.html beside it; perf.data: perf.data.html
 *	elsewhere	 a directory that cannot be written to, -: a new one in $TMPDIR (or /tmp)
 */
#ifndef CTX_CTXAN_PAGE_OPENING_H
#define CTX_CTXAN_PAGE_OPENING_H

#include "ctxan/options.h"

/*
 * Sets output.path unless -o was given; the options own it. Without an input the newest recording
 * here becomes the input. CTX_E_NOTFOUND: there is none; CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_page_opening_place(struct ctx_options *options, struct ctx_err *err);

/*
 * Prints the path of the page on standard output, and opens it by xdg-open where there is a
 * display. Without either the path is all.
 */
void ctx_page_opening_show(const char *path);

#endif
