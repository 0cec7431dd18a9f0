/*
 * Starts a helper program as if the recorder had changed nothing: it blocks signals, and ignores two of them.
 */
#ifndef CTX_COLLECT_SPAWN_H
#define CTX_COLLECT_SPAWN_H

#include <sys/types.h>

/*
 * Runs argv[0], a path, with default signal handling and this process's environment. `streams` are its standard input,
 * output and errors, borrowed; -1: /dev/null. `argv` ends with NULL. Returns 0, or the errno of what failed.
 */
int ctx_spawn(char *const *argv, const int streams[3], pid_t *ret);

#endif
