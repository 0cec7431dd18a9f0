/*
 * Hardware breakpoints: executions of an instruction, or accesses to data, that the processor's debug registers count,
 * without a change of the program.
 *
 * There are four registers for a thread. They hold addresses, so a program is held when it has been executed, and the
 * events are opened before it goes on; those of libraries when the loader has mapped them and goes to the program's entry.
 */
#ifndef CTX_COLLECT_BREAKPOINTS_H
#define CTX_COLLECT_BREAKPOINTS_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CTX_BREAKPOINTS_MAX 4u /* registers */

enum ctx_breakpoint_kind {
	CTX_BREAKPOINT_EXECUTE,
	CTX_BREAKPOINT_WRITE,
	CTX_BREAKPOINT_ACCESS, /* reads and writes */
};

struct ctx_breakpoint_part {
	uint64_t address;
	uint32_t length_bytes; /* 1, 2, 4, 8; the address is a multiple of it */
};

/*
 * Divides [address, address + length_bytes) into what a register can watch, as few parts as there can be. Returns how many that
 * are; no more than `max` of them are written.
 */
size_t ctx_breakpoint_divide(uint64_t address, uint64_t length_bytes, struct ctx_breakpoint_part *parts,
			     size_t max);

/* The event of a part; neither enabled nor inherited. */
struct perf_event_attr ctx_breakpoint_attr(enum ctx_breakpoint_kind kind,
					   const struct ctx_breakpoint_part *part);

/* The registers that are free for the calling thread: as many events as can be opened. */
unsigned ctx_breakpoints_free(void);

/*
 * How far the addresses of a load object are moved in a process that has mapped its code: `*ret` is added to them. Fails
 * with CTX_E_NOTFOUND (it is not mapped), CTX_E_PERM, CTX_E_FORMAT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_breakpoint_bias(pid_t pid, const char *path, uint64_t *ret,
						   struct ctx_err *err);

/*
 * Lets a process that is stopped at its exec run to its entry, where its libraries are mapped, and stops it there. CTX_END: it has
 * ended before. Fails with CTX_E_IO. Not for other processors than x86.
 */
CTX_MUST_CHECK enum ctx_status ctx_breakpoint_run_to_entry(pid_t pid, struct ctx_err *err);

#endif
