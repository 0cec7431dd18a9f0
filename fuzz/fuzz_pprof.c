/* Reads arbitrary bytes as pprof's profile: the guarantees of sources hold, and damage is an error or less. */
#include "formats/pprof/pprof_reader.h"

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
	int fd = memfd_create("profile", MFD_CLOEXEC);
	struct ctx_event_source *source;
	struct ctx_event event;
	char path[64];

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)ctx_pprof_is(path);
	if (ctx_pprof_open(path, &source, NULL) == CTX_OK) {
		while (source->next(source, &event, NULL) == CTX_OK) {
			if (event.kind == CTX_EV_SAMPLE)
				require(event.sample.metric < source->info.n_metrics &&
					event.sample.weight > 0 && event.sample.weight <= UINT64_C(1) << 56);
			if (event.kind == CTX_EV_MAP)
				require(event.map.size <= UINT64_MAX - event.map.address);
		}
		source->close(source);
	}
	close(fd);
	return 0;
}
