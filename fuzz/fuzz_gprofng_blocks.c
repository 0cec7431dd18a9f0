/*
 * Reads arbitrary bytes as a block file: records are inside it, one after the other, and equal
 * whether read from memory or from a file.
 */
#include "formats/gprofng/gp_blocks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("blocks", 0);

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool big_endian = size != 0 && data[0] & 1;
	struct ctx_gp_blocks memory, file;
	struct ctx_gp_record record, other;
	uint64_t end = 0;
	int fd;

	if (size < 1)
		return 0;
	data++;
	size--;
	fd = file_of(data, size);
	ctx_gp_blocks_set(&memory, data, size, 0, big_endian);
	require(ctx_gp_blocks_init(&file, fd, "blocks", big_endian, NULL) == CTX_OK);
	for (;;) {
		enum ctx_status status = ctx_gp_blocks_next(&memory, &record, NULL);

		require(ctx_gp_blocks_next(&file, &other, NULL) == status);
		if (status == CTX_END)
			break;
		require(status == CTX_OK && record.n >= 4 && record.offset >= end && record.offset % 4 == 0);
		require(record.type != CTX_GP_EMPTY && record.type != CTX_GP_CLOSED);
		end = record.offset + record.n;
		require(end <= size && record.bytes == data + record.offset);
		require(other.offset == record.offset && other.n == record.n && other.type == record.type &&
			memcmp(other.bytes, record.bytes, record.n) == 0);
	}
	require(memory.invalid == file.invalid);
	ctx_gp_blocks_deinit(&file);
	close(fd);
	return 0;
}
