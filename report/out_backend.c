#include "report/out_backend.h"

#include <stdarg.h>
#include <stdio.h>

void ctx_out_fail(struct ctx_out *out, enum ctx_status status)
{
	if (out->status == CTX_OK)
		out->status = status;
}

const char *ctx_out_format(struct ctx_out *out, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	text = n >= 0 ? ctx_arena_alloc(&out->arena, (size_t)n + 1) : NULL;
	if (text == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return "";
	}
	va_start(args, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, args);
	va_end(args);
	return text;
}
