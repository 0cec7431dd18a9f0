/*
 * Mangled names come from untrusted files and can contain back references: 200 bytes may expand to
 * gigabytes. So output goes through a callback that leaves libiberty (longjmp) once
 * READABLE_BYTES_MAX are written. At that point its C++ demangler holds no heap memory, its Rust
 * demangler at most one identifier in punycode. The D demangler has no callback: there the number
 * of back references is limited instead.
 */
#include "symbols/demangle.h"

#include "base/mem.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX ((size_t)64 * 1024)
#define READABLE_BYTES_MAX ((size_t)64 * 1024)

/*
 * libiberty refuses C++ names over 1 KiB unless its recursion limit is lifted; at this length a
 * hostile name takes less than 2 MiB of stack.
 */
#define CPLUS_BYTES_MAX ((size_t)4 * 1024)

/* Two references may double the text: 24 make a name at most 4096 times longer. */
#define D_BYTES_MAX ((size_t)1024)
#define D_REFERENCES_MAX 24

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)

struct sink {
	struct ctx_buf *out;
	size_t before;
	jmp_buf too_long;
};

static void put_part(const char *text, size_t n, void *opaque)
{
	struct sink *sink = opaque;

	if (n > READABLE_BYTES_MAX - (sink->out->n - sink->before))
		longjmp(sink->too_long, 1);
	ctx_buf_put(sink->out, text, n);
}

static bool demangle_d(const char *name, size_t n, struct ctx_buf *out)
{
	size_t references = 0;
	char *text;

	for (size_t i = 0; i < n; i++)
		references += name[i] == 'Q';
	if (n > D_BYTES_MAX || references > D_REFERENCES_MAX)
		return false;
	text = dlang_demangle(name, OPTIONS);
	if (text == NULL)
		return false;
	ctx_buf_put_text(out, text);
	free(text);
	return true;
}

/* Rust first: its older names are C++ names with a hash at the end. */
static bool demangle_parts(const char *name, size_t n, struct sink *sink)
{
	if (setjmp(sink->too_long) != 0)
		return false;
	if (rust_demangle_callback(name, OPTIONS, put_part, sink) != 0)
		return true;
	sink->out->n = sink->before;
	return n <= CPLUS_BYTES_MAX &&
	       cplus_demangle_v3_callback(name, OPTIONS | DMGL_NO_RECURSE_LIMIT, put_part, sink) != 0;
}

static bool demangle_whole(const char *name, size_t n, struct ctx_buf *out)
{
	struct sink sink = {.out = out, .before = out->n};

	if (name[1] == 'D')
		return demangle_d(name, n, out);
	if (demangle_parts(name, n, &sink) && !out->failed)
		return true;
	out->n = sink.before;
	return false;
}

bool ctx_demangle(const char *name, struct ctx_buf *out)
{
	static const char plt[] = "@plt";
	char *base CTX_AUTO_FREE = NULL;
	size_t n, suffix = sizeof(plt) - 1;

	if (name[0] != '_')
		return false;
	n = strnlen(name, NAME_BYTES_MAX + 1);
	if (n > NAME_BYTES_MAX)
		return false;
	/*
	 * The name of a PLT slot is that of its function, and a suffix that demanglers do not know.
	 */
	if (n <= suffix || strcmp(name + n - suffix, plt) != 0)
		return demangle_whole(name, n, out);
	base = ctx_memdup0(name, n - suffix);
	if (base == NULL) {
		out->failed = true;
		return false;
	}
	if (!demangle_whole(base, n - suffix, out))
		return false;
	ctx_buf_put_text(out, plt);
	return true;
}
