#include "formats/perfdata/pd_simpleperf.h"

#include "base/mem.h"
#include "base/protobuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kind of files that say where their code is. */
enum { KIND_ELF = 2 };

/* Fields of FILE2's messages. */
enum {
	FILE_PATH = 1,
	FILE_FIRST_ADDRESS = 3,
	FILE_SYMBOL = 4,
	FILE_ELF = 6,
	ELF_OFFSET = 1,
	SYMBOL_ADDRESS = 1,
	SYMBOL_SIZE = 2,
	SYMBOL_NAME = 3,
};

#define EVENT_TYPES_BYTES_MAX ((size_t)1 << 16) /* searched for each event; a recording has some lines */
#define SYMBOL_BYTES_MIN 13u			/* of one in FILE: address, size, an empty name */
#define OFFSET_UNKNOWN UINT64_MAX
#define LINKER_PREFIX "__dl_" /* of the names in Android's linker */

void ctx_pd_simpleperf_deinit(struct ctx_pd_simpleperf *simpleperf)
{
	free(simpleperf->files);
	*simpleperf = (struct ctx_pd_simpleperf){0};
}

static enum ctx_status cut_short(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "cut short, or a text without an end");
}

/* One file, from either feature. Its symbols are an array with room in the arena. */
struct file {
	const char *path;
	uint64_t first_address, file_offset; /* of code */
	struct ctx_source_symbol *symbols;
	size_t n;
};

static enum ctx_status add_file(struct ctx_pd_simpleperf *simpleperf, struct ctx_arena *arena,
				const struct file *file, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&simpleperf->files, &simpleperf->files_cap, simpleperf->n_files + 1, err);
	const char *path;

	if (status != CTX_OK || file->path == NULL || file->path[0] == '\0')
		return status;
	path = ctx_arena_strdup(arena, file->path);
	if (path == NULL)
		return ctx_err_nomem(err);
	simpleperf->files[simpleperf->n_files++] =
		(struct ctx_source_symbols){.path = path,
					    .to_address = file->first_address - file->file_offset,
					    .items = file->symbols,
					    .n = file->n};
	return CTX_OK;
}

/* Room for `n` symbols; n was checked against the bytes that hold them. */
static enum ctx_status make_symbols(struct ctx_arena *arena, size_t n, struct file *file, struct ctx_err *err)
{
	file->symbols = ctx_arena_alloc(arena, (n + 1) * sizeof(*file->symbols));
	return file->symbols != NULL ? CTX_OK : ctx_err_nomem(err);
}

struct name { /* not terminated */
	const char *at;
	size_t n;
};

static enum ctx_status add_symbol(struct ctx_arena *arena, struct file *file, struct ctx_source_symbol symbol,
				  struct name name, struct ctx_err *err)
{
	static const size_t n_prefix = sizeof(LINKER_PREFIX) - 1;
	const char *copy;

	if (name.n > n_prefix && memcmp(name.at, LINKER_PREFIX, n_prefix) == 0) {
		name.at += n_prefix;
		name.n -= n_prefix;
	}
	if (name.n == 0)
		return CTX_OK;
	copy = ctx_arena_strndup(arena, name.at, name.n);
	if (copy == NULL)
		return ctx_err_nomem(err);
	symbol.name = copy;
	file->symbols[file->n++] = symbol;
	return CTX_OK;
}

static enum ctx_status read_symbols(struct ctx_arena *arena, struct ctx_pe_wire *wire, struct file *file,
				    struct ctx_err *err)
{
	uint32_t n = ctx_pe_wire_u32(wire);
	enum ctx_status status;

	if (wire->failed || n > ctx_pe_wire_left(wire) / SYMBOL_BYTES_MIN)
		return cut_short(err);
	status = make_symbols(arena, n, file, err);
	for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_source_symbol symbol = {.address = ctx_pe_wire_u64(wire)};
		const char *name;

