/*
 * Frames of a stack as shown to users, for all writers.
 */
#ifndef CTX_FORMATS_EXPORT_EXPORT_STACK_H
#define CTX_FORMATS_EXPORT_EXPORT_STACK_H

#include "base/buf.h"
#include "model/profile.h"

/*
 * The functions of a CCT node's stack, root first, into `functions` (room for the node's depth).
 * Returns how many.
 */
size_t ctx_export_frames(const struct ctx_profile *profile, uint32_t stack, uint32_t *functions);

/* The depth of the deepest node. O(nodes). */
uint32_t ctx_export_deepest(const struct ctx_trie *cct);

/*
 * The file of a function's object without its directories; "" for functions without an object.
 * Borrowed.
 */
const char *ctx_export_object(const struct ctx_profile *profile, uint32_t function);

/*
 * Appends the name of a function as valid UTF-8: invalid bytes become U+FFFD, control characters
 * become spaces. Functions without a name get their object appended: "<Unknown> [libc.so.6]".
 */
void ctx_export_put_name(struct ctx_buf *buf, const struct ctx_profile *profile, uint32_t function);

/* Appends a function's object in the form used after a name: " [libc.so.6]", " [kernel]". */
void ctx_export_put_object(struct ctx_buf *buf, const struct ctx_profile *profile, uint32_t function);

/* Appends any text the same way. */
void ctx_export_put_text(struct ctx_buf *buf, const char *text);

#endif
