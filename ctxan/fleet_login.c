#include "ctxan/fleet_login.h"

#include "base/fileio.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX ((size_t)1 << 16)

/* What of a line is behind "KEY", blanks and "=", without blanks around it; NULL: it is no such line. The line is cut. */
static char *value_of(char *line, const char *key)
{
	size_t n = strlen(key), end;

	line += strspn(line, " \t");
	if (strncmp(line, key, n) != 0)
		return NULL;
	line += n;
	line += strspn(line, " \t");
	if (*line++ != '=')
		return NULL;
	line += strspn(line, " \t");
	for (end = strlen(line); end != 0 && strchr(" \t\r", line[end - 1]) != NULL; end--)
		line[end - 1] = '\0';
	return line;
}

static enum ctx_status read_file(const char *path, struct ctx_buf *text, struct ctx_http_spec *spec,
				 struct ctx_err *err)
{
	struct stat facts;
	unsigned number = 0;
	enum ctx_status status;

	if (stat(path, &facts) == 0 && (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return ctx_err_set(err, CTX_E_PERM, "%s: others can read this password: chmod 600", path);
	status = ctx_file_read(path, FILE_MAX, text, err);
	ctx_buf_put_u8(text, '\0');
	if (status == CTX_OK)
		status = ctx_buf_check(text, err);
	if (status != CTX_OK)
		return status;
	for (char *line = (char *)text->bytes, *next; line != NULL; line = next) {
		char *value;

		number++;
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		if ((value = value_of(line, "user")) != NULL)
			spec->user = value;
		else if ((value = value_of(line, "password")) != NULL)
			spec->password = value;
		else if (line[strspn(line, " \t\r")] != '\0' && line[0] != '#')
			return ctx_err_set(err, CTX_E_ARG, "%s:%u: expected user = NAME or password = SECRET",
					   path, number);
	}
	return CTX_OK;
}

enum ctx_status ctx_fleet_login(const char *url, const char *credentials, struct ctx_http_client **ret,
				struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	struct ctx_http_spec spec = {
		.url = url, .user = getenv("CTXAN_FLEET_USER"), .password = getenv("CTXAN_FLEET_PASSWORD")};
	enum ctx_status status = CTX_OK;

	if (credentials != NULL) {
		spec.user = spec.password = NULL;
		status = read_file(credentials, &text, &spec, err);
	}
	if (status == CTX_OK && spec.password != NULL && spec.user == NULL)
		spec.user = "default";
	if (status == CTX_OK)
		status = ctx_http_client_open(&spec, ret, err);
	if (text.n != 0)
		explicit_bzero(text.bytes, text.n);
	return status;
}
