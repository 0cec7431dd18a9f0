#include "base/buf.h"
#include "base/dir_state.h"
#include "base/xxh.h"
#include "formats/gprofng/gp_experiment.h"
#include "formats/gprofng/gprofng.h"

#include <stdio.h>

#define OURS "ctxan.db"

static enum ctx_status mix_group(struct ctx_buf *all, const char *path, struct ctx_err *err)
{
	struct ctx_gp_experiments experiments = {0};
	enum ctx_status status = ctx_gp_experiments_open(&experiments, path, err);

	for (size_t i = 0; i < experiments.n && status == CTX_OK; i++) {
		if (experiments.items[i]->root_process == i)
			status = ctx_dir_put_state(all, experiments.items[i]->path, OURS, err);
	}
	ctx_gp_experiments_deinit(&experiments);
	return status;
}

enum ctx_status ctx_gprofng_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	struct ctx_buf all CTX_AUTO_BUF = {0};
	enum ctx_status status;

	if (ctx_gp_group_is(path)) {
		ctx_file_put_state(&all, path);
		status = mix_group(&all, path, err);
	} else {
		status = ctx_dir_put_state(&all, path, OURS, err);
	}
	if (status == CTX_OK)
		status = ctx_buf_check(&all, err);
	if (status == CTX_OK)
		snprintf(ret, 17, "%016llx", (unsigned long long)ctx_xxh3(all.bytes, all.n));
	return status;
}
