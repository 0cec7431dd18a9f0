/*
 * Inputs of the annotated reports, for the database: instructions of the functions with samples,
 * their lines, and the texts of the source files of these lines.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "elf/debug_files.h"
#include "elf/image.h"
#include "ingest/resolver.h"
#include "ingest/resolver_impl.h"
#include "model/jit_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PART_BYTES_MAX CTX_STORE_CODE_MAX
#define CODE_BYTES_MAX ((size_t)4 << 20) /* of all functions together: the hottest come first */
#define TEXT_BYTES_MAX ((size_t)4 << 20)
#define TEXTS_BYTES_MAX ((size_t)128 << 20)

/* --- instructions --- */

struct ctx_code_part {
	uint64_t address;
	size_t size;
	uint32_t function, object;
	uint64_t samples; /* that the function had itself */
	size_t first_row, n_rows;
	const struct ctx_resolver_dynamic_function
		*dynamic; /* has the bytes; NULL: they are in the object's file */
};

void ctx_code_list_deinit(struct ctx_code_list *list)
{
	free(list->parts);
	free(list->rows);
	*list = (struct ctx_code_list){0};
}

static int by_function(const void *left, const void *right)
{
	const struct ctx_code_part *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int hottest_first(const void *left, const void *right)
{
	const struct ctx_code_part *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return by_function(left, right);
}

static enum ctx_status list_object(struct ctx_resolver *resolver, uint32_t id, const uint64_t *samples,
				   struct ctx_code_list *list, struct ctx_err *err)
{
	struct ctx_resolver_object *object = &resolver->objects[id];
	uint32_t n = ctx_symtab_count(object->symtab);
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_symbol found;

		if (object->by_symbol[i] == CTX_NONE)
			continue;
		status = ctx_grow(&list->parts, &list->cap, list->n + 1, err);
		if (status == CTX_OK)
			status = ctx_symtab_get(object->symtab, i, &found, err);
		if (status == CTX_OK && found.size != 0)
			list->parts[list->n++] = (struct ctx_code_part){
				.address = found.start,
				.size = found.size < PART_BYTES_MAX ? (size_t)found.size : PART_BYTES_MAX,
				.function = object->by_symbol[i],
				.object = id,
				.samples = samples[object->by_symbol[i]],
			};
	}
	return status;
}

static enum ctx_status list_dynamic(struct ctx_resolver *resolver, uint32_t id, const uint64_t *samples,
				    struct ctx_code_list *list, struct ctx_err *err)
{
	const struct ctx_resolver_object *object = &resolver->objects[id];
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < object->n_dynamic && status == CTX_OK; i++) {
		const struct ctx_resolver_dynamic_function *dynamic = &object->dynamic[i];

		if (dynamic->function == CTX_NONE || dynamic->code == NULL)
			continue;
		status = ctx_grow(&list->parts, &list->cap, list->n + 1, err);
		if (status == CTX_OK)
			list->parts[list->n++] = (struct ctx_code_part){
				.address = dynamic->file_offset,
				.size = dynamic->n_code < PART_BYTES_MAX ? dynamic->n_code : PART_BYTES_MAX,
				.function = dynamic->function,
				.object = id,
				.samples = samples[dynamic->function],
				.dynamic = dynamic,
			};
	}
	return status;
}

/* Symbols may overlap; parts do not. Code beyond the limit is left out. */
static void clip(struct ctx_code_list *list)
{
	const struct ctx_code_part *before = NULL;
	size_t left = CODE_BYTES_MAX, n = 0, of_function = 0, bytes = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct ctx_code_part part = list->parts[i];
		uint64_t end = part.address + part.size;

		if (before == NULL || before->function != part.function) {
			before = NULL;
			of_function = bytes = 0;
		}
		if (end < part.address || (before != NULL && end <= before->address + before->size))
			continue;
		if (before != NULL && part.address < before->address + before->size)
			part.address = before->address + before->size;
		part.size = (size_t)(end - part.address);
		if (part.size > left || of_function >= CTX_STORE_PARTS_MAX ||
		    bytes + part.size > CTX_STORE_PARTS_BYTES_MAX)
			continue;
		left -= part.size;
		bytes += part.size;
		of_function++;
		list->parts[n++] = part;
		before = &list->parts[n - 1];
	}
	list->n = n;
}

struct reading {
	struct ctx_resolver *resolver;
	struct ctx_code_list *list;
	struct ctx_code_part *part;
};

static enum ctx_status take_line(void *context, const struct ctx_source_line *line, struct ctx_err *err)
{
	const struct reading *reading = context;
	struct ctx_code_list *list = reading->list;
	struct ctx_line_row row = {.address = line->address, .line = line->file != NULL ? line->line : 0};
	enum ctx_status status = ctx_grow(&list->rows, &list->rows_cap, list->n_rows + 1, err);

