/* Reads arbitrary bytes as a trace in the Trace Event Format, packed ones as well. */
#include "formats/traceevent/traceevent.h"
#include "fuzz/call_source.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("trace", 0);
	struct ctx_event_source *source;
	struct ctx_err err = {0};
	char path[64];

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)ctx_traceevent_is(path);
	if (ctx_traceevent_open(path, &source, &err) == CTX_OK)
		check_source(source);
	else
		require(err.msg[0] != '\0');
	close(fd);
	return 0;
}
