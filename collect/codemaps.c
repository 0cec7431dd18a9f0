#include "collect/codemaps.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"
#include "formats/experiment/exp_maps.h"
#include "unwind/table_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct object {
	const struct ctx_cfi_table *table; /* borrowed from the cache */
	bool is_known; /* written last and read first: once it is set, the table is visible */
};

struct ctx_codemaps {
	const struct ctx_exp_writer *writer;
	pthread_mutex_t lock; /* for the cache and for writing to objects */
	struct ctx_table_cache cache;
	struct object *objects; /* by the writer's number of the object */
	size_t n, cap;
};

enum ctx_status ctx_codemaps_create(const struct ctx_exp_writer *writer, struct ctx_codemaps **ret,
				    struct ctx_err *err)
{
	struct ctx_codemaps *maps = ctx_calloc(1, sizeof(*maps));

	if (maps == NULL)
		return ctx_err_nomem(err);
	maps->writer = writer;
	pthread_mutex_init(&maps->lock, NULL);
	*ret = maps;
	return CTX_OK;
}

void ctx_codemaps_destroy(struct ctx_codemaps *maps)
{
	if (maps == NULL)
		return;
	ctx_table_cache_deinit(&maps->cache);
	pthread_mutex_destroy(&maps->lock);
	free(maps->objects);
	free(maps);
}

enum ctx_status ctx_codemaps_refresh(struct ctx_codemaps *maps, struct ctx_err *err)
{
	size_t want = ctx_exp_all_objects(maps->writer)->names.n;
	enum ctx_status status = ctx_grow(&maps->objects, &maps->cap, want, err);

	if (status != CTX_OK)
		return status;
	while (maps->n < want)
		maps->objects[maps->n++] = (struct object){0};
	return CTX_OK;
}

/* Without memory there is no table, and the next pc tries again. */
static const struct ctx_cfi_table *read_table(struct ctx_codemaps *maps, uint32_t number, bool *ret_is_known)
{
	const struct ctx_exp_objects *objects = ctx_exp_all_objects(maps->writer);
	const char *path = ctx_exp_objects_path(objects, number);
	const char *build_id = ctx_exp_objects_build_id(objects, number);
	const struct ctx_cfi_table *table = NULL;
	char room[32] = "", own[CTX_BUILDID_TEXT];
	enum ctx_status status = CTX_OK;
	struct ctx_table_image image = {.key = path};
	const uint8_t *vdso;

	if (strcmp(path, "[vdso]") == 0) {
		/* Our own vdso is that of all 64-bit processes; others do not have its build id. */
		if (build_id[0] != '\0' && ctx_exp_own_vdso(&vdso, &image.n, own) &&
		    strcmp(own, build_id) == 0) {
			image.bytes = vdso;
			status = ctx_table_cache_get_image(&maps->cache, &image, &table, NULL);
		}
	} else {
		int fd CTX_AUTO_CLOSE = ctx_exp_objects_open(objects, number, NULL);

		if (fd >= 0)
			snprintf(room, sizeof(room), "/proc/self/fd/%d", fd);
		status = ctx_table_cache_get(&maps->cache, &(struct ctx_table_file){path, room, build_id},
					     &table, NULL);
	}
	*ret_is_known = status == CTX_OK;
	return status == CTX_OK ? table : NULL;
}

static const struct ctx_cfi_table *table_of(struct ctx_codemaps *maps, uint32_t number)
{
	struct object *object = &maps->objects[number];
	const struct ctx_cfi_table *table;
	bool is_known;

	if (__atomic_load_n(&object->is_known, __ATOMIC_ACQUIRE))
		return object->table;
	pthread_mutex_lock(&maps->lock);
	if (!object->is_known) {
		object->table = read_table(maps, number, &is_known);
		__atomic_store_n(&object->is_known, is_known, __ATOMIC_RELEASE);
	}
	table = object->table;
	pthread_mutex_unlock(&maps->lock);
	return table;
}

static bool find(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	struct ctx_code_view *view = context;
	const struct ctx_exp_map_entry *entry =
		ctx_exp_map_list_find(ctx_exp_maps(view->maps->writer, view->process), pc);
	const struct ctx_cfi_table *table;
	uint64_t address;

	if (entry == NULL || entry->object >= view->maps->n)
		return false;
	*ret = (struct ctx_unwind_object){.begin = entry->address, .end = entry->address + entry->size};
	table = table_of(view->maps, entry->object);
	if (table == NULL ||
	    !ctx_cfi_table_address(table, entry->file_offset + (pc - entry->address), &address))
		return true;
	ret->table = table;
	ret->bias = pc - address;
	return true;
}

struct ctx_unwind_space ctx_code_view_space(struct ctx_code_view *view)
{
	return (struct ctx_unwind_space){.find = find, .context = view};
}

bool ctx_code_view_same_function(struct ctx_code_view *view, uint64_t a, uint64_t b)
{
	struct ctx_unwind_object object;
	uint64_t begin, end;

	return a == b ||
	       (find(view, a, &object) && object.table != NULL && b >= object.begin && b < object.end &&
		ctx_cfi_table_function(object.table, a - object.bias, &begin, &end) &&
		b - object.bias >= begin && b - object.bias < end);
}
