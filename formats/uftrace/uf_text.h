/* The text files of a uftrace directory, line by line. */
#ifndef CTX_FORMATS_UFTRACE_UF_TEXT_H
#define CTX_FORMATS_UFTRACE_UF_TEXT_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_uf_text {
	struct ctx_buf bytes; /* owned */
	size_t at;
	unsigned line; /* of the line last returned; from 1 */
};

void ctx_uf_text_deinit(struct ctx_uf_text *text);

/* Reads a whole file. As ctx_file_read. */
CTX_MUST_CHECK enum ctx_status ctx_uf_text_read(struct ctx_uf_text *text, const char *path,
						struct ctx_err *err);

/* The next line without its end, zero-terminated, to be changed at will; NULL: there is none. */
char *ctx_uf_text_line(struct ctx_uf_text *text);

/*
 * What stands behind `key` and '=' in a line, up to the next space, or between quotation marks up to the last one;
 * a piece of the line, which ends there from then on: ask for the last key first. NULL: it does not have the key.
 */
char *ctx_uf_text_value(char *line, const char *key);

/* "12.000000034" as ns. False: it is none. */
bool ctx_uf_text_time(const char *text, uint64_t *ret_ns);

/* A process's or thread's number. False: it is none. */
bool ctx_uf_text_pid(const char *text, int64_t *ret);

#endif
