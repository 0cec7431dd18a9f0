/*
 * Files embedded in the program: copied unchanged into every flame graph (report/flamegraph/) and
 * every static page (report/html_static/).
 */
#ifndef CTX_REPORT_EMBEDDED_H
#define CTX_REPORT_EMBEDDED_H

/* Zero-terminated; none contains "]]>" or "</". */
extern const char ctx_flame_style[], ctx_flame_script[], ctx_static_style[];

#endif
