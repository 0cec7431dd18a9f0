/*
 * Texts of source files by line; each file is read once. Lines are ready to print: tabs expanded,
 * no byte that ends them early.
 */
#ifndef CTX_REPORT_SOURCE_TEXTS_H
#define CTX_REPORT_SOURCE_TEXTS_H

#include "report/code_rows.h"

struct ctx_source_text {
	bool asked;
	char *text;	/* owned; NULL: there is none */
	size_t *begins; /* owned; of each line, and behind the last */
	uint32_t n_lines;
};

struct ctx_source_texts {
	const struct ctx_code_view *view;
	struct ctx_source_text *files; /* owned; by file id */
};

CTX_MUST_CHECK enum ctx_status ctx_source_texts_init(struct ctx_source_texts *texts,
						     const struct ctx_code_view *view, struct ctx_err *err);
void ctx_source_texts_deinit(struct ctx_source_texts *texts);

/* Reads the file on first use, and returns its number of lines; 0: there is no text. */
CTX_MUST_CHECK enum ctx_status ctx_source_texts_count(struct ctx_source_texts *texts, uint32_t file,
						      uint32_t *ret, struct ctx_err *err);

/*
 * A line, from 1 to ctx_source_texts_count, unchanged but without its newline: borrowed, `*ret_n`
 * bytes.
 */
const char *ctx_source_texts_raw(const struct ctx_source_texts *texts, uint32_t file, uint32_t line,
				 size_t *ret_n);

/* Number of lines; 0: there is no text. A failure of the reader is recorded in `out`. */
uint32_t ctx_source_texts_lines(struct ctx_source_texts *texts, struct ctx_out *out, uint32_t file);

/* A line, from 1, in memory of `out`; NULL: there is none. In JSON tabs stay. */
const char *ctx_source_texts_line(struct ctx_source_texts *texts, struct ctx_out *out, uint32_t file,
				  uint32_t line);

#endif
