/*
 * Files that are installed with this program.
 */
#ifndef CTX_COLLECT_INSTALLATION_H
#define CTX_COLLECT_INSTALLATION_H

#include <limits.h>
#include <stdbool.h>

/*
 * The path of a file beside this program, or where an installation has it, that this user may access
 * (access(2)). False: there is none.
 */
bool ctx_installation_find(const char *name, int mode, char path[PATH_MAX]);

#endif
