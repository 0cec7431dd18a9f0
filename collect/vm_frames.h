/*
 * Frames of samples in virtual machines (collect/vms.h).
 */
#ifndef CTX_COLLECT_VM_FRAMES_H
#define CTX_COLLECT_VM_FRAMES_H

#include "base/err.h"
#include "collect/vm_stack.h"
#include "unwind/unwind_space.h"

struct ctx_vms;

struct ctx_vms_frames {
	struct ctx_unwind_frame *items; /* leaf first */
	size_t n;
	size_t n_named; /* out: of interpreted methods */
};

/*
 * Writes what is needed to name the frames, and replaces those of interpreted methods; `n` becomes less where the interpreter has several
 * frames for one method. Frames of other processes stay. Fails as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_vms_name(struct ctx_vms *vms, const struct ctx_vms_stack *stack,
					    struct ctx_vms_frames *frames, struct ctx_err *err);

/*
 * Whether a sample is in a virtual machine that was not of interest at that time: then *ret_frame is the one frame that it has instead of its
 * stack, else 0. `state` of the stack is not used. Fails as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_vms_leaves_out(struct ctx_vms *vms, const struct ctx_vms_stack *stack,
						  uint64_t *ret_frame, struct ctx_err *err);

#endif
