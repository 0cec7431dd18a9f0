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

/* The site of a location, of its innermost function; CTX_NONE: none is known. O(1). */
uint32_t ctx_resolver_site(const struct ctx_resolver *resolver, uint32_t location);

/* Where a site is, without the load object; `*site` becomes that of the function around it, CTX_NONE: it was the outermost. O(1). */
struct ctx_resolver_place ctx_resolver_site_place(const struct ctx_resolver *resolver, uint32_t *site);

/* Functions so far; their ids are smaller. */
size_t ctx_resolver_n_functions(const struct ctx_resolver *resolver);

/* Whether its load object has this file name. */
bool ctx_resolver_is_of_object(const struct ctx_resolver *resolver, uint32_t function, const char *name);

/* Gives it another name for display, which lives as long as the resolver's (NULL: keeps it), and a kind. */
void ctx_resolver_rename(struct ctx_resolver *resolver, uint32_t function, const char *name,
			 enum ctx_code_kind kind);

/* The function of a location is shown as one of the load object that has the function of another; CTX_NONE: nothing changes. */
void ctx_resolver_join_object(struct ctx_resolver *resolver, uint32_t location, uint32_t of);

#endif
