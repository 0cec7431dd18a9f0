/*
 * The GNU build id of an ELF file, as lower-case hex. Reads a few headers by pread, bounds everything, links
 * nothing.
 */
#ifndef CTX_BASE_BUILDID_H
#define CTX_BASE_BUILDID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_BUILDID_TEXT 65 /* hex digits of at most 32 bytes, and a zero */

/* Writes `n` bytes (at most 32 are taken) as hex. */
void ctx_buildid_format(const uint8_t *bytes, size_t n, char text[CTX_BUILDID_TEXT]);

/* The build id of an open ELF file; false (and "") where there is none. */
bool ctx_buildid_of_fd(int fd, char text[CTX_BUILDID_TEXT]);

/* The same of an ELF image in memory (the vdso). `n`: bytes that may be read. */
bool ctx_buildid_of_image(const uint8_t *image, size_t n, char text[CTX_BUILDID_TEXT]);

/* The same of ELF notes as they stand in memory (/sys/kernel/notes). */
bool ctx_buildid_of_notes(const uint8_t *notes, size_t n, char text[CTX_BUILDID_TEXT]);

/* True for 2 to 64 lower-case hex digits: safe as a part of a file name. */
bool ctx_buildid_is_plain(const char *text);

#endif
