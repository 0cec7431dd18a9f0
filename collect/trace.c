#include "collect/trace.h"

#include "base/mem.h"
#include "collect/load_objects.h"
#include "collect/trace_impl.h"
#include "collect/trace_records.h"
#include "runtime/program_check.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD"
#define QUEUES_BYTES ((size_t)64 << 20)
#define MEMORY_MAX ((size_t)1 << 40)
#define RINGS_SHARE 4u		   /* times what queues may have */
#define SPARSE_BYTES 65536u	   /* between sampled allocations */
#define PAUSE_NS UINT64_C(4000000) /* the longest between two looks at rings */
#define SPARSE_PAUSE_NS UINT64_C(20000000)
#define PATTERN_MAX 480u

/* The beginning */

static enum ctx_status check_command(const struct ctx_trace *trace, const char *command, struct ctx_err *err)
{
	char room[PATH_MAX];
	const char *path = command != NULL ? ctx_program_find(command, room, sizeof(room)) : NULL;
	enum ctx_program program = path != NULL ? ctx_program_check(path) : CTX_PROGRAM_UNKNOWN;

	if (program == CTX_PROGRAM_FITS || program == CTX_PROGRAM_UNKNOWN ||
	    (program == CTX_PROGRAM_FITS_32 && trace->library.has_32))
		return CTX_OK;
	return ctx_err_set(err, CTX_E_ARG, "%s cannot be traced: %s", command, ctx_program_reason(program));
}

/* The pattern in letters that mean nothing else there. */
static void put_calls(struct ctx_trace *trace, const struct ctx_trace_options *options, char *out,
		      size_t size)
{
	const char *pattern = options->calls_of != NULL ? options->calls_of : "";
	uint64_t least =
		options->calls_min_ns != 0 ? ctx_call_clock_ticks(&trace->clock, options->calls_min_ns) : 0;
	size_t n = (size_t)snprintf(out, size, "c%llud%un%u%s%s", (unsigned long long)least,
				    options->calls_depth, options->calls_counters,
				    ctx_trace_sums_letters(&options->calls_sums, (char[64]){0}),
				    *pattern != '\0' ? "p" : "");

	for (; *pattern != '\0' && n + 2 < size; pattern++) {
		out[n++] = (char)('A' + ((unsigned char)*pattern >> 4));
		out[n++] = (char)('A' + ((unsigned char)*pattern & 15));
	}
	out[n] = '\0';
}

static void set_letters(struct ctx_trace *trace, const struct ctx_trace_options *options)
{
	char heap[24] = "", sync[24] = "", calls[128 + 2 * PATTERN_MAX] = "";

	if (options->heap)
		snprintf(heap, sizeof(heap), "h%llu", (unsigned long long)options->sample_bytes);
	if (options->sync)
		snprintf(sync, sizeof(sync), "s%llu", (unsigned long long)options->sync_threshold_ns);
	if (options->calls)
		put_calls(trace, options, calls, sizeof(calls));
	snprintf(trace->letters, sizeof(trace->letters), "m%s%s%s%s%s%s%s%s%s%s", heap, sync,
		 options->io ? "i" : "", options->omp ? options->omp_gives_way ? "oq" : "o" : "",
		 options->waits ? "w" : "", trace->library.has_32 ? "b" : "",
		 options->once_fd >= 0 ? "e" : "", options->entries_fd >= 0 ? "k" : "",
		 trace->clock.has_tsc ? "t" : "", calls);
}

/* Where it cannot be, one line says why. */
static void watch_uring(struct ctx_trace *trace, const char *tracefs)
{
	struct ctx_err why = {0};

	if (ctx_trace_uring_create(tracefs, &trace->uring, &why) == CTX_OK)
		snprintf(trace->uring_text, sizeof(trace->uring_text), "recorded, by tracepoints");
	else
		snprintf(trace->uring_text, sizeof(trace->uring_text), "not recorded: %.400s", why.msg);
}

enum ctx_status ctx_trace_create(const struct ctx_trace_options *options, struct ctx_trace **ret,
				 struct ctx_err *err)
{
	size_t queues_bytes = options->memory_bytes == 0	   ? QUEUES_BYTES
			      : options->memory_bytes < MEMORY_MAX ? options->memory_bytes
								   : MEMORY_MAX;
	struct ctx_trace *trace = ctx_calloc(1, sizeof(*trace));
	enum ctx_status status;

