#include "formats/perfdata/pd_stream.h"

#include "base/fileio.h"
#include "formats/perfevent/pe_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#ifdef CTX_SANITIZED
#define CHUNK_BYTES                                                                                          \
	((size_t)192 << 10) /* larger blocks cost the sanitizers' allocator system calls and page faults */
#else
#define CHUNK_BYTES ((size_t)1 << 20)
#endif
#define RECORD_MAX 65536u
#define TRACING_RECORD_BYTES_MAX 16u
#define RECORDS_IN_A_ROW 4 /* plausible headers that make a coincidence unlikely */

void ctx_pd_chunk_drop(struct ctx_pd_chunk *chunk)
{
	if (chunk != NULL && --chunk->references == 0)
		free(chunk);
}

static struct ctx_pd_chunk *new_chunk(void)
{
	struct ctx_pd_chunk *chunk = malloc(sizeof(*chunk) + CHUNK_BYTES);

	if (chunk != NULL) {
		chunk->references = 1;
		chunk->queued = 0;
		chunk->cap = CHUNK_BYTES;
	}
	return chunk;
}

static size_t left_in(const struct ctx_pd_window *window)
{
	return window->end - window->begin;
}

/*
 * Makes room for at least one more record. Reuses a chunk without other references, otherwise moves
 * the rest into a new chunk.
 */
static enum ctx_status make_room(struct ctx_pd_window *window, struct ctx_err *err)
{
	struct ctx_pd_chunk *old = window->chunk, *chunk = old;
	size_t left = left_in(window);

	if (old != NULL && old->cap - window->end >= RECORD_MAX)
		return CTX_OK;
	if (old == NULL || old->references > 1) {
		chunk = new_chunk();
		if (chunk == NULL)
			return ctx_err_nomem(err);
	}
	if (left != 0)
		memmove(chunk->bytes, old->bytes + window->begin, left);
	if (chunk != old)
		ctx_pd_chunk_drop(old);
	window->chunk = chunk;
	window->begin = 0;
	window->end = left;
	return CTX_OK;
}

void ctx_pd_stream_init(struct ctx_pd_stream *stream, const struct ctx_pd_part *part, bool swap)
{
	*stream = (struct ctx_pd_stream){
		.fd = part->fd, .name = part->name, .swap = swap, .at = part->begin, .end = part->end};
}

void ctx_pd_stream_deinit(struct ctx_pd_stream *stream)
{
	ctx_pd_chunk_drop(stream->outer.chunk);
	ctx_pd_chunk_drop(stream->inner.chunk);
	ctx_pd_chunk_drop(stream->packed_chunk);
	ZSTD_freeDCtx(stream->zstd);
	*stream = (struct ctx_pd_stream){.fd = -1};
}

static void report_damage(struct ctx_pd_stream *stream, uint64_t offset, const char *what)
{
	if (stream->damage[0] == '\0')
		snprintf(stream->damage, sizeof(stream->damage), "%s: offset %llu: %s", stream->name,
			 (unsigned long long)offset, what);
}

static uint64_t outer_offset(const struct ctx_pd_stream *stream)
{
	return stream->at - left_in(&stream->outer);
}

/* Skips `stream->skip` bytes of the file. */
static void pass_over(struct ctx_pd_stream *stream)
{
	size_t here = left_in(&stream->outer);
	uint64_t in_file = stream->end - stream->at;

	if (stream->skip < here)
		here = (size_t)stream->skip;
	stream->outer.begin += here;
	stream->skip -= here;
	if (stream->skip > in_file) {
		report_damage(stream, stream->at, "the data that a record announces goes past the end");
		stream->skip = in_file;
	}
	stream->at += stream->skip;
	stream->skip = 0;
}

/* Reads more of the file into the outer window. The end of the file is not a failure. */
static enum ctx_status read_outer(struct ctx_pd_stream *stream, struct ctx_err *err)
{
	struct ctx_pd_window *window = &stream->outer;
	enum ctx_status status = make_room(window, err);
	size_t room, got;

	if (status != CTX_OK || stream->at >= stream->end)
		return status;
	room = window->chunk->cap - window->end;
	if (room > stream->end - stream->at)
		room = (size_t)(stream->end - stream->at);
	status = ctx_file_pread(&(struct ctx_file_place){stream->fd, stream->name, stream->at},
				window->chunk->bytes + window->end, room, &got, err);
	if (status == CTX_END) {
		stream->end = stream->at + got; /* the file was truncated */
		status = CTX_OK;
	}
	window->end += got;
	stream->at += got;
	return status;
}

