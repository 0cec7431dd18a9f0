#include "formats/perfdata/pd_file.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/perfevent/pe_wire.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_BYTES 8u
#define HEADER_BYTES 104u
#define PIPE_HEADER_BYTES 16u
#define SECTION_MAX ((uint64_t)64 << 20) /* for a feature or the attributes */
#define PARTS_MAX 65536u

struct section {
	uint64_t offset, size;
};

struct header {
	uint64_t size, attr_size;
	struct section attrs, data;
	uint64_t features[CTX_PD_FEATURE_BITS / 64];
};

static const char magic[MAGIC_BYTES + 1] = "PERFILE2";
static const char other_magic[MAGIC_BYTES + 1] = "2ELIFREP";
static const char old_magic[MAGIC_BYTES + 1] = "PERFFILE";

static char *main_path(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? ctx_path_join(path, "data") : strdup(path);
}

bool ctx_pd_file_is(const char *path)
{
	char *name CTX_AUTO_FREE = main_path(path);
	char bytes[MAGIC_BYTES];
	uint64_t size;
	size_t got;
	int fd CTX_AUTO_CLOSE = name != NULL ? ctx_file_open_plain(name, &size) : -1;

	return fd >= 0 &&
	       ctx_file_pread(&(struct ctx_file_place){fd, name, 0}, bytes, sizeof(bytes), &got, NULL) ==
		       CTX_OK &&
	       (memcmp(bytes, magic, MAGIC_BYTES) == 0 || memcmp(bytes, other_magic, MAGIC_BYTES) == 0 ||
		memcmp(bytes, old_magic, MAGIC_BYTES) == 0);
}

void ctx_pd_file_deinit(struct ctx_pd_file *file)
{
	for (size_t i = 0; i < file->n_parts; i++) {
		close(file->parts[i].fd);
		free(file->parts[i].name);
	}
	ctx_pd_events_deinit(&file->events);
	ctx_pd_facts_deinit(&file->facts);
	free(file->parts);
	free(file->damage);
	free(file->path);
	*file = (struct ctx_pd_file){0};
}

enum ctx_status ctx_pd_file_damage(struct ctx_pd_file *file, const char *text, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&file->damage, &file->damage_cap, file->n_damage + 1, err);
	char *copy;

	if (status != CTX_OK)
		return status;
	copy = ctx_arena_strdup(&file->facts.arena, text);
	if (copy == NULL)
		return ctx_err_nomem(err);
	file->damage[file->n_damage++] = copy;
	return CTX_OK;
}

static enum ctx_status add_part(struct ctx_pd_file *file, const char *path, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&file->parts, &file->parts_cap, file->n_parts + 1, err);
	struct ctx_pd_part part = {.fd = -1};

	if (status != CTX_OK)
		return status;
	part.fd = ctx_file_open_plain(path, &part.file_bytes);
	if (part.fd < 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	part.end = part.file_bytes;
	part.name = strdup(ctx_path_base(path));
	if (part.name == NULL) {
		close(part.fd);
		return ctx_err_nomem(err);
	}
	file->parts[file->n_parts++] = part;
	return CTX_OK;
}

/* Reads a section into malloc'ed memory. CTX_E_FORMAT when it is not within the file. */
static enum ctx_status read_section(const struct ctx_pd_part *part, const struct section *section,
				    const char *what, uint8_t **ret, struct ctx_err *err)
{
	size_t got;

	if (section->size > part->file_bytes || section->offset > part->file_bytes - section->size ||
	    section->size > SECTION_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: %s (%llu bytes at %llu) is not in the file",
				   part->name, what, (unsigned long long)section->size,
				   (unsigned long long)section->offset);
	*ret = malloc(section->size != 0 ? (size_t)section->size : 1);
	if (*ret == NULL)
		return ctx_err_nomem(err);
	if (ctx_file_pread(&(struct ctx_file_place){part->fd, part->name, section->offset}, *ret,
			   (size_t)section->size, &got, err) != CTX_OK) {
		free(*ret);
		*ret = NULL;
		return ctx_err_set(err, CTX_E_IO, "%s: %s cannot be read", part->name, what);
	}
	return CTX_OK;
}

