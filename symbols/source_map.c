/*
 * A map is a DWARF file and its units:
 *
 *	address --ctx_dwarf_units--> unit --places--> node, its parents	(inlined calls)
 *	                                 `--rows----> file, line	(of the innermost)
 *
 * Units have ids of strings; a function's name is demangled when it is first needed.
 */
#include "symbols/source_map.h"

#include "base/mem.h"
#include "elf/debug_files.h"
#include "symbols/demangle.h"
#include "symbols/dwarf_units.h"

#include <stdio.h>
#include <string.h>

/* More than a walk over each unit needs. */
#define STEPS_EXTRA 1024

/*
 * Limit of names with scopes and paths with directories, as a multiple of the size of the debug
 * information.
 */
#define TEXT_FACTOR 4
#define TEXT_EXTRA ((uint64_t)16 << 20)

struct ctx_source_map {
	struct ctx_dwarf_file file;
	bool usable; /* the file is open and its units are listed */
	struct ctx_dwarf_reader reader;
	struct ctx_dwarf_units units;
	const char **readable; /* by string id; NULL until asked for */
	size_t readable_n, readable_cap;
	struct ctx_arena arena;
	const char *origin; /* a constant, or in the arena */
};

static void map_cleanup(struct ctx_source_map **map)
{
	ctx_source_map_close(*map);
}

void ctx_source_map_close(struct ctx_source_map *map)
{
	if (map == NULL)
		return;
	ctx_dwarf_units_deinit(&map->units);
	ctx_dwarf_reader_deinit(&map->reader);
	ctx_dwarf_file_close(&map->file);
	ctx_arena_deinit(&map->arena);
	free(map->readable);
	free(map);
}

const char *ctx_source_map_origin(const struct ctx_source_map *map)
{
	return map->origin;
}

static struct ctx_source_map *create_map(void)
{
	struct ctx_source_map *map = ctx_calloc(1, sizeof(*map));

	if (map != NULL)
		map->file = (struct ctx_dwarf_file){.object = {.fd = -1}, .alt_object = {.fd = -1}};
	return map;
}

/* A map without units, and why. */
static enum ctx_status set_reason(struct ctx_source_map *map, const char *reason, struct ctx_err *err)
{
	char text[CTX_ERR_MAX + sizeof("none: ")];

	snprintf(text, sizeof(text), "none: %s", reason);
	map->origin = ctx_arena_strdup(&map->arena, text);
	return map->origin != NULL ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status run_list(void *context, struct ctx_err *err)
{
	struct ctx_source_map *map = context;

	return ctx_dwarf_units_list(&map->units, &map->reader, err);
}

static enum ctx_status list_units(struct ctx_source_map *map, const char *origin, struct ctx_err *err)
{
	enum ctx_status status;

	map->reader.file = &map->file;
	ctx_dwarf_bounds_init(&map->reader.bounds, map->file.debug_bytes);
	map->reader.scope_steps_left = map->file.debug_bytes + STEPS_EXTRA;
	map->reader.text_left = map->file.debug_bytes * TEXT_FACTOR + TEXT_EXTRA;
	status = ctx_dwarf_file_run(&map->file, run_list, map, err);
	if (status != CTX_OK)
		return status;
	if (map->units.n == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "no compilation units");
	map->usable = true;
	map->origin = ctx_arena_strdup(&map->arena, origin);
	return map->origin != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* A defective file gives an empty map; lack of memory is a failure. */
static enum ctx_status finish(struct ctx_source_map **map, enum ctx_status opened, const char *origin,
			      struct ctx_source_map **ret, struct ctx_err *err)
{
	struct ctx_err damage = {0};
	enum ctx_status status = opened;

	if (status == CTX_OK)
		status = list_units(*map, origin, &damage);
	else if (err != NULL)
		damage = *err;
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		status = set_reason(*map, damage.msg, err);
	if (status != CTX_OK)
		return status;
	*ret = *map;
	*map = NULL;
	return CTX_OK;
}

enum ctx_status ctx_source_map_open(const struct ctx_file_request *request, struct ctx_source_map **ret,
				    struct ctx_err *err)
{
	struct ctx_source_map *map CTX_CLEANUP(map_cleanup) = create_map();
	struct ctx_found_file found CTX_CLEANUP(ctx_found_file_deinit) = {0};
	struct ctx_err why = {0};
	enum ctx_status status;

	if (map == NULL)
		return ctx_err_nomem(err);
	status = ctx_debug_files_dwarf(request, &found, &why);
	if (status == CTX_OK && found.path != NULL)
		status = ctx_dwarf_file_open_path(&map->file, found.path, request, &why);
	else if (status == CTX_OK)
		status = ctx_dwarf_file_open_image(&map->file, &found.bytes, request, &why);
	status = finish(&map, status, found.origin, ret, &why);
	if (status != CTX_OK && err != NULL)
		*err = why;
	return status;
}

enum ctx_status ctx_source_map_open_bytes(const void *bytes, size_t n, struct ctx_source_map **ret,
					  struct ctx_err *err)
{
	struct ctx_source_map *map CTX_CLEANUP(map_cleanup) = create_map();
	struct ctx_buf image CTX_AUTO_BUF = {0};
	struct ctx_err why = {0};
	enum ctx_status status;

