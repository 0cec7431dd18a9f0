/*
 * The resolver itself, for its parts:
 *
 *	resolver.c		from addresses in objects to locations; results, and release
 *	resolver_entities.c	objects, functions, locations: adding one
 *	resolver_dynamic.c	JIT functions
 *	resolver_named.c	functions known by name only
 *	resolver_names.c	names that several functions of an object have
 *	resolver_kernel.c	the kernel and its modules, and unmapped addresses
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

struct ctx_elf_file;

struct ctx_resolver_dynamic_function { /* a JIT function */
	const char *name;
	uint64_t file_offset, size;
	uint32_t function; /* CTX_NONE: no sample there yet */
	/*
	 * Of a function by name: its source file (CTX_NONE: unknown), and the meaning of positions
	 * in it.
	 */
	uint32_t file, line;
	enum ctx_position positions;
	enum ctx_code_kind code_kind;
	const uint8_t *code;		     /* the source's; NULL unknown */
	const struct ctx_jit_places *places; /* likewise */
	size_t n_code;
	uint16_t machine;
};

struct ctx_resolver_named { /* place of a function by name in an object of JIT functions */
	uint32_t object;
	uint64_t file_offset; /* for ctx_resolver_in_object */
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
	uint32_t *by_symbol;		   /* symbol index -> function id, CTX_NONE: not used yet */
	struct ctx_map64 by_offset;	   /* file offset -> location id */
	struct ctx_source_map *source_map; /* NULL until needed, and for objects without a file */
	bool source_map_opened;
	struct ctx_elf_file *image; /* owned; NULL until needed, and without one */
	bool image_opened;
	uint32_t unknown; /* the function <Unknown> of this object, CTX_NONE: not used yet */
	/* Of an object without symbols. */
	uint32_t n_unknown;		/* addresses that are functions of their own */
	struct ctx_map64 unknown_pages; /* number of a page -> the function of its other addresses */
	bool kernel;			/* the kernel or a module: its symbols are kallsyms' */
	bool is_dynamic;
	struct ctx_resolver_dynamic_function *dynamic; /* of an object of JIT functions */
	size_t n_dynamic, dynamic_cap;
	struct ctx_map64 dynamic_by_offset; /* file offset as recorded -> number of the last one there */
};

/* The symbols of the kernel and its modules. */
struct ctx_resolver_kernel {
	struct ctx_symtab *symtab; /* NULL: not opened, or no kallsyms */
	const char *origin;
	bool opened;
	bool recorded; /* kallsyms is a recorded copy: its module addresses are right */
	uint32_t *by_symbol;
};

/* Functions of marks in call stacks, CTX_NONE: not used yet. */
struct ctx_resolver_marks {
	uint32_t truncated[CTX_TRUNCATED_N]; /* for each reason */
	uint32_t gap, exec, pruned, lost;
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
	struct ctx_resolver_kernel kernel;
	struct ctx_resolver_named_functions named;
	struct ctx_map64
		stub_of_call; /* location of a call -> function of the stub that it enters + 1; 0: none */
	struct ctx_resolver_marks marks;
	struct ctx_strtab site_keys; /* id = site id; the key is the site itself */
	struct ctx_site *sites;
	size_t n_sites, sites_cap;
	struct ctx_strtab files;	/* paths; id = source file id */
	struct ctx_strtab inlined_keys; /* object, then linkage name; id = index in inlined */
	uint32_t *inlined;		/* function ids */
	size_t n_inlined, inlined_cap;
};

/* All fail with CTX_E_NOMEM, and as documented. */

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
 * The object whose key is `n` bytes of `key`, created from `map` if it is new. Equal keys are one
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

/* An empty table from symbol to function; NULL: out of memory. Owned by the caller. */
uint32_t *ctx_resolver_new_index(uint32_t count);

/*
 * The symbol of an address, or the one right after it where the address stands for its first byte.
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_find_symbol(struct ctx_symtab *symtab, uint64_t address,
							bool *ret_found, uint32_t *ret_symbol,
							struct ctx_err *err);

/* The function of a symbol, or the one that it is a part of. */
struct ctx_resolver_symbols {
	struct ctx_symtab *symtab;
	uint32_t *by_symbol; /* known functions; CTX_NONE: not yet */
	uint32_t object;
};
CTX_MUST_CHECK enum ctx_status ctx_resolver_of_symbol(struct ctx_resolver *resolver,
						      const struct ctx_resolver_symbols *symbols,
						      uint32_t symbol, uint32_t *ret_function,
						      struct ctx_err *err);

/*
 * Sets the function of `location` at `at`, the file offset in an object of JIT functions.
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_of_dynamic(struct ctx_resolver *resolver, uint32_t object,
						       uint64_t at, struct ctx_location *location,
						       struct ctx_err *err);

/*
 * The function of an address in an object without symbols, asked once for each address: of the
 * first ones <Unknown>@0x1234, of the others that of their page, <Unknown>@0x1000-0x1fff.
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_unknown_at(struct ctx_resolver *resolver, uint32_t object,
						       uint64_t address, uint32_t *ret_function,
						       struct ctx_err *err);

/* <Unknown> of an object. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_unknown(struct ctx_resolver *resolver, uint32_t object,
						    uint32_t *ret_function, struct ctx_err *err);

/* Lines and inlined functions of a location whose object, address and (real) function are set. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_add_sites(struct ctx_resolver *resolver,
						      struct ctx_location *location, struct ctx_err *err);

/* The number of a site; equal sites share one. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_add_site(struct ctx_resolver *resolver,
						     const struct ctx_site *site, uint32_t *ret,
						     struct ctx_err *err);

/* The number of a source file; CTX_NONE for NULL. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_file(struct ctx_resolver *resolver, const char *path,
						 uint32_t *ret, struct ctx_err *err);

/* Releases all data of sites. */
void ctx_resolver_sites_deinit(struct ctx_resolver *resolver);

/* The search key for files of an object. */
struct ctx_file_request ctx_resolver_request(const struct ctx_resolver *resolver,
					     const struct ctx_resolver_object *object);

/* Whether the object can have a file. */
/* Where `*symtab` is NULL or has no symbols: those of the recording, if it has some of this path. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_use_recorded(struct ctx_resolver *resolver, const char *path,
							 struct ctx_symtab **symtab, struct ctx_err *err);

bool ctx_resolver_has_file(const struct ctx_resolver *resolver, const struct ctx_resolver_object *object);

#endif