		symbol.size = ctx_pe_wire_u32(wire);
		name = ctx_pe_wire_text0(wire);
		if (name == NULL)
			return cut_short(err);
		status = add_symbol(arena, file, symbol, (struct name){name, strlen(name)}, err);
	}
	return status;
}

static enum ctx_status read_file(struct ctx_pd_simpleperf *simpleperf, struct ctx_arena *arena,
				 struct ctx_pe_wire wire, struct ctx_err *err)
{
	struct file file = {0};
	enum ctx_status status;
	uint32_t kind;

	file.path = ctx_pe_wire_text0(&wire);
	kind = ctx_pe_wire_u32(&wire);
	file.first_address = ctx_pe_wire_u64(&wire);
	if (wire.failed)
		return cut_short(err);
	status = read_symbols(arena, &wire, &file, err);
	if (status != CTX_OK)
		return status;
	if (kind == KIND_ELF && ctx_pe_wire_left(&wire) >= 8) /* not in files of 2019 and before */
		file.file_offset = ctx_pe_wire_u64(&wire);
	if (file.file_offset == OFFSET_UNKNOWN)
		file.file_offset = 0;
	return add_file(simpleperf, arena, &file, err);
}

static const char *text_of(const struct ctx_protobuf_field *field)
{
	return (const char *)field->bytes;
}

static enum ctx_status read_symbol2(struct ctx_arena *arena, struct ctx_protobuf message, struct file *file,
				    struct ctx_err *err)
{
	struct ctx_source_symbol symbol = {0};
	struct ctx_protobuf_field field;
	struct name name = {0};

	while (ctx_protobuf_next(&message, &field)) {
		if (field.number == SYMBOL_ADDRESS)
			symbol.address = field.value;
		else if (field.number == SYMBOL_SIZE)
			symbol.size = field.value;
		else if (field.number == SYMBOL_NAME && field.is_bytes)
			name = (struct name){text_of(&field), field.n};
	}
	return message.failed ? cut_short(err) : add_symbol(arena, file, symbol, name, err);
}

static size_t count_symbols2(struct ctx_protobuf message)
{
	struct ctx_protobuf_field field;
	size_t n = 0;

	while (ctx_protobuf_next(&message, &field))
		n += field.number == FILE_SYMBOL;
	return n;
}

static uint64_t elf_offset(struct ctx_protobuf message)
{
	struct ctx_protobuf_field field;
	uint64_t offset = 0;

	while (ctx_protobuf_next(&message, &field))
		offset = field.number == ELF_OFFSET ? field.value : offset;
	return offset;
}

static enum ctx_status read_file2(struct ctx_pd_simpleperf *simpleperf, struct ctx_arena *arena,
				  struct ctx_protobuf message, struct ctx_err *err)
{
	struct file file = {0};
	struct ctx_protobuf_field field;
	enum ctx_status status = make_symbols(arena, count_symbols2(message), &file, err);

	while (status == CTX_OK && ctx_protobuf_next(&message, &field)) {
		if (field.number == FILE_PATH && field.is_bytes) {
			file.path = ctx_arena_strndup(arena, text_of(&field), field.n);
			status = file.path != NULL ? CTX_OK : ctx_err_nomem(err);
		} else if (field.number == FILE_FIRST_ADDRESS) {
			file.first_address = field.value;
		} else if (field.number == FILE_SYMBOL) {
			status = read_symbol2(arena, ctx_protobuf_make(field.bytes, field.n), &file, err);
		} else if (field.number == FILE_ELF) {
			file.file_offset = elf_offset(ctx_protobuf_make(field.bytes, field.n));
		}
	}
	if (status == CTX_OK && message.failed)
		status = cut_short(err);
	return status == CTX_OK ? add_file(simpleperf, arena, &file, err) : status;
}

