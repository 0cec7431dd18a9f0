/*
 * What threads of a virtual machine did with objects: sampled allocations become samples of a metric of bytes, waits for monitors
 * become waits of `-r sync`, both with the methods that their agent reported. They wait until the recorder knows their threads.
 */
#ifndef CTX_COLLECT_VM_OBJECTS_H
#define CTX_COLLECT_VM_OBJECTS_H

#include "collect/proctree.h"
#include "collect/vm_names.h"

#define CTX_VM_OBJECTS_MAX 65536u /* that wait */

/* What is asked of agents. */
struct ctx_vm_wishes {
	uint64_t heap_bytes; /* between allocations that are sampled, on average; 0: none are */
	uint32_t metric;     /* of their bytes */
	bool sync;	     /* waits for monitors */
};

struct ctx_vm_kept_object {
	uint64_t time_ns;
	uint32_t kind; /* of the message */
	size_t n;
	uint8_t *bytes; /* behind its head; owned */
};

struct ctx_vm_objects {			  /* all zero is none */
	struct ctx_vm_kept_object *items; /* owned; as they came */
	size_t n, cap;
	uint64_t damaged, left_out;
};

void ctx_vm_objects_deinit(struct ctx_vm_objects *objects);

/* Keeps a message CTX_VM_ALLOCATION or CTX_VM_MONITOR. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_vm_objects_add(struct ctx_vm_objects *objects,
						  const struct ctx_vm_head *head,
						  const struct ctx_cursor *rest, struct ctx_err *err);

struct ctx_vm_objects_target {
	struct ctx_vm_target names;
	const struct ctx_proctree *tree;
	const struct ctx_vm_wishes *wishes;
	uint64_t until_ns; /* messages up to this time */
};

/*
 * Writes messages and drops them, also those of threads that are not known, or of what was not asked for. Fails as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_vm_objects_write(struct ctx_vm_objects *objects,
						    const struct ctx_vm_objects_target *target,
						    struct ctx_err *err);

/* The weight of a sampled allocation: bytes, so that sums are unbiased (model/heap_sampling.h). */
uint64_t ctx_vm_objects_weight(uint64_t heap_bytes, uint64_t bytes);

#endif
