/* Fuzz target: an interval from the command line. If accepted, it must be within the run. */
#include "model/interval.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_interval run = {0, UINT64_C(1234567890)};
	struct ctx_interval found;
	char text[128];

	if (size >= sizeof(text))
		return 0;
	if (size != 0)
		memcpy(text, data, size);
	text[size] = '\0';
	if (ctx_interval_parse(text, run, &found, NULL) != CTX_OK)
		return 0;
	if (ctx_interval_is_empty(found) || !ctx_interval_contains(run, found))
		abort();
	return 0;
}
