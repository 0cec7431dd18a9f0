/* Reads arbitrary bytes as a JFR file: the guarantees of sources hold, and damage is an event or an error. */
#include "formats/jfr/jfr.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check(const struct ctx_source_info *info, const struct ctx_event *event)
{
	require(event->time_ns < info->duration_ns);
	if (event->kind == CTX_EV_SAMPLE)
		require(event->sample.metric < info->n_metrics);
	if (event->kind == CTX_EV_TRACED)
		require(event->traced.operation->kind < CTX_TRACED_N &&
			event->traced.operation->duration_ns <= CTX_TRACED_WEIGHT_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("jfr", MFD_CLOEXEC);
	struct ctx_event_source *source;
	struct ctx_event event;
	char path[64];

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)ctx_jfr_is(path);
	if (ctx_jfr_open(path, &source, NULL) == CTX_OK) {
		while (source->next(source, &event, NULL) == CTX_OK)
			check(&source->info, &event);
		source->close(source);
	}
	close(fd);
	return 0;
}