static enum ctx_status keep(struct ctx_arena *arena, const char *text, const char **ret, struct ctx_err *err)
{
	*ret = ctx_arena_strdup(arena, text);
	return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status read_meta(struct ctx_pd_simpleperf *simpleperf, struct ctx_arena *arena,
				 struct ctx_pe_wire *wire, struct ctx_err *err)
{
	static const char version[] = "simpleperf_version", device[] = "product_props",
			  types[] = "event_type_info";
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && ctx_pe_wire_left(wire) != 0) {
		const char *key = ctx_pe_wire_text0(wire), *value = ctx_pe_wire_text0(wire);

		if (value == NULL)
			return cut_short(err);
		if (strcmp(key, version) == 0)
			status = keep(arena, value, &simpleperf->version, err);
		else if (strcmp(key, device) == 0)
			status = keep(arena, value, &simpleperf->device, err);
		else if (strcmp(key, types) == 0 && strlen(value) <= EVENT_TYPES_BYTES_MAX)
			status = keep(arena, value, &simpleperf->event_types, err);
	}
	return status;
}

enum ctx_status ctx_pd_simpleperf_read(struct ctx_pd_simpleperf *simpleperf, struct ctx_arena *arena,
				       uint32_t feature, struct ctx_pe_wire *wire, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (feature == CTX_PD_FEATURE_SIMPLEPERF_META)
		return read_meta(simpleperf, arena, wire, err);
	while (status == CTX_OK && ctx_pe_wire_left(wire) != 0) {
		uint32_t n = ctx_pe_wire_u32(wire);
		const uint8_t *bytes = ctx_pe_wire_bytes(wire, n);

		if (bytes == NULL)
			return cut_short(err);
		status = feature == CTX_PD_FEATURE_SIMPLEPERF_FILE
				 ? read_file(simpleperf, arena, ctx_pe_wire_make(bytes, n, wire->swap), err)
				 : read_file2(simpleperf, arena, ctx_protobuf_make(bytes, n), err);
	}
	return status;
}

static int by_path(const void *left, const void *right)
{
	const struct ctx_source_symbols *a = left;
	const struct ctx_source_symbols *b = right;

	return strcmp(a->path, b->path);
}

void ctx_pd_simpleperf_settle(struct ctx_pd_simpleperf *simpleperf)
{
	struct ctx_source_symbols *files = simpleperf->files;
	size_t n = 0;

	if (simpleperf->n_files != 0)
		qsort(files, simpleperf->n_files, sizeof(*files), by_path);
	for (size_t i = 0; i < simpleperf->n_files; i++) {
		if (n == 0 || strcmp(files[n - 1].path, files[i].path) != 0)
			files[n++] = files[i];
	}
	simpleperf->n_files = n;
}

bool ctx_pd_simpleperf_has(const struct ctx_pd_simpleperf *simpleperf, const char *path)
{
	struct ctx_source_symbols wanted = {.path = path};

	return simpleperf->n_files != 0 &&
	       bsearch(&wanted, simpleperf->files, simpleperf->n_files, sizeof(wanted), by_path) != NULL;
}

const char *ctx_pd_simpleperf_event_name(const struct ctx_pd_simpleperf *simpleperf, uint32_t type,
					 uint64_t config, size_t *ret_n)
{
	char wanted[64];
	size_t n = (size_t)snprintf(wanted, sizeof(wanted), ",%u,%llu", type, (unsigned long long)config);
	const char *line = simpleperf->event_types;

	*ret_n = 0;
	while (line != NULL && line[0] != '\0') {
		size_t all = strcspn(line, "\n");

		if (all > n && memcmp(line + all - n, wanted, n) == 0) {
			*ret_n = all - n;
			return line;
		}
		line += all + (line[all] == '\n');
	}
	return "";
}

bool ctx_pd_simpleperf_is_jit(const char *path)
{
	return strstr(path, "jit_app_cache:") != NULL || strstr(path, "jit_zygote_cache:") != NULL;
}
