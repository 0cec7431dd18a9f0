/*
 *	object --- symtab (opened at the first look-up)
 *	   |         |
 *	   |         `-- symbol index -> function id   (by_symbol)
 *	   `------------ file offset  -> location id   (by_offset)
 *
 *	object of JIT functions (no symtab): file offset = number of the function << 32 | offset in it
 *
 *	absolute addresses: kernel symbol -> function id, address -> location id; one object for the kernel, one for each of its modules
 */
#include "ingest/resolver.h"
#include "ingest/resolver_impl.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "elf/elf_file.h"
#include "ingest/symbol_caches.h"
#include "model/jit_code.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define PARTS_BYTES_MAX 4096

enum ctx_status ctx_resolver_create(const struct ctx_resolver_options *options, struct ctx_arena *arena,
				    struct ctx_resolver **ret, struct ctx_err *err)
{
	struct ctx_resolver *resolver = ctx_calloc(1, sizeof(*resolver));
	enum ctx_status status;
	uint32_t id;

	if (resolver == NULL)
		return ctx_err_nomem(err);
	resolver->options = *options;
	resolver->arena = arena;
	resolver->kernel.origin = "none: no kallsyms in the experiment";
	memset(resolver->marks.truncated, 0xff, sizeof(resolver->marks.truncated));
	resolver->marks.gap = resolver->marks.exec = resolver->marks.pruned = resolver->marks.lost = CTX_NONE;
	status = ctx_resolver_add_artificial(
		resolver, (struct ctx_resolver_artificial){"<Unknown>", CTX_FUNCTION_UNKNOWN, CTX_NONE}, &id,
		err);
	if (status == CTX_OK)
		status = ctx_resolver_add_artificial(resolver,
						     (struct ctx_resolver_artificial){"<Truncated-stack>",
										      CTX_FUNCTION_TRUNCATED,
										      CTX_NONE},
						     &id, err);
	if (status != CTX_OK) {
		ctx_resolver_destroy(resolver);
		return status;
	}
	resolver->marks.truncated[CTX_TRUNCATED_UNKNOWN] = CTX_FUNCTION_ID_TRUNCATED;
	*ret = resolver;
	return CTX_OK;
}

static void close_image(struct ctx_resolver_object *object)
{
	if (object->image != NULL)
		ctx_elf_close(object->image);
	free(object->image);
}

void ctx_resolver_destroy(struct ctx_resolver *resolver)
{
	if (resolver == NULL)
		return;
	for (size_t i = 0; i < resolver->n_objects; i++) {
		ctx_symtab_close(resolver->objects[i].symtab);
		ctx_source_map_close(resolver->objects[i].source_map);
		ctx_map64_deinit(&resolver->objects[i].by_offset);
		close_image(&resolver->objects[i]);
		ctx_map64_deinit(&resolver->objects[i].unknown_pages);
		free(resolver->objects[i].by_symbol);
		ctx_map64_deinit(&resolver->objects[i].dynamic_by_offset);
		free(resolver->objects[i].dynamic);
	}
	ctx_symtab_close(resolver->kernel.symtab);
	ctx_map64_deinit(&resolver->by_address);
	ctx_map64_deinit(&resolver->by_module_address);
	ctx_strtab_deinit(&resolver->object_keys);
	ctx_resolver_sites_deinit(resolver);
	ctx_map64_deinit(&resolver->named.of_id);
	free(resolver->named.items);
	ctx_map64_deinit(&resolver->stub_of_call);
	free(resolver->objects);
	free(resolver->functions);
	free(resolver->locations);
	free(resolver->kernel.by_symbol);
	free(resolver);
}

enum ctx_status ctx_resolver_object(struct ctx_resolver *resolver, const struct ctx_map_event *map,
				    uint32_t *ret_object, struct ctx_err *err)
{
	const char *key = map->build_id[0] != '\0' ? map->build_id : map->path;

	return ctx_resolver_object_of_key(resolver, (struct ctx_resolver_key){key, strlen(key)}, map,
					  ret_object, err);
}

