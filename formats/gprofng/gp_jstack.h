/*
 * Stacks of Java: methods are functions by name, announced when they are first met; a frame's position is the index of its bytecode.
 *
 *	leaf ... native frames of a native method | Java frames ... root      where there is a Java stack
 *	leaf ... native frames ... root                                       where there is none
 *
 * That is what gprofng calls expert mode.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_JSTACK_H
#define CTX_FORMATS_GPROFNG_GP_JSTACK_H

#include "formats/gprofng/gp_experiment.h"
#include "formats/gprofng/gp_java.h"
#include "formats/gprofng/gp_stacks.h"
#include "model/event_source.h"

/* What the source keeps for all processes. All zero is an empty one. */
struct ctx_gp_jstacks {
	struct ctx_strtab names;	/* of methods, of all processes */
	struct ctx_gp_java_stack stack; /* its arrays are owned: room for one stack */
	struct ctx_map64 announced;	/* methods, by name */
	uint32_t *due; /* owned; names of the methods that are to be announced before the next sample */
	size_t n_due, due_cap, due_at;
	uint64_t time_ns; /* of that sample: set by the caller */
};

/* What it keeps for one process. All but `shared` zero is an empty one. */
struct ctx_gp_jimage {
	struct ctx_gp_jstacks *shared; /* borrowed */
	struct ctx_gp_java methods;
	uint64_t code_begin, code_end; /* code that the virtual machine made */
	uint64_t jvm_begin, jvm_end;   /* the virtual machine */
};

void ctx_gp_jstacks_deinit(struct ctx_gp_jstacks *stacks);
void ctx_gp_jimage_deinit(struct ctx_gp_jimage *image);

/*
 * Reads the names of a process's methods from its jclasses, when the process begins; a process without a virtual machine
 * has none. A failure other than CTX_E_NOMEM only means that methods may lack their names: CTX_E_IO, CTX_E_FORMAT.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_jimage_start(struct ctx_gp_jimage *image,
						   const struct ctx_gp_experiment *experiment,
						   struct ctx_err *err);

/* The name of a compiled method at a time (absolute): an id of the names. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_jimage_name(struct ctx_gp_jimage *image, uint64_t method,
						  int64_t time_ns, uint32_t *ret, struct ctx_err *err);

/*
 * Replaces the native frames in `to`, which are those of `stack`, by its Java stack, of `frames`, and marks it as Java's. The
 * methods are those that had their numbers at stack->time_ns. Without a Java stack all stays as it is. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_jimage_take(struct ctx_gp_jimage *image,
						  const struct ctx_gp_frames *frames,
						  struct ctx_gp_numbered *stack,
						  struct ctx_gp_stack_frames *to, struct ctx_err *err);

/* The next method that is to be announced. False: none. */
bool ctx_gp_jstacks_next(struct ctx_gp_jstacks *stacks, struct ctx_event *ret);

/* Where a name's function is described; unique to it, and there is room for its code. */
static inline uint64_t ctx_gp_jstacks_place(uint32_t name)
{
	return (uint64_t)name << 24;
}

#endif
