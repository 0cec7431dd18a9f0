/*
 * How a resolver looks for names, and the functions that every resolver has.
 */
#ifndef CTX_INGEST_RESOLVER_OPTIONS_H
#define CTX_INGEST_RESOLVER_OPTIONS_H

#include "model/event_source.h"

#include <stdbool.h>

/* Functions that exist from the start. */
#define CTX_FUNCTION_ID_UNKNOWN 0u   /* <Unknown>, without an object */
#define CTX_FUNCTION_ID_TRUNCATED 1u /* <Truncated-stack>; those with a reason are made when they are met */

struct ctx_resolver_options {
	const char *kallsyms;	   /* copy of the target's kallsyms, "" none */
	const char *debug_root;	   /* "" for the system's */
	const char *symfs;	   /* "" none */
	bool no_inlines;	   /* inlined functions count as those that they are inlined into */
	const char *const *caches; /* build-id cache directories, NULL at the end; NULL: none */
	const char *const
		*cache_names; /* what to call each of them where symbols come from, NULL: by its path */
	const struct ctx_source_kernel *
		kernel; /* which kernel it was, when there is no copy; NULL or its strings NULL: not known. Must outlive the resolver */
};

#endif
