/* Opens the library named, calls its function, and closes it. */
#include <dlfcn.h>
#include <stdio.h>

int call(int (*function)(int))
{
	return function(1);
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*function)(int) = library != NULL ? (int (*)(int))dlsym(library, "library_call") : NULL;

	if (function == NULL)
		return 1;
	call(function);
	call(function);
	return dlclose(library);
}
