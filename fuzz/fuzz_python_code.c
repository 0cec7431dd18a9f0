/*
 * A process's memory of arbitrary bytes, with a code object at its beginning and addresses in it made small: names end, and an instruction behind
 * all that the table of lines can tell is in the first line.
 */
#include "collect/python_code.h"

#include <stdlib.h>
#include <string.h>

#define CODE 0u
#define PLACES 64u

struct memory {
	const uint8_t *data;
	size_t size;
};

/* Pointers are wherever the bytes say, but near: else hardly any would be in the memory. */
static bool read_memory(void *context, uint64_t address, void *out, size_t n)
{
	const struct memory *memory = context;

	address %= 4096;
	if (n > memory->size || address > memory->size - n)
		return false;
	memcpy(out, memory->data + address, n);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ctx_python_layout *layout = ctx_python_layout_of(0x030b02f0);
	struct memory memory = {data, size};
	const struct ctx_python_memory reader = {read_memory, &memory};
	struct ctx_python_code code;
	uint64_t type = 0;

	if (size >= 16)
		memcpy(&type, data + 8, sizeof(type));
	if (ctx_python_code_read(&code, &reader, layout, CODE, type)) {
		const char *name = ctx_python_code_name(&code), *file = ctx_python_code_file(&code);

		if (strlen(name) + 1 != code.file || file + strlen(file) + 1 != name + code.texts.n)
			abort();
		for (unsigned i = 0; i < PLACES; i++)
			(void)ctx_python_code_line(&code, code.instructions + 2 * i);
		if (ctx_python_code_line(&code, code.instructions + 16 * code.lines.n) != code.first_line)
			abort();
	}
	ctx_python_code_deinit(&code);
	return 0;
}
