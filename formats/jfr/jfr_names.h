/*
 * What entries of constant pools are in the analysis: functions and call stacks, threads, texts.
 *
 * Numbers of pools are those of one chunk; what is returned here is the same in all chunks and files. Functions are
 * announced at the first use (formats/named).
 */
#ifndef CTX_FORMATS_JFR_JFR_NAMES_H
#define CTX_FORMATS_JFR_JFR_NAMES_H

#include "formats/jfr/jfr_chunk.h"
#include "formats/named/named.h"

#define CTX_JFR_STACK_FRAMES_MAX 65536u
#define CTX_JFR_NONE UINT32_MAX

struct ctx_jfr_thread {
	uint32_t vm;   /* as the caller numbers them */
	uint32_t life; /* of the tid: Java's number of the thread, and further ones after its end */
	int64_t tid;   /* the system's; Java's number where there is none: of virtual threads */
	const char *name;
};

struct ctx_jfr_names {						   /* all zero but for `named` is none */
	struct ctx_named *named;				   /* borrowed */
	struct ctx_map64 stacks, methods, classes, threads_by_key; /* of the chunk */
	struct ctx_strtab all_stacks;  /* frames one after the other, from the leaf */
	struct ctx_strtab all_threads; /* VM, tid, Java's number */
	struct ctx_strtab texts;
	struct ctx_jfr_thread *threads; /* owned; by number */
	size_t threads_cap;
	uint64_t *frames; /* owned; room for one stack */
	size_t frames_cap;
	struct ctx_buf text, file; /* room for names */
	uint64_t missing;	   /* entries that are not in the pools */
};

void ctx_jfr_names_deinit(struct ctx_jfr_names *names);

/* Another chunk begins. */
void ctx_jfr_names_restart(struct ctx_jfr_names *names);

/* Number of a call stack; 0: none. `type` is a class at its leaf, which has no field: none. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_names_stack(struct ctx_jfr_names *names,
						   const struct ctx_jfr_chunk *chunk,
						   const struct ctx_jfr_object *event, uint32_t *ret,
						   struct ctx_err *err);

/* The frames of a number, in `names->frames`, from the leaf. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_names_frames(struct ctx_jfr_names *names, uint32_t stack,
						    struct ctx_named_stack *ret, struct ctx_err *err);

/* Who uses the entries: a chunk of a VM. */
struct ctx_jfr_owner {
	const struct ctx_jfr_chunk *chunk;
	uint32_t vm;
};

/* Number of a thread; CTX_JFR_NONE: there is none in the field, or not in the pool. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_names_thread(struct ctx_jfr_names *names,
						    const struct ctx_jfr_owner *owner,
						    const struct ctx_jfr_value *value, uint32_t *ret,
						    struct ctx_err *err);

/* Number of a thread that is in no pool: of the VM itself. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_names_add_thread(struct ctx_jfr_names *names,
							const struct ctx_jfr_thread *thread, uint32_t *ret,
							struct ctx_err *err);

#endif