static enum ctx_status add_ids(struct ctx_pd_file *file, const struct section *section, struct ctx_err *err)
{
	uint8_t *bytes CTX_AUTO_FREE = NULL;
	enum ctx_status status = read_section(&file->parts[0], section, "the ids of an event", &bytes, err);
	struct ctx_pe_wire wire;

	if (status != CTX_OK)
		return status;
	wire = ctx_pe_wire_make(bytes, (size_t)section->size, file->swap);
	while (status == CTX_OK && ctx_pe_wire_left(&wire) >= 8)
		status = ctx_pd_events_add_id(&file->events, ctx_pe_wire_u64(&wire),
					      (uint32_t)file->events.n - 1, err);
	return status;
}

/* Turns format errors into damage, so that reading continues. */
static enum ctx_status forgive(struct ctx_pd_file *file, enum ctx_status status, const struct ctx_err *why,
			       struct ctx_err *err)
{
	if (status == CTX_OK)
		return CTX_OK;
	return status == CTX_E_FORMAT ? ctx_pd_file_damage(file, why->msg, err)
				      : ctx_err_set(err, status, "%s", why->msg);
}

static enum ctx_status read_attrs(struct ctx_pd_file *file, const struct header *header, struct ctx_err *err)
{
	const struct ctx_pd_part *part = &file->parts[0];
	uint8_t *bytes CTX_AUTO_FREE = NULL;
	enum ctx_status status;
	uint64_t n, ids_bytes = 0;

	if (header->attr_size < 64 + 16 || header->attr_size > SECTION_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: event attributes of %llu bytes", part->name,
				   (unsigned long long)header->attr_size);
	status = read_section(part, &header->attrs, "the section of event attributes", &bytes, err);
	if (status != CTX_OK)
		return status;
	n = header->attrs.size / header->attr_size;
	for (uint64_t i = 0; i < n && status == CTX_OK; i++) {
		const uint8_t *entry = bytes + i * header->attr_size;
		size_t attr_bytes = (size_t)header->attr_size - 16;
		struct ctx_pe_wire wire = ctx_pe_wire_make(entry + attr_bytes, 16, file->swap);
		struct section ids = {.offset = ctx_pe_wire_u64(&wire)};
		struct ctx_err why = {0};

		ids.size = ctx_pe_wire_u64(&wire);
		status = ctx_pd_events_add(&file->events, entry, attr_bytes, file->swap, &why);
		/*
		 * Id sections do not overlap in a valid file; the limit bounds the work for a
		 * crafted one.
		 */
		if (status == CTX_OK && ids.size > part->file_bytes - ids_bytes)
			status = ctx_err_set(&why, CTX_E_FORMAT,
					     "%s: the ids of the events are more than the file has room for",
					     part->name);
		if (status == CTX_OK)
			status = add_ids(file, &ids, &why);
		if (status == CTX_OK)
			ids_bytes += ids.size;
		status = forgive(file, status, &why, err);
	}
	return status;
}

enum ctx_status ctx_pd_file_tracing_bytes(struct ctx_pd_file *file, const void *bytes, size_t n,
					  struct ctx_err *err)
{
	struct ctx_err why = {0};
	enum ctx_status status = ctx_pd_tracing_parse(bytes, n, &file->tracing, &why);

	if (status == CTX_E_FORMAT)
		ctx_err_prefix(&why, status, "header: formats of tracepoints");
	status = forgive(file, status, &why, err);
	return status == CTX_OK ? ctx_pd_tracing_name(bytes, n, &file->events, err) : status;
}

enum ctx_status ctx_pd_file_tracing(struct ctx_pd_file *file, const struct ctx_pd_part *part, uint64_t offset,
				    uint64_t size, struct ctx_err *err)
{
	static const char what[] = "the section with the formats of tracepoints";
	struct section section = {.offset = offset, .size = size};
	uint8_t *bytes CTX_AUTO_FREE = NULL;
	struct ctx_err why = {0};
	enum ctx_status status = read_section(part, &section, what, &bytes, &why);

	if (status != CTX_OK)
		return forgive(file, status, &why, err);
	return ctx_pd_file_tracing_bytes(file, bytes, (size_t)size, err);
}

