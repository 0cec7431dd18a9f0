#include "formats/experiment/exp_maps.h"

#include "base/bisect.h"
#include "base/buf.h"
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SPARE_FILES 64u
#define NAME_BYTES_MAX ((size_t)64 << 20)

static const char OTHERS[] = "[others]";

void ctx_exp_objects_deinit(struct ctx_exp_objects *objects)
{
	for (size_t i = 0; i < objects->names.n; i++) {
		if (objects->files[i] != 0)
			close(objects->files[i] - 1);
	}
	ctx_strtab_deinit(&objects->names);
	free(objects->files);
	free(objects->sampled);
	*objects = (struct ctx_exp_objects){0};
}

enum ctx_status ctx_exp_objects_add(struct ctx_exp_objects *objects, const char *path, const char *build_id,
				    uint32_t *ret_object, struct ctx_err *err)
{
	struct ctx_buf key = {0};
	size_t before = objects->names.n;
	enum ctx_status status;

	ctx_buf_put(&key, path, strlen(path) + 1);
	ctx_buf_put_text(&key, build_id);
	status = ctx_buf_check(&key, err);
	if (status == CTX_OK && (before >= CTX_EXP_OBJECTS_MAX || objects->name_bytes > NAME_BYTES_MAX) &&
	    ctx_strtab_find(&objects->names, (const char *)key.bytes, key.n) == UINT32_MAX) {
		ctx_buf_clear(&key);
		ctx_buf_put(&key, OTHERS, sizeof(OTHERS)); /* and an empty build id */
	}
	if (status == CTX_OK)
		status = ctx_grow(&objects->sampled, &objects->sampled_cap, before + 1, err);
	if (status == CTX_OK)
		status = ctx_grow(&objects->files, &objects->files_cap, before + 1, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(&objects->names, (const char *)key.bytes, key.n, ret_object, err);
	if (status == CTX_OK && objects->names.n != before) {
		objects->name_bytes += key.n;
		objects->sampled[before] = 0;
		objects->files[before] = 0;
	}
	ctx_buf_deinit(&key);
	return status;
}

int ctx_exp_objects_open(const struct ctx_exp_objects *objects, uint32_t object, struct ctx_err *err)
{
	const char *path = ctx_exp_objects_path(objects, object);

	if (objects->opener.open == NULL)
		return ctx_exp_archive_open(path, err);
	return objects->opener.open(objects->opener.context, path, ctx_exp_objects_build_id(objects, object),
				    err);
}

void ctx_exp_objects_sample(struct ctx_exp_objects *objects, uint32_t object)
{
	struct rlimit limit;
	int file;

	if (objects->sampled[object])
		return;
	objects->sampled[object] = 1;
	if (objects->n_files == CTX_EXP_OBJECT_FILES_MAX)
		return;
	file = ctx_exp_objects_open(objects, object, NULL);
	if (file < 0)
		return;
	/* Leaves descriptors for the recording itself. */
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || (rlim_t)file + SPARE_FILES >= limit.rlim_cur) {
		close(file);
		objects->n_files = CTX_EXP_OBJECT_FILES_MAX;
		return;
	}
	objects->files[object] = file + 1;
	objects->n_files++;
}

const char *ctx_exp_objects_path(const struct ctx_exp_objects *objects, uint32_t object)
{
	return ctx_strtab_get(&objects->names, object);
}

const char *ctx_exp_objects_build_id(const struct ctx_exp_objects *objects, uint32_t object)
{
	const char *path = ctx_strtab_get(&objects->names, object);

	return path + strlen(path) + 1;
}

struct ctx_exp_map_list *ctx_exp_map_list_share(struct ctx_exp_map_list *list)
{
	if (list != NULL)
		list->refs++;
	return list;
}

void ctx_exp_map_list_release(struct ctx_exp_map_list *list)
{
	if (list == NULL || --list->refs != 0)
		return;
	free(list->entries);
	free(list);
}

static bool ends_up_to(const void *items, size_t i, uint64_t address)
{
	const struct ctx_exp_map_entry *entries = items;

	return entries[i].address + entries[i].size <= address;
}

