/*
 * Java stacks: methods are functions by name, announced at their first use; a frame's position is
 * its bytecode index.
 *
 *	leaf ... native frames of a native method | Java frames ... root      where there is a Java stack
 *	leaf ... native frames ... root                                       where there is none
 *
 * gprofng calls this view expert mode.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_JSTACK_H
#define CTX_FORMATS_GPROFNG_GP_JSTACK_H

#include "formats/gprofng/gp_experiment.h"
#include "formats/gprofng/gp_java.h"
#include "formats/gprofng/gp_stacks.h"
#include "model/event_source.h"

/* State shared by all processes. All zero is a valid empty one. */
struct ctx_gp_jstacks {
	struct ctx_strtab names;	/* of methods, of all processes */
	struct ctx_gp_java_stack stack; /* its arrays are owned: room for one stack */
	struct ctx_map64 announced;	/* methods, by name */
	uint32_t *due;			/* owned; names of the methods to announce before the next sample */
	size_t n_due, due_cap, due_at;
	uint64_t time_ns; /* of that sample: set by the caller */
};

/* State of one process. All zero but for `shared` is a valid empty one. */
struct ctx_gp_jimage {
	struct ctx_gp_jstacks *shared; /* borrowed */
	struct ctx_gp_java methods;
	uint64_t code_begin, code_end; /* JIT code of the virtual machine */
	uint64_t jvm_begin, jvm_end;   /* the virtual machine */
};

void ctx_gp_jstacks_deinit(struct ctx_gp_jstacks *stacks);
void ctx_gp_jimage_deinit(struct ctx_gp_jimage *image);

/*
 * Reads the names of a process's methods from its jclasses, when the process begins; a process
 * without a virtual machine has none. After CTX_E_IO and CTX_E_FORMAT methods may lack their names,
 * but the process can be used. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_jimage_start(struct ctx_gp_jimage *image,
						   const struct ctx_gp_experiment *experiment,
						   struct ctx_err *err);

/* The name of a compiled method at a time (absolute): an id of the names. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_jimage_name(struct ctx_gp_jimage *image, uint64_t method,
						  int64_t time_ns, uint32_t *ret, struct ctx_err *err);

/*
 * Replaces the native frames in `to`, which are those of `stack`, by its Java stack from `frames`,
 * and marks it as Java. Method numbers are resolved as of stack->time_ns. Without a Java stack
 * nothing changes. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_jimage_take(struct ctx_gp_jimage *image,
						  const struct ctx_gp_frames *frames,
						  struct ctx_gp_numbered *stack,
						  struct ctx_gp_stack_frames *to, struct ctx_err *err);

/* The next method to announce. False: none. */
bool ctx_gp_jstacks_next(struct ctx_gp_jstacks *stacks, struct ctx_event *ret);

/* The synthetic address of a name's function; unique, with room for its code. */
static inline uint64_t ctx_gp_jstacks_place(uint32_t name)
{
	return (uint64_t)name << 24;
}

#endif
