/*
 * Maps of a recorded process: a list sorted by address without overlaps, shared by parent and child
 * after a fork until one of them changes it.
 *
 * Load objects (path and build id) are numbered once for the whole experiment.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_MAPS_H
#define CTX_FORMATS_EXPERIMENT_EXP_MAPS_H

#include "base/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Opens a load object as it was mapped, by the path and build id of its maps; -1 with the reason in
 * `err` (may be NULL). The caller closes it.
 */
struct ctx_exp_opener {
	int (*open)(void *context, const char *path, const char *build_id, struct ctx_err *err);
	void *context;
};

struct ctx_exp_objects {	      /* all zero is valid */
	struct ctx_exp_opener opener; /* open NULL: by path, with the rights of this process */
	struct ctx_strtab names;      /* id = object number; path, zero, build id */
	uint8_t *sampled;	      /* by number: a sample has a frame in it */
	/*
	 * By number: descriptor of the object's file plus 1, opened at the first sample; 0: not
	 * open. The file may be deleted before the end.
	 */
	int *files;
	size_t sampled_cap, files_cap;
	uint32_t n_files;
	size_t name_bytes;
};

#define CTX_EXP_OBJECT_FILES_MAX 256u
#define CTX_EXP_OBJECTS_MAX 262144u

void ctx_exp_objects_deinit(struct ctx_exp_objects *objects);
/* Beyond CTX_EXP_OBJECTS_MAX, or 64 MiB of paths, new ones are the object "[others]". */
CTX_MUST_CHECK enum ctx_status ctx_exp_objects_add(struct ctx_exp_objects *objects, const char *path,
						   const char *build_id, uint32_t *ret_object,
						   struct ctx_err *err);

/* Opens an object; the caller closes it. -1 with the reason in `err` (may be NULL). */
int ctx_exp_objects_open(const struct ctx_exp_objects *objects, uint32_t object, struct ctx_err *err);

/*
 * Marks an object as sampled. Opens its file the first time, up to CTX_EXP_OBJECT_FILES_MAX files.
 */
void ctx_exp_objects_sample(struct ctx_exp_objects *objects, uint32_t object);

const char *ctx_exp_objects_path(const struct ctx_exp_objects *objects, uint32_t object);
const char *ctx_exp_objects_build_id(const struct ctx_exp_objects *objects, uint32_t object);

struct ctx_exp_map_entry {
	uint64_t address, size, file_offset;
	uint64_t time_ns; /* relative */
	uint32_t protection;
	uint32_t object;
};

struct ctx_exp_map_list {
	struct ctx_exp_map_entry *entries; /* by address */
	size_t n, cap;
	uint32_t refs; /* processes that share the list */
};

/* Adds a reference to `list` (NULL stays NULL), and drops one: the last frees it. */
struct ctx_exp_map_list *ctx_exp_map_list_share(struct ctx_exp_map_list *list);
void ctx_exp_map_list_release(struct ctx_exp_map_list *list);

/*
 * Adds a map, which replaces overlapping ranges. `*list` is replaced if it is shared or NULL.
 * `*ret_replaced`: a sampled object lost a range. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_map_list_add(struct ctx_exp_map_list **list,
						    const struct ctx_exp_objects *objects,
						    const struct ctx_exp_map_entry *entry, bool *ret_replaced,
						    struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_exp_map_list_remove(struct ctx_exp_map_list **list, uint64_t address,
						       uint64_t size, struct ctx_err *err);

/* The map that contains `address`, or NULL. O(log n). */
const struct ctx_exp_map_entry *ctx_exp_map_list_find(const struct ctx_exp_map_list *list, uint64_t address);

#endif
