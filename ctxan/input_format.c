#include "ctxan/input_format.h"

#include "base/file_hash.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/callgrind/callgrind_reader.h"
#include "formats/calltrace/calltrace.h"
#include "formats/experiment/exp_reader.h"
#include "formats/gprofng/gprofng.h"
#include "formats/jfr/jfr.h"
#include "formats/jsonprofile/jsonprofile.h"
#include "formats/packed/packed.h"
#include "formats/perfdata/perfdata.h"
#include "formats/pprof/pprof_reader.h"
#include "formats/stacktext/stacktext.h"
#include "formats/traceevent/traceevent.h"
#include "formats/uftrace/uftrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Our experiments are tried after gprofng's, which begin with the same words; texts and traces, which have no magic number, last. */
static const struct ctx_input_format formats[] = {
	{ctx_gprofng_is_experiment, ctx_gprofng_open, ctx_gprofng_fingerprint, true, false},
	{ctx_gprofng_is_group, ctx_gprofng_open, ctx_gprofng_fingerprint, false, false},
	{ctx_exp_is_experiment, ctx_exp_open, ctx_exp_fingerprint, true, false},
	{ctx_perfdata_is, ctx_perfdata_open, ctx_perfdata_fingerprint, false, true},
	{ctx_uftrace_is, ctx_uftrace_open, ctx_uftrace_fingerprint, true, false},
	{ctx_jsonprofile_is_in_trace, ctx_jsonprofile_open, ctx_file_fingerprint, false, false},
	{ctx_traceevent_is, ctx_traceevent_open, ctx_file_fingerprint, false, false},
	{ctx_calltrace_is, ctx_calltrace_open, ctx_calltrace_fingerprint, false, false},
	{ctx_jfr_is, ctx_jfr_open, ctx_jfr_fingerprint, false, false},
	{ctx_pprof_is, ctx_pprof_open, ctx_file_fingerprint, false, true},
	{ctx_jsonprofile_is, ctx_jsonprofile_open, ctx_file_fingerprint, false, false},
	{ctx_callgrind_is, ctx_callgrind_open, ctx_file_fingerprint, false, false},
	{ctx_stacktext_is, ctx_stacktext_open, ctx_file_fingerprint, false, false},
};

/* What a compressed file holds is known once it is unpacked, for the ingest. */
static const struct ctx_input_format packed = {ctx_packed_is, NULL, ctx_file_fingerprint, false, true};

#define OURS 2u /* of formats */

const struct ctx_input_format *ctx_input_format_of(const char *path)
{
	for (size_t i = 0; i < CTX_COUNT_OF(formats); i++) {
		if (formats[i].is(path))
			return &formats[i];
	}
	return packed.is(path) ? &packed : NULL;
}

const struct ctx_input_format *ctx_input_format_ours(void)
{
	return &formats[OURS];
}

/* "perf.data" of "dir/perf.data.gz"; malloc'ed. */
static char *unpacked_name(const char *input)
{
	const char *base = ctx_path_base(input), *dot = strrchr(base, '.');

	return dot != NULL && dot != base ? strndup(base, (size_t)(dot - base)) : strdup(base);
}

static enum ctx_status open_packed(struct ctx_input *input, const char *path, struct ctx_err *err)
{
	char *name CTX_AUTO_FREE = unpacked_name(path);
	enum ctx_status status = ctx_private_dir_create(&input->unpacked, err);
	const struct ctx_input_format *format;
	struct ctx_err why = {0};

	if (status != CTX_OK)
		return status;
	input->path = name != NULL ? ctx_path_join(input->unpacked.path, name) : NULL;
	if (input->path == NULL)
		return ctx_err_nomem(err);
	status = ctx_packed_unpack(path, input->path, &why);
	format = ctx_input_format_of(input->path);
	if (status == CTX_E_FORMAT && format != NULL && format->open != NULL)
		fprintf(stderr, "ctxan: %s: what comes before is read\n", why.msg);
	else if (status != CTX_OK)
		return ctx_err_set(err, status, "%s", why.msg);
	if (format == NULL || format->open == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: holds no recording that ctxan reads", path);
	return format->open(input->path, &input->source, err);
}

enum ctx_status ctx_input_open(struct ctx_input *input, const char *path,
			       const struct ctx_input_format *format, struct ctx_err *err)
{
	return format->open != NULL ? format->open(path, &input->source, err) : open_packed(input, path, err);
}

void ctx_input_close(struct ctx_input *input)
{
	if (input->source != NULL)
		input->source->close(input->source);
	ctx_private_dir_remove(&input->unpacked);
	free(input->path);
	*input = (struct ctx_input)CTX_INPUT_CLOSED;
}
