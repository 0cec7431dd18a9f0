#include "formats/export/pprof_locations.h"

#include "base/map64.h"
#include "base/mem.h"
#include "formats/export/pprof_places.h"

#include <profile.pb-c.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 512u /* of a location */

/* What a mapping's locations have. */
struct known {
	bool files, inlines;
};

struct writing {
	struct ctx_pprof_locations *locations;
	struct ctx_pprof_file *file;
	struct ctx_pprof_places places;	  /* owned */
	struct ctx_pprof_extent *extents; /* owned; by object */
	struct known *known;		  /* owned; by object */
	uint64_t *piece_ids;		  /* owned; by piece: number of its mapping, 0 none */
	uint64_t *object_ids;		  /* owned; by object: number of its first mapping, 0 none */
	uint64_t n_mappings;
	uint32_t *home;		      /* owned; by function: its own file; CTX_NONE */
	uint32_t *start;	      /* owned; by function: its first line; 0 unknown */
	struct ctx_map64 function_of; /* owned; function << 32 | file: its number - 1 */
	uint64_t *functions;	      /* owned; those keys by number - 1 */
	size_t n_functions, functions_cap;
};

enum ctx_status ctx_pprof_locations_init(struct ctx_pprof_locations *locations,
					 const struct ctx_export_input *input,
					 const struct ctx_report_code *code,
					 const struct ctx_export_names *names, struct ctx_err *err)
{
	size_t n_addresses = code->code != NULL ? code->code->n_locations : 0;
	size_t n = n_addresses + input->profile->n_functions + 1;

	*locations = (struct ctx_pprof_locations){.input = input, .code = *code, .names = names};
	if (n >= UINT32_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "too many locations");
	locations->n_addresses = (uint32_t)n_addresses;
	locations->number_of = ctx_calloc(n, sizeof(*locations->number_of));
	locations->used = ctx_calloc(n, sizeof(*locations->used));
	return locations->number_of != NULL && locations->used != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_pprof_locations_deinit(struct ctx_pprof_locations *locations)
{
	free(locations->number_of);
	free(locations->used);
	*locations = (struct ctx_pprof_locations){0};
}

uint64_t ctx_pprof_location_of_address(struct ctx_pprof_locations *locations, uint32_t location)
{
	if (locations->number_of[location] == 0) {
		locations->used[locations->n++] = location;
		locations->number_of[location] = locations->n;
	}
	return locations->number_of[location];
}

uint64_t ctx_pprof_location_of_function(struct ctx_pprof_locations *locations, uint32_t function)
{
	return ctx_pprof_location_of_address(locations, locations->n_addresses + function);
}

/* The location of the code; NULL: a function alone. */
static const struct ctx_location *address_of(const struct ctx_pprof_locations *locations, uint32_t i)
{
	return locations->used[i] < locations->n_addresses
		       ? &locations->code.code->locations[locations->used[i]]
		       : NULL;
}

static uint32_t object_of(const struct ctx_pprof_locations *locations, uint32_t i)
{
	const struct ctx_profile *profile = locations->input->profile;
	const struct ctx_location *location = address_of(locations, i);
	uint32_t object, function = locations->used[i] - locations->n_addresses;

	if (location != NULL)
		object = location->object;
	else
		object = function < profile->n_functions ? profile->functions[function].object : CTX_NONE;
	return object < profile->n_objects ? object : CTX_NONE;
}

/* --- mappings --- */

static void find_extents(struct writing *writing)
{
	const struct ctx_pprof_locations *locations = writing->locations;

	for (uint32_t i = 0; i < locations->n; i++) {
		const struct ctx_location *location = address_of(locations, i);
		uint32_t object = object_of(locations, i);
		struct ctx_pprof_extent *extent;

		if (location == NULL || object == CTX_NONE)
			continue;
		extent = &writing->extents[object];
		if (!extent->any || location->address < extent->low)
			extent->low = location->address;
		if (!extent->any || location->address > extent->high)
			extent->high = location->address;
		extent->any = true;
	}
}

/* Whether lines and inlined calls are known of an object: readers then do not look for them. */
static void find_known(struct writing *writing)
{
	const struct ctx_pprof_locations *locations = writing->locations;

	for (uint32_t i = 0; i < locations->n; i++) {
		const struct ctx_location *location = address_of(locations, i);
		uint32_t object = object_of(locations, i);
		const struct ctx_site *site;

		if (location == NULL || object == CTX_NONE || location->site == CTX_NONE)
			continue;
		site = &locations->code.code->sites[location->site];
		writing->known[object].files |= site->file != CTX_NONE;
		writing->known[object].inlines |= site->caller != CTX_NONE;
	}
}

/* `piece` NULL: the object has no addresses. */
static enum ctx_status put_mapping(struct writing *writing, uint32_t object,
				   const struct ctx_pprof_piece *piece, struct ctx_err *err)
{
	const struct ctx_object_info *info = &writing->locations->input->profile->objects[object];
	Pprof__Profile message = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT;
	Pprof__Mapping *mappings = &mapping;
	enum ctx_status status = ctx_pprof_file_string(writing->file, info->path, &mapping.filename, err);

	if (status == CTX_OK)
		status = ctx_pprof_file_string(writing->file, info->build_id, &mapping.build_id, err);
	mapping.id = ++writing->n_mappings;
	if (piece != NULL) {
		mapping.memory_start = piece->begin + piece->bias;
		mapping.memory_limit = piece->end + piece->bias;
		mapping.file_offset = piece->file_offset;
		writing->piece_ids[piece - writing->places.pieces] = mapping.id;
	}
	if (writing->object_ids[object] == 0)
		writing->object_ids[object] = mapping.id;
	mapping.has_functions = true; /* otherwise readers look for symbols themselves */
	mapping.has_filenames = mapping.has_line_numbers = writing->known[object].files;
	mapping.has_inline_frames = writing->known[object].inlines;
	message.mapping = &mappings;
	message.n_mapping = 1;
	return status == CTX_OK ? ctx_pprof_file_put(writing->file, &message, err) : status;
}

static const struct ctx_pprof_piece *piece_of(const struct writing *writing, uint32_t i)
{
	const struct ctx_location *location = address_of(writing->locations, i);
	uint32_t object = object_of(writing->locations, i);

	return location != NULL && object != CTX_NONE
		       ? ctx_pprof_places_find(&writing->places, object, location->address)
		       : NULL;
}

/* The mappings of locations that are in pieces (or not), of one object or of all (CTX_NONE). */
static enum ctx_status put_mappings(struct writing *writing, uint32_t only, bool in_pieces,
				    struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < writing->locations->n && status == CTX_OK; i++) {
		uint32_t object = object_of(writing->locations, i);
		const struct ctx_pprof_piece *piece;

		if (object == CTX_NONE || (only != CTX_NONE && object != only))
			continue;
		piece = piece_of(writing, i);
		if (in_pieces ? piece != NULL && writing->piece_ids[piece - writing->places.pieces] == 0
			      : writing->object_ids[object] == 0)
			status = put_mapping(writing, object, piece, err);
	}
	return status;
}

