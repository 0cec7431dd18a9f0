/*
 * What a process has mapped while it is recorded: a list sorted by address without overlaps, shared between parent and child of a fork until one of them changes it.
 *
 * Load objects (path and build id) are numbered once for the whole experiment.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_MAPS_H
#define CTX_FORMATS_EXPERIMENT_EXP_MAPS_H

#include "base/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_exp_objects {	 /* all zero is valid */
	struct ctx_strtab names; /* id = object number; path, zero, build id */
	uint8_t *sampled;	 /* by number: a sample had a frame in it */
	int *files; /* by number: the object's file, open since then, and 1 more; 0: not open. A program may be gone at the end */
	size_t sampled_cap, files_cap;
	uint32_t n_files;
};

#define CTX_EXP_OBJECT_FILES_MAX 256u

void ctx_exp_objects_deinit(struct ctx_exp_objects *objects);
CTX_MUST_CHECK enum ctx_status ctx_exp_objects_add(struct ctx_exp_objects *objects, const char *path,
						   const char *build_id, uint32_t *ret_object,
						   struct ctx_err *err);

/* A sample had a frame in it. The first time its file is opened, while not too many are. */
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
	uint32_t refs; /* processes that share it */
};

/* One more user of `list` (NULL stays NULL), and one less: the last one releases it. */
struct ctx_exp_map_list *ctx_exp_map_list_share(struct ctx_exp_map_list *list);
void ctx_exp_map_list_release(struct ctx_exp_map_list *list);

/* Adds a map in place of what overlapped it (a larger old one is cut). `*list` is replaced if it is shared or NULL. `*ret_replaced` tells whether an object that was sampled lost ground. */
CTX_MUST_CHECK enum ctx_status ctx_exp_map_list_add(struct ctx_exp_map_list **list,
						    const struct ctx_exp_objects *objects,
						    const struct ctx_exp_map_entry *entry, bool *ret_replaced,
						    struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_exp_map_list_remove(struct ctx_exp_map_list **list, uint64_t address,
						       uint64_t size, struct ctx_err *err);

/* The map that holds `address`, or NULL. O(log n). */
const struct ctx_exp_map_entry *ctx_exp_map_list_find(const struct ctx_exp_map_list *list, uint64_t address);

#endif
