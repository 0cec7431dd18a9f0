#include "ctxan/config.h"

#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MAX ((size_t)1 << 20)

/* getopt takes unique beginnings of options. */
bool ctx_config_is_refused(int argc, char *const *argv)
{
	static const char word[] = "--no-config";

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		size_t n = strlen(argv[i]);

		if (n >= sizeof("--no-c") - 1 && n < sizeof(word) && strncmp(argv[i], word, n) == 0)
			return true;
	}
	return false;
}

/* malloc'ed; NULL: no place is known, or no memory. */
static char *find_path(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	/* The specification of these variables ignores relative paths. */
	if (config != NULL && config[0] == '/')
		return ctx_path_join(config, "ctxan/config");
	return home != NULL && home[0] == '/' ? ctx_path_join(home, ".config/ctxan/config") : NULL;
}

enum ctx_status ctx_config_read(const struct ctx_option_table *table, void *options, char **ret_text,
				struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = find_path();
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status;

	*ret_text = NULL;
	if (path == NULL || access(path, F_OK) != 0)
		return CTX_OK;
	status = ctx_file_read(path, BYTES_MAX, &text, err);
	if (status != CTX_OK)
		return status;
	*ret_text = ctx_memdup0(text.bytes, text.n);
	if (*ret_text == NULL)
		return ctx_err_nomem(err);
	return ctx_option_parse_lines(table, &(struct ctx_option_lines){path, *ret_text}, options, err);
}
