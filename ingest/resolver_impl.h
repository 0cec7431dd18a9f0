/*
 * The resolver itself, for its parts:
 *
 *	resolver.c		from addresses in objects to locations; what is taken and released at the end
 *	resolver_entities.c	objects, functions, locations: adding one
 *	resolver_dynamic.c	functions that were made at run time
 *	resolver_named.c	functions that a source knows by name alone
 *	resolver_kernel.c	the kernel and its modules, and addresses where nothing is mapped
 *	resolver_sites.c	lines and inlined functions, from debug information
 *	resolver_code.c		instructions and texts of source files, for the database
 */
#ifndef CTX_INGEST_RESOLVER_IMPL_H
#define CTX_INGEST_RESOLVER_IMPL_H

#include "base/map64.h"
#include "base/strtab.h"
#include "ingest/resolver_options.h"
#include "model/profile.h"
#include "store/store.h"
#include "symbols/source_map.h"
#include "symbols/symtab.h"

#define CTX_DYNAMIC_BYTES_MAX ((uint64_t)1 << 32)

struct ctx_resolver_dynamic_function { /* a function that was made at run time */
	const char *name;
	uint64_t file_offset, size;
	uint32_t function; /* CTX_NONE: no sample there yet */
	/* Of a function by name: its source file (CTX_NONE: not known), and what positions in it are. */
	uint32_t file, line;
	enum ctx_position positions;
	const uint8_t *code; /* the source's; NULL not known */
	size_t n_code;
	uint16_t machine;
};

struct ctx_resolver_named { /* where a function by name stands among those made at run time */
	uint32_t object;
	uint64_t file_offset; /* as ctx_resolver_in_object takes it */
};

struct ctx_resolver_named_functions { /* all zero is none */
	struct ctx_map64 of_id;	      /* the source's number -> index in items */
	struct ctx_resolver_named *items;
	size_t n, cap;
};

struct ctx_resolver_object {
	const char *path, *build_id, *archive;
	struct ctx_symtab *symtab; /* NULL until needed, and for pseudo objects */
	bool opened;
	uint32_t *by_symbol;		   /* symbol index -> function id, CTX_NONE: not met */
	struct ctx_map64 by_offset;	   /* file offset -> location id */
	struct ctx_source_map *source_map; /* NULL until needed, and for objects without a file */
	bool source_map_opened;
	uint32_t unknown; /* the function <Unknown> of this object, CTX_NONE: not met */
	bool kernel;	  /* the kernel or a module: its symbols are kallsyms' */
	bool is_dynamic;
	struct ctx_resolver_dynamic_function *dynamic; /* of an object of functions made at run time */
	size_t n_dynamic, dynamic_cap;
	struct ctx_map64 dynamic_by_offset; /* file offset as recorded -> number of the last one there */
};

struct ctx_resolver {
	struct ctx_resolver_options options;
	struct ctx_arena *arena;
	struct ctx_strtab object_keys; /* id = object id */
	struct ctx_resolver_object *objects;
	size_t n_objects, objects_cap;
	struct ctx_function_info *functions;
	size_t n_functions, functions_cap;
	struct ctx_location *locations;
	size_t n_locations, locations_cap;
	struct ctx_map64 by_address;	    /* absolute addresses -> location id */
	struct ctx_map64 by_module_address; /* the same, where the module named by kallsyms is mapped */
	struct ctx_symtab *kernel;	    /* NULL: not opened, or no kallsyms */
	const char *kernel_origin;
	bool kernel_opened;
	bool kernel_recorded; /* kallsyms is a copy from the time of the recording: its modules lay there */
	uint32_t *kernel_by_symbol;
	struct ctx_resolver_named_functions named;
	uint32_t truncated[CTX_TRUNCATED_N]; /* function for each reason, CTX_NONE: not met */
	struct ctx_strtab site_keys;	     /* id = site id; the key is the site itself */
	struct ctx_site *sites;
	size_t n_sites, sites_cap;
	struct ctx_strtab files;	/* paths; id = source file id */
	struct ctx_strtab inlined_keys; /* object, then linkage name; id = index in inlined */
	uint32_t *inlined;		/* function ids */
	size_t n_inlined, inlined_cap;
};

