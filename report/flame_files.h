/*
 * What stands in every flame graph as it is: its style sheet and its script (report/flamegraph/). Embedded in the program.
 */
#ifndef CTX_REPORT_FLAME_FILES_H
#define CTX_REPORT_FLAME_FILES_H

/* Zero-terminated; neither has "]]>" in it. */
extern const char ctx_flame_style[], ctx_flame_script[];

#endif
