/*
 * Where a thread's stack is, from /proc.
 */
#ifndef CTX_COLLECT_STACK_BOUNDS_H
#define CTX_COLLECT_STACK_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct ctx_stack_bounds {
	uint64_t begin, end; /* the mapping that contains the stack pointer */
	/*
	 * Above all frames: of the stack that the kernel made for the program, where it began; else the
	 * end of the mapping.
	 */
	uint64_t top;
};

/*
 * The mapping that contains `sp`. False: there is none, the process has ended, or may not be read. Reads
 * /proc/PID/maps: some 0.1 ms, more for many mappings.
 */
bool ctx_stack_bounds_find(int64_t pid, uint64_t sp, struct ctx_stack_bounds *ret);

#endif
