#include "collect/installation.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool ctx_installation_find(const char *name, int mode, char path[PATH_MAX])
{
	static const char *const places[] = {"", CTX_LIBEXEC_FROM_BIN "/"};
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (n <= 0)
		return false;
	own[n] = '\0';
	*strrchr(own, '/') = '\0';
	for (size_t i = 0; i < CTX_COUNT_OF(places); i++) {
		int length = snprintf(path, PATH_MAX, "%s/%s%s", own, places[i], name);

		if (length > 0 && length < PATH_MAX && access(path, mode) == 0)
			return true;
	}
	return false;
}
