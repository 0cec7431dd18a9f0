/*
 * Names are data: of functions, files, threads, commands. Whoever was profiled chose their bytes. Here they
 * are made harmless for a terminal, JSON and CSV, measured, and cut.
 */
#ifndef CTX_REPORT_NAMES_H
#define CTX_REPORT_NAMES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Columns that a character takes on a terminal: 0 for combining marks, 2 for wide East Asian characters and
 * emoji, otherwise 1.
 */
unsigned ctx_char_width(uint32_t code);

/* Whether a character may move the cursor, change what stands before it, or not be seen at all. */
bool ctx_char_is_harmful(uint32_t code);

/*
 * Appends the name as text for a terminal: harmful characters and what is not UTF-8 as \xHH, byte by byte;
 * with `ascii` everything but ASCII.
 */
void ctx_name_put_text(struct ctx_buf *buf, const char *name, bool ascii);

/*
 * Appends a JSON string with its quotes. Harmful characters as \u escapes, so that the name is kept; a byte
 * that is not UTF-8 as U+FFFD.
 */
void ctx_name_put_json(struct ctx_buf *buf, const char *name);

/* Appends a quoted CSV field (RFC 4180): the text form, quotes doubled. */
void ctx_name_put_csv(struct ctx_buf *buf, const char *name);

/* Columns of a text that ctx_name_put_text made. */
size_t ctx_text_width(const char *text, size_t n);

/*
 * Appends the text, cut to `width` columns (1 or more) with an ellipsis in the middle: the start of a C++
 * name is its namespace, its end its function.
 */
void ctx_text_cut(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii);

/* The same with the ellipsis at the end: the start of a line of a program says most. */
void ctx_text_cut_end(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii);

/* The same for paths: directories go first, from the left; only then the last part is cut in the middle. */
void ctx_text_cut_path(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii);

/*
 * Like ctx_text_cut, for names of functions: while the text is too wide, template arguments become <…>, then
 * parameters (…); only then it is cut.
 */
void ctx_text_shorten(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii);

#endif
