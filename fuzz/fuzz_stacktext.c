/* Reads arbitrary bytes as a text with call stacks: the guarantees of sources hold, and only memory fails. */
#include "formats/stacktext/st_line.h"
#include "formats/stacktext/stacktext.h"

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

static void check_line(const char *line, size_t n)
{
	struct ctx_st_sample sample;
	struct ctx_st_text stack;
	struct ctx_st_frame frame;
	uint64_t count;

	if (ctx_st_sample_parse(line, n, &sample))
		require(sample.command.n <= n && sample.event.n <= n && sample.cpu >= -1);
	if (ctx_st_frame_parse(line, n, &frame))
		require(frame.name.n + frame.module.n <= n);
	if (ctx_st_folded_parse(line, n, &stack, &count))
		while (ctx_st_folded_next(&stack, &frame))
			require(frame.name.n != 0 || frame.module.n == 0);
}

static void check_source(struct ctx_event_source *source)
{
	struct ctx_event event;
	enum ctx_status status;
	uint32_t threads = 0, processes = 0;

	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		if (event.kind == CTX_EV_PROCESS_START)
			require(event.process == processes++);
		if (event.kind == CTX_EV_THREAD_START)
			require(event.thread == threads++ && event.process < processes);
		if (event.kind == CTX_EV_SAMPLE)
			require(event.thread < threads && event.process < processes &&
				event.sample.metric < source->info.n_metrics &&
				event.time_ns < source->info.duration_ns);
	}
	require(status == CTX_END);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("text", MFD_CLOEXEC);
	struct ctx_event_source *source;
	char path[64];

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	check_line((const char *)data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ctx_stacktext_is(path) && ctx_stacktext_open(path, &source, NULL) == CTX_OK) {
		check_source(source);
		source->close(source);
	}
	close(fd);
	return 0;
}
