/*
 * Headings above groups of columns: safe text, broken into lines at its spaces.
 */
#ifndef CTX_REPORT_HEADINGS_H
#define CTX_REPORT_HEADINGS_H

#include <stddef.h>

/* Columns that a heading takes at least: those of its longest word. */
size_t ctx_heading_width(const char *heading);

/* Bytes of the first line: as many words as there is room for, one at the least. */
size_t ctx_heading_line(const char *heading, size_t room);

/* Lines that a heading takes in so many columns. */
size_t ctx_heading_lines(const char *heading, size_t room);

/* Columns that a heading takes in so many lines, or as few as it can. */
size_t ctx_heading_room(const char *heading, size_t lines);

#endif
