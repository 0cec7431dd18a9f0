#include "elf/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"

/*
 * From elfutils/debuginfod.h, which is not needed to build this. Length 0: the build id is text.
 * Returns an open file, or -errno.
 */
typedef struct debuginfod_client *(*begin_fn)(void);
typedef void (*end_fn)(struct debuginfod_client *client);
typedef int (*find_fn)(struct debuginfod_client *client, const unsigned char *build_id, int length,
		       char **ret_path);

struct client {
	begin_fn begin;
	end_fn end;
	find_fn find_debug, find_program;
};

bool ctx_debuginfod_is_wanted(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls != NULL && urls[strspn(urls, " ")] != '\0';
}

/* The library stays loaded: its dependencies (TLS, curl) cannot be unloaded safely. */
static bool load_client(struct client *client)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return false;
	client->begin = (begin_fn)dlsym(library, "debuginfod_begin");
	client->end = (end_fn)dlsym(library, "debuginfod_end");
	client->find_debug = (find_fn)dlsym(library, "debuginfod_find_debuginfo");
	client->find_program = (find_fn)dlsym(library, "debuginfod_find_executable");
	return client->begin != NULL && client->end != NULL && client->find_debug != NULL &&
	       client->find_program != NULL;
}

enum ctx_status ctx_debuginfod_find(const char *build_id, bool debug, char **ret_path, struct ctx_err *err)
{
	struct debuginfod_client *session;
	struct client client;
	char *path = NULL;
	int fd;

	if (!load_client(&client))
		return ctx_err_set(err, CTX_E_NOTFOUND, "debuginfod: no " LIBRARY);
	session = client.begin();
	if (session == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND, "debuginfod: the client does not start");
	fd = (debug ? client.find_debug : client.find_program)(session, (const unsigned char *)build_id, 0,
							       &path);
	client.end(session);
	if (fd < 0) {
		free(path);
		return fd == -ENOMEM ? ctx_err_nomem(err)
				     : ctx_err_set(err, CTX_E_NOTFOUND, "debuginfod: %s", strerror(-fd));
	}
	close(fd);
	if (path == NULL)
		return ctx_err_nomem(err);
	*ret_path = path;
	return CTX_OK;
}
