#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A message is one line, whatever a file name or function name in it contains. */
static void flatten(char *text)
{
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == 0x7f)
			*text = '?';
	}
}

static enum ctx_status set(struct ctx_err *err, enum ctx_status status, const char *fmt, va_list args)
{
	if (err == NULL)
		return status;
	err->status = status;
	vsnprintf(err->msg, sizeof(err->msg), fmt, args);
	flatten(err->msg);
	return status;
}

enum ctx_status ctx_err_set(struct ctx_err *err, enum ctx_status status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set(err, status, fmt, args);
	va_end(args);
	return status;
}

enum ctx_status ctx_err_errno(struct ctx_err *err, enum ctx_status status, const char *fmt, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, fmt);
	set(err, status, fmt, args);
	va_end(args);
	if (err != NULL) {
		size_t used = strlen(err->msg);

		snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", strerror(saved));
	}
	return status;
}

enum ctx_status ctx_err_prefix(struct ctx_err *err, enum ctx_status status, const char *fmt, ...)
{
	char old[CTX_ERR_MAX];
	va_list args;
	size_t used;

	if (err == NULL)
		return status;
	memcpy(old, err->msg, sizeof(old));
	va_start(args, fmt);
	set(err, status, fmt, args);
	va_end(args);
	used = strlen(err->msg);
	snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", old);
	return status;
}

enum ctx_status ctx_err_nomem(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_NOMEM, "out of memory");
}
