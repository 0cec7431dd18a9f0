/*
 * Reads arbitrary bytes as a jitdump: loads are in order of time, have names and code bytes within
 * the file, and do not wrap.
 */
#include "formats/perfdata/pd_jitdump.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_pd_jitdump dump;

	if (ctx_pd_jitdump_parse(data, size, &dump, NULL) != CTX_OK)
		return 0;
	for (size_t i = 0; i < dump.n; i++) {
		const struct ctx_pd_jit_load *load = &dump.loads[i];
		size_t n = strlen(load->name) + 1;

		if (load->size == 0 || load->address + load->size < load->address)
			abort();
		if (load->file_offset > size || load->size > size - load->file_offset ||
		    n > load->file_offset || memcmp(data + load->file_offset - n, load->name, n) != 0)
			abort();
		if (i > 0 && load->time_ns < load[-1].time_ns)
			abort();
	}
	ctx_pd_jitdump_deinit(&dump);
	return 0;
}
