/*
 * Reads log.xml and map.xml. Each line is one element and parsed separately: damage affects its
 * line only.
 *
 * Lines as recorders write them are parsed here, any other by libxml2 without network, external
 * entities or DTD: a line with a declaration ("<!") is refused.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_LINES_H
#define CTX_FORMATS_EXPERIMENT_EXP_LINES_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_EXP_ATTRIBUTES_MAX 24u

struct ctx_exp_attribute {
	const char *name;
	const char *value; /* unescaped; any bytes except zero */
};

/* One element. Everything is valid until the next line. */
struct ctx_exp_line {
	const char *element;
	struct ctx_exp_attribute attributes[CTX_EXP_ATTRIBUTES_MAX];
	size_t n_attributes;
	size_t number; /* of the line in its file, from 1 */
};

struct ctx_exp_lines;

/* How far a file was read. All zero: its beginning. */
struct ctx_exp_lines_place {
	uint64_t offset; /* of the next line, in the plain text */
	size_t number;	 /* of the lines before it */
};

/* A log.xml or map.xml, and how far it was read. */
struct ctx_exp_text {
	int fd;
	bool is_packed;			 /* see exp_text.h */
	const char *name;		 /* for messages */
	bool grows;			 /* text after the last newline is left for a later reading */
	struct ctx_exp_lines_place read; /* in and out */
};

/*
 * Reads the file, which the caller keeps, from `text->read` on.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_lines_open(const struct ctx_exp_text *text, struct ctx_exp_lines **ret,
						  struct ctx_err *err);
void ctx_exp_lines_close(struct ctx_exp_lines *lines);

/* Where the next reading of the file begins. */
struct ctx_exp_lines_place ctx_exp_lines_place(const struct ctx_exp_lines *lines);

/*
 * The next element. CTX_END at the end. CTX_E_FORMAT: an unusable line, or the rest of a packed file;
 * the next call continues after it. Fails with CTX_E_LIMIT (a packed file that unpacks to more than any
 * recorder packs), CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_lines_next(struct ctx_exp_lines *lines, struct ctx_exp_line *ret,
						  struct ctx_err *err);

/* The value of an attribute, or NULL. */
const char *ctx_exp_line_text(const struct ctx_exp_line *line, const char *name);

/*
 * Typed values; false: the attribute is missing or invalid. Numbers may be hexadecimal with 0x;
 * times are seconds with up to nine decimals.
 */
bool ctx_exp_line_number(const struct ctx_exp_line *line, const char *name, uint64_t *ret);
bool ctx_exp_line_number32(const struct ctx_exp_line *line, const char *name,
			   uint32_t *ret); /* below UINT32_MAX */
bool ctx_exp_line_signed(const struct ctx_exp_line *line, const char *name, int64_t *ret);
bool ctx_exp_line_time(const struct ctx_exp_line *line, const char *name, uint64_t *ret_ns);

#endif
