/*
 * Reads arbitrary bytes as a text of calls: whatever it says, the events keep the rules of every source.
 */
#include "formats/calltrace/calltrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EVENTS_MAX 200000u

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct seen {
	uint32_t n_processes, n_threads, n_functions;
	uint64_t open; /* calls of all threads */
};

static void check_call(const struct ctx_event *event, const struct seen *seen,
		       const struct ctx_source_info *info)
{
	const struct ctx_event_call *call = &event->call;

	require(info->has_calls && event->thread < seen->n_threads);
	require(call->frame == 0 ||
		(ctx_frame_is_named(call->frame) && ctx_frame_function(call->frame) < seen->n_functions));
	require(call->counted == NULL || info->n_call_counters != 0);
}

static void check_event(const struct ctx_event *event, struct seen *seen, const struct ctx_source_info *info)
{
	require(event->time_ns < info->duration_ns || event->kind == CTX_EV_WARNING);
	switch (event->kind) {
	case CTX_EV_PROCESS_START:
		seen->n_processes++;
		break;
	case CTX_EV_THREAD_START:
		require(event->thread == seen->n_threads++ && event->thread_start.name != NULL);
		break;
	case CTX_EV_THREAD_EXIT:
		require(event->thread < seen->n_threads);
		break;
	case CTX_EV_FUNCTION:
		require(event->function.id == seen->n_functions++ && event->function.name != NULL);
		break;
	case CTX_EV_CALL:
		check_call(event, seen, info);
		break;
	case CTX_EV_SAMPLE:
		require(info->n_metrics == 1 && event->thread < seen->n_threads &&
			event->sample.stack.n_frames != 0);
		for (uint32_t i = 0; i < event->sample.stack.n_frames; i++)
			require(ctx_frame_function(event->sample.stack.frames[i]) < seen->n_functions);
		break;
	case CTX_EV_STATE:
		require(info->has_states && event->thread < seen->n_threads);
		break;
	case CTX_EV_DAMAGE:
	case CTX_EV_WARNING:
		require(event->text[0] != '\0');
		break;
	default:
		abort(); /* events that this source does not emit */
	}
}

static void read_all(const char *path)
{
	struct ctx_event_source *source;
	struct ctx_err err = {0};
	struct seen seen = {0};
	char fingerprint[17];
	enum ctx_status status = ctx_calltrace_open(path, &source, &err);

	if (status != CTX_OK) {
		require((status == CTX_E_FORMAT || status == CTX_E_LIMIT) && err.msg[0] != '\0');
		return;
	}
	require(ctx_calltrace_is(path));
	require(ctx_calltrace_fingerprint(path, fingerprint, NULL) == CTX_OK && strlen(fingerprint) == 16);
	for (unsigned i = 0; i < EVENTS_MAX; i++) {
		struct ctx_event event;

		status = source->next(source, &event, &err);
		if (status != CTX_OK) {
			require(status == CTX_END);
			break;
		}
		check_event(&event, &seen, &source->info);
		require(source->progress(source) <= source->info.bytes);
	}
	source->close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("calltrace", 0);
	char path[64];

	require(fd >= 0);
	if (size != 0 && write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_all(path);
	close(fd);
	return 0;
}
