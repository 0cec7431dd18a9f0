#include "ctxan/exporting_places.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"
#include "formats/gprofng/gp_archive.h"
#include "ingest/object_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)1 << 30)

/* "x.er/archives"; of a database in an experiment, the experiment's. */
static char *archives_of(const char *recording)
{
	struct stat info;
	char *directory CTX_AUTO_FREE = stat(recording, &info) == 0 && S_ISDIR(info.st_mode)
						? strdup(recording)
						: ctx_path_dir(recording);

	return directory != NULL ? ctx_path_join(directory, "archives") : NULL;
}

enum ctx_status ctx_export_objects_open(struct ctx_export_objects *objects, struct ctx_err *err)
{
	const struct ctx_opening_options *options = objects->options;
	struct ctx_err left_out = {0}; /* the ingest has reported it */
	enum ctx_status status = CTX_OK;

	if (objects->archives != NULL)
		return CTX_OK;
	objects->archives = archives_of(objects->recording);
	if (objects->archives == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < options->n_caches && status == CTX_OK; i++)
		status = ctx_symbol_caches_add(&objects->caches, options->caches[i], err);
	if (status == CTX_OK)
		status = ctx_symbol_caches_add_beside(&objects->caches, objects->recording, err);
	if (status == CTX_OK)
		status = ctx_symbol_caches_add_perf(&objects->caches, err);
	return status == CTX_OK ? ctx_symbol_caches_open(&objects->caches, &left_out, err) : status;
}

void ctx_export_objects_close(struct ctx_export_objects *objects)
{
	ctx_symbol_caches_deinit(&objects->caches);
	free(objects->archives);
	*objects = (struct ctx_export_objects){0};
}

static enum ctx_status read_from(const struct ctx_export_objects *objects,
				 const struct ctx_object_info *object, const char *name, struct ctx_buf *out,
				 struct ctx_err *err)
{
	char *archive CTX_AUTO_FREE = ctx_path_join(objects->archives, name);
	struct ctx_object_file_request request = {.path = object->path,
						  .build_id = object->build_id,
						  .archive = archive,
						  .symfs = objects->options->symfs,
						  .caches = objects->caches.directories};

	return archive != NULL ? ctx_object_file_read(&request, MAX_BYTES, out, err) : ctx_err_nomem(err);
}

/* Any error of a file except lack of memory makes it unavailable. */
enum ctx_status ctx_export_objects_read(void *context, uint32_t object, struct ctx_buf *out,
					struct ctx_err *err)
{
	struct ctx_export_objects *objects = context;
	const struct ctx_object_info *info = &objects->profile->objects[object];
	char ours[CTX_EXP_ARCHIVE_NAME_MAX], gprofngs[CTX_GP_ARCHIVE_NAME];
	enum ctx_status status = ctx_export_objects_open(objects, err);

	if (status != CTX_OK)
		return status;
	ctx_exp_archive_name(info->path, info->build_id, ours);
	ctx_gp_archive_name(info->path, gprofngs);
	status = read_from(objects, info, ours, out, err);
	if (status != CTX_OK && status != CTX_E_NOMEM)
		status = read_from(objects, info, gprofngs, out, err);
	return status == CTX_OK || status == CTX_E_NOMEM
		       ? status
		       : ctx_err_set(err, CTX_E_NOTFOUND, "%s: its file is not available", info->path);
}