	if (status == CTX_OK)
		status = ctx_resolver_file(reading->resolver, line->file, &row.file, err);
	if (status != CTX_OK)
		return status;
	if (list->n_rows != reading->part->first_row && list->rows[list->n_rows - 1].address >= row.address)
		list->n_rows--; /* of several rows at one address the last is valid */
	if (list->n_rows == reading->part->first_row || list->rows[list->n_rows - 1].address < row.address)
		list->rows[list->n_rows++] = row;
	return CTX_OK;
}

/* The lines of JIT code: those of what is inlined innermost, as in line tables. */
static enum ctx_status read_places(const struct reading *reading, struct ctx_err *err)
{
	const struct ctx_resolver_dynamic_function *dynamic = reading->part->dynamic;
	const struct ctx_jit_places *places = dynamic->places;
	uint64_t begin = reading->part->address - dynamic->file_offset;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; places != NULL && i < places->n_rows && status == CTX_OK; i++) {
		const struct ctx_jit_row *row = &places->rows[i];
		const struct ctx_jit_site *site = row->site != CTX_NONE ? &places->sites[row->site] : NULL;
		struct ctx_source_line line = {.address = dynamic->file_offset + row->begin};

		if (row->begin < begin)
			continue;
		if (site != NULL) {
			line.file = site->file;
			line.line = site->line;
		}
		status = take_line((void *)(uintptr_t)reading, &line, err);
	}
	return status;
}

static enum ctx_status read_lines(struct ctx_resolver *resolver, struct ctx_code_list *list,
				  struct ctx_code_part *part, struct ctx_err *err)
{
	struct reading reading = {.resolver = resolver, .list = list, .part = part};
	struct ctx_source_map *map = resolver->objects[part->object].source_map;
	enum ctx_status status = CTX_OK;

	part->first_row = list->n_rows;
	if (part->dynamic != NULL)
		status = read_places(&reading, err);
	else if (map != NULL)
		status = ctx_source_map_lines(
			map, (struct ctx_source_range){part->address, part->address + part->size}, take_line,
			&reading, err);
	part->n_rows = list->n_rows - part->first_row;
	return status;
}

/* Samples by function that is not inlined; owned by the caller. NULL: out of memory. */
static uint64_t *samples_by_function(const struct ctx_resolver *resolver, const struct ctx_trie *raw,
				     const uint32_t *leaf_samples)
{
	uint64_t *samples = ctx_calloc(resolver->n_functions + 1, sizeof(*samples));

	for (uint32_t i = 1; samples != NULL && i < raw->n; i++) {
		uint32_t function;

		if (leaf_samples[i] == 0)
			continue;
		function = ctx_resolver_location_function(resolver, raw->key[i]);
		if (function != CTX_NONE)
			samples[function] += leaf_samples[i];
	}
	return samples;
}

enum ctx_status ctx_resolver_list_code(struct ctx_resolver *resolver, const struct ctx_trie *raw,
				       const uint32_t *leaf_samples, struct ctx_code_list *list,
				       struct ctx_err *err)
{
	uint64_t *samples CTX_AUTO_FREE = samples_by_function(resolver, raw, leaf_samples);
	enum ctx_status status = samples != NULL ? CTX_OK : ctx_err_nomem(err);

	for (uint32_t i = 0; i < resolver->n_objects && status == CTX_OK; i++) {
		const struct ctx_resolver_object *object = &resolver->objects[i];

		if (object->is_dynamic)
			status = list_dynamic(resolver, i, samples, list, err);
		else if (object->symtab != NULL && ctx_resolver_has_file(resolver, object) &&
			 !ctx_jit_code_is(object->path))
			status = list_object(resolver, i, samples, list, err);
	}
	if (status == CTX_OK && list->n != 0) {
		qsort(list->parts, list->n, sizeof(*list->parts), hottest_first);
		clip(list);
		qsort(list->parts, list->n, sizeof(*list->parts), by_function);
	}
	/* The files of their lines must be known before the first is put. */
	for (size_t i = 0; i < list->n && status == CTX_OK; i++)
		status = read_lines(resolver, list, &list->parts[i], err);
	return status;
}

struct putting {
	struct ctx_resolver *resolver;
	const struct ctx_code_list *list;
	struct ctx_store *store;
	struct ctx_elf_file *images; /* by object; no elf: not opened, or none */
	bool *opened;
	size_t n_images;
	struct ctx_buf bytes;
};