	if (trace == NULL)
		return ctx_err_nomem(err);
	ctx_trace_segments_init(&trace->segments, (uint64_t)queues_bytes * RINGS_SHARE);
	status = ctx_trace_library_find(&trace->library, err);
	if (status == CTX_OK)
		status = check_command(trace, options->command, err);
	if (status == CTX_OK && options->omp_by_libomp)
		status = ctx_load_objects_find("libomp.so.5", trace->libomp, err);
	/* The loader takes LD_PRELOAD apart at these. */
	if (status == CTX_OK && strpbrk(trace->libomp, " :$") != NULL)
		status = ctx_err_set(err, CTX_E_NOTFOUND,
				     "libomp.so.5 is in a folder that LD_PRELOAD cannot name: %s",
				     trace->libomp);
	trace->has_ticks = options->calls || options->omp;
	if (trace->has_ticks)
		ctx_call_clock_init(&trace->clock);
	trace->reader.take_calls = options->calls ? ctx_trace_take_calls : NULL;
	trace->entries = options->entries;
	set_letters(trace, options);
	trace->is_sparse = !options->sync && !options->io && !options->calls && !options->omp &&
			   options->sample_bytes >= SPARSE_BYTES;
	if (status == CTX_OK)
		status = ctx_trace_listener_create(&trace->segments, options->once_fd, options->entries_fd,
						   &trace->listener, err);
	if (status == CTX_OK)
		status = ctx_trace_drain_create(&trace->segments, queues_bytes, &trace->drain, err);
	if (status != CTX_OK) {
		ctx_trace_destroy(trace);
		return status;
	}
	if (options->io)
		watch_uring(trace, options->tracefs);
	*ret = trace;
	return CTX_OK;
}

const char *ctx_trace_uring_text(const struct ctx_trace *trace)
{
	return trace->uring_text[0] != '\0' ? trace->uring_text : NULL;
}

void ctx_trace_destroy(struct ctx_trace *trace)
{
	if (trace == NULL)
		return;
	assert(trace->n_attached == 0);
	free(trace->attached);
	ctx_trace_listener_destroy(trace->listener);
	ctx_trace_uring_destroy(trace->uring);
	if (trace->drain != NULL) {
		ctx_trace_drain_lock(trace->drain);
		(void)ctx_trace_drain_pull(trace->drain, &trace->reader.spent);
		ctx_trace_drain_unlock(trace->drain);
	}
	ctx_trace_drain_destroy(trace->drain);
	ctx_trace_segments_deinit(&trace->segments);
	ctx_trace_reader_deinit(&trace->reader);
	ctx_trace_marks_deinit(&trace->marks);
	free(trace->turns);
	free(trace->old_preload);
	free(trace);
}

void ctx_trace_give_up(struct ctx_trace *trace)
{
	ctx_trace_segments_close(&trace->segments);
}

static void put_setting(const struct ctx_trace *trace, char out[CTX_TRACE_SETTING_MAX])
{
	snprintf(out, CTX_TRACE_SETTING_MAX, "%s:%s", ctx_trace_listener_name(trace->listener),
		 trace->letters);
}

enum ctx_status ctx_trace_enter_environment(struct ctx_trace *trace, struct ctx_err *err)
{
	const char *old = getenv(PRELOAD);
	char *preload CTX_AUTO_FREE = NULL;
	char setting[CTX_TRACE_SETTING_MAX];

	if (old != NULL) {
		trace->old_preload = ctx_memdup0(old, strlen(old));
		if (trace->old_preload == NULL)
			return ctx_err_nomem(err);
	}
	put_setting(trace, setting);
	if (asprintf(&preload, "%s%s%s%s%s", trace->library.word, trace->libomp[0] != '\0' ? ":" : "",
		     trace->libomp, old != NULL && *old != '\0' ? ":" : "", old != NULL ? old : "") < 0 ||
	    setenv(PRELOAD, preload, 1) != 0 || setenv(CTX_RT_VARIABLE, setting, 1) != 0)
		return ctx_err_nomem(err);
	return CTX_OK;
}

