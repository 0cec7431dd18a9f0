#include "base/zstd_file.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#define WINDOW_LOG_MAX 23 /* 8 MiB, which every level up to 19 is content with */
#define UNPACKED_ALWAYS (UINT64_C(64) << 20)
#define UNPACKED_PER_BYTE UINT64_C(200)

uint64_t ctx_zstd_unpacked_max(uint64_t packed_bytes)
{
	return packed_bytes < UINT64_MAX / UNPACKED_PER_BYTE - UNPACKED_ALWAYS
		       ? UNPACKED_ALWAYS + packed_bytes * UNPACKED_PER_BYTE
		       : UINT64_MAX;
}

/* Compression */

struct writing {
	ZSTD_CCtx *context;
	int fd;
	const char *name;
	uint8_t *out;
	size_t out_size;
	uint64_t bytes;
};

static void writing_cleanup(struct writing *writing)
{
	ZSTD_freeCCtx(writing->context);
	free(writing->out);
}

static enum ctx_status compress_part(struct writing *writing, const void *bytes, size_t n,
				     ZSTD_EndDirective end, struct ctx_err *err)
{
	ZSTD_inBuffer in = {bytes, n, 0};
	size_t left;

	writing->bytes += n;
	do {
		ZSTD_outBuffer out = {writing->out, writing->out_size, 0};
		enum ctx_status status;

		left = ZSTD_compressStream2(writing->context, &out, &in, end);
		if (ZSTD_getErrorCode(left) == ZSTD_error_srcSize_wrong)
			return ctx_err_set(err, CTX_E_NOTFOUND, "changes while it is read");
		if (ZSTD_isError(left))
			return ctx_err_set(err, CTX_E_NOMEM, "zstd: %s", ZSTD_getErrorName(left));
		status = ctx_file_write(writing->fd, writing->name, writing->out, out.pos, err);
		if (status != CTX_OK)
			return status;
	} while (in.pos < in.size || (end == ZSTD_e_end && left != 0));
	return CTX_OK;
}

static enum ctx_status compress_file(struct writing *writing, int from, struct ctx_err *err)
{
	size_t size = ZSTD_CStreamInSize();
	uint8_t *bytes CTX_AUTO_FREE = malloc(size);

	if (bytes == NULL)
		return ctx_err_nomem(err);
	for (;;) {
		ssize_t got = read(from, bytes, size);
		enum ctx_status status;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ctx_err_errno(err, CTX_E_NOTFOUND, "read");
		status = compress_part(writing, bytes, (size_t)got, got == 0 ? ZSTD_e_end : ZSTD_e_continue,
				       err);
		if (status != CTX_OK || got == 0)
			return status;
	}
}

enum ctx_status ctx_zstd_write(const struct ctx_zstd_content *content, int to, uint64_t *ret_bytes,
			       struct ctx_err *err)
{
	struct writing writing CTX_CLEANUP(writing_cleanup) = {
		.fd = to, .name = content->to_name, .out_size = ZSTD_CStreamOutSize()};
	enum ctx_status status;

	*ret_bytes = 0;
	writing.context = ZSTD_createCCtx();
	writing.out = malloc(writing.out_size);
	if (writing.context == NULL || writing.out == NULL)
		return ctx_err_nomem(err);
	if (ZSTD_isError(ZSTD_CCtx_setParameter(writing.context, ZSTD_c_compressionLevel, content->level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(writing.context, ZSTD_c_checksumFlag, content->has_checksum)))
		return ctx_err_set(err, CTX_E_INTERNAL, "zstd: parameters");
	if (content->file >= 0 && content->has_size &&
	    ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(writing.context, content->size)))
		return ctx_err_set(err, CTX_E_INTERNAL, "zstd: size");
	status = content->file >= 0
			 ? compress_file(&writing, content->file, err)
			 : compress_part(&writing, content->bytes.at, content->bytes.n, ZSTD_e_end, err);
	*ret_bytes = writing.bytes;
	return status;
}

/* Reading */

