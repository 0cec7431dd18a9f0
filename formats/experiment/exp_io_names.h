/*
 * What the descriptors of a process are called, from its operations in order of time.
 *
 * An operation that opens a descriptor names it, one that copies it hands the name on, and closing forgets it. An
 * operation stands at its end; but a number is free as soon as close has begun, and another thread's open
 * may be over before that close is. So a descriptor keeps since when it has its name, and the one
 * before.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_IO_NAMES_H
#define CTX_FORMATS_EXPERIMENT_EXP_IO_NAMES_H

#include "base/map64.h"
#include "base/strtab.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_exp_io_binding {
	uint64_t since_ns;
	uint32_t name;	 /* CTX_NONE: none */
	uint32_t before; /* the one before it */
};

/* Of one process. All zero is empty. */
struct ctx_exp_io_descriptors {
	struct ctx_map64 numbers; /* descriptor: its place in `bindings` */
	struct ctx_exp_io_binding *bindings;
	size_t n, cap;
	uint32_t directory; /* name of the working directory + 1; 0 not known */
};

/* Of all processes of an experiment. All zero is empty. */
struct ctx_exp_io_names {
	struct ctx_strtab texts;
	size_t bytes; /* of them */
};

struct ctx_exp_io_step { /* an operation */
	uint64_t begin_ns, end_ns;
	uint64_t size; /* as in struct ctx_exp_io */
	int32_t descriptor;
	uint16_t error;
	uint8_t call;
	const char *name; /* that came with it; NULL */
};

void ctx_exp_io_descriptors_deinit(struct ctx_exp_io_descriptors *descriptors);
void ctx_exp_io_names_deinit(struct ctx_exp_io_names *names);

/* Takes the next operation; *ret is its file's name, borrowed from `names`, or NULL. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_io_names_step(struct ctx_exp_io_names *names,
						     struct ctx_exp_io_descriptors *descriptors,
						     const struct ctx_exp_io_step *step, const char **ret,
						     struct ctx_err *err);

#endif
