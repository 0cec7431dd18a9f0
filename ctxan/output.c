#include "ctxan/output_check.h"

#include "store/store.h"

#include <sys/stat.h>

static bool is_same_file(const char *a, const char *b)
{
	struct stat left, right;

	return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

enum ctx_status ctx_output_check(const struct ctx_options *options, const char *path, struct ctx_err *err)
{
	for (size_t i = 0; i < options->n_inputs; i++) {
		if (is_same_file(path, options->inputs[i]))
			return ctx_err_set(err, CTX_E_ARG,
					   "-o %s: that is the recording itself: not overwritten", path);
	}
	if ((options->opening.db != NULL && is_same_file(path, options->opening.db)) ||
	    ctx_store_is_database(path))
		return ctx_err_set(err, CTX_E_ARG, "-o %s: that is a database of ctxan: not overwritten",
				   path);
	return CTX_OK;
}
