#include "collect/tracepoint.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((size_t)1 << 20)
#define PATH_BYTES 512

static enum ctx_status read_text(const char *tracefs, const char *name, const char *file, char **ret,
				 struct ctx_err *err)
{
	struct ctx_buf buf = {0};
	char path[PATH_BYTES], list[PATH_BYTES];
	enum ctx_status status;

	snprintf(list, sizeof(list), "%s/events", tracefs);
	if (snprintf(path, sizeof(path), "%s/%s/%s", list, name, file) >= (int)sizeof(path))
		return ctx_err_set(err, CTX_E_ARG, "name is too long");
	status = ctx_file_read(path, FILE_MAX_BYTES, &buf, err);
	if (status != CTX_OK && access(list, R_OK | X_OK) != 0)
		status = ctx_err_set(err, CTX_E_PERM,
				     "tracepoints are listed in %s, which is not mounted or not readable by "
				     "this user",
				     list);
	if (status == CTX_OK) {
		*ret = ctx_memdup0(buf.bytes, buf.n);
		if (*ret == NULL)
			status = ctx_err_nomem(err);
	}
	ctx_buf_deinit(&buf);
	return status;
}

static enum ctx_status read_id(const char *tracefs, const char *name, uint64_t *ret, struct ctx_err *err)
{
	char *id CTX_AUTO_FREE = NULL;
	enum ctx_status status = read_text(tracefs, name, "id", &id, err);

	if (status == CTX_OK && sscanf(id, "%" SCNu64, ret) != 1)
		status = ctx_err_set(err, CTX_E_FORMAT, "its id is not a number");
	return status;
}

enum ctx_status ctx_tracepoint_id(const char *tracefs, const char *name, uint64_t *ret, struct ctx_err *err)
{
	enum ctx_status status = read_id(tracefs, name, ret, err);

	return status == CTX_OK ? CTX_OK : ctx_err_prefix(err, status, "tracepoint %s", name);
}

enum ctx_status ctx_tracepoint_read(const char *tracefs, const char *name, struct ctx_tracepoint *ret,
				    struct ctx_err *err)
{
	struct ctx_tracepoint tracepoint = {0};
	enum ctx_status status = read_id(tracefs, name, &tracepoint.id, err);

	if (status == CTX_OK)
		status = read_text(tracefs, name, "format", &tracepoint.format, err);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "tracepoint %s", name);
	*ret = tracepoint;
	return CTX_OK;
}

void ctx_tracepoint_deinit(struct ctx_tracepoint *tracepoint)
{
	free(tracepoint->format);
	*tracepoint = (struct ctx_tracepoint){0};
}
