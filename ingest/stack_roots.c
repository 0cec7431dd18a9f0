#include "ingest/stack_roots.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum root { NOT_COUNTED, REACHED, MISSING };

/* C libraries: the entry of a program, and what calls its main; the begin of a thread. Then Go's. */
static const char *const roots[] = {
	"_start",
	"_start_c",
	"__libc_start_main",
	"__libc_start_call_main",
	"libc_start_main_stage2",
	"_dl_start_user",
	"_dl_start",
	"start_thread",
	"clone",
	"clone3",
	"__clone",
	"__clone3",
	"vfork",
	"__vfork",
	"start",
	"runtime.goexit",
	"runtime.rt0_go",
	"runtime.mstart",
	"runtime.morestack",
};

/* Up to a version or the part of a function: "__libc_start_main@@GLIBC_2.34", "clone.cold". */
static bool is_name(const char *name, const char *root)
{
	size_t n = strlen(root);

	return strncmp(name, root, n) == 0 &&
	       (name[n] == '\0' || name[n] == '@' || strcmp(name + n, ".abi0") == 0);
}

static enum root root_of(const struct ctx_resolver *resolver, uint32_t location)
{
	uint32_t function = ctx_resolver_location_function(resolver, location);
	const char *name;

	if (function == CTX_NONE || ctx_resolver_in_kernel(resolver, location))
		return NOT_COUNTED;
	name = ctx_resolver_function_name(resolver, function);
	if (name[0] == '<')
		return NOT_COUNTED;
	for (size_t i = 0; i < CTX_COUNT_OF(roots); i++) {
		if (is_name(name, roots[i]))
			return REACHED;
	}
	return MISSING;
}

enum ctx_status ctx_stack_roots_count(const struct ctx_resolver *resolver, const struct ctx_trie *raw,
				      const uint32_t *leaf_samples, struct ctx_stack_roots *ret,
				      struct ctx_err *err)
{
	uint8_t *kinds CTX_AUTO_FREE = ctx_calloc(raw->n, sizeof(*kinds)); /* by stack: enum root */

	*ret = (struct ctx_stack_roots){0};
	if (kinds == NULL)
		return ctx_err_nomem(err);
	/* Callers come before their callees. */
	for (uint32_t i = 1; i < raw->n; i++) {
		kinds[i] = raw->parent[i] == CTX_TRIE_ROOT ? (uint8_t)root_of(resolver, raw->key[i])
							   : kinds[raw->parent[i]];
		ret->reached += kinds[i] == REACHED ? leaf_samples[i] : 0;
		ret->missing += kinds[i] == MISSING ? leaf_samples[i] : 0;
	}
	return CTX_OK;
}
