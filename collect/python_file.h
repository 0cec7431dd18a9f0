/*
 * What a file with the Python interpreter exports: python3.11, libpython3.11.so.1.0. Their names need no debug information.
 */
#ifndef CTX_COLLECT_PYTHON_FILE_H
#define CTX_COLLECT_PYTHON_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a file's name is that of an interpreter: python3, python3.11, libpython3.11.so.1.0. */
bool ctx_python_is_name(const char *path);

struct ctx_python_file {
	uint32_t version;	  /* Py_Version: 0x030b02f0 is 3.11.2 */
	uint64_t runtime;	  /* addresses in the file: _PyRuntime */
	uint64_t code_type;	  /* PyCode_Type */
	uint64_t eval, eval_size; /* _PyEval_EvalFrameDefault */
	uint64_t address, offset; /* of the executable segment */
};

/*
 * Reads it. CTX_E_NOTFOUND: it exports no interpreter (a python3 that is linked with libpython); CTX_E_FORMAT, the message says why:
 * no symbols, no ELF file; CTX_E_IO, CTX_E_PERM, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_python_file_read(const char *path, struct ctx_python_file *ret,
						    struct ctx_err *err);

#endif
