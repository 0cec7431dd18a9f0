/*
 * What stands in every flame graph (report/flamegraph/) and every static page (report/html_static/) as it is. Embedded in
 * the program.
 */
#ifndef CTX_REPORT_EMBEDDED_H
#define CTX_REPORT_EMBEDDED_H

/* Zero-terminated; none has "]]>" or "</" in it. */
extern const char ctx_flame_style[], ctx_flame_script[], ctx_static_style[];

#endif
