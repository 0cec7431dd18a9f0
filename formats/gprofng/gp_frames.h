/*
 * data.frameinfo: the call stacks that events name by a 64-bit number (FRINFO).
 *
 *	record uid --> info (native stack) --> frames, leaf first, [link] --> frames ...
 *
 * A stack that shares its root side with an earlier one is stored in part: its own frames, and the
 * number of the rest. That number may refer to a whole stack or to the root side of one: numbers
 * are hashes from which frames can be removed one by one (uid of the stack without its leaf = uid *
 * R^-1 - leaf). A link may refer to a stack that is stored later.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_FRAMES_H
#define CTX_FORMATS_GPROFNG_GP_FRAMES_H

#include "base/map64.h"
#include "formats/gprofng/gp_blocks.h"

struct ctx_gp_stack_node { /* contents of one info or UID record */
	uint64_t uid;
	uint64_t link;	/* uid of the rest; 0 none */
	uint64_t first; /* of its frames, in `frames` */
	uint32_t n;
};

struct ctx_gp_suffix { /* the root side of a node, from its frame `skip` on */
	uint32_t node;
	uint32_t skip;
};

struct ctx_gp_stack { /* contents of one record: numbers of its infos, 0 none */
	uint64_t native, java;
};

struct ctx_gp_frames {	  /* all zero is a valid empty table */
	uint64_t *frames; /* owned */
	size_t n_frames, frames_cap;
	struct ctx_gp_stack_node *nodes;
	size_t n_nodes, nodes_cap;
	struct ctx_map64 node_of_uid; /* uid of an info: its node */
	struct ctx_gp_stack *stacks;  /* by record */
	size_t n_stacks, stacks_cap;
	struct ctx_map64 stack_of_uid; /* uid of a record: index in stacks */
	struct ctx_map64
		suffix_of_uid; /* uids that links or records name and no info has: index in suffixes */
	struct ctx_gp_suffix *suffixes;
	size_t n_suffixes, suffixes_cap;
	uint64_t damaged; /* invalid records */
	bool is_32bit, big_endian;
};

void ctx_gp_frames_deinit(struct ctx_gp_frames *frames);

/*
 * Reads all records of `blocks`, which stays owned by the caller. `is_32bit`: addresses take 4
 * bytes. Memory: about the size of the file. CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_frames_read(struct ctx_gp_frames *frames, struct ctx_gp_blocks *blocks,
						  bool is_32bit, struct ctx_err *err);

/* Result of looking up a stack. */
enum ctx_gp_stack_state {
	CTX_GP_STACK_WHOLE,
	CTX_GP_STACK_MISSING, /* unknown number */
	CTX_GP_STACK_CUT,     /* a link leads nowhere or forms a cycle: only the leaf side is returned */
};

/*
 * Copies the frames of a stack, leaf first and as they are stored, to `out` (room for `max`; more
 * are cut). `*ret_n` is their number.
 */
enum ctx_gp_stack_state ctx_gp_frames_get(const struct ctx_gp_frames *frames, uint64_t uid, uint64_t *out,
					  size_t max, size_t *ret_n);

/* Whether this number has a Java stack, even an empty one. */
bool ctx_gp_frames_have_java(const struct ctx_gp_frames *frames, uint64_t uid);

/* In place of a method: there were more frames than are kept. */
#define CTX_GP_JAVA_TRUNCATED ((uint64_t)-2)

struct ctx_gp_java_frame {
	uint64_t method; /* its number in jclasses; 0 unknown: the index gives the reason */
	int32_t index;	 /* of the bytecode; CTX_GP_JAVA_NATIVE: the method is native */
};

#define CTX_GP_JAVA_NATIVE (-3)

struct ctx_gp_java_stack {
	struct ctx_gp_java_frame
		*frames; /* the caller's, like `work`: room for `max` frames, `work` for 2 x max */
	uint64_t *work;
	size_t max;
	size_t n; /* frames of the stack */
};

/* The same for the Java stack; without one the result is CTX_GP_STACK_WHOLE with n 0. */
enum ctx_gp_stack_state ctx_gp_frames_get_java(const struct ctx_gp_frames *frames, uint64_t uid,
					       struct ctx_gp_java_stack *stack);

#endif
