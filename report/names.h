/*
 * Names of functions, files, threads and commands are untrusted data of the profiled program. These
 * functions make them safe for a terminal, JSON and CSV, measure and cut them.
 */
#ifndef CTX_REPORT_NAMES_H
#define CTX_REPORT_NAMES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Width of a character on a terminal: 0 for combining marks, 2 for wide East Asian characters and
 * emoji, otherwise 1.
 */
unsigned ctx_char_width(uint32_t code);

/* Whether a character may move the cursor, change the text before it, or be invisible. */
bool ctx_char_is_harmful(uint32_t code);

/*
 * Appends the name as text for a terminal: unsafe characters and invalid UTF-8 as \xHH, byte by
 * byte; with `ascii` every non-ASCII character too.
 */
void ctx_name_put_text(struct ctx_buf *buf, const char *name, bool ascii);

/*
 * Appends a JSON string with its quotes. Unsafe characters become \u escapes, which preserve the
 * name; an invalid byte becomes U+FFFD.
 */
void ctx_name_put_json(struct ctx_buf *buf, const char *name);

/* Appends a quoted CSV field (RFC 4180): the text form, quotes doubled. */
void ctx_name_put_csv(struct ctx_buf *buf, const char *name);

/* The last part of a path: "libc.so.6"; a path that ends in a slash is whole. */
const char *ctx_name_of_path(const char *path);

/* Appends " [libc.so.6]", for a load object behind a name; " [kernel]" has its brackets already. */
void ctx_name_put_object(struct ctx_buf *buf, const char *path, bool ascii);

/* Width in columns of a text made by ctx_name_put_text. */
size_t ctx_text_width(const char *text, size_t n);

/*
 * Appends the text, cut to `width` columns (1 or more) with an ellipsis in the middle: a C++ name
 * begins with its namespace and ends with its function.
 */
void ctx_text_cut(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii);

/* The same with the ellipsis at the end, for lines of source. */
void ctx_text_cut_end(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii);

/*
 * The same for paths: directories are removed first, from the left; only then the file name is cut
 * in the middle.
 */
void ctx_text_cut_path(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii);

/*
 * Appends a C++ name with the usual names of the standard library's types: std::string for
 * std::__cxx11::basic_string<char, ...>, and without default template arguments (allocators, ...).
 */
void ctx_text_abbreviate(struct ctx_buf *buf, const char *text, size_t n);

/* How much of a function's name is collapsed; each includes the ones before. */
enum ctx_text_short {
	CTX_TEXT_WHOLE,
	CTX_TEXT_NO_TEMPLATES,	/* a::b<…>::f(int) */
	CTX_TEXT_NO_PARAMETERS, /* a::b<…>::f(…) */
	CTX_TEXT_NO_SCOPES,	/* …::f(…) */
};

/* Appends a function's name collapsed so far, of any width. */
void ctx_text_collapse(struct ctx_buf *buf, const char *text, size_t n, enum ctx_text_short how, bool ascii);

/*
 * Like ctx_text_cut, for function names: while the text is too wide, types of the standard library
 * get their usual names, then template arguments become <…>, then parameters (…), then outer scopes
 * …::; only a last component that is too wide by itself is cut.
 */
void ctx_text_shorten(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii);

#endif
