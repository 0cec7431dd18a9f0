#include "elf/image.h"

#include "base/fileio.h"
#include "base/zstd_file.h"

#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#define STEP_BYTES ((size_t)256 * 1024)

#define HOLES_FROM_BYTES ((off_t)64 << 20)
#define HOLES_PER_BYTE 64

static const uint8_t zstd_magic[4] = {0x28, 0xb5, 0x2f, 0xfd};

static void stream_cleanup(ZSTD_DStream **stream)
{
	ZSTD_freeDStream(*stream);
}

static enum ctx_status unpack_stream(ZSTD_DStream *stream, ZSTD_inBuffer *in, size_t max_bytes,
				     struct ctx_buf *out, struct ctx_err *err)
{
	size_t before = out->n;
	size_t hint = 1;

	/*
	 * zstd may hold back output after all input is consumed: the end is a call that neither
	 * consumes nor produces.
	 */
	for (;;) {
		size_t eaten = in->pos;
		ZSTD_outBuffer room = {.dst = ctx_buf_reserve(out, STEP_BYTES), .size = STEP_BYTES, .pos = 0};

		if (room.dst == NULL)
			return ctx_err_nomem(err);
		if (in->pos == in->size && hint == 0)
			return CTX_OK;
		hint = ZSTD_decompressStream(stream, &room, in);
		if (ZSTD_isError(hint))
			return ctx_err_set(err, CTX_E_FORMAT, "zstd: %s", ZSTD_getErrorName(hint));
		out->n += room.pos;
		if (out->n - before > max_bytes)
			return ctx_err_set(err, CTX_E_LIMIT, "larger than %zu bytes", max_bytes);
		if (room.pos == 0 && in->pos == eaten && hint != 0)
			return ctx_err_set(err, CTX_E_FORMAT, "zstd: the last frame is cut short");
	}
}

enum ctx_status ctx_image_unpack(const void *bytes, size_t n, size_t max_bytes, struct ctx_buf *out,
				 struct ctx_err *err)
{
	ZSTD_DStream *stream CTX_CLEANUP(stream_cleanup) = NULL;
	ZSTD_inBuffer in = {.src = bytes, .size = n, .pos = 0};

	if (ctx_zstd_unpacked_max(n) < max_bytes)
		max_bytes = (size_t)ctx_zstd_unpacked_max(n);
	if (n > sizeof(zstd_magic) && memcmp(bytes, zstd_magic, sizeof(zstd_magic)) == 0) {
		stream = ZSTD_createDStream();
		if (stream == NULL)
			return ctx_err_nomem(err);
		return unpack_stream(stream, &in, max_bytes, out, err);
	}
	if (n > max_bytes)
		return ctx_err_set(err, CTX_E_LIMIT, "larger than %zu bytes", max_bytes);
	if (n != 0)
		ctx_buf_put(out, bytes, n);
	return ctx_buf_check(out, err);
}

enum ctx_status ctx_image_read(const char *path, size_t max_bytes, struct ctx_buf *out, struct ctx_err *err)
{
	struct ctx_buf packed CTX_AUTO_BUF = {0};
	enum ctx_status status;
	struct stat info;

	/* Reading a hole costs as much as reading data. */
	if (stat(path, &info) == 0 && info.st_size > HOLES_FROM_BYTES &&
	    info.st_size / HOLES_PER_BYTE > (off_t)info.st_blocks * 512)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: consists of holes", path);
	status = ctx_file_read(path, max_bytes, &packed, err);
	if (status != CTX_OK)
		return status;
	status = ctx_image_unpack(packed.bytes, packed.n, max_bytes, out, err);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "%s", path);
	return CTX_OK;
}
