#include "symbols/source_files.h"

#include "base/mem.h"
#include "base/strtab.h"
#include "elf/debug_files.h"
#include "symbols/source_map.h"

#include <string.h>

struct listing {
	struct ctx_elf_file image;
	struct ctx_source_map *map;
	struct ctx_strtab paths; /* those already returned */
	const char *last;	 /* string of the last row, in the map */
	ctx_source_file_fn each;
	void *context;
};

static void listing_deinit(struct listing *listing)
{
	ctx_source_map_close(listing->map);
	ctx_elf_close(&listing->image);
	ctx_strtab_deinit(&listing->paths);
}

/* Relative paths cannot be resolved: the unit has no compilation directory. */
static enum ctx_status take_line(void *context, const struct ctx_source_line *line, struct ctx_err *err)
{
	struct listing *listing = context;
	size_t before = listing->paths.n;
	enum ctx_status status;
	uint32_t id;

	if (line->file == NULL || line->file == listing->last || line->file[0] != '/')
		return CTX_OK;
	listing->last = line->file;
	status = ctx_strtab_add_text(&listing->paths, line->file, &id, err);
	if (status != CTX_OK || listing->paths.n == before)
		return status;
	return listing->each(listing->context, line->file, err);
}

static enum ctx_status take_places(struct listing *listing, const struct ctx_source_files_request *request,
				   struct ctx_err *err)
{
	const struct ctx_elf_file *image = &listing->image;
	enum ctx_status status = CTX_OK;
	uint64_t address;

	for (size_t i = 0; i < request->n_offsets && status == CTX_OK; i++) {
		if (ctx_elf_address(image->segments, image->n_segments, request->offsets[i], &address))
			status = ctx_source_map_lines(listing->map,
						      (struct ctx_source_range){address, address + 1},
						      take_line, listing, err);
	}
	return status;
}

static enum ctx_status take_all(struct listing *listing, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < listing->image.n_sections && status == CTX_OK; i++) {
		const struct ctx_elf_section *code = &listing->image.sections[i];

		status = ctx_source_map_lines(
			listing->map, (struct ctx_source_range){code->address, code->address + code->size},
			take_line, listing, err);
	}
	return status;
}

enum ctx_status ctx_source_files(const struct ctx_source_files_request *request, ctx_source_file_fn each,
				 void *context, struct ctx_err *err)
{
	struct listing listing CTX_CLEANUP(listing_deinit) = {
		.image = {.fd = -1}, .each = each, .context = context};
	enum ctx_status status = ctx_debug_files_open_image(&request->object, &listing.image, err);

	if (status == CTX_OK)
		status = ctx_source_map_open(&request->object, &listing.map, err);
	if (status != CTX_OK)
		return status;
	if (strncmp(ctx_source_map_origin(listing.map), "none: ", 6) == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s", ctx_source_map_origin(listing.map));
	return request->all ? take_all(&listing, err) : take_places(&listing, request, err);
}
