/* An ELF file of arbitrary bytes: what is at addresses of data, what instructions access, and how a structure is laid out. */
#include "symbols/data_objects.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESSES 256u

static void check(enum ctx_status status, const struct ctx_data_name *name)
{
	if (status != CTX_OK)
		return;
	if (name->object == NULL && name->member == NULL)
		abort();
	if ((name->object != NULL && name->object[0] != '{') ||
	    (name->member != NULL && name->member[0] != '{'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const types[] = {"foo", "s", "point", "a"};
	struct ctx_data_objects *objects;
	struct ctx_data_name name;

	if (ctx_data_objects_open_bytes(data, size, &objects, NULL) != CTX_OK)
		return 0;
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		uint64_t address = i * 3 + (i % 2 ? 0x1000 : 0x3f00);

		check(ctx_data_objects_at(objects, address, &name, NULL), &name);
		check(ctx_data_objects_accessed(objects, 0x1000 + i, i % 2 == 0, &name, NULL), &name);
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct ctx_data_layout layout;

		if (ctx_data_objects_layout(objects, types[i], &layout, NULL) != CTX_OK)
			continue;
		for (size_t k = 1; k < layout.n; k++) {
			if (layout.members[k].offset < layout.members[k - 1].offset)
				abort();
		}
	}
	ctx_data_objects_close(objects);
	return 0;
}
