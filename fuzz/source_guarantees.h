/*
 * For targets of event sources: a file of arbitrary bytes, and what a source guarantees of its events whatever it reads
 * (model/event_source.h).
 */
#ifndef CTX_FUZZ_SOURCE_GUARANTEES_H
#define CTX_FUZZ_SOURCE_GUARANTEES_H

#include "model/event_source.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define WEIGHT_MAX (UINT64_C(1) << 56) /* so that sums do not overflow */

static inline void require(bool holds)
{
	if (!holds)
		abort();
}

struct memory_file {
	int fd;
	char path[64];
};

static inline struct memory_file make_file(const uint8_t *data, size_t size)
{
	struct memory_file file = {.fd = memfd_create("source", MFD_CLOEXEC)};

	require(file.fd >= 0 && write(file.fd, data, size) == (ssize_t)size);
	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file;
}

/* Reads all events, and closes the source. Numbers are dense and announced; damage does not end the reading. */
static inline void check_source(struct ctx_event_source *source)
{
	uint32_t threads = 0, processes = 0, functions = 0;
	struct ctx_event event;
	enum ctx_status status;

	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		if (event.kind == CTX_EV_PROCESS_START)
			require(event.process == processes++);
		if (event.kind == CTX_EV_THREAD_START)
			require(event.thread == threads++ && event.process < processes);
		if (event.kind == CTX_EV_FUNCTION)
			require(event.function.id == functions++);
		if (event.kind == CTX_EV_MAP)
			require(event.process < processes &&
				event.map.size <= UINT64_MAX - event.map.address);
		if (event.kind != CTX_EV_SAMPLE)
			continue;
		require(event.thread < threads && event.process < processes);
		require(event.sample.metric < source->info.n_metrics);
		require(event.sample.weight > 0 && event.sample.weight <= WEIGHT_MAX);
		require(event.time_ns < source->info.duration_ns);
		for (uint32_t i = 0; i < event.sample.stack.n_frames; i++) {
			uint64_t frame = event.sample.stack.frames[i];

			require(!ctx_frame_is_named(frame) || ctx_frame_function(frame) < functions);
		}
	}
	require(status == CTX_END);
	source->close(source);
}

#endif
