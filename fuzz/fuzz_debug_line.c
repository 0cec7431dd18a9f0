/*
 * Any bytes as DWARF sections: first two bytes (how the rest is shared out), then .debug_line and all others. Every path that comes out is
 * absolute and short enough to be opened; asking for fewer addresses never gives more files.
 */
#include "collect/debug_line.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum ctx_status count_path(void *context, const char *path, struct ctx_err *err)
{
	(void)err;
	if (path[0] != '/' || strlen(path) >= PATH_MAX)
		abort();
	++*(uint64_t *)context;
	return CTX_OK;
}

static uint64_t run(const struct ctx_debug_line_request *request)
{
	struct ctx_debug_line_stats stats;
	uint64_t n = 0;

	if (ctx_debug_line_files(request, count_path, &n, &stats, NULL) != CTX_OK)
		abort();
	if (stats.damaged > stats.programs + 1)
		abort();
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = {0x10, 0x1000, 0x1010, 0x1139, 0x401000, 0x401126};
	const struct ctx_code_range code = {0, UINT64_C(1) << 40};
	struct ctx_debug_units units = {0};
	struct ctx_debug_sections sections = {0};
	struct ctx_debug_line_request request = {.sections = &sections,
						 .units = &units,
						 .code = &code,
						 .n_code = 1,
						 .addresses = addresses,
						 .n_addresses = sizeof(addresses) / sizeof(*addresses)};
	size_t line, abbrev;
	uint64_t some;

	if (size < 2)
		return 0;
	line = (size - 2) * data[0] / 255;
	abbrev = (size - 2 - line) * data[1] / 255;
	data += 2;
	size -= 2;
	sections.line = (struct ctx_debug_bytes){data, line};
	sections.abbrev = (struct ctx_debug_bytes){data + line, abbrev};
	sections.info = (struct ctx_debug_bytes){data + line + abbrev, size - line - abbrev};
	sections.str = sections.line_str = (struct ctx_debug_bytes){data, size};
	if (ctx_debug_units_read(&units, &sections, NULL) != CTX_OK)
		abort();
	some = run(&request);
	request.all = true;
	if (run(&request) < some)
		abort();
	ctx_debug_units_deinit(&units);
	return 0;
}