	if (map == NULL)
		return ctx_err_nomem(err);
	if (n != 0)
		ctx_buf_put(&image, bytes, n);
	status = ctx_buf_check(&image, &why);
	if (status == CTX_OK)
		status = ctx_dwarf_file_open_image(&map->file, &image, NULL, &why);
	status = finish(&map, status, "memory", ret, &why);
	if (status != CTX_OK && err != NULL)
		*err = why;
	return status;
}

/* The readable form of a name, created at the first call for it. */
static enum ctx_status read_name(struct ctx_source_map *map, uint32_t id, struct ctx_source_frame *frame,
				 struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	const char *name = ctx_strtab_get(&map->reader.strings, id);

	if (id >= map->readable_n) {
		size_t n = map->reader.strings.n;
		enum ctx_status status = ctx_grow(&map->readable, &map->readable_cap, n, err);

		if (status != CTX_OK)
			return status;
		memset(map->readable + map->readable_n, 0, (n - map->readable_n) * sizeof(*map->readable));
		map->readable_n = n;
	}
	if (map->readable[id] == NULL && ctx_demangle(name, &text))
		map->readable[id] = ctx_arena_strndup(&map->arena, (const char *)text.bytes, text.n);
	else if (map->readable[id] == NULL && !text.failed)
		map->readable[id] = name;
	if (map->readable[id] == NULL)
		return ctx_err_nomem(err);
	frame->function = map->readable[id];
	frame->linkage_name = name;
	return CTX_OK;
}

static const char *file_name(const struct ctx_source_map *map, uint32_t id)
{
	return id != CTX_DWARF_NONE ? ctx_strtab_get(&map->reader.strings, id) : NULL;
}

/* NULL if there is no line. */
static const struct ctx_dwarf_row *row_at(const struct ctx_dwarf_unit *unit, uint64_t address)
{
	size_t i = ctx_dwarf_unit_rows_until(unit, address);

	return i > 0 && unit->rows[i - 1].file != CTX_DWARF_NONE ? &unit->rows[i - 1] : NULL;
}

static size_t count_frames(const struct ctx_dwarf_unit *unit, uint32_t node)
{
	size_t n = 0;

	for (; node != CTX_DWARF_NONE; node = unit->nodes[node].parent)
		n++;
	return n;
}

enum ctx_status ctx_source_map_find(struct ctx_source_map *map, uint64_t address,
				    struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX], size_t *ret_n,
				    struct ctx_err *err)
{
	struct ctx_source_frame place = {0};
	struct ctx_dwarf_found found = {0};
	const struct ctx_dwarf_unit *unit;
	const struct ctx_dwarf_row *row;
	enum ctx_status status = CTX_OK;
	uint32_t node;
	size_t depth, n = 0;

	if (map->usable)
		status = ctx_dwarf_units_find(&map->units, &map->reader, address, &found, err);
	unit = found.unit;
	if (status != CTX_OK || unit == NULL) {
		*ret_n = 0;
		return status;
	}
	row = row_at(unit, address);
	if (row != NULL)
		place = (struct ctx_source_frame){.file = file_name(map, row->file), .line = row->line};
	node = ctx_rangemap_find(&unit->places, address, NULL);
	depth = count_frames(unit, node);
	for (; node != CTX_DWARF_NONE; node = unit->nodes[node].parent, depth--) {
		const struct ctx_dwarf_node *at = &unit->nodes[node];

		if (depth <= CTX_SOURCE_FRAMES_MAX) {
			if (at->parent != CTX_DWARF_NONE)
				status = read_name(map, at->name, &place, err);
			if (status != CTX_OK)
				return status;
			frames[n++] = place;
		}
		place = (struct ctx_source_frame){.file = file_name(map, at->call_file),
						  .line = at->call_line};
	}
	/* Code outside all functions, for instance written in assembly language. */
	if (n == 0 && row != NULL)
		frames[n++] = place;
	*ret_n = n;
	return CTX_OK;
}

struct giving {
	struct ctx_source_map *map;
	ctx_source_line_fn each;
	void *context;
	struct ctx_source_line last; /* emitted last; address UINT64_MAX: nothing yet */
};

static enum ctx_status give(struct giving *giving, uint64_t address, const struct ctx_dwarf_row *row,
			    struct ctx_err *err)
{
	struct ctx_source_line line = {.address = address};

	if (row != NULL && row->file != CTX_DWARF_NONE && row->line != 0) {
		line.file = file_name(giving->map, row->file);
		line.line = row->line;
	}
	if (giving->last.address != UINT64_MAX && line.file == giving->last.file &&
	    line.line == giving->last.line)
		return CTX_OK;
	giving->last = line;
	return giving->each(giving->context, &line, err);
}

/* The rows of one unit in [begin, end). */
static enum ctx_status give_unit(struct giving *giving, const struct ctx_dwarf_unit *unit, uint64_t begin,
				 uint64_t end, struct ctx_err *err)
{
	size_t i = unit != NULL ? ctx_dwarf_unit_rows_until(unit, begin) : 0;
	enum ctx_status status = give(giving, begin, i > 0 ? &unit->rows[i - 1] : NULL, err);

	if (unit == NULL)
		return status;
	for (; i < unit->row_n && unit->rows[i].address < end && status == CTX_OK; i++)
		status = give(giving, unit->rows[i].address, &unit->rows[i], err);
	return status;
}

enum ctx_status ctx_source_map_lines(struct ctx_source_map *map, struct ctx_source_range range,
				     ctx_source_line_fn each, void *context, struct ctx_err *err)
{
	struct giving giving = {
		.map = map, .each = each, .context = context, .last = {.address = UINT64_MAX}};
	enum ctx_status status = CTX_OK;

	while (range.begin < range.end && status == CTX_OK) {
		struct ctx_dwarf_found found = {.end = range.end};

		if (map->usable)
			status = ctx_dwarf_units_find(&map->units, &map->reader, range.begin, &found, err);
		if (found.end > range.end)
			found.end = range.end;
		if (status == CTX_OK)
			status = give_unit(&giving, found.unit, range.begin, found.end, err);
		range.begin = found.end;
	}
	return status;
}
