/*
 *	writer: places --> object by object: offsets --> ctxrec-sources --> paths --> writer: archives/source-N.zst
 */
#include "collect/sources.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "collect/source_helper.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

const struct ctx_sources_limits ctx_sources_usual = {.file_bytes = UINT64_C(4) << 20,
						     .total_bytes = UINT64_C(64) << 20,
						     .files = 65536,
						     .object_seconds = 90,
						     .total_seconds = 300};

struct collecting {
	const struct ctx_sources_limits *limits;
	const struct ctx_mapped_files *files;
	struct ctx_sources_result *result;
	struct ctx_strtab paths;
	int64_t *built; /* by id of path: modification time of the oldest object with this file; owned */
	size_t built_cap;
	int64_t built_now; /* the current object */
	/* By id of path: user of the first object with this file; the items are borrowed. */
	const struct ctx_credentials **users;
	size_t users_cap;
	const struct ctx_credentials *user_now;
	const char *program;
	time_t end; /* no object is started after it */
};

static enum ctx_status take_path(void *context, const char *path, struct ctx_err *err)
{
	struct collecting *collecting = context;
	struct ctx_strtab *paths = &collecting->paths;
	size_t before = paths->n;
	enum ctx_status status;
	uint32_t id;

	if (before >= collecting->limits->files && ctx_strtab_find(paths, path, strlen(path)) == UINT32_MAX) {
		collecting->result->left_out++;
		return CTX_OK;
	}
	status = ctx_grow(&collecting->built, &collecting->built_cap, before + 1, err);
	if (status == CTX_OK)
		status = ctx_grow(&collecting->users, &collecting->users_cap, before + 1, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(paths, path, &id, err);
	if (status != CTX_OK)
		return status;
	if (paths->n != before)
		collecting->users[id] = collecting->user_now;
	if (paths->n != before || collecting->built_now < collecting->built[id])
		collecting->built[id] = collecting->built_now;
	return CTX_OK;
}

static time_t now_seconds(void)
{
	return (time_t)(ctx_clock_ns(CLOCK_MONOTONIC) / 1000000000u);
}

static enum ctx_status take_object(void *context, const struct ctx_exp_sampled *sampled, struct ctx_err *err)
{
	struct collecting *collecting = context;
	struct ctx_source_helper_request request = {.program = collecting->program,
						    .object = sampled->path,
						    .build_id = sampled->build_id,
						    .offsets = sampled->offsets,
						    .n_offsets = sampled->n_offsets,
						    .all = sampled->all,
						    .seconds = collecting->limits->object_seconds};
	enum ctx_status status;
	struct stat info;

	if (sampled->path[0] != '/' || sampled->path[1] == '/') /* "[vdso]", "//anon" */
		return CTX_OK;
	if (stat(sampled->path, &info) != 0)
		return CTX_OK;
	if (now_seconds() >= collecting->end) {
		collecting->result->unread++;
		return CTX_OK;
	}
	collecting->built_now = info.st_mtim.tv_sec;
	collecting->user_now = ctx_mapped_files_user(collecting->files, sampled->path, sampled->build_id);
	if (collecting->user_now == NULL)
		return CTX_OK;
	status = ctx_source_helper_run(&request, take_path, collecting, err);
	collecting->result->objects += status == CTX_OK || status == CTX_E_LIMIT;
	collecting->result->unread += status == CTX_E_LIMIT;
	return status == CTX_E_NOTFOUND || status == CTX_E_LIMIT ? CTX_OK : status;
}

static enum ctx_status copy_files(struct ctx_exp_writer *writer, const struct collecting *collecting,
				  struct ctx_err *err)
{
	const struct ctx_sources_limits *limits = collecting->limits;
	struct ctx_sources_result *result = collecting->result;

	for (uint32_t i = 0; i < collecting->paths.n; i++) {
		const char *path = ctx_strtab_get(&collecting->paths, i);
		int file CTX_AUTO_CLOSE = ctx_credentials_open(collecting->users[i], path);
		struct ctx_exp_source source = {.path = path,
						.file = file,
						.max_bytes = limits->file_bytes,
						.left_bytes = limits->total_bytes - result->bytes,
						.built_seconds = collecting->built[i]};
		bool is_newer = false;
		uint64_t bytes = 0;
		enum ctx_status status = ctx_exp_archive_source(writer, &source, &bytes, &is_newer, err);

		if (status != CTX_OK && status != CTX_E_NOTFOUND && status != CTX_E_LIMIT)
			return status;
		result->copied += status == CTX_OK;
		result->missing += status == CTX_E_NOTFOUND;
		result->left_out += status == CTX_E_LIMIT;
		result->newer += is_newer;
		result->bytes += bytes;
	}
	return CTX_OK;
}

enum ctx_status ctx_sources_archive(struct ctx_exp_writer *writer, const struct ctx_mapped_files *files,
				    const struct ctx_sources_limits *limits, struct ctx_sources_result *ret,
				    struct ctx_err *err)
{
	struct collecting collecting = {.limits = limits,
					.files = files,
					.result = ret,
					.end = now_seconds() + limits->total_seconds};
	char program[PATH_MAX];
	enum ctx_status status = ctx_source_helper_find(program, err);

	*ret = (struct ctx_sources_result){0};
	if (status != CTX_OK)
		return status;
	collecting.program = program;
	status = ctx_exp_each_sampled(writer, take_object, &collecting, err);
	if (status == CTX_OK)
		status = copy_files(writer, &collecting, err);
	ctx_strtab_deinit(&collecting.paths);
	free(collecting.built);
	free(collecting.users);
	return status;
}