bool ctx_resolver_file_request(const struct ctx_resolver *resolver, uint32_t object,
			       struct ctx_file_request *ret)
{
	if (!ctx_resolver_has_file(resolver, &resolver->objects[object]))
		return false;
	*ret = ctx_resolver_request(resolver, &resolver->objects[object]);
	return true;
}

/* A recorded copy of an exported list of functions is a load object with these functions. */
static bool is_elf(const char *path)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char magic[4];
	size_t got = 0;

	return fd >= 0 &&
	       ctx_file_pread(&(struct ctx_file_place){fd, path, 0}, magic, sizeof(magic), &got, NULL) ==
		       CTX_OK &&
	       memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

static int by_path(const void *left, const void *right)
{
	const struct ctx_source_symbols *a = left;
	const struct ctx_source_symbols *b = right;

	return strcmp(a->path, b->path);
}

enum ctx_status ctx_resolver_use_recorded(struct ctx_resolver *resolver, const char *path,
					  struct ctx_symtab **symtab, struct ctx_err *err)
{
	const struct ctx_resolver_options *options = &resolver->options;
	struct ctx_source_symbols wanted = {.path = path};
	const struct ctx_source_symbols *found =
		options->n_symbols == 0 || (*symtab != NULL && ctx_symtab_count(*symtab) != 0)
			? NULL
			: bsearch(&wanted, options->symbols, options->n_symbols, sizeof(wanted), by_path);

	if (found == NULL)
		return CTX_OK;
	ctx_symtab_close(*symtab);
	*symtab = NULL;
	return ctx_symtab_open_recorded(found, symtab, err);
}

static enum ctx_status open_symtab(struct ctx_resolver *resolver, struct ctx_resolver_object *object,
				   struct ctx_err *err)
{
	struct ctx_file_request request = ctx_resolver_request(resolver, object);
	enum ctx_status status = CTX_OK;

	object->opened = true;
	if (!ctx_resolver_has_file(resolver, object))
		; /* [heap], [stack], //anon without a file: nothing to open */
	else if (ctx_jit_code_is(object->path) && object->archive[0] != '\0' && !is_elf(object->archive))
		status = ctx_symtab_open_perf_map_copy(object->archive, &object->symtab, err);
	else if (ctx_jit_code_is(object->path) && object->archive[0] == '\0')
		status =
			ctx_symtab_open_perf_map(object->path, resolver->options.symfs, &object->symtab, err);
	else
		status = ctx_symtab_open(&request, &object->symtab, err);
	if (status == CTX_OK)
		status = ctx_resolver_use_recorded(resolver, object->path, &object->symtab, err);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "symbols of %s", object->path);
	if (object->symtab == NULL)
		return CTX_OK;
	object->by_symbol = ctx_resolver_new_index(ctx_symtab_count(object->symtab));
	return object->by_symbol != NULL ? CTX_OK : ctx_err_nomem(err);
}

/*
 * Adds a further part of a function. Only a few are listed; a damaged object may have a hundred
 * thousand.
 */
static enum ctx_status add_part(struct ctx_resolver *resolver, uint32_t function, const char *part,
				struct ctx_err *err)
{
	const char *before = resolver->functions[function].parts;
	char *text CTX_AUTO_FREE = NULL;
	const char *kept;

	if (strlen(before) + strlen(part) > PARTS_BYTES_MAX && before[0] != '\0')
		return CTX_OK;
	if (asprintf(&text, "%s%s%s", before, before[0] != '\0' ? " " : "", part) < 0) {
		text = NULL;
		return ctx_err_nomem(err);
	}
	kept = ctx_arena_strdup(resolver->arena, text);
	if (kept == NULL)
		return ctx_err_nomem(err);
	resolver->functions[function].parts = kept;
	return CTX_OK;
}

