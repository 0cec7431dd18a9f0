/*
 * Stacks of Java: methods become addresses of their own, announced as functions when they are first met.
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

struct ctx_gp_reader;

/* What the source keeps for all processes. All zero is an empty one. */
struct ctx_gp_jstacks {
	struct ctx_strtab names;	  /* of methods, of all processes */
	struct ctx_gp_java_frame *frames; /* owned; room for one stack */
	uint64_t *work;
	uint32_t *due; /* owned; names of the methods that are to be announced before the next sample */
	size_t n_due, due_cap, due_at;
	uint64_t time_ns; /* of that sample, and its process: set by the caller */
	uint32_t process;
};

void ctx_gp_jstacks_deinit(struct ctx_gp_jstacks *stacks);

/* Reads the names of a process's methods, when it begins. What cannot be used is damage. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_jstacks_start(struct ctx_gp_reader *reader,
						    const struct ctx_gp_experiment *experiment,
						    struct ctx_err *err);

/* The name of a compiled method at a time from the run: an id of the names. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_jstacks_name(struct ctx_gp_reader *reader,
						   const struct ctx_gp_experiment *experiment,
						   uint64_t method, int64_t time_ns, uint32_t *ret,
						   struct ctx_err *err);

/*
 * Puts the Java stack of `stack` into reader->last in the place of the native one there, and tells so in it; the methods are
 * those that had their numbers at `time_ns` (absolute). Without a Java stack all stays as it is. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_jstacks_take(struct ctx_gp_reader *reader,
						   const struct ctx_gp_experiment *experiment,
						   struct ctx_gp_numbered *stack, int64_t time_ns,
						   struct ctx_err *err);

/* The next method that is to be announced. False: none. */
bool ctx_gp_jstacks_next(struct ctx_gp_reader *reader, struct ctx_event *ret);

/* Where a name's function is described; unique to it, and there is room for its code. */
static inline uint64_t ctx_gp_jstacks_place(uint32_t name)
{
	return (uint64_t)name << 24;
}

#endif
