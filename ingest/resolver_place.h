/*
 * Where a location is, for who names something by it.
 */
#ifndef CTX_INGEST_RESOLVER_PLACE_H
#define CTX_INGEST_RESOLVER_PLACE_H

#include "ingest/resolver.h"

/* All borrowed from the resolver. */
struct ctx_resolver_place {
	const char *function; /* the innermost; "" none */
	const char *object;   /* path; "" none */
	const char *file;     /* NULL unknown */
	uint32_t line;	      /* 0 unknown */
};

/* O(1). */
struct ctx_resolver_place ctx_resolver_place(const struct ctx_resolver *resolver, uint32_t location);

#endif
