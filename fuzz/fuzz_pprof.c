/* Reads arbitrary bytes as pprof's profile: the guarantees of sources hold, and damage is an error or less. */
#include "formats/pprof/pprof_reader.h"
#include "fuzz/source_guarantees.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file = make_file(data, size);
	struct ctx_event_source *source;

	(void)ctx_pprof_is(file.path);
	if (ctx_pprof_open(file.path, &source, NULL) == CTX_OK)
		check_source(source);
	close(file.fd);
	return 0;
}
