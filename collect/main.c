/*
 * ctxrec: see recorder.h for what it does, recargs.c for its options.
 */
#include "base/manual.h"
#include "collect/omp_library.h"
#include "collect/recargs.h"
#include "collect/recorder.h"
#include "collect/top.h"
#include "collect/trace_sync.h"

#include <inttypes.h>
#include <stdio.h>
#include <zstd.h>

/* What is recorded, and who watches. */
struct recording {
	struct ctx_rec_options options;
	struct ctx_top top;
};

static void say(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "ctxrec: %s\n", text);
}

static void print_bytes(uint64_t bytes)
{
	if (bytes < UINT64_C(10) << 20)
		fprintf(stderr, "%" PRIu64 " KiB", (bytes + 1023) / 1024);
	else
		fprintf(stderr, "%.1f MiB", (double)bytes / (1 << 20));
}

static const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* ctxrec: test.1.er: 1234 samples, 2 processes, 3 threads, 45 KiB, 1.234 s */
static void print_summary(void *context, const struct ctx_recording *recording)
{
	const struct recording *own = context;

	if (own->options.prints.quiet || recording->name == NULL)
		return;
	fprintf(stderr, "ctxrec: %s: %" PRIu64 " %s, %" PRIu32 " %s, %" PRIu32 " %s, ", recording->name,
		recording->samples, plural(recording->samples, "sample", "samples"), recording->processes,
		plural(recording->processes, "process", "processes"), recording->threads,
		plural(recording->threads, "thread", "threads"));
	print_bytes(recording->bytes);
	fprintf(stderr, ", %.3f s", (double)recording->duration_ns / 1e9);
	if (recording->lost > 0)
		fprintf(stderr, ", %" PRIu64 " %s lost", recording->lost,
			plural(recording->lost, "record", "records"));
	if (recording->dropped_by_limit > 0)
		fprintf(stderr, ", %" PRIu64 " %s beyond the size limit", recording->dropped_by_limit,
			plural(recording->dropped_by_limit, "sample", "samples"));
	fputc('\n', stderr);
}

static void show_live(void *context, const char *path)
{
	struct recording *own = context;

	if (own->options.top)
		ctx_top_start(&own->top, path);
}

/* The exit code. */
static int record(struct recording *own)
{
	const struct ctx_recorder_user user = {
		.say = say, .began = show_live, .finished = print_summary, .context = own};
	struct ctx_recording recording = {0};
	struct ctx_err err = {0}, why_no_omp;
	enum ctx_status status = own->options.top ? ctx_top_begin(&own->top, &err) : CTX_OK;
	int code;

	own->options.trace.is_calibrated = own->options.trace.sync_threshold_ns == CTX_REC_CALIBRATE;
	if (own->options.trace.sync && own->options.trace.is_calibrated)
		own->options.trace.sync_threshold_ns = ctx_trace_sync_calibrate();
	ctx_omp_library_decide(&own->options, &why_no_omp);
	if (why_no_omp.status != CTX_OK)
		own->options.trace.omp_why_not = why_no_omp.msg;
	if (status == CTX_OK)
		status = ctx_record(&own->options, &user, &recording, &err);
	if (own->options.top)
		ctx_top_end(&own->top);
	code = recording.exit_code;
	ctx_recording_deinit(&recording);
	if (status == CTX_OK)
		return code;
	say(NULL, err.msg);
	return code != 0 ? code : 1; /* the command was not run */
}

int main(int argc, char **argv)
{
	struct recording own = {0};
	struct ctx_err err = {0};
	enum ctx_status status = ctx_rec_options_parse(argc, argv, &own.options, &err);
	int code = 0;

	if (status != CTX_OK) {
		say(NULL, err.msg);
		code = 1;
	} else if (own.options.prints.help) {
		ctx_manual_print_help(ctx_rec_options_table.manual, stdout);
	} else if (own.options.prints.version) {
		printf("ctxrec %s\nlibzstd %s\n", CTX_VERSION, ZSTD_versionString());
	} else {
		code = record(&own);
	}
	ctx_rec_options_deinit(&own.options);
	/* Text longer than the buffer has set the error flag already. */
	if ((fflush(stdout) != 0 || ferror(stdout)) && code == 0) {
		say(NULL, "standard output cannot be written to");
		code = 2;
	}
	return code;
}
