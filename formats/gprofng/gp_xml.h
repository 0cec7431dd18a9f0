/*
 * The tags of log.xml and map.xml, one after the other.
 *
 * These files are not XML documents: a sequence of elements without a root, with zero bytes between
 * them, truncated where the target died. The recorder uses a small subset: elements, attributes,
 * five entities. Only that is read here, and an invalid tag is skipped. Declarations ("<!", "<?")
 * are refused, so nothing can expand.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_XML_H
#define CTX_FORMATS_GPROFNG_GP_XML_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_GP_ATTRIBUTES_MAX 32u

struct ctx_gp_attribute {
	const char *name;
	const char *value; /* unescaped; any bytes but zero */
};

/* One tag. Everything is valid until the next one. */
struct ctx_gp_tag {
	const char *name;
	bool closes; /* </name> */
	bool empty;  /* <name/> */
	struct ctx_gp_attribute attributes[CTX_GP_ATTRIBUTES_MAX];
	size_t n_attributes;
	const char *text; /* text from an opening tag up to the next tag, unescaped; "" none */
	size_t line;	  /* in the file, from 1 */
};

struct ctx_gp_xml {
	struct ctx_buf text; /* owned; the file without its zero bytes */
	size_t at, line;
	struct ctx_buf values;
};

/* Reads the whole file. CTX_E_NOTFOUND, CTX_E_IO, CTX_E_LIMIT (too large), CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_xml_open(struct ctx_gp_xml *xml, const char *path, struct ctx_err *err);

/* The same from bytes, which are copied. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_xml_set(struct ctx_gp_xml *xml, const void *bytes, size_t n,
					      struct ctx_err *err);

void ctx_gp_xml_deinit(struct ctx_gp_xml *xml);

/*
 * The next tag, CTX_END, or CTX_E_FORMAT for an invalid one (the next call resumes after it).
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_xml_next(struct ctx_gp_xml *xml, struct ctx_gp_tag *ret,
					       struct ctx_err *err);

/* The value of an attribute, or NULL. */
const char *ctx_gp_tag_text(const struct ctx_gp_tag *tag, const char *name);

/*
 * Typed values; false if the attribute is missing or invalid. Numbers are decimal, or hexadecimal
 * with 0x, optionally signed. Times are seconds with up to nine decimals, and may be negative.
 */
bool ctx_gp_tag_number(const struct ctx_gp_tag *tag, const char *name, uint64_t *ret);
bool ctx_gp_tag_time(const struct ctx_gp_tag *tag, const char *name, int64_t *ret_ns);

/* The same from a string. */
bool ctx_gp_number_parse(const char *text, uint64_t *ret);

#endif
