/* Reads arbitrary bytes as callgrind.out: the guarantees of sources hold, and only memory fails. */
#include "formats/callgrind/callgrind_lines.h"
#include "formats/callgrind/callgrind_reader.h"
#include "fuzz/source_guarantees.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const uint8_t *data, size_t size)
{
	char line[4096];
	struct ctx_cg_costs costs = {0};
	struct ctx_cg_name name;
	size_t n = size < sizeof(line) ? size : sizeof(line) - 1;

	memcpy(line, data, n);
	line[n] = '\0';
	if (ctx_cg_name_parse(line, &name))
		require(name.text >= line && name.text <= line + strlen(line));
	if (ctx_cg_costs_parse(line, CTX_CG_POSITIONS_MAX, &costs))
		require(costs.n <= CTX_CG_EVENTS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file = make_file(data, size);
	struct ctx_event_source *source;

	check_line(data, size);
	if (ctx_callgrind_is(file.path) && ctx_callgrind_open(file.path, &source, NULL) == CTX_OK)
		check_source(source);
	close(file.fd);
	return 0;
}
