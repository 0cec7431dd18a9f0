#include "ingest/data_names.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"
#include "formats/gprofng/gp_archive.h"
#include "symbols/data_objects.h"

#include <stdlib.h>

struct object {
	struct ctx_data_objects *data; /* NULL: not opened, or not available */
	bool is_tried;
};

struct ctx_data_names {
	struct ctx_data_names_options options;
	struct object *objects; /* by load object */
};

enum ctx_status ctx_data_names_create(const struct ctx_data_names_options *options,
				      struct ctx_data_names **ret, struct ctx_err *err)
{
	struct ctx_data_names *names = ctx_calloc(1, sizeof(*names));

	if (names != NULL)
		names->objects = ctx_calloc(options->profile->n_objects + 1, sizeof(*names->objects));
	if (names == NULL || names->objects == NULL) {
		free(names);
		return ctx_err_nomem(err);
	}
	names->options = *options;
	*ret = names;
	return CTX_OK;
}

void ctx_data_names_destroy(struct ctx_data_names *names)
{
	if (names == NULL)
		return;
	for (size_t i = 0; i < names->options.profile->n_objects; i++)
		ctx_data_objects_close(names->objects[i].data);
	free(names->objects);
	free(names);
}

/* The copy in the recording has its own build id in its name, or gprofng's form of one. */
static enum ctx_status open_object(const struct ctx_data_names *names, const struct ctx_object_info *info,
				   struct ctx_data_objects **ret, struct ctx_err *err)
{
	const struct ctx_data_names_options *options = &names->options;
	char ours[CTX_EXP_ARCHIVE_NAME_MAX], gprofngs[CTX_GP_ARCHIVE_NAME];
	const char *const candidates[] = {ours, gprofngs};
	enum ctx_status status = CTX_E_NOTFOUND;

	ctx_exp_archive_name(info->path, info->build_id, ours);
	ctx_gp_archive_name(info->path, gprofngs);
	for (size_t i = 0; i < CTX_COUNT_OF(candidates) && status != CTX_OK && status != CTX_E_NOMEM; i++) {
		char *archive CTX_AUTO_FREE = ctx_path_join(options->archives, candidates[i]);
		struct ctx_file_request request = {.path = info->path,
						   .build_id = info->build_id,
						   .archive = archive,
						   .debug_root = options->debug_root,
						   .symfs = options->symfs,
						   .caches = options->caches};

		status = archive != NULL ? ctx_data_objects_open(&request, ret, NULL) : ctx_err_nomem(err);
	}
	return status == CTX_E_NOMEM ? ctx_err_nomem(err) : CTX_OK;
}

/* *ret NULL: there is no debug information of it. */
static enum ctx_status object_of(struct ctx_data_names *names, uint32_t number, struct ctx_data_objects **ret,
				 struct ctx_err *err)
{
	const struct ctx_profile *profile = names->options.profile;
	struct object *object = number < profile->n_objects ? &names->objects[number] : NULL;
	enum ctx_status status = CTX_OK;

	*ret = NULL;
	if (object == NULL)
		return CTX_OK;
	if (!object->is_tried)
		status = open_object(names, &profile->objects[number], &object->data, err);
	object->is_tried = true;
	*ret = object->data;
	return status;
}

static enum ctx_status name(void *context, const struct ctx_data_question *question,
			    struct ctx_data_name *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_E_NOTFOUND;
	struct ctx_data_objects *objects = NULL;

	if (question->has_data) {
		status = object_of(context, question->data_object, &objects, err);
		if (status == CTX_OK)
			status = objects != NULL ? ctx_data_objects_at(objects, question->data, ret, err)
						 : CTX_E_NOTFOUND;
	}
	if (status != CTX_E_NOTFOUND || !question->has_code)
		return status;
	status = object_of(context, question->object, &objects, err);
	if (status != CTX_OK || objects == NULL)
		return status != CTX_OK ? status : ctx_err_set(err, CTX_E_NOTFOUND, "no debug information");
	return ctx_data_objects_accessed(objects, question->code, question->is_behind, ret, err);
}

static enum ctx_status layout(void *context, const char *type, struct ctx_data_layout *ret,
			      struct ctx_err *err)
{
	struct ctx_data_names *names = context;
	enum ctx_status status = CTX_E_NOTFOUND;

	for (uint32_t i = 0; i < names->options.profile->n_objects && status == CTX_E_NOTFOUND; i++) {
		struct ctx_data_objects *objects;

		status = object_of(names, i, &objects, err);
		if (status == CTX_OK)
			status = objects != NULL ? ctx_data_objects_layout(objects, type, ret, NULL)
						 : CTX_E_NOTFOUND;
	}
	return status == CTX_E_NOTFOUND
		       ? ctx_err_set(err, status, "no load object with debug information has a structure %s",
				     type)
		       : status;
}

static bool locate(void *context, const struct ctx_data_map *map, uint64_t address, uint64_t *ret)
{
	struct ctx_data_objects *objects;

	return object_of(context, map->object, &objects, NULL) == CTX_OK && objects != NULL &&
	       ctx_data_objects_locate(objects, map, address, ret);
}

struct ctx_data_namer ctx_data_names_namer(struct ctx_data_names *names)
{
	return (struct ctx_data_namer){.name = name, .layout = layout, .locate = locate, .context = names};
}