static enum ctx_status put_all_mappings(struct writing *writing, uint32_t program, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (program != CTX_NONE)
		status = put_mappings(writing, program, true, err);
	if (status == CTX_OK && program != CTX_NONE)
		status = put_mappings(writing, program, false, err);
	if (status == CTX_OK)
		status = put_mappings(writing, CTX_NONE, true, err);
	return status == CTX_OK ? put_mappings(writing, CTX_NONE, false, err) : status;
}

/* --- functions --- */

static uint32_t file_of(const struct ctx_code *code, uint32_t file)
{
	return file < code->n_files ? file : CTX_NONE;
}

/* The file and the line of a function's first instruction, where the database has its code. */
static enum ctx_status find_start(struct writing *writing, uint32_t function, struct ctx_err *err)
{
	const struct ctx_code_reader *reader = writing->locations->code.reader;
	const struct ctx_code *code = writing->locations->code.code;
	const struct ctx_function_code *parts;
	size_t n;
	enum ctx_status status;

	if (reader == NULL || reader->code == NULL)
		return CTX_OK;
	status = reader->code(reader->context, function, &parts, &n, err);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		const struct ctx_line_row *row = parts[i].lines;

		if (parts[i].address != writing->locations->input->profile->functions[function].offset ||
		    parts[i].n_lines == 0 || row->address > parts[i].address || row->line == 0)
			continue;
		writing->home[function] = file_of(code, row->file);
		writing->start[function] = row->line;
	}
	return status;
}

