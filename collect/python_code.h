/*
 * Code objects of CPython, read from a process: the names of a function, and the lines of its instructions.
 *
 * All of it is the target's and may be anything, or change while it is read: sizes are bounded, and whoever needs it
 * compares `check` with what the probe has seen (python_probe.h).
 *
 * Source: CPython 3.11, Include/cpython/code.h, unicodeobject.h, Objects/locations.md.
 */
#ifndef CTX_COLLECT_PYTHON_CODE_H
#define CTX_COLLECT_PYTHON_CODE_H

#include "base/buf.h"
#include "collect/python_layout.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads exactly `n` bytes at an address of the target. */
struct ctx_python_memory {
	bool (*read)(void *context, uint64_t address, void *out, size_t n);
	void *context;
};

struct ctx_python_code {      /* all zero is a valid empty one */
	struct ctx_buf texts; /* owned: name and file, each with a zero byte */
	struct ctx_buf lines; /* owned: the table of locations */
	size_t file;	      /* where the file's name is in `texts` */
	uint32_t first_line;
	uint64_t instructions; /* address of the first one */
	uint64_t check;
};

void ctx_python_code_deinit(struct ctx_python_code *code);

/*
 * Reads the code object at an address; `type` is that of code objects. False: it is none, or there is no memory. Call
 * ctx_python_code_deinit in any case.
 */
bool ctx_python_code_read(struct ctx_python_code *code, const struct ctx_python_memory *memory,
			  const struct ctx_python_layout *layout, uint64_t address, uint64_t type);

static inline const char *ctx_python_code_name(const struct ctx_python_code *code)
{
	return (const char *)code->texts.bytes;
}

static inline const char *ctx_python_code_file(const struct ctx_python_code *code)
{
	return (const char *)code->texts.bytes + code->file;
}

/* The line of the instruction at an address; the first line where the table has none. O(table). */
uint32_t ctx_python_code_line(const struct ctx_python_code *code, uint64_t instruction);

#endif
