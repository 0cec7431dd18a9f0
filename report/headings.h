/*
 * Headings above groups of columns: safe text, broken into lines at spaces.
 */
#ifndef CTX_REPORT_HEADINGS_H
#define CTX_REPORT_HEADINGS_H

#include <stddef.h>

/* Minimum width of a heading: that of its longest word. */
size_t ctx_heading_width(const char *heading);

/* Bytes of the first line: as many words as fit, at least one. */
size_t ctx_heading_line(const char *heading, size_t room);

/* Number of lines of a heading at this width. */
size_t ctx_heading_lines(const char *heading, size_t room);

/* Smallest width at which a heading has at most this many lines, or its minimum width. */
size_t ctx_heading_room(const char *heading, size_t lines);

#endif
