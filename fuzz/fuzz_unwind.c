/* Registers, a stack and .eh_frame of arbitrary bytes: the walk ends, and reads only the copy.
 * Input: 17 registers of 8 bytes | number of 8-byte words of stack, 1 byte | stack | .eh_frame */
#include "unwind/cfi_build.h"
#include "unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool find(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	*ret = (struct ctx_unwind_object){.begin = pc & ~UINT64_C(0xffff),
					  .end = (pc | 0xffff) + 1,
					  .table = (pc >> 16 & 3) == 3 ? NULL : context};
	return ret->end > ret->begin && (pc >> 16 & 7) != 7;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_user_state state = {.regs = {.machine = CTX_MACHINE_X86_64, .valid = 0x1ffff}};
	struct ctx_cfi_source source = {.machine = CTX_MACHINE_X86_64, .sections.n = 1};
	struct ctx_unwind_frame frames[MAX_FRAMES];
	struct ctx_unwind_space space = {.find = find};
	struct ctx_cfi_table *table = NULL;
	size_t n, at = 17 * 8 + 1;
	uint8_t *stack;

	if (size < at)
		return 0;
	memcpy(state.regs.value, data, 17 * sizeof(uint64_t));
	n = (size_t)data[17 * 8] * 8;
	n = n < size - at ? n : size - at;
	stack = malloc(n + 1); /* a separate allocation, so that a read past its end is detected */
	if (stack == NULL)
		return 0;
	memcpy(stack, data + at, n);
	state.stack = stack;
	state.stack_bytes = n;
	source.sections.items[0] =
		(struct ctx_cfi_section){.bytes = data + at + n, .n = size - at - n, .is_eh = true};
	if (ctx_cfi_build(&source, &table, NULL) == CTX_OK)
		space.context = table;
	if (ctx_unwind(&space, &state, frames, MAX_FRAMES, &n) >= CTX_TRUNCATED_N || n == 0 || n > MAX_FRAMES)
		abort();
	ctx_cfi_table_close(table);
	free(stack);
	return 0;
}
