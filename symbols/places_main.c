/*
 * ctxrec-places: the instructions and data of one load object that an indicator means
 * (model/place_protocol.h). ctxrec --indicator runs it.
 */
#include "base/mem.h"
#include "model/place_protocol.h"
#include "symbols/helper_limits.h"
#include "symbols/probe_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const whats[] = {
	[CTX_PROBE_FUNCTION] = "function",
	[CTX_PROBE_RETURN] = "return",
	[CTX_PROBE_LINE] = "line",
	[CTX_PROBE_RANGE] = "range",
	[CTX_PROBE_OBJECT] = "object",
	[CTX_PROBE_DATA] = "data",
	[CTX_PROBE_AT] = "at",
	[CTX_PROBE_ONCE] = "once",
};

static const char *const kinds[CTX_PROBE_KIND_N] = {
	[CTX_PROBE_AT_ENTRY] = CTX_PLACE_ENTRY,
	[CTX_PROBE_AT_INLINED] = CTX_PLACE_INLINED,
	[CTX_PROBE_INSIDE] = CTX_PLACE_INSIDE,
	[CTX_PROBE_AT_DATA] = CTX_PLACE_DATA,
};

static enum ctx_status print_place(void *context, const struct ctx_probe_place *place, struct ctx_err *err)
{
	(void)context;
	printf("%s\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\t",
	       place->has_room ? CTX_PLACE_PATCHABLE : kinds[place->kind], place->offset, place->address,
	       place->length_bytes);
	for (const char *at = place->name; *at != '\0'; at++)
		putchar((unsigned char)*at < ' ' ? '?' : *at);
	putchar('\n');
	return ferror(stdout) == 0 ? CTX_OK : ctx_err_set(err, CTX_E_IO, "standard output cannot be written");
}

static int usage(void)
{
	fputs("usage: " CTX_PLACE_HELPER_NAME
	      " PATH function|return|line|range|object|data|at|once NAME [LAST|LINE|OFFSET [LENGTH]]; ctxrec "
	      "--indicator runs it\n",
	      stderr);
	return CTX_PLACE_HELPER_FAILED;
}

int main(int argc, char **argv)
{
	struct ctx_probe_request request = {0};
	const char *more = argc > 4 ? argv[4] : "";
	struct ctx_err err = {0};
	enum ctx_status status;
	size_t what = 0;

	if (argc < 4 || argc > 6)
		return usage();
	while (what < CTX_COUNT_OF(whats) && strcmp(whats[what], argv[2]) != 0)
		what++;
	if (what == CTX_COUNT_OF(whats))
		return usage();
	request.what = (enum ctx_probe_what)what;
	request.path = argv[1];
	request.name = argv[3];
	if (request.what == CTX_PROBE_RANGE)
		request.last = more;
	else if (request.what == CTX_PROBE_LINE)
		request.line = (uint32_t)strtoul(more, NULL, 0);
	else
		request.offset = strtoull(more, NULL, 0);
	if (argc > 5)
		request.length_bytes = strtoull(argv[5], NULL, 0);
	ctx_helper_limit();
	status = ctx_probe_places(&request, print_place, NULL, &err);
	if (status == CTX_OK && fflush(stdout) != 0)
		status = ctx_err_set(&err, CTX_E_IO, "standard output cannot be written");
	if (status == CTX_OK)
		return CTX_PLACE_HELPER_OK;
	fprintf(stderr, "%s\n", err.msg);
	return status == CTX_E_NOTFOUND ? CTX_PLACE_HELPER_NONE : CTX_PLACE_HELPER_FAILED;
}
