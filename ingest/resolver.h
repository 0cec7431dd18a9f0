/*
 * Resolves addresses to functions: load objects, their symbol tables, and one location for each
 * (object, address) that occurs.
 *
 * A load object is identified by build id where it has one, by path otherwise: a library mapped by
 * twenty processes is one object with one set of functions. A symbol table is opened when the first
 * address of its object is looked up.
 */
#ifndef CTX_INGEST_RESOLVER_H
#define CTX_INGEST_RESOLVER_H

#include "base/err.h"
#include "ingest/addrspace.h"
#include "ingest/resolver_options.h"
#include "model/event_source.h"
#include "model/profile.h"
#include "store/store.h"

#include <stdint.h>

struct ctx_resolver;

/* `arena` gets all strings; it must outlive the resolver. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_create(const struct ctx_resolver_options *options,
						   struct ctx_arena *arena, struct ctx_resolver **ret,
						   struct ctx_err *err);
void ctx_resolver_destroy(struct ctx_resolver *resolver);

/* The object of a map event, created if it is new. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_object(struct ctx_resolver *resolver,
						   const struct ctx_map_event *map, uint32_t *ret_object,
						   struct ctx_err *err);

/*
 * A map event with a `function`: fills in the object and the file offset of `map`, whose addresses
 * are set, so that each of its addresses is of that function, and of no other one at the same
 * address, now or earlier. The offsets are private to the resolver, for ctx_resolver_in_object
 * only. The same (path, file_offset, size, name) again is the same function. A function is 4 GiB
 * long at most: `map` is cut. O(1).
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_dynamic(struct ctx_resolver *resolver,
						    const struct ctx_map_event *event, struct ctx_mapped *map,
						    struct ctx_err *err);

/*
 * Adds a function that frames refer to (CTX_EV_FUNCTION). CTX_E_FORMAT: its number is another
 * function's already. O(1).
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_add_named(struct ctx_resolver *resolver,
						      const struct ctx_event_function *function,
						      struct ctx_err *err);

/* The location of a frame that is a function by name; <Unknown> for an unannounced number. O(1). */
CTX_MUST_CHECK enum ctx_status ctx_resolver_named(struct ctx_resolver *resolver, uint64_t frame,
						  uint32_t *ret_location, struct ctx_err *err);

/*
 * The location at `file_offset` of an object. O(1) for a known one, O(log symbols) for a new one.
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_in_object(struct ctx_resolver *resolver, uint32_t object,
						      uint64_t file_offset, uint32_t *ret_location,
						      struct ctx_err *err);

/*
 * Whether it is not an address but a marker in the stack (ctx_frame_is_mark).
 */
bool ctx_resolver_is_pseudo(uint64_t address);

/*
 * The location of a kernel address, of an unmapped address, or of a pseudo address.
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_absolute(struct ctx_resolver *resolver, uint64_t address,
						     uint32_t *ret_location, struct ctx_err *err);

/*
 * The location of a kernel address, with the mappings of the kernel's address space (modules, JIT
 * functions). A module's names come from kallsyms, only where the mapped module is the one in
 * kallsyms, unless kallsyms is a recorded copy. O(log maps).
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_kernel(struct ctx_resolver *resolver, struct ctx_addrspace *space,
						   uint64_t address, uint32_t *ret_location,
						   struct ctx_err *err);

/*
 * The search key for files of an object. False: it has none. Borrowed from the resolver.
 */
struct ctx_file_request;
bool ctx_resolver_file_request(const struct ctx_resolver *resolver, uint32_t object,
			       struct ctx_file_request *ret);

/*
 * The functions at a location, the real one first, then those inlined there. None: a marker.
 * `*ret_is_part`: it is in a clone or an outlined part of the function. O(1) but for inlined ones.
 * ctx_resolver_functions writes the `n` functions that were counted.
 */
size_t ctx_resolver_function_count(const struct ctx_resolver *resolver, uint32_t location, bool *ret_is_part);
void ctx_resolver_functions(const struct ctx_resolver *resolver, uint32_t location, size_t n, uint32_t *ret);

