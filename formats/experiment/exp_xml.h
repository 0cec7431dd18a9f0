/*
 * Lines of log.xml and map.xml: one element a line, attributes that any XML parser takes whatever bytes are in them.
 *
 *	ctx_exp_xml_attribute(&line, "path", "/tmp/a\nb<c>");   ->    path="/tmp/a\x0ab&lt;c&gt;"
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_XML_H
#define CTX_FORMATS_EXPERIMENT_EXP_XML_H

#include "base/buf.h"

#include <stdint.h>

/* Appends ` name="text"`. Control characters, backslashes and what is not UTF-8 become \xHH. Errors stay in `out`. */
void ctx_exp_xml_attribute(struct ctx_buf *out, const char *name, const char *text);

/* The same for numbers: decimal, hexadecimal with 0x, and a time as seconds with nine decimals. */
void ctx_exp_xml_number(struct ctx_buf *out, const char *name, uint64_t value);
void ctx_exp_xml_signed(struct ctx_buf *out, const char *name, int64_t value);
void ctx_exp_xml_hex(struct ctx_buf *out, const char *name, uint64_t value);
void ctx_exp_xml_time(struct ctx_buf *out, const char *name, uint64_t time_ns);

#endif
