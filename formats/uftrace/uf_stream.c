#include "formats/uftrace/uf_stream.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void ctx_uf_stream_rewind(struct ctx_uf_stream *stream)
{
	free(stream->bytes);
	*stream = (struct ctx_uf_stream){.path = stream->path};
}

void ctx_uf_stream_deinit(struct ctx_uf_stream *stream)
{
	ctx_uf_stream_rewind(stream);
	free(stream->path);
	stream->path = NULL;
}

void ctx_uf_stream_park(struct ctx_uf_stream *stream)
{
	struct ctx_uf_stream parked = {.path = stream->path, .offset = ctx_uf_stream_offset(stream)};

	free(stream->bytes);
	*stream = parked;
}

/* A buffer as large as the file, if that is small. */
static enum ctx_status make_buffer(struct ctx_uf_stream *stream, int fd, struct ctx_err *err)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", stream->path);
	stream->cap =
		info.st_size < (off_t)CTX_UF_STREAM_BYTES ? (size_t)info.st_size + 1 : CTX_UF_STREAM_BYTES;
	stream->bytes = malloc(stream->cap);
	return stream->bytes != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_uf_stream_fill(struct ctx_uf_stream *stream, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(stream->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	enum ctx_status status = CTX_OK;
	size_t got = 0;

	if (fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", stream->path);
	if (stream->bytes == NULL)
		status = make_buffer(stream, fd, err);
	if (status != CTX_OK)
		return status;
	memmove(stream->bytes, stream->bytes + stream->at, stream->n - stream->at);
	stream->offset += stream->at;
	stream->n -= stream->at;
	stream->at = 0;
	status = ctx_file_pread(&(struct ctx_file_place){fd, stream->path, stream->offset + stream->n},
				stream->bytes + stream->n, stream->cap - stream->n, &got, err);
	if (status < 0)
		return status;
	stream->ended = status == CTX_END || got == 0;
	stream->n += got;
	return CTX_OK;
}
