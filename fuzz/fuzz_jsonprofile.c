/* Reads arbitrary bytes as a profile in JSON: the guarantees of sources hold, and damage is an error or less. */
#include "formats/jsonprofile/jsonprofile.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("json", MFD_CLOEXEC);
	struct ctx_event_source *source;
	struct ctx_event event;
	char path[64];

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)ctx_jsonprofile_is(path);
	if (ctx_jsonprofile_open(path, &source, NULL) == CTX_OK) {
		while (source->next(source, &event, NULL) == CTX_OK) {
			if (event.kind == CTX_EV_SAMPLE)
				require(event.sample.metric < source->info.n_metrics &&
					event.time_ns < source->info.duration_ns);
		}
		source->close(source);
	}
	close(fd);
	return 0;
}
