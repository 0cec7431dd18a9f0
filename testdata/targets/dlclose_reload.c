/*
 * Loads one library, works in it for 50 ms, unloads it, and does the same with another that mostly
 * comes to lie at the same address; three times. usage: dlclose_reload DIR-OF-THE-LIBRARIES
 */
#include <dlfcn.h>
#include <stdio.h>

static int run(const char *dir, const char *file, const char *function)
{
	char path[4096];
	int (*work)(void);
	void *library;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	library = dlopen(path, RTLD_NOW);
	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&work = dlsym(library, function);
	if (work == NULL || work() != 0)
		return 1;
	return dlclose(library);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : ".";

	for (int i = 0; i < 3; i++) {
		if (run(dir, "libplugin_one.so", "plugin_one") != 0 ||
		    run(dir, "libplugin_two.so", "plugin_two") != 0)
			return 1;
	}
	return 0;
}
