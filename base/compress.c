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

/* A part's end begins a new block of zstd, with tables of its own. */
static size_t compress_parts(ZSTD_CCtx *context, struct ctx_parts parts, ZSTD_outBuffer *out)
{
	size_t begin = 0, left = 0;

	for (size_t i = 0; i < parts.n && !ZSTD_isError(left); i++) {
		ZSTD_inBuffer in = {(const uint8_t *)parts.bytes.at + begin, parts.ends[i] - begin, 0};

		if (in.size == 0 && i + 1 < parts.n)
			continue;
		left = ZSTD_compressStream2(context, out, &in, i + 1 < parts.n ? ZSTD_e_flush : ZSTD_e_end);
		begin = parts.ends[i];
	}
	return left;
}

enum ctx_status ctx_compress_parts(struct ctx_compressor *compressor, int level, struct ctx_parts parts,
				   struct ctx_buf *out, struct ctx_err *err)
{
	const size_t of_part =
		3 + 128; /* the header of a block, and what the bound leaves out for short ones */
	ZSTD_outBuffer room = {.size = ZSTD_compressBound(parts.bytes.n) + parts.n * of_part};
	size_t got;

	if (compressor->compress_context == NULL)
		compressor->compress_context = ZSTD_createCCtx();
	room.dst = ctx_buf_reserve(out, room.size);
	if (compressor->compress_context == NULL || room.dst == NULL)
		return ctx_err_nomem(err);
	ZSTD_CCtx_reset(compressor->compress_context, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(compressor->compress_context, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setPledgedSrcSize(compressor->compress_context, parts.bytes.n);
	got = compress_parts(compressor->compress_context, parts, &room);
	if (got != 0)
		return ctx_err_set(err, CTX_E_NOMEM, "zstd: %s", ZSTD_getErrorName(got));
	out->n += room.pos;
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
