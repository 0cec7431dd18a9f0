/*
 * An ELF file of arbitrary bytes: every kind of query at addresses throughout its executable
 * sections, and at others.
 */
#include "symbols/source_map.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESSES 512
#define LINES_MAX ((uint64_t)1 << 16)

struct lines {
	uint64_t begin, next;
	size_t n;
};

static enum ctx_status check_line(void *context, const struct ctx_source_line *line, struct ctx_err *err)
{
	struct lines *lines = context;

	(void)err;
	if (lines->n == 0 ? line->address != lines->begin : line->address < lines->next)
		abort();
	if ((line->file == NULL) != (line->line == 0))
		abort();
	lines->next = line->address + 1;
	lines->n++;
	return CTX_OK;
}

static void check_address(struct ctx_source_map *map, uint64_t address)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX];
	size_t n;

	if (ctx_source_map_find(map, address, frames, &n, NULL) != CTX_OK)
		return; /* no memory */
	if (n > CTX_SOURCE_FRAMES_MAX)
		abort();
	for (size_t i = 0; i < n; i++) {
		if ((frames[i].function == NULL) != (i + 1 == n) ||
		    (frames[i].linkage_name == NULL) != (frames[i].function == NULL))
			abort();
		if (frames[i].file != NULL && strlen(frames[i].file) == 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines lines = {0};
	struct ctx_source_map *map;

	if (ctx_source_map_open_bytes(data, size, &map, NULL) != CTX_OK)
		return 0;
	for (uint64_t i = 0; i < ADDRESSES; i++)
		check_address(map, i * 3 + (i % 2 ? 0x1000 : 0));
	check_address(map, UINT64_MAX);
	if (ctx_source_map_lines(map, (struct ctx_source_range){0, LINES_MAX}, check_line, &lines, NULL) ==
		    CTX_OK &&
	    lines.n == 0)
		abort();
	lines = (struct lines){.begin = 0x1010};
	if (ctx_source_map_lines(map, (struct ctx_source_range){0x1010, 0x1011}, check_line, &lines, NULL) ==
		    CTX_OK &&
	    lines.n != 1)
		abort();
	ctx_source_map_close(map);
	return 0;
}
