#include "formats/export/gprofng_objects.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "formats/export/export_stack.h"
#include "formats/export/gprofng_elf.h"
#include "formats/gprofng/gp_archive.h"
#include "formats/gprofng/gp_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_MAX_BYTES 200u /* limit for the last part of a path: the name of the archived file is longer */
/* largest distance between two samples of a symbol, and margin around them */
#define BEYOND ((uint64_t)1 << 20)
#define FILE_MAX_BYTES ((size_t)1 << 30) /* size limit of a copied file */
#define MACHINE_X86_64 62u
#define MACHINE_AARCH64 183u

/* Symbols */

struct spot { /* an address that samples have */
	uint64_t address;
	uint32_t object;
	uint32_t function;
};

static int by_address(const void *a, const void *b)
{
	const struct spot *left = a, *right = b;

	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->function > right->function) - (left->function < right->function);
}

static enum ctx_status collect_spots(const struct ctx_gpx_stacks *stacks, struct spot **ret, size_t *ret_n,
				     struct ctx_err *err)
{
	struct spot *spots = ctx_calloc(stacks->n_places, sizeof(*spots));
	size_t n = 0;

	if (spots == NULL)
		return ctx_err_nomem(err);
	for (uint32_t place = 0; place < stacks->n_places; place++) {
		struct ctx_gpx_frame frame;

		if (!stacks->used[place])
			continue;
		frame = ctx_gpx_frame(stacks, place);
		if (frame.kind == CTX_GPX_FRAME_CODE)
			spots[n++] = (struct spot){frame.address, frame.object, frame.function};
	}
	if (n != 0)
		qsort(spots, n, sizeof(*spots), by_address);
	*ret = spots;
	*ret_n = n;
	return CTX_OK;
}

/*
 * The range from the first to the last spot of a function, extended to its begin and end if these
 * are near and no other function is in between.
 */
static struct ctx_gpx_symbol symbol_of(const struct ctx_profile *profile, const struct spot *first,
				       const struct spot *last, uint64_t floor, uint64_t ceiling)
{
	const struct ctx_function_info *info =
		first->function < profile->n_functions ? &profile->functions[first->function] : NULL;
	struct ctx_gpx_symbol symbol = {first->address, last->address, first->function};

	symbol.end += last->address < ceiling;
	if (info == NULL || info->kind == CTX_FUNCTION_UNKNOWN || first->object >= profile->n_objects)
		return symbol;
	if (info->offset <= first->address && first->address - info->offset < info->size &&
	    first->address - info->offset <= BEYOND)
		symbol.begin = info->offset > floor ? info->offset : floor;
	if (info->offset <= last->address && last->address - info->offset < info->size) {
		uint64_t rest = info->size - (last->address - info->offset);

		rest = rest < BEYOND ? rest : BEYOND;
		symbol.end = rest < ceiling - last->address ? last->address + rest : ceiling;
	}
	return symbol;
}

static enum ctx_status add_symbols(struct ctx_gpx_object *object, const struct ctx_profile *profile,
				   const struct spot *spots, size_t n, struct ctx_err *err)
{
	for (size_t i = 0, next; i < n; i = next) {
		uint64_t floor = object->n_symbols != 0 ? object->symbols[object->n_symbols - 1].end : 0;
		size_t last = i;

		/* An address has one function: a second one at the same address is dropped. */
		for (next = i + 1; next < n; next++) {
			if (spots[next].address == spots[last].address)
				continue;
			if (spots[next].function != spots[i].function ||
			    spots[next].address - spots[last].address > BEYOND)
				break;
			last = next;
		}
		if (ctx_grow(&object->symbols, &object->symbols_cap, object->n_symbols + 1, err) != CTX_OK)
			return CTX_E_NOMEM;
		object->symbols[object->n_symbols++] = symbol_of(profile, &spots[i], &spots[last], floor,
								 next < n ? spots[next].address : UINT64_MAX);
	}
	return CTX_OK;
}

/* Names */

/*
 * gprofng identifies an object by its path alone and gives some characters a meaning: a path must
 * not be in angle brackets, nor have a backquote (a part of another object).
 */
static void put_object_name(struct ctx_buf *name, const char *path)
{
	size_t base;

	ctx_buf_clear(name);
	ctx_export_put_text(name, path[0] != '\0' ? path : "[no name]");
	for (size_t i = 0; i < name->n; i++) {
		if (name->bytes[i] == '`' || (i == 0 && name->bytes[i] == '<'))
			name->bytes[i] = '_';
	}
	for (base = name->n; base > 0 && name->bytes[base - 1] != '/'; base--)
		;
	if (base == name->n)
		ctx_buf_put_text(name, "[directory]");
	if (name->n - base <= NAME_MAX_BYTES)
		return;
	name->n = base + NAME_MAX_BYTES;
	while (name->n > base && (name->bytes[name->n] & 0xc0) == 0x80) /* not in the middle of a character */
		name->n--;
}

