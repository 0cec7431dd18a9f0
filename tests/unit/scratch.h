/*
 * Where unit tests make their files.
 */
#ifndef CTX_TESTS_UNIT_SCRATCH_H
#define CTX_TESTS_UNIT_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A fresh directory, in memory where there is a file system for that: some tests write tens of
 * thousands of small files. NULL: it cannot be made. The caller removes it and frees its path.
 */
static inline char *scratch_directory(const char *name)
{
	const char *root = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
	size_t room = strlen(root) + strlen(name) + sizeof("/.XXXXXX");
	char *path = malloc(room);

	if (path == NULL)
		return NULL;
	snprintf(path, room, "%s/%s.XXXXXX", root, name);
	if (mkdtemp(path) != NULL)
		return path;
	free(path);
	return NULL;
}

#endif
