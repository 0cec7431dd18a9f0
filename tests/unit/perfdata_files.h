/*
 * A recording of perfdata_fixture.h in one of the forms that perf has:
 *
 *	pd_write(&recording, &(struct pd_form){.kind = PD_COMPRESSED}, &bytes)
 *
 * so that one recording can be compared with itself in another form; and where tests keep such
 * files.
 */
#ifndef CTX_TESTS_UNIT_PERFDATA_FILES_H
#define CTX_TESTS_UNIT_PERFDATA_FILES_H

#include "base/fileio.h"
#include "tests/unit/perfdata_fixture.h"
#include "tests/unit/scratch.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum pd_kind {
	PD_FILE,
	PD_PIPE,
	PD_COMPRESSED,	/* a file whose records are packed; rounds and what brings data with it are not */
	PD_COMPRESSED2, /* the same with records that have the compressed size, and are padded */
};

struct pd_form {
	enum pd_kind kind;
	bool open;	    /* perf was killed: the size of the data is 0, and there are no features */
	size_t packed_from; /* bytes that go into one compressed record; 0: 100 */
	size_t attr_bytes;  /* of each in the file's section; 0: as many as the attr has */
};

static inline uint32_t pd_type_at(const struct pd_recording *recording, size_t at)
{
	return ctx_pe_header_read(recording->bytes.bytes + at, recording->swap).type;
}

static inline size_t pd_end_of(const struct pd_recording *recording, size_t i)
{
	return i + 1 < recording->n ? recording->starts[i + 1] : recording->bytes.n;
}

/*
 * One COMPRESSED record of these bytes; what is packed ends where they do (ZSTD_e_flush), the
 * stream goes on.
 */
static inline void pd_pack_piece(const struct pd_recording *recording, bool tells_size, ZSTD_CCtx *zstd,
				 const uint8_t *bytes, size_t n, struct ctx_buf *out)
{
	uint8_t packed[4096];
	ZSTD_inBuffer in = {bytes, n, 0};
	ZSTD_outBuffer room = {packed, sizeof(packed), 0};
	size_t padding;

	assert_true(n <= 2048);
	assert_int_equal(ZSTD_compressStream2(zstd, &room, &in, ZSTD_e_flush), 0);
	padding = tells_size ? (8 - room.pos % 8) % 8 : 0;
	pd_u32(out, recording->swap, tells_size ? CTX_PD_COMPRESSED2 : CTX_PD_COMPRESSED);
	pd_u16(out, recording->swap, 0);
	pd_u16(out, recording->swap, (uint16_t)((tells_size ? 16u : 8u) + room.pos + padding));
	if (tells_size)
		pd_u64(out, recording->swap, room.pos);
	ctx_buf_put(out, packed, room.pos);
	pd_zeros(out, padding);
}

static inline void pd_pack(const struct pd_recording *recording, const struct pd_form *form,
			   struct ctx_buf *out)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t piece = form->packed_from != 0 ? form->packed_from : 100;

	assert_non_null(zstd);
	for (size_t i = 0; i < recording->n;) {
		size_t begin = recording->starts[i], end;

		if (pd_type_at(recording, begin) >= CTX_PD_HEADER_ATTR) {
			ctx_buf_put(out, recording->bytes.bytes + begin, pd_end_of(recording, i) - begin);
			i++;
			continue;
		}
		while (i < recording->n && pd_type_at(recording, recording->starts[i]) < CTX_PD_HEADER_ATTR)
			i++;
		end = pd_end_of(recording, i - 1);
		for (size_t at = begin; at < end; at += piece)
			pd_pack_piece(recording, form->kind == PD_COMPRESSED2, zstd,
				      recording->bytes.bytes + at, end - at < piece ? end - at : piece, out);
	}
	ZSTD_freeCCtx(zstd);
}

static inline void pd_put_magic(struct ctx_buf *out, bool swap)
{
	pd_u64(out, swap,
	       UINT64_C(0x32454c4946524550)); /* "PERFILE2" where little-endian machines wrote it */
}

/* A record, and the section's bytes behind it. */
static inline void pd_put_tracing_data(struct pd_recording *head, const struct ctx_buf *bytes)
{
	size_t padding = (8 - bytes->n % 8) % 8;

	pd_u32(pd_begin(head, CTX_PD_HEADER_TRACING_DATA, 0), head->swap, (uint32_t)(bytes->n + padding));
	pd_u32(&head->bytes, head->swap, 0);
	pd_end(head);
	ctx_buf_put(&head->bytes, bytes->bytes, bytes->n);
	pd_zeros(&head->bytes, padding);
}

static inline void pd_write_pipe(const struct pd_recording *recording, struct ctx_buf *out)
{
	struct pd_recording head = {.swap = recording->swap};

	pd_put_magic(out, recording->swap);
	pd_u64(out, recording->swap, 16);
	for (size_t i = 0; i < recording->n_attrs; i++) {
		const struct pd_attr *attr = &recording->attrs[i];

		pd_begin(&head, CTX_PD_HEADER_ATTR, 0);
		pd_put_attr(&head.bytes, head.swap, attr, pd_attr_bytes(attr));
		for (uint32_t k = 0; k < attr->n_ids; k++)
			pd_u64(&head.bytes, head.swap, attr->ids[k]);
		pd_end(&head);
	}
	for (size_t i = 0; i < recording->n_features; i++) {
		if (recording->features[i].bit == CTX_PD_FEATURE_TRACING_DATA) {
			pd_put_tracing_data(&head, &recording->features[i].bytes);
			continue;
		}
		pd_begin(&head, CTX_PD_HEADER_FEATURE, 0);
		pd_u64(&head.bytes, head.swap, recording->features[i].bit);
		ctx_buf_put(&head.bytes, recording->features[i].bytes.bytes, recording->features[i].bytes.n);
		pd_end(&head);
	}
	ctx_buf_put(out, head.bytes.bytes, head.bytes.n);
	ctx_buf_put(out, recording->bytes.bytes, recording->bytes.n);
	pd_recording_deinit(&head);
}

