/*
 * Notes on the recordings of a comparison: what each lacks, since a difference may be that.
 */
#ifndef CTX_REPORT_DIFF_NOTES_H
#define CTX_REPORT_DIFF_NOTES_H

#include "compare/diff.h"

typedef void (*ctx_diff_note_fn)(void *context, const char *path, const char *text);

/* Calls `put` for the warnings of each recording's header, side A first. A source that fails has none. */
void ctx_diff_notes(const struct ctx_diff_spec *spec, ctx_diff_note_fn put, void *context);

#endif
