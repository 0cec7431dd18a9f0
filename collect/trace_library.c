#include "collect/trace_library.h"

#include "collect/installation.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "libctxrt.so"
#define BY_TOKEN "/runtime/$LIB/" NAME
#define FOR_32 "/runtime/i386/" NAME

/* Whether the loader of this class finds the library by that name: it looks, and loads nothing. */
static bool is_found(const char *word)
{
	void *library;
	bool found;

	(void)dlerror();
	library = dlopen(word, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	found = dlerror() == NULL;
	if (library != NULL) /* this program is traced itself */
		dlclose(library);
	return found;
}

enum ctx_status ctx_trace_library_find(struct ctx_trace_library *ret, struct ctx_err *err)
{
#ifndef __x86_64__
	return ctx_err_set(err, CTX_E_NOTFOUND,
			   "the heap, synchronisation and input and output are recorded on x86-64 alone");
#endif
	char found[PATH_MAX], path[PATH_MAX], word[PATH_MAX];

	/* The loader takes a space and a colon for the end of the name, and a dollar for a token. */
	if (!ctx_installation_find(NAME, R_OK, found) || realpath(found, path) == NULL ||
	    strpbrk(path, " :$") != NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND,
				   "the library " NAME
				   " of this installation is missing, or its path has a space, "
				   "a colon or a dollar sign");
	strcpy(ret->word, path);
	strcpy(ret->path, path);
	ret->has_32 = false;
	*strrchr(path, '/') = '\0';
	if (snprintf(word, sizeof(word), "%s" BY_TOKEN, path) >= (int)sizeof(word) || !is_found(word))
		return CTX_OK;
	strcpy(ret->word, word);
	ret->has_32 = snprintf(word, sizeof(word), "%s" FOR_32, path) < (int)sizeof(word) &&
		      access(word, R_OK) == 0;
	return CTX_OK;
}