static void putting_cleanup(struct putting *putting)
{
	for (size_t i = 0; putting->images != NULL && i < putting->n_images; i++)
		if (putting->images[i].elf != NULL)
			ctx_elf_close(&putting->images[i]);
	free(putting->images);
	free(putting->opened);
	ctx_buf_deinit(&putting->bytes);
}

/* NULL: names came only from a debug file. */
static enum ctx_status image_of(struct putting *putting, uint32_t object, const struct ctx_elf_file **ret,
				struct ctx_err *err)
{
	struct ctx_resolver *resolver = putting->resolver;
	struct ctx_file_request request = ctx_resolver_request(resolver, &resolver->objects[object]);
	enum ctx_status status = CTX_OK;

	if (!putting->opened[object]) {
		putting->opened[object] = true;
		status = ctx_debug_files_open_image(&request, &putting->images[object], NULL);
	}
	*ret = putting->images[object].elf != NULL ? &putting->images[object] : NULL;
	return status == CTX_E_NOMEM ? ctx_err_nomem(err) : CTX_OK;
}

static enum ctx_status put_with_lines(struct putting *putting, const struct ctx_code_part *part,
				      struct ctx_function_code *code, struct ctx_err *err)
{
	code->lines = part->n_rows != 0 ? &putting->list->rows[part->first_row] : NULL;
	/* A segment that ends early has fewer bytes than its symbol, and no lines after them. */
	while (code->n_lines < part->n_rows &&
	       code->lines[code->n_lines].address - part->address < code->n_bytes)
		code->n_lines++;
	return ctx_store_put_code(putting->store, code, err);
}

static enum ctx_status put_part(struct putting *putting, const struct ctx_code_part *part,
				struct ctx_err *err)
{
	struct ctx_function_code code = {.function = part->function, .address = part->address};
	const struct ctx_resolver_dynamic_function *dynamic = part->dynamic;
	const struct ctx_elf_file *image;
	enum ctx_status status;

	if (dynamic != NULL) {
		code.machine = dynamic->machine;
		code.bytes = dynamic->code + (part->address - dynamic->file_offset);
		code.n_bytes = part->size;
		return put_with_lines(putting, part, &code, err);
	}
	status = image_of(putting, part->object, &image, err);
	if (status != CTX_OK || image == NULL)
		return status;
	putting->bytes.n = 0;
	status = ctx_elf_read_code(image, part->address, part->size, &putting->bytes, NULL);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK || putting->bytes.n == 0)
		return CTX_OK; /* not really a function */
	code.machine = image->machine;
	code.bytes = putting->bytes.bytes;
	code.n_bytes = putting->bytes.n;
	return put_with_lines(putting, part, &code, err);
}

enum ctx_status ctx_resolver_put_code(struct ctx_resolver *resolver, const struct ctx_code_list *list,
				      struct ctx_store *store, struct ctx_err *err)
{
	struct putting putting CTX_CLEANUP(putting_cleanup) = {
		.resolver = resolver, .list = list, .store = store, .n_images = resolver->n_objects};
	enum ctx_status status = CTX_OK;

	putting.images = ctx_calloc(resolver->n_objects + 1, sizeof(*putting.images));
	putting.opened = ctx_calloc(resolver->n_objects + 1, sizeof(*putting.opened));
	if (putting.images == NULL || putting.opened == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < list->n && status == CTX_OK; i++)
		status = put_part(&putting, &list->parts[i], err);
	return status;
}

/* --- texts --- */

/*
 * Paths come from the debug information of untrusted programs. Only files that look like sources
 * are read, so that /etc/shadow cannot end up in a shared report.
 */