/* The index of the first entry that ends after `address`. */
static size_t first_beyond(const struct ctx_exp_map_list *list, uint64_t address)
{
	return ctx_bisect(list->entries, list->n, ends_up_to, address);
}

const struct ctx_exp_map_entry *ctx_exp_map_list_find(const struct ctx_exp_map_list *list, uint64_t address)
{
	size_t i;

	if (list == NULL)
		return NULL;
	i = first_beyond(list, address);
	return i < list->n && list->entries[i].address <= address ? &list->entries[i] : NULL;
}

/* Makes `*list` unshared, with room for `extra` more entries. */
static enum ctx_status own(struct ctx_exp_map_list **list, size_t extra, struct ctx_err *err)
{
	struct ctx_exp_map_list *old = *list;
	struct ctx_exp_map_list *copy;

	if (old != NULL && old->refs == 1)
		return ctx_grow(&old->entries, &old->cap, old->n + extra, err);
	copy = ctx_calloc(1, sizeof(*copy));
	if (copy == NULL)
		return ctx_err_nomem(err);
	copy->refs = 1;
	if (ctx_grow(&copy->entries, &copy->cap, (old != NULL ? old->n : 0) + extra, err) != CTX_OK) {
		free(copy);
		return CTX_E_NOMEM;
	}
	if (old != NULL && old->n != 0) {
		memcpy(copy->entries, old->entries, old->n * sizeof(*old->entries));
		copy->n = old->n;
	}
	ctx_exp_map_list_release(old);
	*list = copy;
	return CTX_OK;
}

static void insert(struct ctx_exp_map_list *list, size_t at, const struct ctx_exp_map_entry *entry)
{
	memmove(&list->entries[at + 1], &list->entries[at], (list->n - at) * sizeof(*entry));
	list->entries[at] = *entry;
	list->n++;
}

/*
 * Cuts [address, end) out of the list (which has room for one more entry); returns where an entry
 * at `address` would go.
 */
static size_t cut(struct ctx_exp_map_list *list, uint64_t address, uint64_t end)
{
	size_t first = first_beyond(list, address);
	size_t last;

	if (first < list->n && list->entries[first].address < address) {
		struct ctx_exp_map_entry *left = &list->entries[first];
		struct ctx_exp_map_entry right = *left;

		left->size = address - left->address;
		first++;
		if (right.address + right.size > end) {
			right.size = right.address + right.size - end;
			right.file_offset += end - right.address;
			right.address = end;
			insert(list, first, &right);
			return first;
		}
	}
	last = first;
	while (last < list->n && list->entries[last].address + list->entries[last].size <= end)
		last++;
	memmove(&list->entries[first], &list->entries[last], (list->n - last) * sizeof(*list->entries));
	list->n -= last - first;
	if (first < list->n && list->entries[first].address < end) {
		struct ctx_exp_map_entry *right = &list->entries[first];
		uint64_t gone = end - right->address;

		right->address = end;
		right->size -= gone;
		right->file_offset += gone;
	}
	return first;
}

static bool overlaps_sampled(const struct ctx_exp_map_list *list, const struct ctx_exp_objects *objects,
			     const struct ctx_exp_map_entry *entry)
{
	for (size_t i = first_beyond(list, entry->address);
	     i < list->n && list->entries[i].address < entry->address + entry->size; i++) {
		if (objects->sampled[list->entries[i].object])
			return true;
	}
	return false;
}

enum ctx_status ctx_exp_map_list_add(struct ctx_exp_map_list **list, const struct ctx_exp_objects *objects,
				     const struct ctx_exp_map_entry *entry, bool *ret_replaced,
				     struct ctx_err *err)
{
	enum ctx_status status = own(list, 2, err);

	if (status != CTX_OK)
		return status;
	*ret_replaced = overlaps_sampled(*list, objects, entry);
	insert(*list, cut(*list, entry->address, entry->address + entry->size), entry);
	return CTX_OK;
}

enum ctx_status ctx_exp_map_list_remove(struct ctx_exp_map_list **list, uint64_t address, uint64_t size,
					struct ctx_err *err)
{
	enum ctx_status status;

	if (*list == NULL)
		return CTX_OK;
	status = own(list, 1, err);
	if (status == CTX_OK)
		cut(*list, address, address + size);
	return status;
}
