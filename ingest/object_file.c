#include "ingest/object_file.h"

#include "base/fileio.h"
#include "elf/debug_files.h"

#include <unistd.h>

static enum ctx_status take(const struct ctx_found_file *found, size_t max_bytes, struct ctx_buf *out,
			    struct ctx_err *err)
{
	if (found->path != NULL)
		return ctx_file_read(found->path, max_bytes, out, err);
	if (found->bytes.n > max_bytes)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: larger than %zu bytes", found->origin, max_bytes);
	ctx_buf_put(out, found->bytes.bytes, found->bytes.n);
	return ctx_buf_check(out, err);
}

enum ctx_status ctx_object_file_read(const struct ctx_object_file_request *request, size_t max_bytes,
				     struct ctx_buf *out, struct ctx_err *err)
{
	bool is_known = request->build_id[0] != '\0';
	struct ctx_file_request wanted = {
		.path = is_known ? request->path : "",
		.build_id = request->build_id,
		.archive = access(request->archive, R_OK) == 0 ? request->archive : "",
		.debug_root = "",
		.symfs = request->symfs,
		.caches = request->caches,
	};
	struct ctx_found_file found = {0};
	size_t before = out->n;
	enum ctx_status status;

	if (!is_known && wanted.archive[0] == '\0')
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s: no build id, no archive", request->path);
	status = ctx_debug_files_image(&wanted, &found, err);
	if (status == CTX_OK)
		status = take(&found, max_bytes, out, err);
	ctx_found_file_deinit(&found);
	if (status != CTX_OK)
		out->n = before;
	return status;
}
