#include "ctxan/checking.h"

#include "base/fileio.h"
#include "formats/indicators/indicator_file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char *const accesses[] = {
	[CTX_INDICATOR_FILE_EXECUTE] = "execute",
	[CTX_INDICATOR_FILE_WRITE] = "write",
	[CTX_INDICATOR_FILE_ACCESS] = "access",
};

/* *ret_is_other: the object is another build, of which names alone may be used. */
static enum ctx_status check_build(const struct ctx_indicator_row *row, bool match_symbols,
				   bool *ret_is_other, struct ctx_err *err)
{
	char found[CTX_INDICATOR_BUILD_ID_MAX];
	enum ctx_status status = ctx_indicator_object_build(row->path, found, err);

	if (status != CTX_OK)
		return status;
	*ret_is_other = row->build_id[0] != '\0' && strcmp(found, row->build_id) != 0;
	if (!*ret_is_other)
		return CTX_OK;
	if (!match_symbols)
		return ctx_err_set(
			err, CTX_E_ARG,
			"%s has the build id %s, and its indicators are for %s (--match-symbols takes those "
			"with names by their names)",
			row->path, found[0] != '\0' ? found : "none", row->build_id);
	if (row->name[0] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "%s: the indicator at 0x%" PRIx64 " has no name",
				   row->path, row->offset);
	return CTX_OK;
}

static void put_row(const struct ctx_indicator_row *row, bool is_other, struct ctx_buf *out)
{
	ctx_buf_printf(out, "%s\t%s\t", row->path, accesses[row->access]);
	if (is_other)
		ctx_buf_put_text(out, "-");
	else
		ctx_buf_printf(out, "%" PRIx64, row->offset);
	ctx_buf_printf(out, "\t%" PRIu64 "\t%" PRIu64 "\t", row->length_bytes, row->threshold);
	ctx_indicator_flags_put(row->flags, out);
	ctx_buf_printf(out, "\t%s\n", row->name);
}

static enum ctx_status check(const struct ctx_options *options, struct ctx_indicator_rows *rows,
			     struct ctx_buf *out, struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status =
		ctx_file_read(options->output.check_indicators, CTX_INDICATOR_FILE_MAX, &text, err);

	if (status != CTX_OK)
		return status; /* with the file's name */
	status = ctx_indicator_file_parse(rows, text.bytes != NULL ? (const char *)text.bytes : "", text.n,
					  err);
	for (size_t i = 0; i < rows->n && status == CTX_OK; i++) {
		bool is_other = false;

		status = check_build(&rows->items[i], options->output.match_symbols, &is_other, err);
		if (status == CTX_OK)
			put_row(&rows->items[i], is_other, out);
	}
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "%s", options->output.check_indicators);
	return ctx_buf_check(out, err);
}

enum ctx_status ctx_checking_indicators(const struct ctx_options *options, struct ctx_err *err)
{
	struct ctx_indicator_rows rows = {0};
	struct ctx_buf out CTX_AUTO_BUF = {0};
	enum ctx_status status = check(options, &rows, &out, err);

	ctx_indicator_rows_deinit(&rows);
	if (status != CTX_OK)
		return status;
	return ctx_file_write(STDOUT_FILENO, "standard output", out.bytes, out.n, err);
}
