/*
 * Matching: which functions of several recordings are the same.
 *
 *	recordings' functions --same object and name--> items --linkage name, clone, build id, moved object--> fewer items
 *
 * Object and name are compared as people would: the object without its directory and version ("libz.so" for
 * /usr/lib/libz.so.1.2.13), the name without the mark of inlined instances, so that a function which is inlined
 * on one side only is one item; names are first rewritten as the user says (compare/renames.h). What stays on one
 * side only is matched by its linkage name, then by its name without the marks of a compiler's clones ("f.isra.0"),
 * by build id and offset of the same file, and by its name alone if the object is on its side only (a renamed
 * program); each only where no other function of that side is the same by it. Objects are matched by their own names
 * alone.
 */
#ifndef CTX_COMPARE_MATCHING_H
#define CTX_COMPARE_MATCHING_H

#include "compare/renames.h"
#include "model/profile.h"

enum ctx_compare_side { CTX_COMPARE_A, CTX_COMPARE_B, CTX_COMPARE_SIDES };

struct ctx_match_recording {
	const struct ctx_profile *profile; /* borrowed */
	enum ctx_compare_side side;
};

struct ctx_match_item {
	const struct ctx_profile *profile; /* of the first recording that has it */
	uint32_t function;		   /* there */
	unsigned sides;			   /* 1 << enum ctx_compare_side */
};

struct ctx_matching { /* owned by the caller (ctx_matching_deinit) */
	struct ctx_match_item *items;
	uint32_t n_items;
	uint32_t **item_of; /* by recording, by function id */
	size_t n_recordings;
};

/* What an item is. */
enum ctx_match_subject {
	CTX_MATCH_FUNCTIONS,
	CTX_MATCH_OBJECTS, /* all functions of a load object; those without one are items of their own */
};

struct ctx_match_spec {
	const struct ctx_match_recording *recordings; /* borrowed */
	size_t n;
	enum ctx_match_subject subject;
	const struct ctx_renames *renames; /* of functions' names; borrowed; NULL: none */
};

/* O(functions). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_matching_make(const struct ctx_match_spec *spec, struct ctx_matching *ret,
						 struct ctx_err *err);
void ctx_matching_deinit(struct ctx_matching *matching);

/* The length of a name without the marks of clones: "f.isra.0.cold", "f(int) [clone .part.0]". */
size_t ctx_match_without_clones(const char *name, size_t n);

/* Appends the name by which an object is matched: "libz.so", "[kernel]", "app". */
void ctx_match_put_object(struct ctx_buf *buf, const char *path);

#endif