/* Whether it is an address of the kernel or of a module. */
bool ctx_resolver_in_kernel(const struct ctx_resolver *resolver, uint32_t location);

/*
 * The function that a location belongs to, whatever is inlined there; CTX_NONE: a marker.
 */
uint32_t ctx_resolver_location_function(const struct ctx_resolver *resolver, uint32_t location);

/*
 * The function NAME@plt between two locations, through which the caller's instruction enters the
 * dynamic linker (`_dl_runtime_resolve*`, ...) or the table's first stub; CTX_NONE: none, or not known.
 * `caller` may be no location. O(1) for a known caller, else it reads the caller's instruction.
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_stub_between(struct ctx_resolver *resolver, uint32_t caller,
							 uint32_t callee, uint32_t *ret, struct ctx_err *err);

/* Whether it is the first stub of a table, "@plt", which has no name of its own. */
bool ctx_resolver_is_first_stub(const struct ctx_resolver *resolver, uint32_t function);

/* Borrowed. */
const char *ctx_resolver_function_name(const struct ctx_resolver *resolver, uint32_t function);

/* The results; arrays are borrowed until the next call that resolves. */
const struct ctx_location *ctx_resolver_locations(const struct ctx_resolver *resolver, size_t *ret_n);

/* The sites of locations; borrowed, as above. */
const struct ctx_site *ctx_resolver_sites(const struct ctx_resolver *resolver, size_t *ret_n);

/*
 * The code kept in the database: that of functions with samples, the hottest first, at most 4 MiB.
 * All zero is empty.
 */
struct ctx_code_part;
struct ctx_code_list {
	struct ctx_code_part *parts; /* owned; by function, then by address */
	size_t n, cap;
	struct ctx_line_row *rows; /* owned; of the parts, concatenated */
	size_t n_rows, rows_cap;
};

void ctx_code_list_deinit(struct ctx_code_list *list);

/*
 * The number of load objects with names that have no build id, so that only their path identifies
 * them, and were modified since `recorded_s` (0: unknown); *ret_path is the first one's, if any.
 */
uint32_t ctx_resolver_count_changed(const struct ctx_resolver *resolver, int64_t recorded_s,
				    const char **ret_path);

/*
 * For the annotated reports; `leaf_samples` counts samples by raw stack. In this order, the two
 * that put after ctx_store_put_contents. Listing the code adds the source files of its lines;
 * `recorded_s` is 0 where unknown. Texts are read from the recording's own copies or from the
 * files' present places (below `symfs`): at most 128 MiB, 4 MiB each. O(bytes). Fail as the store
 * does, and with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_list_code(struct ctx_resolver *resolver,
						      const struct ctx_trie *raw,
						      const uint32_t *leaf_samples,
						      struct ctx_code_list *list, struct ctx_err *err);
struct ctx_source_list {
	struct ctx_source_file *files; /* owned by the caller (free()); strings borrowed from the resolver */
	size_t n;
	uint32_t newer; /* of them: changed since `recorded_s` */
};
/* `info` NULL: the paths alone, without a look at the files. */
CTX_MUST_CHECK enum ctx_status ctx_resolver_list_sources(struct ctx_resolver *resolver,
							 const struct ctx_source_info *info,
							 int64_t recorded_s, struct ctx_source_list *ret,
							 struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_resolver_put_code(struct ctx_resolver *resolver,
						     const struct ctx_code_list *list,
						     struct ctx_store *store, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_resolver_put_texts(const struct ctx_source_info *info,
						      const struct ctx_source_file *files, size_t n,
						      struct ctx_store *store, struct ctx_err *err);

/*
 * Puts the source file behind names that several functions of an object have: "dup (a.c)". Once,
 * after everything was resolved. O(functions log functions + sites + symbols). CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_tell_apart(struct ctx_resolver *resolver, struct ctx_err *err);

/*
 * Moves functions and objects into the profile (ownership moves); the resolver must not resolve
 * afterwards.
 */
CTX_MUST_CHECK enum ctx_status ctx_resolver_take(struct ctx_resolver *resolver, struct ctx_profile *profile,
						 struct ctx_err *err);

#endif
