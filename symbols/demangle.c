#include "symbols/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX ((size_t)64 * 1024)

bool ctx_demangle(const char *name, struct ctx_buf *out)
{
	char *text;

	if (name[0] != '_' || strnlen(name, NAME_BYTES_MAX + 1) > NAME_BYTES_MAX)
		return false;
	/* The automatic style knows C++ and Rust, but not D. */
	text = cplus_demangle(name, (name[1] == 'D' ? DMGL_DLANG : DMGL_AUTO) | DMGL_PARAMS | DMGL_ANSI);
	if (text == NULL)
		return false;
	ctx_buf_put_text(out, text);
	free(text);
	return true;
}
