/*
 * The load objects of a command before it runs, or of a process: the program, and its libraries.
 */
#ifndef CTX_COLLECT_LOAD_OBJECTS_H
#define CTX_COLLECT_LOAD_OBJECTS_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_load_objects { /* all zero is a valid empty list */
	char **paths;	  /* absolute; the first is the program; owned */
	size_t n, cap;
};

void ctx_load_objects_deinit(struct ctx_load_objects *objects);

/*
 * Those of a command as execvp finds it: of a script its interpreter; the libraries in the order in which its own loader
 * lists them. Fails with CTX_E_NOTFOUND, CTX_E_PERM (not executable), CTX_E_FORMAT (no program), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_load_objects_of_command(struct ctx_load_objects *objects,
							   const char *command, struct ctx_err *err);

/*
 * The file of a library by its name alone, as the loader of this program finds it. Fails with CTX_E_NOTFOUND, CTX_E_NOMEM. Costs a run of
 * the loader.
 */
CTX_MUST_CHECK enum ctx_status ctx_load_objects_find(const char *library, char ret[PATH_MAX],
						     struct ctx_err *err);

/* Those that a process has mapped with code. Fails with CTX_E_NOTFOUND, CTX_E_PERM, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_load_objects_of_process(struct ctx_load_objects *objects, int64_t pid,
							   struct ctx_err *err);

/* Adds the paths of a loader's list ("libc.so.6 => /lib/libc.so.6 (0x7f...)", "/lib/ld.so (0x7f...)"). Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_load_objects_parse(struct ctx_load_objects *objects, const char *text,
						      struct ctx_err *err);

/* Whether a path is of the load object `name`: its path, its file name, or that without a version ("libz.so"). */
bool ctx_load_object_is(const char *path, const char *name);

#endif
