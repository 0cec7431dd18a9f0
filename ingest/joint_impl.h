/*
 * The state of a merged source, for its own files: joint.c chooses the next event, joint_info.c makes
 * one description of all, joint_event.c translates an event.
 */
#ifndef CTX_INGEST_JOINT_IMPL_H
#define CTX_INGEST_JOINT_IMPL_H

#include "base/arena.h"
#include "base/map64.h"
#include "ingest/joint_place.h"

/* Numbers of a recording -> those of all. */
struct ctx_joint_numbers {
	uint32_t *of; /* owned; CTX_NONE: not announced */
	size_t n, cap;
};

struct ctx_joint_part {
	struct ctx_event_source *source; /* owned once the merged source is open */
	const char *name;
	uint64_t offset_ns;
	uint64_t last_ns;	/* of its events, on the common time line: those without a time are at it */
	struct ctx_event event; /* its next */
	bool has_event, ended;
	struct ctx_joint_numbers processes, threads;
	uint32_t *metrics;	    /* owned; by its number: that of all */
	struct ctx_map64 functions; /* its numbers -> those of all */
	uint32_t kernel_function;   /* that its kernel's frames are; CTX_NONE: they are addresses */
	bool has_counters;	    /* the call counters are its */
};

struct ctx_joint {
	struct ctx_event_source source;
	struct ctx_joint_part *parts; /* owned */
	size_t n;
	size_t kernel;		/* the part with the kernel */
	struct ctx_arena arena; /* texts */
	uint32_t n_processes, n_threads, n_functions;
	uint64_t *frames; /* owned; of the current event */
	size_t frames_cap;
	struct ctx_traced operation; /* of the current event */
};

/* Fills in `source.info` and the metrics of the parts. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_joint_describe(struct ctx_joint *merged,
						  const struct ctx_joint_input *inputs, struct ctx_err *err);

/*
 * Whether the kernel of a part is that of the part with the kernel, as far as is known now: the address
 * of the kernel is known with its first maps.
 */
bool ctx_joint_has_kernel(const struct ctx_joint *merged, const struct ctx_joint_part *part);

/* Translates the event of a part. CTX_E_FORMAT: it names what was not announced. Fails with CTX_E_NOMEM, too. */
CTX_MUST_CHECK enum ctx_status ctx_joint_translate(struct ctx_joint *merged, struct ctx_joint_part *part,
						   struct ctx_event *event, struct ctx_err *err);

#endif
