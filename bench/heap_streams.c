/*
 * Which streams of heap operations take the bytes of an experiment: heap_streams EXPERIMENT
 *
 * Prints a Markdown table: bytes of each stream of the blocks of `heaptrace` before and behind zstd, and of the
 * headers and the call stacks. What a stream takes behind zstd is what the block grows by with it.
 */
#include "formats/experiment/exp_heap_code.h"
#include "formats/experiment/exp_index.h"

#include "base/fileio.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVEL 3 /* of the recorder */

static const char *const names[CTX_EXP_HEAP_STREAMS] = {"runs",
							"frees",
							"kinds",
							"older",
							"addresses",
							"mappings",
							"stacks",
							"other stacks",
							"new stacks",
							"sizes",
							"threads",
							"same times",
							"times",
							"thread runs",
							"thread changes",
							"lengths by thread",
							"runs by thread",
							"frees by thread",
							"stacks by thread",
							"other stacks by thread",
							"sizes by thread"};

struct sums {
	uint64_t raw[CTX_EXP_HEAP_STREAMS];
	int64_t packed[CTX_EXP_HEAP_STREAMS];
	uint64_t operations, blocks, headers, frame_bytes, stacks;
};

static void check(enum ctx_status status, const struct ctx_err *err)
{
	if (status == CTX_OK)
		return;
	fprintf(stderr, "heap_streams: %s\n", err->msg);
	exit(1);
}

/* Size of the first n parts of a payload in zstd. */
static size_t packed_bytes(struct ctx_compressor *compressor, const uint8_t *payload, const size_t *ends,
			   size_t n)
{
	struct ctx_buf out = {0};
	struct ctx_err err = {0};
	size_t bytes;

	check(ctx_compress_parts(compressor, LEVEL, (struct ctx_parts){{payload, ends[n - 1]}, ends, n}, &out,
				 &err),
	      &err);
	bytes = out.n;
	ctx_buf_deinit(&out);
	return bytes;
}

static void add_block(struct sums *sums, struct ctx_exp_block_file *file,
		      const struct ctx_exp_block_header *header)
{
	struct ctx_cursor cursor = ctx_cursor_make(file->payload.bytes, file->payload.n);
	uint64_t n = ctx_cursor_get_varint(&cursor), lengths[CTX_EXP_HEAP_STREAMS] = {0};
	size_t ends[CTX_EXP_HEAP_STREAMS + 1], before, after;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t length = ctx_cursor_get_varint(&cursor);

		if (i < CTX_EXP_HEAP_STREAMS)
			lengths[i] = length;
	}
	ctx_cursor_get_varint(&cursor);
	ctx_cursor_get_varint(&cursor);
	ends[0] = file->payload.n - ctx_cursor_left(&cursor);
	before = packed_bytes(&file->compressor, file->payload.bytes, ends, 1);
	sums->headers += header->header_bytes + before;
	for (size_t i = 0; i < CTX_EXP_HEAP_STREAMS && i < n; i++) {
		ends[i + 1] = ends[i] + (size_t)lengths[i];
		after = packed_bytes(&file->compressor, file->payload.bytes, ends, i + 2);
		sums->raw[i] += lengths[i];
		sums->packed[i] += (int64_t)after - (int64_t)before;
		before = after;
	}
	sums->operations += header->n_records;
	sums->frame_bytes += header->frame_bytes;
	sums->blocks++;
}

static void add_file(struct sums *sums, const char *path)
{
	struct ctx_exp_block_file file = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
	off_t size = file.fd >= 0 ? lseek(file.fd, 0, SEEK_END) : 0;

	for (uint64_t offset = CTX_EXP_FILE_HEADER_BYTES; offset < (uint64_t)size;) {
		struct ctx_exp_block_header header;
		struct ctx_err err = {0};

		check(ctx_exp_read_block(&file, path, offset, &header, &err), &err);
		offset += header.header_bytes + (uint64_t)header.frame_bytes;
		if (ctx_exp_block_has_heap(&header))
			add_block(sums, &file, &header);
		else
			sums->stacks += header.header_bytes + (uint64_t)header.frame_bytes;
	}
	if (file.fd >= 0)
		close(file.fd);
	ctx_compressor_deinit(&file.compressor);
	ctx_buf_deinit(&file.scratch);
	ctx_buf_deinit(&file.payload);
}

int main(int argc, char **argv)
{
	struct sums sums = {0};

	if (argc != 2) {
		fprintf(stderr, "usage: heap_streams EXPERIMENT\n");
		return 2;
	}
	for (size_t i = 0; i < 2; i++) {
		char *path = ctx_path_join(argv[1], i == 0 ? CTX_EXP_HEAP_FILE : "frameinfo");

		if (path == NULL)
			return 1;
		add_file(&sums, path);
		free(path);
	}
	printf("| stream | bytes | in zstd |\n|---|---:|---:|\n");
	for (size_t i = 0; i < CTX_EXP_HEAP_STREAMS; i++) {
		if (sums.raw[i] != 0)
			printf("| %s | %llu | %lld |\n", names[i], (unsigned long long)sums.raw[i],
			       (long long)sums.packed[i]);
	}
	printf("| headers of %llu blocks | | %llu |\n", (unsigned long long)sums.blocks,
	       (unsigned long long)sums.headers);
	printf("| call stacks | | %llu |\n", (unsigned long long)sums.stacks);
	printf("| %llu operations | | %llu |\n", (unsigned long long)sums.operations,
	       (unsigned long long)(sums.frame_bytes + sums.blocks * CTX_EXP_BLOCK_HEADER_BYTES +
				    sums.stacks));
	return 0;
}
