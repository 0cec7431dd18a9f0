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

/* Mappings */

struct listing {
	struct ctx_mapping_info *list;
	size_t n, cap;
};

static enum ctx_status take_row(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	struct listing *listing = context;
	uint64_t values[7] = {0};

	if (ctx_grow(&listing->list, &listing->cap, listing->n + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	for (int i = 0; i < 7 && i < row->n; i++)
		values[i] = row->values[i] != NULL ? (uint64_t)strtoll(row->values[i], NULL, 10) : CTX_NONE;
	listing->list[listing->n++] = (struct ctx_mapping_info){.process = (uint32_t)values[0],
								.object = (uint32_t)values[1],
								.address = values[2],
								.size = values[3],
								.file_offset = values[4],
								.life = {values[5], values[6]}};
	return CTX_OK;
}

enum ctx_status ctx_export_mappings(struct ctx_store *store, struct ctx_mapping_info **ret, size_t *ret_n,
				    struct ctx_err *err)
{
	struct listing listing = {0};
	enum ctx_status status =
		ctx_store_sql(store,
			      "SELECT process, object, address, size, file_offset, begin_ns, "
			      "end_ns FROM mapping ORDER BY id",
			      take_row, &listing, err);

	if (status != CTX_OK) {
		free(listing.list);
		return status;
	}
	*ret = listing.list;
	*ret_n = listing.n;
	return CTX_OK;
}

/* Files */

/* "x.er/archives"; of a database in an experiment, the experiment's. */
static char *archives_of(const char *recording)
{
	struct stat info;
	char *directory CTX_AUTO_FREE = stat(recording, &info) == 0 && S_ISDIR(info.st_mode)
						? strdup(recording)
						: ctx_path_dir(recording);

	return directory != NULL ? ctx_path_join(directory, "archives") : NULL;
}

enum ctx_status ctx_export_objects_open(struct ctx_export_objects *objects, const char *recording,
					const struct ctx_profile *profile,
					const struct ctx_opening_options *options, struct ctx_err *err)
{
	struct ctx_err left_out = {0}; /* the ingest has told of it */
	enum ctx_status status = CTX_OK;

	*objects = (struct ctx_export_objects){
		.profile = profile, .symfs = options->symfs, .archives = archives_of(recording)};
	if (objects->archives == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < options->n_caches && status == CTX_OK; i++)
		status = ctx_symbol_caches_add(&objects->caches, options->caches[i], err);
	if (status == CTX_OK)
		status = ctx_symbol_caches_add_beside(&objects->caches, recording, err);
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
						  .symfs = objects->symfs,
						  .caches = objects->caches.directories};

	return archive != NULL ? ctx_object_file_read(&request, MAX_BYTES, out, err) : ctx_err_nomem(err);
}

/* Whatever is wrong with a file, short of memory, is that it is not to be had. */
enum ctx_status ctx_export_objects_read(void *context, uint32_t object, struct ctx_buf *out,
					struct ctx_err *err)
{
	const struct ctx_export_objects *objects = context;
	const struct ctx_object_info *info = &objects->profile->objects[object];
	char ours[CTX_EXP_ARCHIVE_NAME_MAX], gprofngs[CTX_GP_ARCHIVE_NAME];
	enum ctx_status status;

	ctx_exp_archive_name(info->path, info->build_id, ours);
	ctx_gp_archive_name(info->path, gprofngs);
	status = read_from(objects, info, ours, out, err);
	if (status != CTX_OK && status != CTX_E_NOMEM)
		status = read_from(objects, info, gprofngs, out, err);
	return status == CTX_OK || status == CTX_E_NOMEM
		       ? status
		       : ctx_err_set(err, CTX_E_NOTFOUND, "%s: its file is not to be had", info->path);
}
