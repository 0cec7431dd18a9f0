/*
 * A sample in a process that may be a virtual machine: whose it is, and what was copied with it.
 */
#ifndef CTX_COLLECT_VM_STACK_H
#define CTX_COLLECT_VM_STACK_H

#include "model/user_regs.h"

#include <stdint.h>

struct ctx_vms_stack {
	uint32_t process;
	int64_t pid;
	uint64_t time_ns;
	const struct ctx_user_state *state; /* what was copied with it */
};

#endif
