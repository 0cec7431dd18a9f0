#include "base/compress.h"

#include <zstd.h>

void ctx_compressor_deinit(struct ctx_compressor *compressor)
{
	ZSTD_freeCCtx(compressor->compress_context);
	ZSTD_freeDCtx(compressor->decompress_context);
	*compressor = (struct ctx_compressor){0};
}

enum ctx_status ctx_compress(struct ctx_compressor *compressor, int level, struct ctx_bytes bytes,
			     struct ctx_buf *out, struct ctx_err *err)
{
	size_t bound = ZSTD_compressBound(bytes.n);
	uint8_t *room;
	size_t got;

	if (compressor->compress_context == NULL)
		compressor->compress_context = ZSTD_createCCtx();
	room = ctx_buf_reserve(out, bound);
	if (compressor->compress_context == NULL || room == NULL)
		return ctx_err_nomem(err);
	got = ZSTD_compressCCtx(compressor->compress_context, room, bound, bytes.at, bytes.n, level);
	if (ZSTD_isError(got))
		return ctx_err_set(err, CTX_E_NOMEM, "zstd: %s", ZSTD_getErrorName(got));
	out->n += got;
	return CTX_OK;
}

enum ctx_status ctx_decompress(struct ctx_compressor *compressor, struct ctx_bytes frame, size_t raw_bytes,
			       struct ctx_buf *out, struct ctx_err *err)
{
	uint8_t *room;
	size_t got;

	if (compressor->decompress_context == NULL)
		compressor->decompress_context = ZSTD_createDCtx();
	room = ctx_buf_reserve(out, raw_bytes + 1);
	if (compressor->decompress_context == NULL || room == NULL)
		return ctx_err_nomem(err);
	got = ZSTD_decompressDCtx(compressor->decompress_context, room, raw_bytes, frame.at, frame.n);
	if (ZSTD_isError(got))
		return ctx_err_set(err, CTX_E_FORMAT, "zstd: %s", ZSTD_getErrorName(got));
	if (got != raw_bytes)
		return ctx_err_set(err, CTX_E_FORMAT, "zstd: %zu bytes instead of %zu", got, raw_bytes);
	out->n += got;
	return CTX_OK;
}
