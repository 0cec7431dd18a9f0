/* Reads arbitrary bytes as a profile in JSON: the guarantees of sources hold, and damage is an error or less. */
#include "formats/jsonprofile/jsonprofile.h"
#include "fuzz/source_guarantees.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file = make_file(data, size);
	struct ctx_event_source *source;

	(void)ctx_jsonprofile_is(file.path);
	if (ctx_jsonprofile_open(file.path, &source, NULL) == CTX_OK)
		check_source(source);
	close(file.fd);
	return 0;
}