/* All fail with CTX_E_NOMEM, and with what is said. */

CTX_MUST_CHECK enum ctx_status ctx_resolver_add_function(struct ctx_resolver *resolver,
							 const struct ctx_function_info *info,
							 uint32_t *ret_function, struct ctx_err *err);

struct ctx_resolver_artificial { /* a function without code */
	const char *name;	 /* lives as long as the arena */
	enum ctx_function_kind kind;
	uint32_t object; /* CTX_NONE none */
};
CTX_MUST_CHECK enum ctx_status ctx_resolver_add_artificial(struct ctx_resolver *resolver,
							   struct ctx_resolver_artificial artificial,
							   uint32_t *ret_function, struct ctx_err *err);

/* CTX_E_LIMIT: too many. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_add_location(struct ctx_resolver *resolver,
							 const struct ctx_location *location, uint32_t *place,
							 struct ctx_err *err);

/*
 * The object whose key is `n` bytes of `key`, made of `map` if it is new. Equal keys are one
 * object.
 */
struct ctx_resolver_key {
	const char *key;
	size_t n;
};
CTX_MUST_CHECK enum ctx_status ctx_resolver_object_of_key(struct ctx_resolver *resolver,
							  struct ctx_resolver_key key,
							  const struct ctx_map_event *map,
							  uint32_t *ret_object, struct ctx_err *err);

/* A table from symbol to function, where none was met; NULL: no memory. Owned by the caller. */
uint32_t *ctx_resolver_new_index(uint32_t count);

/* The symbol of an address, with what is known of addresses right in front of one. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_find_symbol(struct ctx_symtab *symtab, uint64_t address,
							bool *ret_found, uint32_t *ret_symbol,
							struct ctx_err *err);

/* The function of a symbol, or of that which it is a part of. */
struct ctx_resolver_symbols {
	struct ctx_symtab *symtab;
	uint32_t *by_symbol; /* functions that are known; CTX_NONE: not yet */
	uint32_t object;
};
CTX_MUST_CHECK enum ctx_status ctx_resolver_of_symbol(struct ctx_resolver *resolver,
						      const struct ctx_resolver_symbols *symbols,
						      uint32_t symbol, uint32_t *ret_function,
						      struct ctx_err *err);

/*
 * The function at `at`, the file offset in an object of functions made at run time, into
 * `location`.
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_of_dynamic(struct ctx_resolver *resolver, uint32_t object,
						       uint64_t at, struct ctx_location *location,
						       struct ctx_err *err);

/* <Unknown> of an object. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_unknown(struct ctx_resolver *resolver, uint32_t object,
						    uint32_t *ret_function, struct ctx_err *err);

/* Lines and inlined functions of a location whose object, address and (real) function are set. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_add_sites(struct ctx_resolver *resolver,
						      struct ctx_location *location, struct ctx_err *err);

/* The number of a site; equal sites are one. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_add_site(struct ctx_resolver *resolver,
						     const struct ctx_site *site, uint32_t *ret,
						     struct ctx_err *err);

/* The number of a source file; CTX_NONE for NULL. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_file(struct ctx_resolver *resolver, const char *path,
						 uint32_t *ret, struct ctx_err *err);

/* Releases what belongs to sites. */
void ctx_resolver_sites_deinit(struct ctx_resolver *resolver);

/* What to look for when files of an object are wanted. */
struct ctx_file_request ctx_resolver_request(const struct ctx_resolver *resolver,
					     const struct ctx_resolver_object *object);

/* Is there a file of the object to look for? */
bool ctx_resolver_has_file(const struct ctx_resolver *resolver, const struct ctx_resolver_object *object);

#endif
