#include "formats/export/pprof_file.h"

#include "base/mem.h"
#include "formats/export/export_stack.h"

#include <profile.pb-c.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define CHUNK ((size_t)1 << 16) /* minimum of pending bytes worth compressing */
#define GZIP_WINDOW (15 + 16)	/* the largest, in gzip's wrapping */
#define MEMORY_LEVEL 8
#define UNKNOWN_SYSTEM 255 /* in the gzip header, so that the bytes do not depend on the machine */

struct ctx_pprof_file {
	FILE *out;
	z_stream deflate;
	gz_header header;
	struct ctx_strtab strings;
	struct ctx_buf text;  /* buffer for the string being added */
	struct ctx_buf plain; /* packed, not yet compressed */
	uint8_t packed[CHUNK];
};

static void *take_memory(void *opaque, unsigned n, unsigned size)
{
	(void)opaque;
	return ctx_calloc(n, size);
}

static void give_memory(void *opaque, void *memory)
{
	(void)opaque;
	free(memory);
}

enum ctx_status ctx_pprof_file_create(FILE *out, struct ctx_pprof_file **ret, struct ctx_err *err)
{
	struct ctx_pprof_file *file = ctx_calloc(1, sizeof(*file));
	int64_t empty;
	enum ctx_status status;

	if (file == NULL)
		return ctx_err_nomem(err);
	file->out = out;
	file->deflate.zalloc = take_memory;
	file->deflate.zfree = give_memory;
	file->header.os = UNKNOWN_SYSTEM;
	if (deflateInit2(&file->deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(file);
		return ctx_err_nomem(err);
	}
	(void)deflateSetHeader(&file->deflate, &file->header); /* fails only for wrappings other than gzip */
	status = ctx_pprof_file_string(file, "", &empty, err); /* number 0 */
	if (status != CTX_OK) {
		ctx_pprof_file_destroy(file);
		return status;
	}
	*ret = file;
	return CTX_OK;
}

void ctx_pprof_file_destroy(struct ctx_pprof_file *file)
{
	if (file == NULL)
		return;
	deflateEnd(&file->deflate);
	ctx_strtab_deinit(&file->strings);
	ctx_buf_deinit(&file->text);
	ctx_buf_deinit(&file->plain);
	free(file);
}

enum ctx_status ctx_pprof_file_string(struct ctx_pprof_file *file, const char *text, int64_t *ret,
				      struct ctx_err *err)
{
	uint32_t id;
	enum ctx_status status;

	ctx_buf_clear(&file->text);
	ctx_export_put_text(&file->text, text);
	status = ctx_buf_check(&file->text, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(&file->strings,
					file->text.n != 0 ? (const char *)file->text.bytes : "", file->text.n,
					&id, err);
	if (status == CTX_OK)
		*ret = id;
	return status;
}

static enum ctx_status squeeze(struct ctx_pprof_file *file, int flush, struct ctx_err *err)
{
	const uint8_t *at = file->plain.bytes;
	size_t left = file->plain.n;

	do {
		size_t part = left < CHUNK ? left : CHUNK;
		bool last = part == left;

		file->deflate.next_in = (Bytef *)at;
		file->deflate.avail_in = (uInt)part;
		do {
			file->deflate.next_out = file->packed;
			file->deflate.avail_out = CHUNK;
			if (deflate(&file->deflate, last ? flush : Z_NO_FLUSH) == Z_STREAM_ERROR)
				return ctx_err_set(err, CTX_E_INTERNAL, "zlib: its state is broken");
			fwrite(file->packed, 1, CHUNK - file->deflate.avail_out, file->out);
		} while (file->deflate.avail_out == 0);
		at += part;
		left -= part;
	} while (left != 0);
	ctx_buf_clear(&file->plain);
	return CTX_OK;
}

enum ctx_status ctx_pprof_file_put(struct ctx_pprof_file *file, const struct Pprof__Profile *piece,
				   struct ctx_err *err)
{
	size_t n = pprof__profile__get_packed_size(piece);
	uint8_t *place = ctx_buf_reserve(&file->plain, n);

	if (place == NULL)
		return ctx_err_nomem(err);
	file->plain.n += pprof__profile__pack(piece, place);
	return file->plain.n >= CHUNK ? squeeze(file, Z_NO_FLUSH, err) : CTX_OK;
}

enum ctx_status ctx_pprof_file_close(struct ctx_pprof_file *file, struct ctx_err *err)
{
	for (size_t i = 0; i < file->strings.n; i++) {
		char *text = (char *)ctx_strtab_get(&file->strings, (uint32_t)i); /* only read */
		Pprof__Profile piece = PPROF__PROFILE__INIT;
		enum ctx_status status;

		piece.string_table = &text;
		piece.n_string_table = 1;
		status = ctx_pprof_file_put(file, &piece, err);
		if (status != CTX_OK)
			return status;
	}
	return squeeze(file, Z_FINISH, err);
}
