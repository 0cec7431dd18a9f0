/*
 * The static page, a section a file: html_static.c puts them together. All sections append to one buffer and take their
 * numbers from one call tree, one flat profile and one set of stanzas, as the reports do.
 */
#ifndef CTX_REPORT_HTML_STATIC_H
#define CTX_REPORT_HTML_STATIC_H

#include "calltree/calltree.h"
#include "model/export.h"
#include "report/head.h"

#define CTX_STATIC_FUNCTIONS 100 /* rows */
#define CTX_STATIC_STACKS 10
#define CTX_STATIC_STANZAS 10
#define CTX_STATIC_EDGES 25   /* callers, and callees, of a stanza */
#define CTX_STATIC_TREE 1500  /* lines */
#define CTX_STATIC_SMALLEST 5 /* per mille of the total: smaller ones are summed in a line */
#define CTX_STATIC_THREADS 500

struct ctx_static_page {
	const struct ctx_export_input *input;
	struct ctx_report_parts whole, parts;
	struct ctx_head head;
	struct ctx_calltree tree;
	struct ctx_flat flat;
	struct ctx_stanzas stanzas;
	/* By function; CTX_NONE: not on the page. */
	uint32_t *row_of;    /* in the table of functions: anchor "f" and the function's id */
	uint32_t *stanza_of; /* index into stanzas: anchor "s" and the function's id */
	struct ctx_buf buf;
};

/* Sections. Memory that runs out fails the buffer, or is the status. */
void ctx_static_functions(struct ctx_static_page *page);
CTX_MUST_CHECK enum ctx_status ctx_static_stacks(struct ctx_static_page *page, struct ctx_err *err);
void ctx_static_tree(struct ctx_static_page *page);
void ctx_static_stanzas(struct ctx_static_page *page);
CTX_MUST_CHECK enum ctx_status ctx_static_threads(struct ctx_static_page *page, struct ctx_err *err);

/* Begins a section with its heading; `first` sections need no new sheet of paper. */
void ctx_static_section(struct ctx_static_page *page, const char *id, const char *title, bool first);

/* Begins a table: caption (NULL: none) and titles, ended by NULL. Titles that begin with '<' are of columns of text. */
void ctx_static_table(struct ctx_static_page *page, const char *caption, const char *const *titles);
void ctx_static_table_end(struct ctx_static_page *page);

/* Cells. */
void ctx_static_weight(struct ctx_static_page *page, uint64_t weight);
void ctx_static_percent(struct ctx_static_page *page, uint64_t weight);
void ctx_static_count(struct ctx_static_page *page, uint64_t count);
void ctx_static_signed(struct ctx_static_page *page, int64_t count);
void ctx_static_time(struct ctx_static_page *page, uint64_t time_ns);
void ctx_static_text(struct ctx_static_page *page, const char *text);
void ctx_static_empty(struct ctx_static_page *page, unsigned n);
/* A function's object without its directories. */
void ctx_static_object(struct ctx_static_page *page, uint32_t function);
/* Name, linked to where the page says more of it, and object; `level` indents the name. */
void ctx_static_function(struct ctx_static_page *page, uint32_t function, uint32_t level);

/* The beginning of a cell of text, as far to the right as the level says. */
void ctx_static_put_indent(struct ctx_static_page *page, uint32_t level);

/* Appends " [libc.so.6]"; nothing for functions without an object. */
void ctx_static_put_object(struct ctx_static_page *page, uint32_t function);

/* Only the name, linked: to its stanza, or (`to_row`, or without a stanza) to its row in the table of functions. */
void ctx_static_put_link(struct ctx_static_page *page, uint32_t function, bool to_row);

/* A paragraph "(3 more threads)"; nothing for 0. */
void ctx_static_more(struct ctx_static_page *page, uint64_t n, const char *what);

#endif
