/*
 * The section:  name '\0' padding to a multiple of 4, then the checksum in the file's byte order.
 */
#include "elf/debuglink.h"

#include "base/fileio.h"

#include <string.h>
#include <zlib.h>

#define STEP_BYTES ((size_t)64 * 1024)

static uint32_t get_u32(const uint8_t *bytes, bool big_endian)
{
	uint32_t value = 0;

	for (size_t i = 0; i < 4; i++)
		value |= (uint32_t)bytes[i] << 8 * (big_endian ? 3 - i : i);
	return value;
}

bool ctx_debuglink_read(const struct ctx_elf_file *obj, struct ctx_debuglink *ret)
{
	Elf_Scn *section = ctx_elf_named_section(obj, ".gnu_debuglink");
	const Elf_Data *data = section != NULL ? elf_rawdata(section, NULL) : NULL;
	const char *ident = elf_getident(obj->elf, NULL);
	size_t n;

	if (data == NULL || data->d_buf == NULL || ident == NULL)
		return false;
	n = strnlen(data->d_buf, data->d_size);
	/* A name with a directory could point anywhere. */
	if (n == 0 || n >= sizeof(ret->name) || n / 4 * 4 + 8 > data->d_size ||
	    memchr(data->d_buf, '/', n) != NULL)
		return false;
	memcpy(ret->name, data->d_buf, n + 1);
	ret->crc = get_u32((const uint8_t *)data->d_buf + n / 4 * 4 + 4, ident[EI_DATA] == ELFDATA2MSB);
	return true;
}

enum ctx_status ctx_debuglink_checksum(int fd, const char *path, uint32_t *ret_crc, struct ctx_err *err)
{
	uint8_t bytes[STEP_BYTES];
	enum ctx_status status = CTX_OK;
	uint64_t offset = 0;
	uLong crc = crc32(0, NULL, 0);

	while (status == CTX_OK) {
		size_t got = 0;

		status = ctx_file_pread(&(struct ctx_file_place){fd, path, offset}, bytes, sizeof(bytes),
					&got, err);
		if (status != CTX_OK && status != CTX_END)
			return status;
		crc = crc32(crc, bytes, (uInt)got);
		offset += got;
	}
	*ret_crc = (uint32_t)crc;
	return CTX_OK;
}
