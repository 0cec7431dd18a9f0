/*
 * debuginfod: servers of files by build id. Queried only if the user sets DEBUGINFOD_URLS; then its
 * client library is loaded, which caches the files it downloads.
 */
#ifndef CTX_ELF_DEBUGINFOD_H
#define CTX_ELF_DEBUGINFOD_H

#include "base/err.h"

#include <stdbool.h>

/* True if the user has enabled servers. */
bool ctx_debuginfod_is_wanted(void);

/*
 * Fetches a file by build id (lower-case hex): the debug file, or the executable. Returns its path
 * in the client's cache, malloc'ed. Blocks until the server has answered. Fails with CTX_E_NOTFOUND
 * (the message says why), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_debuginfod_find(const char *build_id, bool debug, char **ret_path,
						   struct ctx_err *err);

#endif
