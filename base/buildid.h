/*
 * GNU build ids as text: lower-case hex. elf/elf_buildid.h reads them.
 */
#ifndef CTX_BASE_BUILDID_H
#define CTX_BASE_BUILDID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_BUILDID_BYTES 32u /* longer ones are cut to this */
#define CTX_BUILDID_TEXT (2 * CTX_BUILDID_BYTES + 1)

/* Writes `n` bytes, at most CTX_BUILDID_BYTES, as hex. */
void ctx_buildid_format(const uint8_t *bytes, size_t n, char text[CTX_BUILDID_TEXT]);

/* True for 2 to 64 lower-case hex digits: safe as a part of a file name. */
bool ctx_buildid_is_plain(const char *text);

#endif
