/*
 *	writer: places --> object by object: offsets --> addresses --> line tables --> paths --> writer: archives/source-N.zst
 */
#include "collect/sources.h"

#include "base/mem.h"
#include "base/strtab.h"
#include "collect/debug_object.h"

#include <string.h>

const struct ctx_sources_limits ctx_sources_usual = {
	.file_bytes = UINT64_C(4) << 20, .total_bytes = UINT64_C(64) << 20, .files = 65536};

struct collecting {
	const struct ctx_sources_limits *limits;
	struct ctx_sources_result *result;
	struct ctx_strtab paths;
	int64_t *built; /* by id of path: when the oldest object with this file was made; owned */
	size_t built_cap;
	int64_t built_now; /* the object at hand */
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
		status = ctx_strtab_add_text(paths, path, &id, err);
	if (status != CTX_OK)
		return status;
	if (paths->n != before || collecting->built_now < collecting->built[id])
		collecting->built[id] = collecting->built_now;
	return CTX_OK;
}

static int by_address(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static enum ctx_status take_object(void *context, const struct ctx_exp_sampled *sampled, struct ctx_err *err)
{
	struct collecting *collecting = context;
	struct ctx_debug_object *object;
	struct ctx_debug_line_stats stats;
	uint64_t *addresses CTX_AUTO_FREE = NULL;
	enum ctx_status status;
	size_t n = 0;

	if (sampled->path[0] != '/' || sampled->path[1] == '/') /* "[vdso]", "//anon" */
		return CTX_OK;
	addresses = ctx_calloc(sampled->n_offsets + 1, sizeof(*addresses));
	if (addresses == NULL)
		return ctx_err_nomem(err);
	status = ctx_debug_object_open(sampled->path, sampled->build_id, CTX_DEBUG_ROOT, &object, err);
	if (status != CTX_OK)
		return status == CTX_E_NOTFOUND ? CTX_OK : status;
	for (size_t i = 0; i < sampled->n_offsets; i++)
		n += ctx_debug_object_address(object, sampled->offsets[i], &addresses[n]);
	if (n != 0) /* segments need not ascend as their offsets do */
		qsort(addresses, n, sizeof(*addresses), by_address);
	collecting->result->objects++;
	collecting->built_now = ctx_debug_object_time(object);
	status = ctx_debug_object_files(object, addresses, n, sampled->all, take_path, collecting, &stats,
					err);
	ctx_debug_object_close(object);
	return status;
}

static enum ctx_status copy_files(struct ctx_exp_writer *writer, const struct collecting *collecting,
				  struct ctx_err *err)
{
	const struct ctx_sources_limits *limits = collecting->limits;
	struct ctx_sources_result *result = collecting->result;

	for (uint32_t i = 0; i < collecting->paths.n; i++) {
		struct ctx_exp_source source = {.path = ctx_strtab_get(&collecting->paths, i),
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

enum ctx_status ctx_sources_archive(struct ctx_exp_writer *writer, const struct ctx_sources_limits *limits,
				    struct ctx_sources_result *ret, struct ctx_err *err)
{
	struct collecting collecting = {.limits = limits, .result = ret};
	enum ctx_status status;

	*ret = (struct ctx_sources_result){0};
	status = ctx_exp_each_sampled(writer, take_object, &collecting, err);
	if (status == CTX_OK)
		status = copy_files(writer, &collecting, err);
	ctx_strtab_deinit(&collecting.paths);
	free(collecting.built);
	return status;
}
