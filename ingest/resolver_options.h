/*
 * Where a resolver finds names, and the functions that every resolver has.
 */
#ifndef CTX_INGEST_RESOLVER_OPTIONS_H
#define CTX_INGEST_RESOLVER_OPTIONS_H

#include "model/event_source.h"

#include <stdbool.h>

/* Functions that exist from the start. */
#define CTX_FUNCTION_ID_UNKNOWN 0u   /* <Unknown>, without an object */
#define CTX_FUNCTION_ID_TRUNCATED 1u /* <Truncated-stack>; those with a reason are created on demand */

struct ctx_resolver_options {
	const char *kallsyms;	/* copy of the target's kallsyms, "" none */
	const char *debug_root; /* "" for the system's */
	const char *symfs;	/* "" none */
	bool no_inlines;	/* inlined functions are attributed to the functions they are inlined into */
	const char *const *caches;	/* build-id cache directories, NULL at the end; NULL: none */
	const char *const *cache_names; /* name of each for the source of symbols, NULL: its path */
	const struct ctx_source_symbols
		*symbols; /* of the recording, used where no file has any; they must outlive the resolver */
	size_t n_symbols;
	const struct ctx_source_kernel *
		kernel; /* the recorded kernel, used without a copy; NULL or NULL strings: unknown. Must outlive the resolver */
};

#endif