static enum ctx_status name_object(struct ctx_gpx_objects *objects, struct ctx_gpx_object *object,
				   const char *path, struct ctx_strtab *taken, struct ctx_err *err)
{
	struct ctx_buf name = {0};
	size_t plain;
	uint32_t id;
	enum ctx_status status;

	put_object_name(&name, path);
	plain = name.n;
	for (unsigned turn = 2; ctx_strtab_find(taken, (const char *)name.bytes, name.n) != UINT32_MAX;
	     turn++) {
		name.n = plain;
		ctx_buf_printf(&name, " (%u)", turn);
	}
	status = ctx_buf_check(&name, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(taken, (const char *)name.bytes, name.n, &id, err);
	if (status == CTX_OK)
		object->name = ctx_arena_strndup(&objects->arena, (const char *)name.bytes, name.n);
	ctx_buf_deinit(&name);
	return status == CTX_OK && object->name == NULL ? ctx_err_nomem(err) : status;
}

/* Files */

static uint16_t machine_of(const struct ctx_profile *profile)
{
	const char *arch = ctx_profile_property(profile, "arch", "");

	return strcmp(arch, "aarch64") == 0 ? MACHINE_AARCH64 : MACHINE_X86_64;
}

static enum ctx_status write_object(struct ctx_gpx_objects *objects, uint32_t id,
				    const struct ctx_export_input *input, const char *directory,
				    struct ctx_err *err)
{
	struct ctx_gpx_object *object = &objects->items[id];
	bool is_real = id < input->profile->n_objects;
	struct ctx_gpx_elf elf = {.input = input,
				  .object = object,
				  .build_id = is_real ? input->profile->objects[id].build_id : "",
				  .machine = machine_of(input->profile)};
	char name[CTX_GP_ARCHIVE_NAME];
	char *path CTX_AUTO_FREE = NULL;
	struct ctx_buf image = {0};
	enum ctx_status status = CTX_END;

	ctx_gp_archive_name(object->name, name);
	path = ctx_path_join(directory, name);
	if (path == NULL)
		return ctx_err_nomem(err);
	if (is_real && input->source->object_file != NULL) {
		status = input->source->object_file(input->source, id, &image, err);
		if (status == CTX_OK && image.n <= FILE_MAX_BYTES)
			status = ctx_gpx_elf_copy(&elf, &image, path, err);
		else if (status == CTX_OK || status == CTX_E_NOTFOUND)
			status = CTX_END;
	}
	ctx_buf_deinit(&image);
	object->is_copy = status == CTX_OK;
	if (status == CTX_END)
		status = ctx_gpx_elf_make(&elf, path, err);
	objects->n_copies += object->is_copy;
	objects->n_made += !object->is_copy;
	return status;
}

static const char *path_of(const struct ctx_profile *profile, uint32_t id)
{
	if (id < profile->n_objects)
		return profile->objects[id].path;
	return id - profile->n_objects == CTX_GPX_TRUNCATIONS ? CTX_GP_TRUNCATIONS : "[marks]";
}

struct spots {
	const struct spot *items; /* by object */
	size_t n;
};

static enum ctx_status make_objects(struct ctx_gpx_objects *objects, const struct ctx_gpx_stacks *stacks,
				    const char *directory, struct spots spots, struct ctx_err *err)
{
	const struct ctx_profile *profile = stacks->input->profile;
	struct ctx_strtab taken = {0};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0, next; i < spots.n && status == CTX_OK; i = next) {
		uint32_t id = spots.items[i].object;
		struct ctx_gpx_object *object = &objects->items[id];

		for (next = i; next < spots.n && spots.items[next].object == id; next++)
			;
		status = name_object(objects, object, path_of(profile, id), &taken, err);
		if (status == CTX_OK)
			status = add_symbols(object, profile, &spots.items[i], next - i, err);
		if (status == CTX_OK)
			status = write_object(objects, id, stacks->input, directory, err);
	}
	ctx_strtab_deinit(&taken);
	return status;
}

enum ctx_status ctx_gpx_objects_init(struct ctx_gpx_objects *objects, const struct ctx_gpx_stacks *stacks,
				     const char *directory, struct ctx_err *err)
{
	struct spot *spots CTX_AUTO_FREE = NULL;
	size_t n = 0;
	enum ctx_status status;

	*objects = (struct ctx_gpx_objects){.n = stacks->input->profile->n_objects + CTX_GPX_OBJECTS_MORE};
	objects->items = ctx_calloc(objects->n, sizeof(*objects->items));
	if (objects->items == NULL)
		return ctx_err_nomem(err);
	if (mkdir(directory, 0777) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", directory);
	status = collect_spots(stacks, &spots, &n, err);
	if (status == CTX_OK)
		status = make_objects(objects, stacks, directory, (struct spots){spots, n}, err);
	return status;
}

void ctx_gpx_objects_deinit(struct ctx_gpx_objects *objects)
{
	for (uint32_t i = 0; objects->items != NULL && i < objects->n; i++) {
		free(objects->items[i].symbols);
		free(objects->items[i].segments);
	}
	free(objects->items);
	ctx_arena_deinit(&objects->arena);
	*objects = (struct ctx_gpx_objects){0};
}
