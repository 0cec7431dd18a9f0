/*
 * .gnu_debuglink: the name of a separate debug file that a stripped file carries, and the checksum
 * that this must have.
 */
#ifndef CTX_ELF_DEBUGLINK_H
#define CTX_ELF_DEBUGLINK_H

#include "elf/elf_file.h"

struct ctx_debuglink {
	char name[256]; /* of the file, without a directory; "" none */
	uint32_t crc;
};

/* False where the file has no link, or one that names no plain file name. */
bool ctx_debuglink_read(const struct ctx_elf_file *obj, struct ctx_debuglink *ret);

/* The checksum of a whole open file. Reads it all. Fails with CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_debuglink_checksum(int fd, const char *path, uint32_t *ret_crc,
						      struct ctx_err *err);

#endif
