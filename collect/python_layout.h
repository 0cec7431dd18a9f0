/*
 * Where CPython keeps what a thread runs: offsets in its structures, which differ from version to version.
 *
 * Source: CPython 3.11, Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h, Include/cpython/pystate.h,
 * code.h, unicodeobject.h; x86-64, without --with-pydebug and --with-trace-refs.
 */
#ifndef CTX_COLLECT_PYTHON_LAYOUT_H
#define CTX_COLLECT_PYTHON_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct ctx_python_layout {
	/* _PyRuntimeState */
	uint32_t thread_current; /* gilstate.tstate_current: the thread that has the lock */
	uint32_t interpreters;	 /* interpreters.head */
	/* PyInterpreterState */
	uint32_t interpreter_next, interpreter_threads; /* next, threads.head */
	/* PyThreadState */
	uint32_t thread_next, thread_id; /* next, native_thread_id */
	uint32_t thread_cframe;		 /* cframe: of the innermost call of the evaluation loop */
	uint32_t cframe_frame;		 /* _PyCFrame.current_frame */
	/* _PyInterpreterFrame */
	uint32_t frame_code, frame_previous, frame_instruction; /* f_code, previous, prev_instr */
	uint32_t frame_flags; /* 8 bytes: stacktop, then is_entry and owner, one byte each */
	/* PyCodeObject: co_filename, co_name, co_qualname and co_linetable follow each other. */
	uint32_t code_names;
	uint32_t code_first_line, code_instructions; /* co_firstlineno, co_code_adaptive */
};

/* A version as Py_Version has it, 0x030b02f0 for 3.11.2. NULL: one that is not known. */
const struct ctx_python_layout *ctx_python_layout_of(uint32_t version);

/* Whether a frame is the first that its call of the evaluation loop runs. */
static inline int ctx_python_is_entry(uint64_t flags)
{
	return (flags >> 32 & 0xff) != 0;
}

#endif