/* Unpacks more into the inner window. Clears `unpacking` when the packed bytes are used up. */
static enum ctx_status read_inner(struct ctx_pd_stream *stream, struct ctx_err *err)
{
	struct ctx_pd_window *window = &stream->inner;
	enum ctx_status status = make_room(window, err);
	ZSTD_inBuffer in = {stream->packed, stream->packed_n, stream->packed_at};
	ZSTD_outBuffer out;
	size_t left;

	if (status != CTX_OK)
		return status;
	if (stream->zstd == NULL)
		stream->zstd = ZSTD_createDCtx();
	if (stream->zstd == NULL)
		return ctx_err_nomem(err);
	out = (ZSTD_outBuffer){window->chunk->bytes + window->end, window->chunk->cap - window->end, 0};
	left = ZSTD_decompressStream(stream->zstd, &out, &in);
	if (ZSTD_isError(left)) {
		report_damage(stream, stream->packed_offset, "a compressed record cannot be unpacked");
		ZSTD_DCtx_reset(stream->zstd, ZSTD_reset_session_only);
		in.pos = in.size;
		window->begin = window->end; /* later bytes do not continue these */
		window->lost = true;
		out.pos = 0;
	}
	stream->packed_at = in.pos;
	window->end += out.pos;
	/* Room left in the output means that the record is exhausted. */
	stream->unpacking = stream->packed_at < stream->packed_n || out.pos == out.size;
	if (!stream->unpacking) {
		ctx_pd_chunk_drop(stream->packed_chunk);
		stream->packed_chunk = NULL;
	}
	return CTX_OK;
}

enum row {
	ROW,	 /* several plausible records; the last may be cut by the end of the bytes */
	ROW_CUT, /* the first record goes past the end: more bytes are needed to decide */
	ROW_NONE,
};

static enum row classify_row(const uint8_t *bytes, size_t n, bool swap)
{
	size_t at = 0;

	for (int i = 0; i < RECORDS_IN_A_ROW; i++) {
		struct perf_event_header header;
		size_t size;

		if (n - at < CTX_PE_HEADER_BYTES)
			return i > 0 ? ROW : ROW_CUT;
		header = ctx_pe_header_read(bytes + at, swap);
		size = ctx_pd_record_bytes(&header);
		if (size == 0)
			return ROW_NONE;
		if (size > n - at)
			return i > 0 ? ROW : ROW_CUT;
		at += size;
	}
	return ROW;
}

/*
 * Advances a lost window to the next plausible records, to where more bytes are needed to decide,
 * or to its end.
 */
static void resynchronise(struct ctx_pd_window *window, bool swap, bool more_comes)
{
	while (window->lost && left_in(window) >= CTX_PE_HEADER_BYTES) {
		enum row row = classify_row(window->chunk->bytes + window->begin, left_in(window), swap);

		if (row == ROW_CUT && more_comes)
			return;
		if (row == ROW)
			window->lost = false;
		else
			window->begin++;
	}
}

/* Unpacked bytes may always be followed by another COMPRESSED record. */
static bool more_comes(const struct ctx_pd_stream *stream, const struct ctx_pd_window *window)
{
	return window == &stream->inner || stream->at < stream->end;
}

/* Is there a whole record at the begin of the window? Skips damaged ones. */
static bool find_record(struct ctx_pd_stream *stream, struct ctx_pd_window *window, uint64_t offset,
			struct perf_event_header *ret)
{
	for (;;) {
		if (window->lost)
			resynchronise(window, stream->swap, more_comes(stream, window));
		if (window->lost || left_in(window) < CTX_PE_HEADER_BYTES)
			return false;
		*ret = ctx_pe_header_read(window->chunk->bytes + window->begin, stream->swap);
		if (ctx_pd_record_is_simpleperf(ret) && ctx_pd_record_bytes(ret) != 0) {
			ret->size = CTX_PE_HEADER_BYTES; /* its body is passed over */
			return true;
		}
		if (ctx_pd_record_bytes(ret) != 0)
			return ret->size <= left_in(window);
		report_damage(stream, offset, "no record: its size or type is impossible");
		window->lost = true;
		window->begin++;
	}
}

