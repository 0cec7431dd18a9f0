/*
 * Integers as ELF and DWARF encode them: fixed widths in the file's byte order, and LEB128.
 *
 * Unsigned LEB128 numbers are ctx_cursor_get_varint (base/cursor.h), which rejects more than 64
 * bits. Errors stick in the same way: a read past the end returns 0, sets `failed` and does not
 * advance.
 */
#ifndef CTX_ELF_ELF_BYTES_H
#define CTX_ELF_ELF_BYTES_H

#include "base/cursor.h"

/* An unsigned integer of `n` bytes, 1 to 8. */
uint64_t ctx_elf_get_uint(struct ctx_cursor *cursor, size_t n, bool big_endian);

#define CTX_ELF_LEB_BYTES_MAX 10 /* of a LEB128 number with 64 bits; a longer one fails */

int64_t ctx_elf_get_sleb(struct ctx_cursor *cursor);

/* Skips a LEB128 number, signed or not. */
void ctx_elf_skip_leb(struct ctx_cursor *cursor);

#endif