/* After the data comes one section descriptor per feature bit. */
static enum ctx_status read_features(struct ctx_pd_file *file, const struct header *header,
				     struct ctx_err *err)
{
	const struct ctx_pd_part *part = &file->parts[0];
	struct section table = {.offset = header->data.offset + header->data.size};
	uint8_t *bytes CTX_AUTO_FREE = NULL;
	struct ctx_err why = {0};
	struct ctx_pe_wire wire;
	enum ctx_status status;

	for (size_t i = 0; i < CTX_COUNT_OF(header->features); i++)
		table.size += (uint64_t)__builtin_popcountll(header->features[i]) * 16;
	status = read_section(part, &table, "the table of header features", &bytes, &why);
	if (status != CTX_OK)
		return forgive(file, status, &why, err);
	wire = ctx_pe_wire_make(bytes, (size_t)table.size, file->swap);
	for (uint32_t bit = 0; bit < CTX_PD_FEATURE_BITS; bit++) {
		uint8_t *payload CTX_AUTO_FREE = NULL;
		struct section section;

		if (!(header->features[bit / 64] >> bit % 64 & 1))
			continue;
		section.offset = ctx_pe_wire_u64(&wire);
		section.size = ctx_pe_wire_u64(&wire);
		if (bit == CTX_PD_FEATURE_TRACING_DATA) {
			status = ctx_pd_file_tracing(file, part, section.offset, section.size, err);
			if (status != CTX_OK)
				return status;
			continue;
		}
		status = read_section(part, &section, "a header feature", &payload, &why);
		if (status == CTX_OK)
			status = ctx_pd_facts_add(&file->facts, bit,
						  ctx_pe_wire_make(payload, (size_t)section.size, file->swap),
						  err);
		else
			status = forgive(file, status, &why, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

static enum ctx_status read_header(struct ctx_pd_file *file, const uint8_t *bytes, size_t n,
				   struct ctx_err *err)
{
	struct ctx_pe_wire wire = ctx_pe_wire_make(bytes, n, file->swap);
	struct ctx_pd_part *part = &file->parts[0];
	uint64_t file_bytes = part->file_bytes;
	struct header header;
	enum ctx_status status;

	ctx_pe_wire_bytes(&wire, MAGIC_BYTES);
	header.size = ctx_pe_wire_u64(&wire);
	if (header.size == PIPE_HEADER_BYTES) {
		file->pipe = file->closed = true;
		part->begin = PIPE_HEADER_BYTES;
		return CTX_OK;
	}
	header.attr_size = ctx_pe_wire_u64(&wire);
	header.attrs.offset = ctx_pe_wire_u64(&wire);
	header.attrs.size = ctx_pe_wire_u64(&wire);
	header.data.offset = ctx_pe_wire_u64(&wire);
	header.data.size = ctx_pe_wire_u64(&wire);
	ctx_pe_wire_bytes(&wire, 16); /* event types, unused today */
	for (size_t i = 0; i < CTX_COUNT_OF(header.features); i++)
		header.features[i] = ctx_pe_wire_u64(&wire);
	if (wire.failed || header.size < HEADER_BYTES || header.data.offset > file_bytes)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: the header is cut or damaged", part->name);
	/* A writer with 32-bit words stores the low feature bits in the upper half. */
	if (file->swap && header.features[0] != 0 && (header.features[0] & UINT64_C(0xffffffff)) == 0)
		header.features[0] = header.features[0] >> 32;
	status = read_attrs(file, &header, err);
	if (status != CTX_OK)
		return status;
	part->begin = header.data.offset;
	file->closed = header.data.size != 0 && header.data.size <= file_bytes - header.data.offset;
	if (!file->closed) {
		char text[256];

		if (header.data.size == 0)
			return CTX_OK; /* perf was killed: the rest of the file is data */
		snprintf(text, sizeof(text), "%s: the file ends %llu bytes before its data does", part->name,
			 (unsigned long long)(header.data.size - (file_bytes - header.data.offset)));
		return ctx_pd_file_damage(file, text, err);
	}
	part->end = header.data.offset + header.data.size;
	return read_features(file, &header, err);
}

enum ctx_status ctx_pd_file_read(struct ctx_pd_file *file, struct ctx_err *err)
{
	const char *path = file->path;
	uint8_t bytes[HEADER_BYTES];
	size_t got;
	enum ctx_status status = ctx_file_pread(&(struct ctx_file_place){file->parts[0].fd, path, 0}, bytes,
						sizeof(bytes), &got, err);

	if (status != CTX_OK && status != CTX_END)
		return status;
	if (got >= MAGIC_BYTES && memcmp(bytes, old_magic, MAGIC_BYTES) == 0)
		return ctx_err_set(err, CTX_E_VERSION,
				   "%s: perf.data of version 1 (before Linux 3.8) is not supported", path);
	if (got < PIPE_HEADER_BYTES ||
	    (memcmp(bytes, magic, MAGIC_BYTES) != 0 && memcmp(bytes, other_magic, MAGIC_BYTES) != 0))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a perf.data file", path);
	/* The magic is a 64-bit number: little-endian machines write it as the text "PERFILE2". */
	file->swap = (memcmp(bytes, magic, MAGIC_BYTES) == 0) == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	return read_header(file, bytes, got, err);
}

/* Marks the numbers of data.0, data.1 ... in a directory; all are below *ret_n. */
static enum ctx_status list_parts(const char *path, bool present[PARTS_MAX], unsigned *ret_n,
				  struct ctx_err *err)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	if (directory == NULL)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	while ((entry = readdir(directory)) != NULL) {
		const char *number = entry->d_name + 5;
		char *end;
		unsigned long value;

		if (strncmp(entry->d_name, "data.", 5) != 0 || *number < '0' || *number > '9')
			continue;
		value = strtoul(number, &end, 10);
		if (*end != '\0' || value >= PARTS_MAX)
			continue;
		present[value] = true;
		if (value >= *ret_n)
			*ret_n = (unsigned)value + 1;
	}
	closedir(directory);
	return CTX_OK;
}

static enum ctx_status add_directory(struct ctx_pd_file *file, struct ctx_err *err)
{
	bool *present CTX_AUTO_FREE = ctx_calloc(PARTS_MAX, sizeof(*present));
	enum ctx_status status;
	unsigned n = 0;

	if (present == NULL)
		return ctx_err_nomem(err);
	status = list_parts(file->path, present, &n, err);
	for (unsigned i = 0; i < n && status == CTX_OK; i++) {
		char *path CTX_AUTO_FREE = NULL;
		struct ctx_err why = {0};

		if (!present[i])
			continue;
		if (asprintf(&path, "%s/data.%u", file->path, i) < 0) {
			path = NULL;
			return ctx_err_nomem(err);
		}
		status = add_part(file, path, &why);
		if (status == CTX_E_IO || status == CTX_E_NOTFOUND)
			status = ctx_pd_file_damage(file, why.msg, err);
		else if (status != CTX_OK)
			ctx_err_set(err, status, "%s", why.msg);
	}
	return status;
}

enum ctx_status ctx_pd_file_list(struct ctx_pd_file *file, const char *path, struct ctx_err *err)
{
	char *name CTX_AUTO_FREE = main_path(path);
	size_t n = strlen(path);
	enum ctx_status status;

	while (n > 1 && path[n - 1] == '/')
		n--;
	file->path = ctx_memdup0(path, n);
	if (name == NULL || file->path == NULL)
		return ctx_err_nomem(err);
	status = add_part(file, name, err);
	if (status == CTX_OK && strcmp(name, path) != 0)
		status = add_directory(file, err);
	return status;
}
