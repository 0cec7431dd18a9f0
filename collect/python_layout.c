#include "collect/python_layout.h"

static const struct ctx_python_layout layout_3_11 = {
	.thread_current = 576,
	.interpreters = 40,
	.interpreter_next = 0,
	.interpreter_threads = 16,
	.thread_next = 8,
	.thread_id = 160,
	.thread_cframe = 56,
	.cframe_frame = 8,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instruction = 56,
	.frame_flags = 64,
	.code_names = 112,
	.code_first_line = 72,
	.code_instructions = 184,
};

const struct ctx_python_layout *ctx_python_layout_of(uint32_t version)
{
	/* From the first release candidate on structures stay as they are. */
	return version >> 16 == 0x030b && (version & 0xf0) >= 0xc0 ? &layout_3_11 : NULL;
}