enum ctx_status ctx_resolver_of_symbol(struct ctx_resolver *resolver,
				       const struct ctx_resolver_symbols *symbols, uint32_t symbol,
				       uint32_t *ret_function, struct ctx_err *err)
{
	struct ctx_function_info info = {.object = symbols->object, .kind = CTX_FUNCTION_ORDINARY};
	uint32_t *known = &symbols->by_symbol[symbol];
	struct ctx_symbol found;
	enum ctx_status status;

	if (*known != CTX_NONE) {
		*ret_function = *known;
		return CTX_OK;
	}
	status = ctx_symtab_get(symbols->symtab, symbol, &found, err);
	if (status != CTX_OK)
		return status;
	if (found.whole != symbol) {
		status = ctx_resolver_of_symbol(resolver, symbols, found.whole, ret_function, err);
		if (status == CTX_OK)
			status = add_part(resolver, *ret_function, found.linkage_name, err);
		if (status == CTX_OK)
			*known = *ret_function;
		return status;
	}
	info.name = ctx_arena_strdup(resolver->arena, found.name);
	info.linkage_name = strcmp(found.name, found.linkage_name) == 0
				    ? info.name
				    : ctx_arena_strdup(resolver->arena, found.linkage_name);
	info.aliases = ctx_arena_strdup(resolver->arena, found.aliases);
	info.parts = "";
	info.offset = found.start;
	info.size = found.size;
	if (info.name == NULL || info.linkage_name == NULL || info.aliases == NULL)
		return ctx_err_nomem(err);
	status = ctx_resolver_add_function(resolver, &info, ret_function, err);
	if (status == CTX_OK)
		*known = *ret_function;
	return status;
}

/*
 * Whether the address before this symbol stands for its first byte. A caller's address is its
 * return address less one; but code interrupted by a signal returns to the beginning of a
 * trampoline, and for an interrupt at the beginning of a kernel function the address less one is in
 * the padding, `__pfx_NAME`.
 */
static bool is_entered_exactly(const char *name, const char *before)
{
	static const char *const trampolines[] = {"__restore_rt", "__restore", "__kernel_rt_sigreturn",
						  "__kernel_sigreturn"};

	if (before != NULL && strncmp(before, "__pfx_", 6) == 0 && strcmp(before + 6, name) == 0)
		return true;
	for (size_t i = 0; i < CTX_COUNT_OF(trampolines); i++) {
		if (strcmp(name, trampolines[i]) == 0)
			return true;
	}
	return false;
}

/* The symbol of an address, or the one right after it where is_entered_exactly holds. */
enum ctx_status ctx_resolver_find_symbol(struct ctx_symtab *symtab, uint64_t address, bool *ret_found,
					 uint32_t *ret_symbol, struct ctx_err *err)
{
	struct ctx_symbol symbol, before = {0};
	enum ctx_status status;
	uint32_t next;

	*ret_found = ctx_symtab_find(symtab, address, ret_symbol);
	if (!ctx_symtab_find(symtab, address + 1, &next) || (*ret_found && next == *ret_symbol))
		return CTX_OK;
	status = ctx_symtab_get(symtab, next, &symbol, err);
	if (status == CTX_OK && *ret_found)
		status = ctx_symtab_get(symtab, *ret_symbol, &before, err);
	if (status != CTX_OK || symbol.start != address + 1 ||
	    !is_entered_exactly(symbol.linkage_name, before.linkage_name))
		return status;
	*ret_found = true;
	*ret_symbol = next;
	return CTX_OK;
}

/* Whether it is a file without a single symbol, or a missing one. */
static bool has_no_names(const struct ctx_resolver_object *object)
{
	return object->symtab != NULL && ctx_symtab_count(object->symtab) == 0 && object->path[0] == '/' &&
	       object->path[1] != '/' && !ctx_jit_code_is(object->path);
}

