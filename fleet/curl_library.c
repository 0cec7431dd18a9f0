#include "fleet/curl_library.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <string.h>

#define FUNCTION(name)                                                                                       \
	{                                                                                                    \
		"curl_" #name, offsetof(struct ctx_curl, name)                                               \
	}

static const struct {
	const char *name;
	size_t at;
} functions[] = {
	FUNCTION(easy_init),	 FUNCTION(easy_cleanup),  FUNCTION(easy_setopt),  FUNCTION(easy_perform),
	FUNCTION(easy_getinfo),	 FUNCTION(easy_strerror), FUNCTION(url),	  FUNCTION(url_dup),
	FUNCTION(url_cleanup),	 FUNCTION(url_get),	  FUNCTION(url_set),	  FUNCTION(free),
	FUNCTION(mime_init),	 FUNCTION(mime_free),	  FUNCTION(mime_addpart), FUNCTION(mime_name),
	FUNCTION(mime_filename), FUNCTION(mime_data),	  FUNCTION(slist_append), FUNCTION(slist_free_all),
};

/* It stays loaded: what it has registered to be called at exit must be there then. */
enum ctx_status ctx_curl_load(struct ctx_curl *ret, struct ctx_err *err)
{
	struct ctx_curl curl = {.handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL)};

	if (curl.handle == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND,
				   "a fleet needs libcurl (Debian's package libcurl4): %s", dlerror());
	for (size_t i = 0; i < CTX_COUNT_OF(functions); i++) {
		void *function = dlsym(curl.handle, functions[i].name);

		if (function == NULL)
			return ctx_err_set(err, CTX_E_NOTFOUND, "libcurl is too old: it has no %s",
					   functions[i].name);
		memcpy((char *)&curl + functions[i].at, &function, sizeof(function));
	}
	*ret = curl;
	return CTX_OK;
}
