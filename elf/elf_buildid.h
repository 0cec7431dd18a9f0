/*
 * Reader of GNU build ids from open ELF files, and from images and notes in memory.
 *
 * Cheap enough for every file that a target maps: a handful of reads, no allocation. Everything is
 * untrusted: at most 256 headers of a table and 128 notes of a list are read. Both classes, both
 * byte orders. Without a build id the result is false and "".
 */
#ifndef CTX_ELF_ELF_BUILDID_H
#define CTX_ELF_ELF_BUILDID_H

#include "base/buildid.h"

/* The build id of an open ELF file; its position does not move. */
bool ctx_buildid_of_fd(int fd, char text[CTX_BUILDID_TEXT]);

/* Of an ELF file in memory (the vdso), whose `n` bytes can be read. */
bool ctx_buildid_of_image(const uint8_t *image, size_t n, char text[CTX_BUILDID_TEXT]);

/* Of this machine's notes in memory (/sys/kernel/notes). */
bool ctx_buildid_of_notes(const uint8_t *notes, size_t n, char text[CTX_BUILDID_TEXT]);

#endif
