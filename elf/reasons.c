#include "elf/reasons.h"

#include <stdarg.h>
#include <stdio.h>

void ctx_reasons_add(struct ctx_buf *reasons, const char *fmt, ...)
{
	char text[CTX_ERR_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	ctx_buf_printf(reasons, "%s%s", reasons->n != 0 ? "; " : "", text);
}
