/*
 * debuginfod: a server that has files by build id. Asked only where the user names one in
 * DEBUGINFOD_URLS; its client library is loaded then, and keeps what it got in a cache of its own.
 */
#ifndef CTX_ELF_DEBUGINFOD_H
#define CTX_ELF_DEBUGINFOD_H

#include "base/err.h"

#include <stdbool.h>

/* True when the user wants servers to be asked. */
bool ctx_debuginfod_is_wanted(void);

/*
 * The path of a file of a build id (lower-case hex) in the client's cache, malloc'ed: the debug
 * file, or the program. Takes as long as the server does. Fails with CTX_E_NOTFOUND (the message
 * says why), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_debuginfod_find(const char *build_id, bool debug, char **ret_path,
						   struct ctx_err *err);

#endif
