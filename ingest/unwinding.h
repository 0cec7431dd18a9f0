/*
 * Unwinding at ingest: samples that hold a copy of the stack instead of a call chain (perf record
 * --call-graph dwarf).
 *
 *	pc --address space--> object --its image--> table of call frame information (read once for each object)
 *
 * Code without such information is read from the file of an object that has a table.
 */
#ifndef CTX_INGEST_UNWINDING_H
#define CTX_INGEST_UNWINDING_H

#include "ingest/addrspace.h"
#include "ingest/chaindict.h"
#include "ingest/resolver.h"
#include "model/event_source.h"

struct ctx_unwinding;

/* `resolver` is borrowed: it has the objects and the places of their files. */
CTX_MUST_CHECK enum ctx_status ctx_unwinding_create(struct ctx_resolver *resolver, struct ctx_unwinding **ret,
						    struct ctx_err *err);
void ctx_unwinding_destroy(struct ctx_unwinding *unwinding);

/*
 * The whole stack of a sample: its `frames`, which are the kernel's, then the frames unwound from
 * its `user` state in the address space of its process; leaf first, ended by a truncation where the
 * root was not reached. Borrowed until the next call. Fails with CTX_E_NOMEM. O(frames), and a
 * table for each new object.
 */
CTX_MUST_CHECK enum ctx_status ctx_unwinding_frames(struct ctx_unwinding *unwinding,
						    const struct ctx_addrspace *space,
						    const struct ctx_event_stack *stack,
						    struct ctx_chain *ret, struct ctx_err *err);

struct ctx_unwinding_counts {
	uint64_t samples;
	uint64_t ends[CTX_TRUNCATED_N]; /* samples by how they ended; CTX_TRUNCATED_NOT: at the root */
};
struct ctx_unwinding_counts ctx_unwinding_counts(const struct ctx_unwinding *unwinding);

#endif
