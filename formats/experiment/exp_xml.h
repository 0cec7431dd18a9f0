/*
 * Lines of log.xml and map.xml: one element per line, attributes valid for any XML parser whatever
 * bytes they hold.
 *
 *	ctx_exp_xml_attribute(&line, "path", "/tmp/a\nb<c>");   ->    path="/tmp/a\x0ab&lt;c&gt;"
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_XML_H
#define CTX_FORMATS_EXPERIMENT_EXP_XML_H

#include "base/buf.h"

#include <stdint.h>

/*
 * Appends ` name="text"`. Control characters, backslashes and invalid UTF-8 become \xHH. Errors are
 * sticky in `out`.
 */
void ctx_exp_xml_attribute(struct ctx_buf *out, const char *name, const char *text);

/* The same for numbers: decimal, hexadecimal with 0x, and a time as seconds with nine decimals. */
void ctx_exp_xml_number(struct ctx_buf *out, const char *name, uint64_t value);
void ctx_exp_xml_signed(struct ctx_buf *out, const char *name, int64_t value);
void ctx_exp_xml_hex(struct ctx_buf *out, const char *name, uint64_t value);
void ctx_exp_xml_time(struct ctx_buf *out, const char *name, uint64_t time_ns);

#endif