static bool is_source_path(const char *path)
{
	static const char *const suffixes[] = {
		".c",	".h",	".cc",	".cpp", ".cxx",	 ".c++", ".C",	 ".hh", ".hpp", ".hxx",
		".h++", ".H",	".inc", ".inl", ".ipp",	 ".tcc", ".def", ".S",	".s",	".asm",
		".rs",	".go",	".d",	".di",	".m",	 ".mm",	 ".f",	 ".F",	".for", ".f90",
		".F90", ".f95", ".f03", ".f08", ".y",	 ".l",	 ".yy",	 ".ll", ".zig", ".swift",
		".pas", ".pp",	".adb", ".ads", ".vala", ".nim", ".cr",	 ".jl", ".ml",	".mli",
		".hs",	".cu",	".cuh", ".cl",	".py",	 ".pyx", ".java"};
	static const char *const places[] = {"/usr/include/", "/usr/local/include/", "/usr/lib/gcc/",
					     "/usr/lib/llvm", "/usr/src/"};
	const char *dot = strrchr(ctx_path_base(path), '.');

	for (size_t i = 0; dot != NULL && i < CTX_COUNT_OF(suffixes); i++) {
		if (strcmp(dot, suffixes[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < CTX_COUNT_OF(places); i++) {
		if (strncmp(path, places[i], strlen(places[i])) == 0)
			return true; /* <vector> */
	}
	return false;
}

static const char *archived(const struct ctx_source_info *info, const char *path)
{
	for (size_t i = 0; i < info->n_sources; i++) {
		if (strcmp(info->sources[i].path, path) == 0)
			return info->sources[i].archive;
	}
	return NULL;
}

/* Where the text of a file is available: "archive", a path, or "" not at all. */
static enum ctx_status find_text(const struct ctx_resolver *resolver, const struct ctx_source_info *info,
				 const char *file, const char **ret, struct ctx_err *err)
{
	char *named CTX_AUTO_FREE = NULL;
	char *path CTX_AUTO_FREE = NULL;

	*ret = archived(info, file) != NULL ? "archive" : "";
	if (*ret[0] != '\0' || file[0] != '/')
		return CTX_OK;
	if (asprintf(&named, "%s%s", resolver->options.symfs, file) < 0) {
		named = NULL;
		return ctx_err_nomem(err);
	}
	path = realpath(named, NULL);
	if (path == NULL || !is_source_path(path))
		return CTX_OK;
	*ret = ctx_arena_strdup(resolver->arena, path);
	return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* A copy of the recording is unchanged. */
static bool is_newer(const char *origin, int64_t recorded_s)
{
	struct stat info;

	return recorded_s != 0 && origin[0] == '/' && stat(origin, &info) == 0 && info.st_mtime > recorded_s;
}

/*
 * Files found by build id and copies of the recording are unchanged: checks all others.
 */
static bool has_changed(const struct ctx_resolver *resolver, const struct ctx_resolver_object *object,
			int64_t recorded_s)
{
	char *path CTX_AUTO_FREE = NULL;

	if (object->build_id[0] != '\0' || object->symtab == NULL ||
	    ctx_symtab_origin(object->symtab)[0] != '/')
		return false;
	if (asprintf(&path, "%s%s", resolver->options.symfs, object->path) < 0)
		path = NULL;
	return path != NULL && is_newer(path, recorded_s);
}

uint32_t ctx_resolver_count_changed(const struct ctx_resolver *resolver, int64_t recorded_s,
				    const char **ret_path)
{
	uint32_t n = 0;

	for (size_t i = 0; i < resolver->n_objects; i++) {
		if (has_changed(resolver, &resolver->objects[i], recorded_s) && n++ == 0)
			*ret_path = resolver->objects[i].path;
	}
	return n;
}

enum ctx_status ctx_resolver_list_sources(struct ctx_resolver *resolver, const struct ctx_source_info *info,
					  int64_t recorded_s, struct ctx_source_list *ret,
					  struct ctx_err *err)
{
	size_t n = resolver->files.n;
	struct ctx_source_file *files = ctx_calloc(n + 1, sizeof(*files));
	enum ctx_status status = files != NULL ? CTX_OK : ctx_err_nomem(err);
	uint32_t newer = 0;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		files[i].path = ctx_strtab_get(&resolver->files, (uint32_t)i);
		files[i].origin = "";
		if (info == NULL)
			continue;
		status = find_text(resolver, info, files[i].path, &files[i].origin, err);
		if (status == CTX_OK)
			newer += is_newer(files[i].origin, recorded_s);
	}
	if (status != CTX_OK) {
		free(files);
		return status;
	}
	*ret = (struct ctx_source_list){files, n, newer};
	return CTX_OK;
}

enum ctx_status ctx_resolver_put_texts(const struct ctx_source_info *info,
				       const struct ctx_source_file *files, size_t n, struct ctx_store *store,
				       struct ctx_err *err)
{
	size_t left = TEXTS_BYTES_MAX;
	struct ctx_buf text = {0};
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
		const char *copy = archived(info, files[i].path);
		size_t max = left < TEXT_BYTES_MAX ? left : TEXT_BYTES_MAX;

		if (files[i].origin[0] == '\0')
			continue;
		text.n = 0;
		/* Recorded copies are compressed, other files can be: both are read. */
		status = ctx_image_read(copy != NULL ? copy : files[i].origin, max, &text, NULL);
		if (status == CTX_OK) {
			left -= text.n;
			status = ctx_store_put_source_text(store, i, (const char *)text.bytes, text.n, err);
		} else {
			status = status == CTX_E_NOMEM ? ctx_err_nomem(err) : CTX_OK;
		}
	}
	ctx_buf_deinit(&text);
	return status;
}

const struct ctx_site *ctx_resolver_sites(const struct ctx_resolver *resolver, size_t *ret_n)
{
	*ret_n = resolver->n_sites;
	return resolver->sites;
}