enum ctx_status ctx_resolver_in_object(struct ctx_resolver *resolver, uint32_t object_id,
				       uint64_t file_offset, uint32_t *ret_location, struct ctx_err *err)
{
	struct ctx_resolver_object *object = &resolver->objects[object_id];
	struct ctx_location location = {.object = object_id, .address = file_offset, .site = CTX_NONE};
	uint32_t known = ctx_map64_get(&object->by_offset, file_offset);
	enum ctx_status status = CTX_OK;
	bool found = false;
	uint32_t *place;
	uint32_t symbol;

	if (known != CTX_MAP64_NONE) {
		*ret_location = known;
		return CTX_OK;
	}
	if (!object->opened)
		status = open_symtab(resolver, object, err);
	if (status != CTX_OK)
		return status;
	if (!object->is_dynamic && object->symtab != NULL &&
	    ctx_symtab_address(object->symtab, file_offset, &location.address))
		status = ctx_resolver_find_symbol(object->symtab, location.address, &found, &symbol, err);
	if (status != CTX_OK)
		return status;
	if (object->is_dynamic)
		status = ctx_resolver_of_dynamic(resolver, object_id, file_offset, &location, err);
	else if (found)
		status = ctx_resolver_of_symbol(
			resolver,
			&(struct ctx_resolver_symbols){object->symtab, object->by_symbol, object_id}, symbol,
			&location.function, err);
	else if (has_no_names(object))
		status = ctx_resolver_unknown_at(resolver, object_id, location.address, &location.function,
						 err);
	else
		status = ctx_resolver_unknown(resolver, object_id, &location.function, err);
	if (status == CTX_OK && found)
		status = ctx_resolver_add_sites(resolver, &location, err);
	if (status == CTX_OK)
		status = ctx_resolver_add_location(resolver, &location, ret_location, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&object->by_offset, file_offset);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = *ret_location;
	return CTX_OK;
}

const struct ctx_location *ctx_resolver_locations(const struct ctx_resolver *resolver, size_t *ret_n)
{
	*ret_n = resolver->n_locations;
	return resolver->locations;
}

static const char *origin_of(const struct ctx_resolver *resolver, const struct ctx_resolver_object *object)
{
	if (object->symtab != NULL)
		return ctx_symtab_origin(object->symtab);
	if (object->kernel)
		return resolver->kernel.origin;
	if (object->is_dynamic)
		return "recorded";
	return object->opened ? "none: not a file" : "not needed: no samples there";
}

/*
 * The path for the database: that of a temporarily unpacked cache is replaced by its lasting name.
 */
static const char *lasting_origin(struct ctx_resolver *resolver, const struct ctx_resolver_object *object)
{
	const char *origin = origin_of(resolver, object);
	char *renamed CTX_AUTO_FREE = NULL;

	if (resolver->options.caches == NULL || resolver->options.cache_names == NULL)
		return ctx_arena_strdup(resolver->arena, origin);
	renamed = ctx_symbol_caches_rename(origin, resolver->options.caches, resolver->options.cache_names);
	return renamed != NULL ? ctx_arena_strdup(resolver->arena, renamed) : NULL;
}

/*
 * The recorded build id. perf has none for objects that were never at the leaf of a stack: then
 * that of the file that gave the names.
 */
static const char *lasting_build_id(struct ctx_resolver *resolver, const struct ctx_resolver_object *object)
{
	if (object->build_id[0] != '\0' || object->symtab == NULL)
		return object->build_id;
	return ctx_arena_strdup(resolver->arena, ctx_symtab_build_id(object->symtab));
}

/* Code in anonymous memory gets the path of the file that names its functions, if it exists. */
static const char *shown_path(const struct ctx_resolver_object *object)
{
	bool has_names = object->symtab != NULL && ctx_symtab_count(object->symtab) != 0;

	return ctx_jit_code_is(object->path) && !has_names ? "//anon" : object->path;
}

enum ctx_status ctx_resolver_take(struct ctx_resolver *resolver, struct ctx_profile *profile,
				  struct ctx_err *err)
{
	struct ctx_object_info *objects = ctx_calloc(resolver->n_objects, sizeof(*objects));

	if (objects == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < resolver->n_objects; i++) {
		const struct ctx_resolver_object *object = &resolver->objects[i];

		objects[i] = (struct ctx_object_info){
			.path = shown_path(object),
			.build_id = lasting_build_id(resolver, object),
			.symbols = lasting_origin(resolver, object),
		};
		if (objects[i].symbols == NULL || objects[i].build_id == NULL) {
			free(objects);
			return ctx_err_nomem(err);
		}
	}
	profile->objects = objects;
	profile->n_objects = (uint32_t)resolver->n_objects;
	profile->functions = resolver->functions;
	profile->n_functions = (uint32_t)resolver->n_functions;
	resolver->functions = NULL;
	resolver->n_functions = 0;
	return CTX_OK;
}