/* The own file of each function: where it begins, else of the first line that is known. */
static enum ctx_status find_homes(struct writing *writing, struct ctx_err *err)
{
	const struct ctx_pprof_locations *locations = writing->locations;
	const struct ctx_profile *profile = locations->input->profile;
	const struct ctx_code *code = locations->code.code;
	bool *seen CTX_AUTO_FREE = ctx_calloc(profile->n_functions, sizeof(*seen));
	enum ctx_status status = CTX_OK;

	if (seen == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_functions; i++)
		writing->home[i] = CTX_NONE;
	for (uint32_t i = 0; i < locations->n && status == CTX_OK; i++) {
		const struct ctx_location *location = address_of(locations, i);
		uint32_t at = location != NULL ? location->site : CTX_NONE;

		for (; at != CTX_NONE && status == CTX_OK; at = code->sites[at].caller) {
			const struct ctx_site *site = &code->sites[at];

			if (!seen[site->function] && !profile->functions[site->function].inlined)
				status = find_start(writing, site->function, err);
			seen[site->function] = true;
			if (writing->home[site->function] == CTX_NONE)
				writing->home[site->function] = file_of(code, site->file);
		}
	}
	return status;
}

static enum ctx_status function_number(struct writing *writing, uint32_t function, uint32_t file,
				       uint64_t *ret, struct ctx_err *err)
{
	uint64_t key = (uint64_t)function << 32 | file;
	uint32_t *place = ctx_map64_place(&writing->function_of, key);

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		if (ctx_grow(&writing->functions, &writing->functions_cap, writing->n_functions + 1, err) !=
		    CTX_OK)
			return CTX_E_NOMEM;
		*place = (uint32_t)writing->n_functions;
		writing->functions[writing->n_functions++] = key;
	}
	*ret = (uint64_t)*place + 1;
	return CTX_OK;
}

/*
 * Written only if it differs from the name: if both are equal, readers assume a mangled name,
 * demangle it and strip template arguments, which would leave only the end of "<Unknown>
 * [libc.so.6]".
 */
static enum ctx_status put_system_name(struct writing *writing, const struct ctx_function_info *info,
				       int64_t *ret, struct ctx_err *err)
{
	if (strcmp(info->linkage_name, info->name) == 0)
		return CTX_OK;
	return ctx_pprof_file_string(writing->file, info->linkage_name, ret, err);
}

static enum ctx_status put_function(struct writing *writing, size_t i, struct ctx_err *err)
{
	const struct ctx_pprof_locations *locations = writing->locations;
	const struct ctx_profile *profile = locations->input->profile;
	uint32_t function = (uint32_t)(writing->functions[i] >> 32), file = (uint32_t)writing->functions[i];
	Pprof__Profile message = PPROF__PROFILE__INIT;
	Pprof__Function it = PPROF__FUNCTION__INIT;
	Pprof__Function *functions = &it;
	enum ctx_status status = ctx_pprof_file_string(
		writing->file, ctx_export_names_get(locations->names, function), &it.name, err);

	if (status == CTX_OK && function < profile->n_functions)
		status = put_system_name(writing, &profile->functions[function], &it.system_name, err);
	if (status == CTX_OK && file != CTX_NONE) {
		status = ctx_pprof_file_string(writing->file, locations->code.code->files[file].path,
					       &it.filename, err);
		if (file == writing->home[function])
			it.start_line = writing->start[function];
	}
	it.id = i + 1;
	message.function = &functions;
	message.n_function = 1;
	return status == CTX_OK ? ctx_pprof_file_put(writing->file, &message, err) : status;
}

/* --- locations --- */

/* A function's line in a file; without a file it is somewhere in the function. */
static enum ctx_status find_line(struct writing *writing, const struct ctx_site *site, Pprof__Line *ret,
				 struct ctx_err *err)
{
	const struct ctx_pprof_locations *locations = writing->locations;
	uint32_t file = locations->code.code != NULL ? file_of(locations->code.code, site->file) : CTX_NONE;

	pprof__line__init(ret);
	if (file != CTX_NONE)
		ret->line = site->line;
	else if (site->function < locations->input->profile->n_functions)
		file = writing->home[site->function];
	return function_number(writing, site->function, file, &ret->function_id, err);
}