struct ctx_zstd_reader {
	ZSTD_DCtx *context;
	int fd;
	uint64_t offset;     /* of the next read */
	uint64_t taken, max; /* bytes unpacked, and how many may be */
	uint8_t *packed;
	size_t packed_size;
	ZSTD_inBuffer in;
	bool ended;  /* of the file */
	size_t hint; /* 0: at the end of a frame */
};

enum ctx_status ctx_zstd_open(int fd, struct ctx_zstd_reader **ret, struct ctx_err *err)
{
	struct ctx_zstd_reader *reader;
	struct stat info;

	if (fstat(fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "fstat");
	reader = ctx_calloc(1, sizeof(*reader));
	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->fd = fd;
	reader->max = ctx_zstd_unpacked_max(info.st_size > 0 ? (uint64_t)info.st_size : 0);
	reader->packed_size = ZSTD_DStreamInSize();
	reader->packed = malloc(reader->packed_size);
	reader->context = ZSTD_createDCtx();
	if (reader->packed == NULL || reader->context == NULL ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(reader->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
		ctx_zstd_close(reader);
		return ctx_err_nomem(err);
	}
	reader->in.src = reader->packed;
	*ret = reader;
	return CTX_OK;
}

void ctx_zstd_close(struct ctx_zstd_reader *reader)
{
	if (reader == NULL)
		return;
	ZSTD_freeDCtx(reader->context);
	free(reader->packed);
	free(reader);
}

static enum ctx_status too_large(const struct ctx_zstd_reader *reader, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_LIMIT,
			   "unpacks to more than %llu bytes, which no recorder packs into so few",
			   (unsigned long long)reader->max);
}

/* Reads more of the file. A hole is damage: reading zeros takes as long as reading data. */
static enum ctx_status fill(struct ctx_zstd_reader *reader, struct ctx_err *err)
{
	const struct ctx_file_place place = {reader->fd, "zstd", reader->offset};
	bool is_first = reader->offset == 0;
	unsigned long long claimed;
	size_t got;
	enum ctx_status status = ctx_file_pread(&place, reader->packed, reader->packed_size, &got, err);

	if (status < 0)
		return status;
	if (got != 0 && ctx_file_next_data(reader->fd, reader->offset) != reader->offset)
		return ctx_err_set(err, CTX_E_FORMAT, "zstd: a hole at offset %llu",
				   (unsigned long long)reader->offset);
	reader->ended = status == CTX_END;
	reader->offset += got;
	reader->in.size = got;
	reader->in.pos = 0;
	if (!is_first)
		return CTX_OK;
	claimed = ZSTD_getFrameContentSize(reader->packed, got);
	if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != ZSTD_CONTENTSIZE_ERROR && claimed > reader->max)
		return too_large(reader, err);
	return CTX_OK;
}

enum ctx_status ctx_zstd_read(struct ctx_zstd_reader *reader, void *bytes, size_t n, size_t *ret_got,
			      struct ctx_err *err)
{
	ZSTD_outBuffer out = {bytes, n, 0};

	*ret_got = 0;
	while (out.pos < n) {
		size_t eaten = reader->in.pos, before = out.pos;

		if (eaten == reader->in.size && !reader->ended) {
			enum ctx_status status = fill(reader, err);

			if (status != CTX_OK)
				return status;
			eaten = 0;
		}
		if (reader->in.pos == reader->in.size && reader->ended && reader->hint == 0)
			return reader->offset != 0
				       ? CTX_END
				       : ctx_err_set(err, CTX_E_FORMAT, "zstd: the file is empty");
		reader->hint = ZSTD_decompressStream(reader->context, &out, &reader->in);
		if (ZSTD_isError(reader->hint))
			return ctx_err_set(err, CTX_E_FORMAT, "zstd: %s", ZSTD_getErrorName(reader->hint));
		*ret_got = out.pos;
		reader->taken += out.pos - before;
		if (reader->taken > reader->max)
			return too_large(reader, err);
		/* zstd may hold back output after all input is consumed. */
		if (reader->ended && out.pos == before && reader->in.pos == eaten && reader->hint != 0)
			return ctx_err_set(err, CTX_E_FORMAT, "zstd: the last frame is cut short");
	}
	return CTX_OK;
}