/* The attrs with where their ids are, which are in front of them. */
static inline void pd_write_attrs(const struct pd_recording *recording, size_t bytes, struct ctx_buf *out)
{
	uint64_t ids_at[PD_ATTRS_MAX];
	size_t begin;

	for (size_t i = 0; i < recording->n_attrs; i++) {
		ids_at[i] = out->n;
		for (uint32_t k = 0; k < recording->attrs[i].n_ids; k++)
			pd_u64(out, recording->swap, recording->attrs[i].ids[k]);
	}
	begin = out->n;
	for (size_t i = 0; i < recording->n_attrs; i++) {
		pd_put_attr(out, recording->swap, &recording->attrs[i], bytes);
		pd_u64(out, recording->swap, ids_at[i]);
		pd_u64(out, recording->swap, recording->attrs[i].n_ids * 8);
	}
	pd_patch64(out, recording->swap, 24, begin);
	pd_patch64(out, recording->swap, 32, out->n - begin);
}

static inline void pd_write_features(const struct pd_recording *recording, struct ctx_buf *out)
{
	uint64_t words[4] = {0};
	uint64_t at = out->n + recording->n_features * 16;

	for (uint32_t bit = 0; bit < CTX_PD_FEATURE_BITS; bit++) {
		for (size_t i = 0; i < recording->n_features; i++) {
			if (recording->features[i].bit != bit)
				continue;
			words[bit / 64] |= UINT64_C(1) << bit % 64;
			pd_u64(out, recording->swap, at);
			pd_u64(out, recording->swap, recording->features[i].bytes.n);
			at += recording->features[i].bytes.n;
		}
	}
	for (uint32_t bit = 0; bit < CTX_PD_FEATURE_BITS; bit++) {
		for (size_t i = 0; i < recording->n_features; i++) {
			if (recording->features[i].bit == bit)
				ctx_buf_put(out, recording->features[i].bytes.bytes,
					    recording->features[i].bytes.n);
		}
	}
	for (size_t i = 0; i < 4; i++)
		pd_patch64(out, recording->swap, 72 + 8 * i, words[i]);
}

/* The whole file, appended to `out`, which must be empty. */
static inline void pd_write(const struct pd_recording *recording, const struct pd_form *form,
			    struct ctx_buf *out)
{
	size_t attr_bytes = form->attr_bytes != 0     ? form->attr_bytes
			    : recording->n_attrs != 0 ? pd_attr_bytes(&recording->attrs[0])
						      : PD_ATTR_BYTES;
	size_t begin;

	assert_int_equal(out->n, 0);
	if (form->kind == PD_PIPE) {
		pd_write_pipe(recording, out);
		return;
	}
	pd_put_magic(out, recording->swap);
	pd_u64(out, recording->swap, 104);
	pd_u64(out, recording->swap, attr_bytes + 16);
	pd_zeros(out, 104 - out->n);
	pd_write_attrs(recording, attr_bytes, out);
	begin = out->n;
	pd_patch64(out, recording->swap, 40, begin);
	if (form->kind == PD_COMPRESSED || form->kind == PD_COMPRESSED2)
		pd_pack(recording, form, out);
	else
		ctx_buf_put(out, recording->bytes.bytes, recording->bytes.n);
	if (form->open)
		return;
	pd_patch64(out, recording->swap, 48, out->n - begin);
	pd_write_features(recording, out);
	assert_false(out->failed);
}

/* A file that has no name: `path` is where it can be opened as long as the descriptor is. */
struct pd_memory_file {
	int fd;
	char path[64];
};

static inline void pd_memory_set(const struct pd_memory_file *file, const void *bytes, size_t n)
{
	assert_int_equal(ftruncate(file->fd, 0), 0);
	assert_int_equal(pwrite(file->fd, bytes, n, 0), (ssize_t)n);
}

static inline struct pd_memory_file pd_memory_open(const struct ctx_buf *bytes)
{
	struct pd_memory_file file = {.fd = memfd_create("perf.data", MFD_CLOEXEC)};

	assert_true(file.fd >= 0);
	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	pd_memory_set(&file, bytes->bytes, bytes->n);
	return file;
}

static inline void pd_memory_close(struct pd_memory_file *file)
{
	close(file->fd);
	file->fd = -1;
}

/* A fresh directory; remove it with pd_directory_remove. */
static inline char *pd_directory(void)
{
	char *path = scratch_directory("ctx-test-pd");

	assert_non_null(path);
	return path;
}

static inline void pd_directory_remove(char *path)
{
	assert_int_equal(ctx_dir_remove(path, NULL), CTX_OK);
	free(path);
}

static inline void pd_store(const char *directory, const char *name, const struct ctx_buf *bytes)
{
	char *path = ctx_path_join(directory, name);

	assert_non_null(path);
	assert_int_equal(
		ctx_file_replace(path, bytes->n != 0 ? (const void *)bytes->bytes : "", bytes->n, NULL),
		CTX_OK);
	free(path);
}

#endif
