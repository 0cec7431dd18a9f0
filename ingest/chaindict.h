/*
 * Chains: maps whole address-level stacks, as in perf.data, to raw stacks and CCT nodes.
 *
 *	frames --hash of all--> known? --yes--------------------------> raw stack
 *	                          `-no-> address space, frame by frame: locations
 *	                                 --hash of all--> known? --yes--> raw stack
 *	                                                    `-no-> raw stack nodes, CCT nodes
 *
 * Most stacks are known already: those cost one hash over the frames and one look-up, or, where the
 * source numbers whole stacks, one array access. Chains of a process are dropped when its address
 * space changes in a way that matters (requirement E14: the same address can then be other code),
 * and when it ends.
 */
#ifndef CTX_INGEST_CHAINDICT_H
#define CTX_INGEST_CHAINDICT_H

#include "ingest/stackdict.h"

struct ctx_chain {		/* a whole stack */
	const uint64_t *frames; /* leaf first */
	size_t n;
	uint32_t number; /* the source's; 0: none */
};

struct ctx_numbered_chain {
	uint32_t raw;	/* raw stack, valid in `epoch` */
	uint32_t epoch; /* of the dictionary when it was resolved; 0: not yet */
};

struct ctx_chaindict {		      /* of one process; all zero is empty */
	struct ctx_chain_table known; /* addresses, leaf first -> raw stack */
	/*
	 * The last chain that was new, from the root: addresses, locations, and the first raw stack
	 * nodes.
	 */
	uint64_t *addresses; /* owned */
	uint32_t *path;	     /* owned */
	uint32_t *nodes;     /* owned */
	size_t n_last, addresses_cap, path_cap, nodes_cap;
	size_t n_nodes;			     /* number of known nodes */
	struct ctx_numbered_chain *numbered; /* owned; by the source's number */
	size_t n_numbered, numbered_cap;
	uint32_t epoch;	     /* from 1: incremented when all entries are dropped */
	uint32_t generation; /* of the address space that all entries are valid for */
	uint32_t kernel_generation;
};

void ctx_chaindict_deinit(struct ctx_chaindict *dict);

/*
 * The raw stack of a chain; its number is ignored. O(n) for the hash; a new chain O(frames not
 * shared with the last new one). Fails with CTX_E_NOMEM, CTX_E_LIMIT and what resolving symbols
 * fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_chaindict_resolve(struct ctx_chaindict *dict,
						     const struct ctx_stack_scope *scope,
						     const struct ctx_chain *chain, uint32_t *ret_raw,
						     struct ctx_err *err);

/*
 * The raw stack of the source's number, if known and still valid; CTX_CHAIN_NONE otherwise. O(1).
 */
uint32_t ctx_chaindict_get(struct ctx_chaindict *dict, const struct ctx_stack_scope *scope, uint32_t number);

/* As ctx_chaindict_resolve for a chain with a number, which ctx_chaindict_get knows from now on. */
CTX_MUST_CHECK enum ctx_status ctx_chaindict_number(struct ctx_chaindict *dict,
						    const struct ctx_stack_scope *scope,
						    const struct ctx_chain *chain, uint32_t *ret_raw,
						    struct ctx_err *err);

#endif
