/*
 * Stack dictionaries: map a source's address-level stack nodes to raw stacks and CCT nodes.
 *
 *	source node (process, id) --address space--> location path = raw stack node --functions--> CCT node
 *
 * A source node is resolved when a sample first uses it, and again only after its process's address
 * space has changed (requirement E14: the same address can then be other code).
 */
#ifndef CTX_INGEST_STACKDICT_H
#define CTX_INGEST_STACKDICT_H

#include "base/map64.h"
#include "ingest/addrspace.h"
#include "ingest/chain_table.h"
#include "ingest/resolver.h"
#include "model/trie.h"

/* The stacks of the whole experiment. */
struct ctx_stack_forest {
	struct ctx_trie cct;	/* key = function id */
	struct ctx_trie raw;	/* key = location id */
	uint32_t *raw_to_stack; /* by raw stack node, owned */
	size_t raw_to_stack_cap;
	struct ctx_resolver *resolver; /* borrowed */
	struct ctx_chain_table known;  /* whole stacks: locations from the root -> raw stack */
	uint32_t *functions, *path;    /* scratch, owned */
	size_t *ends;		       /* scratch, owned */
	size_t functions_cap, path_cap, ends_cap;
	/*
	 * Location -> n: it is no frame, but its function stands behind the first n functions of the location that follows it in a raw stack.
	 * NULL: there is none. Borrowed.
	 */
	const struct ctx_map64 *inside;
};

/* The resolver must outlive the forest. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_stack_forest_init(struct ctx_stack_forest *forest,
						     struct ctx_resolver *resolver, struct ctx_err *err);
void ctx_stack_forest_deinit(struct ctx_stack_forest *forest);

/*
 * Where frames of a process's stacks are looked up, and the destination of the stacks. All
 * borrowed.
 */
struct ctx_stack_scope {
	struct ctx_addrspace *process, *kernel;
	struct ctx_stack_forest *forest;
};

struct ctx_source_node {
	uint64_t address;
	uint32_t parent;     /* id in the same dictionary; 0: the empty stack */
	uint32_t raw;	     /* raw stack node, valid in `generation` */
	uint32_t generation; /* of the address space when it was resolved; 0: not yet (spaces start at 1) */
	uint32_t padding;
};

/* The location of a frame now. O(log maps). */
CTX_MUST_CHECK enum ctx_status ctx_stack_locate(const struct ctx_stack_scope *scope, uint64_t frame,
						uint32_t *ret_location, struct ctx_err *err);

/*
 * Adds the raw stacks of a path of locations below `raw`, written to `nodes`, and their CCT nodes:
 * for each location its function and those inlined there. O(n).
 */
CTX_MUST_CHECK enum ctx_status ctx_stack_forest_add(struct ctx_stack_forest *forest, uint32_t raw,
						    struct ctx_trie_keys path, uint32_t *nodes,
						    struct ctx_err *err);

/* One process's dictionary. All zero is empty. */
struct ctx_stackdict {
	struct ctx_source_node *nodes; /* owned; nodes[0] is the node with id 1 */
	size_t n, cap;
	uint32_t *path; /* scratch */
	size_t path_cap;
};

void ctx_stackdict_deinit(struct ctx_stackdict *dict);

/* Removes all nodes (a new epoch of the source). */
void ctx_stackdict_reset(struct ctx_stackdict *dict);

/* Appends nodes; the first must follow the last one, parents must exist: CTX_E_FORMAT otherwise. */
CTX_MUST_CHECK enum ctx_status ctx_stackdict_append(struct ctx_stackdict *dict,
						    const struct ctx_event_stacks *stacks,
						    struct ctx_err *err);

/* The raw stack of a node if it is resolved in this address space; else false. */
static inline bool ctx_stackdict_get(const struct ctx_stackdict *dict, const struct ctx_addrspace *space,
				     uint32_t id, uint32_t *ret_raw)
{
	if (id - 1 >= dict->n || dict->nodes[id - 1].generation != space->generation + 1)
		return false;
	*ret_raw = dict->nodes[id - 1].raw;
	return true;
}

/*
 * The raw stack of a node (0 gives the root). O(1) when resolved, else O(frames not resolved yet).
 * CTX_E_FORMAT: no such node.
 */
CTX_MUST_CHECK enum ctx_status ctx_stackdict_resolve(struct ctx_stackdict *dict,
						     const struct ctx_stack_scope *scope, uint32_t id,
						     uint32_t *ret_raw, struct ctx_err *err);

#endif