static enum ctx_status find_lines(struct writing *writing, uint32_t i, Pprof__Line *lines, size_t *n,
				  struct ctx_err *err)
{
	const struct ctx_pprof_locations *locations = writing->locations;
	const struct ctx_location *location = address_of(locations, i);
	struct ctx_site alone = {.file = CTX_NONE};
	enum ctx_status status = CTX_OK;
	uint32_t at;

	*n = 1;
	alone.function = location != NULL ? location->function : locations->used[i] - locations->n_addresses;
	if (location == NULL || location->site == CTX_NONE)
		return find_line(writing, &alone, &lines[0], err);
	*n = 0;
	for (at = location->site; at != CTX_NONE && status == CTX_OK;
	     at = locations->code.code->sites[at].caller) {
		if (*n == LINES_MAX)
			return ctx_err_set(err, CTX_E_LIMIT, "more than %u inlined calls at one address",
					   LINES_MAX);
		status = find_line(writing, &locations->code.code->sites[at], &lines[(*n)++], err);
	}
	return status;
}

static enum ctx_status put_location(struct writing *writing, uint32_t i, struct ctx_err *err)
{
	const struct ctx_location *at = address_of(writing->locations, i);
	const struct ctx_pprof_piece *piece = piece_of(writing, i);
	uint32_t object = object_of(writing->locations, i);
	Pprof__Profile message = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT;
	Pprof__Location *locations = &location;
	Pprof__Line lines[LINES_MAX], *line[LINES_MAX];
	enum ctx_status status = find_lines(writing, i, lines, &location.n_line, err);

	for (size_t k = 0; k < location.n_line; k++)
		line[k] = &lines[k];
	location.id = i + 1u;
	location.line = line;
	if (piece != NULL) {
		location.mapping_id = writing->piece_ids[piece - writing->places.pieces];
		location.address = at->address + piece->bias;
	} else if (object != CTX_NONE) {
		location.mapping_id = writing->object_ids[object];
	}
	message.location = &locations;
	message.n_location = 1;
	return status == CTX_OK ? ctx_pprof_file_put(writing->file, &message, err) : status;
}

/* --- all of it --- */

static void writing_deinit(struct writing *writing)
{
	ctx_pprof_places_deinit(&writing->places);
	ctx_map64_deinit(&writing->function_of);
	free(writing->extents);
	free(writing->known);
	free(writing->piece_ids);
	free(writing->object_ids);
	free(writing->home);
	free(writing->start);
	free(writing->functions);
}

static enum ctx_status prepare(struct writing *writing, uint32_t program, struct ctx_err *err)
{
	const struct ctx_export_input *input = writing->locations->input;
	size_t n_objects = input->profile->n_objects, n_functions = input->profile->n_functions;
	enum ctx_status status;

	writing->extents = ctx_calloc(n_objects, sizeof(*writing->extents));
	writing->known = ctx_calloc(n_objects, sizeof(*writing->known));
	writing->object_ids = ctx_calloc(n_objects, sizeof(*writing->object_ids));
	writing->home = ctx_calloc(n_functions, sizeof(*writing->home));
	writing->start = ctx_calloc(n_functions, sizeof(*writing->start));
	if (writing->extents == NULL || writing->known == NULL || writing->object_ids == NULL ||
	    writing->home == NULL || writing->start == NULL)
		return ctx_err_nomem(err);
	find_extents(writing);
	find_known(writing);
	status = find_homes(writing, err);
	if (status == CTX_OK && writing->locations->code.code != NULL)
		status = ctx_pprof_places_init(&writing->places, input, writing->extents, program, err);
	if (status != CTX_OK)
		return status;
	writing->piece_ids = ctx_calloc(writing->places.n, sizeof(*writing->piece_ids));
	return writing->piece_ids != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_pprof_locations_write(struct ctx_pprof_locations *locations, uint32_t program,
					  struct ctx_pprof_file *file, struct ctx_err *err)
{
	struct writing writing = {.locations = locations, .file = file};
	enum ctx_status status = prepare(&writing, program, err);

	if (status == CTX_OK)
		status = put_all_mappings(&writing, program, err);
	for (uint32_t i = 0; i < locations->n && status == CTX_OK; i++)
		status = put_location(&writing, i, err);
	for (size_t i = 0; i < writing.n_functions && status == CTX_OK; i++)
		status = put_function(&writing, i, err);
	writing_deinit(&writing);
	return status;
}