static void return_record(struct ctx_pd_stream *stream, struct ctx_pd_window *window, uint64_t offset,
			  const struct perf_event_header *header, struct ctx_pd_record *ret)
{
	ret->bytes = window->chunk->bytes + window->begin;
	ret->header = *header;
	ret->chunk = window->chunk;
	ret->offset = offset;
	window->begin += header->size;
	stream->n_records++;
}

static void begin_unpacking(struct ctx_pd_stream *stream, const struct ctx_pd_record *record)
{
	struct ctx_pe_wire wire = ctx_pe_body(record->bytes, record->header.size, stream->swap);
	uint64_t n = ctx_pe_wire_left(&wire);

	stream->n_compressed++;
	if (record->header.type == CTX_PD_COMPRESSED2) { /* has a size field, and is padded */
		n = ctx_pe_wire_u64(&wire);
		if (wire.failed || n > ctx_pe_wire_left(&wire)) {
			report_damage(stream, record->offset, "a compressed record is shorter than it says");
			return;
		}
	}
	stream->packed = wire.at;
	stream->packed_n = (size_t)n;
	stream->packed_at = 0;
	stream->packed_offset = record->offset;
	stream->packed_chunk = record->chunk;
	stream->packed_chunk->references++;
	stream->unpacking = true;
}

/* Size of the data that follows a record. */
static uint64_t data_after(const struct ctx_pd_record *record, bool swap)
{
	struct ctx_pe_wire wire = ctx_pe_body(record->bytes, record->header.size, swap);
	struct perf_event_header header;

	if (ctx_pd_record_is_simpleperf(&record->header)) {
		header = ctx_pe_header_read(record->bytes, swap);
		return ctx_pd_record_bytes(&header) - CTX_PE_HEADER_BYTES;
	}
	if (record->header.type == CTX_PD_AUXTRACE)
		return ctx_pe_wire_u64(&wire);
	if (record->header.type == CTX_PD_HEADER_TRACING_DATA &&
	    record->header.size <= TRACING_RECORD_BYTES_MAX) /* simpleperf has the data inside */
		return ((uint64_t)ctx_pe_wire_u32(&wire) + 7) & ~UINT64_C(7);
	return 0;
}

/* The next record of the inner window. *ret_found is false when there is none yet. */
static enum ctx_status next_inner(struct ctx_pd_stream *stream, struct ctx_pd_record *ret, bool *ret_found,
				  struct ctx_err *err)
{
	struct perf_event_header header;
	enum ctx_status status = CTX_OK;

	for (;;) {
		*ret_found = find_record(stream, &stream->inner, stream->packed_offset, &header);
		if (*ret_found) {
			return_record(stream, &stream->inner, stream->packed_offset, &header, ret);
			return CTX_OK;
		}
		if (!stream->unpacking)
			return CTX_OK; /* the rest comes with the next compressed record */
		status = read_inner(stream, err);
		if (status != CTX_OK)
			return status;
	}
}

static enum ctx_status next_outer(struct ctx_pd_stream *stream, struct ctx_pd_record *ret,
				  struct ctx_err *err)
{
	struct perf_event_header header;
	enum ctx_status status;

	while (!find_record(stream, &stream->outer, outer_offset(stream), &header)) {
		if (stream->at >= stream->end) {
			if (left_in(&stream->outer) != 0)
				report_damage(stream, outer_offset(stream), "the last record is cut");
			stream->outer.begin = stream->outer.end;
			return CTX_END;
		}
		status = read_outer(stream, err);
		if (status != CTX_OK)
			return status;
	}
	return_record(stream, &stream->outer, outer_offset(stream), &header, ret);
	return CTX_OK;
}

enum ctx_status ctx_pd_stream_next(struct ctx_pd_stream *stream, struct ctx_pd_record *ret,
				   struct ctx_err *err)
{
	enum ctx_status status;
	bool found;

	stream->damage[0] = '\0';
	for (;;) {
		status = next_inner(stream, ret, &found, err);
		if (status != CTX_OK || found)
			return status;
		if (stream->skip != 0)
			pass_over(stream);
		status = next_outer(stream, ret, err);
		if (status != CTX_OK) {
			if (status == CTX_END && left_in(&stream->inner) != 0) {
				report_damage(stream, stream->packed_offset,
					      "the last compressed record is cut");
				stream->inner.begin = stream->inner.end;
			}
			return status;
		}
		if (ret->header.type != CTX_PD_COMPRESSED && ret->header.type != CTX_PD_COMPRESSED2) {
			stream->skip = data_after(ret, stream->swap);
			return CTX_OK;
		}
		begin_unpacking(stream, ret);
	}
}
