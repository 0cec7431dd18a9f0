/*
 * .gnu_debuglink: the name of the separate debug file of a stripped file, and the checksum that it
 * must have.
 */
#ifndef CTX_ELF_DEBUGLINK_H
#define CTX_ELF_DEBUGLINK_H

#include "elf/elf_file.h"

struct ctx_debuglink {
	char name[256]; /* of the file, without a directory; "" none */
	uint32_t crc;
};

/* False if the file has no link, or the link is not a plain file name. */
bool ctx_debuglink_read(const struct ctx_elf_file *obj, struct ctx_debuglink *ret);

/* The checksum of a whole open file. Reads the whole file. Fails with CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_debuglink_checksum(int fd, const char *path, uint32_t *ret_crc,
						      struct ctx_err *err);

#endif
