/*
 * Manual: the one text that is --help, the man page's list of options and the descriptions of shell
 * completion.
 *
 *	Usage: ctxan [options]		plain lines are printed by --help as they are
 *
 *	What to show:			a heading begins in the first column and ends with a colon
 *	  -i, --interval BEGIN:END     part of the run; plain numbers
 *	                               are milliseconds
 *	| END is not included.		for the man page alone, in its language (groff_man(7))
 *	  -r, --report KIND            what to print
 *	        functions              by exclusive weight	an item: a word that an option takes
 *
 * Two spaces or more end a term; deeper lines continue its text. tools/make_manual.c makes the man
 * page.
 */
#ifndef CTX_BASE_MANUAL_H
#define CTX_BASE_MANUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum ctx_manual_kind {
	CTX_MANUAL_HEADING, /* term: without the colon */
	CTX_MANUAL_OPTION,  /* term: "-i, --interval BEGIN:END" */
	CTX_MANUAL_ITEM,    /* term: "functions" */
	CTX_MANUAL_TEXT,    /* continued text, or a line by itself */
	CTX_MANUAL_PAGE,    /* text, for the man page */
};

struct ctx_manual_line { /* parts of the manual, not zero-terminated */
	enum ctx_manual_kind kind;
	const char *term, *text;
	size_t term_n, text_n;
	size_t indent; /* spaces at the beginning of the line */
};

/* Reads the line at `*at` and advances to the next. False: the end. */
bool ctx_manual_next(const char **at, struct ctx_manual_line *ret);

/* The long name ("interval") in the term of an option; its length in `*ret_n`. */
const char *ctx_manual_long_name(const struct ctx_manual_line *line, size_t *ret_n);

/* What --help prints: all but the lines for the man page. */
void ctx_manual_print_help(const char *manual, FILE *out);

#endif
