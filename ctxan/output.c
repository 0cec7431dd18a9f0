#include "ctxan/output.h"

#include "base/fileio.h"
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

static enum ctx_status write_directory(struct ctx_options *options, const struct ctx_output_answer *answer,
				       struct ctx_err *err)
{
	struct ctx_dir_writing writing;
	enum ctx_status status = ctx_dir_begin(&writing, options->output.path, err);

	if (status != CTX_OK)
		return status;
	options->output.directory = writing.temporary;
	status = answer->print(answer->context, options, err);
	if (status == CTX_OK)
		return ctx_dir_commit(&writing, err);
	ctx_dir_abandon(&writing);
	return status;
}

enum ctx_status ctx_output_write(struct ctx_options *options, const struct ctx_output_answer *answer,
				 struct ctx_err *err)
{
	struct ctx_file_writing writing;
	enum ctx_status status;

	if (options->output.export != NULL && options->output.export->write_directory != NULL)
		return write_directory(options, answer, err);
	status = ctx_file_begin(&writing, options->output.path, err);
	if (status != CTX_OK)
		return status;
	options->report.out = writing.file;
	status = answer->print(answer->context, options, err);
	if (status == CTX_OK)
		return ctx_file_commit(&writing, err);
	ctx_file_abandon(&writing);
	return status;
}