void ctx_trace_leave_environment(struct ctx_trace *trace)
{
	unsetenv(CTX_RT_VARIABLE);
	if (trace->old_preload == NULL)
		unsetenv(PRELOAD);
	else
		(void)setenv(PRELOAD, trace->old_preload, 1); /* shorter than what is there */
}

/* Running processes */

enum ctx_status ctx_trace_check_process(const struct ctx_trace *trace, int64_t pid, struct ctx_err *err)
{
	return ctx_attach_check(&(struct ctx_attach_options){.pid = pid, .library = trace->library.path},
				err);
}

enum ctx_status ctx_trace_attach(struct ctx_trace *trace, int64_t pid, uint64_t *ret_ns, struct ctx_err *err)
{
	char setting[CTX_TRACE_SETTING_MAX];
	const struct ctx_attach_options options = {
		.pid = pid, .library = trace->library.path, .setting = setting};
	enum ctx_status status = ctx_grow(&trace->attached, &trace->attached_cap, trace->n_attached + 1, err);

	put_setting(trace, setting);
	if (status == CTX_OK)
		status = ctx_attach_create(&options, &trace->attached[trace->n_attached], err);
	if (status == CTX_OK)
		*ret_ns = ctx_attach_result(trace->attached[trace->n_attached++]).stopped_ns;
	trace->counts.calls.is_late = true;
	return status;
}

enum ctx_status ctx_trace_detach(struct ctx_trace *trace, struct ctx_err *err)
{
	enum ctx_status result = CTX_OK;

	while (trace->n_attached != 0) {
		enum ctx_status status = ctx_attach_destroy(trace->attached[--trace->n_attached], err);

		result = status != CTX_OK ? status : result;
	}
	return result;
}

enum ctx_status ctx_trace_begin(struct ctx_trace *trace, struct ctx_exp_writer *writer,
				struct ctx_proctree *tree, struct ctx_err *err)
{
	trace->writer = writer;
	trace->tree = tree;
	trace->segments.start_ns = ctx_exp_start_ns(writer);
	trace->segments.second_ticks = ctx_trace_second_ticks(&trace->clock);
	ctx_trace_drain_start(trace->drain, trace->is_sparse ? SPARSE_PAUSE_NS : PAUSE_NS);
	return ctx_trace_listener_start(trace->listener, err);
}

bool ctx_trace_is_sparse(const struct ctx_trace *trace)
{
	return trace->is_sparse;
}

int ctx_trace_fd(const struct ctx_trace *trace)
{
	return ctx_trace_listener_fd(trace->listener);
}

bool ctx_trace_has_backlog(const struct ctx_trace *trace)
{
	return trace->has_backlog;
}

bool ctx_trace_is_busy(const struct ctx_trace *trace)
{
	return trace->segments.n != 0;
}

struct ctx_trace_counts ctx_trace_counts(struct ctx_trace *trace)
{
	struct ctx_trace_counts counts = trace->counts;

	ctx_trace_listener_end(trace->listener);
	ctx_trace_drain_lock(trace->drain);
	for (const struct ctx_trace_segment *segment = trace->segments.first; segment != NULL;
	     segment = segment->next)
		ctx_trace_counts_add(&counts, segment);
	ctx_trace_drain_unlock(trace->drain);
	pthread_mutex_lock(&trace->segments.lock);
	ctx_trace_count(&counts.nobodys, trace->segments.failed);
	counts.ringless = trace->segments.refused;
	counts.unmapped = trace->segments.untraced[CTX_RT_UNTRACED_UNMAPPED - CTX_RT_UNTRACED_FIRST];
	counts.left = trace->segments.untraced[CTX_RT_UNTRACED_LEFT - CTX_RT_UNTRACED_FIRST];
	if (trace->uring != NULL) {
		ctx_trace_count(&counts.operations, ctx_trace_uring_operations(trace->uring));
		ctx_trace_count(&counts.dropped, ctx_trace_uring_lost(trace->uring));
	}
	counts.rings_bytes = trace->segments.most_bytes;
	counts.rings_limit_bytes = trace->segments.limit_bytes;
	pthread_mutex_unlock(&trace->segments.lock);
	return counts;
}

const struct ctx_trace_unfit *ctx_trace_unfit(const struct ctx_trace *trace)
{
	return &trace->unfit;
}
