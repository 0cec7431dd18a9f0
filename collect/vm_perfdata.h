/*
 * The file in which a virtual machine of OpenJDK keeps its performance counters, /tmp/hsperfdata_USER/PID, and what its
 * counters say. The file stays readable after it has been deleted, when the virtual machine has ended, as long as it is open.
 *
 * The file is the target's and may be anything. Source: perfMemory.hpp and perfData.hpp of OpenJDK 9 to 25.
 */
#ifndef CTX_COLLECT_VM_PERFDATA_H
#define CTX_COLLECT_VM_PERFDATA_H

#include "base/buf.h"
#include "model/vm_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_VM_PERFDATA_MAX ((size_t)1 << 20) /* bytes of a file that are read */

struct ctx_vm_counters {
	uint64_t figures[CTX_VM_FIGURE_N]; /* CTX_VM_UNKNOWN */
	uint64_t
		running_ns; /* since it began, outside safepoints, up to the begin of the last one; CTX_VM_UNKNOWN */
};

/* False: it is no such file, or is damaged. O(bytes). */
bool ctx_vm_perfdata_parse(const uint8_t *bytes, size_t n, struct ctx_vm_counters *ret);

/* Opens the file of a process, as its mount namespace has it. -1: there is none, or it may not be read. */
int ctx_vm_perfdata_open(int64_t pid);

/* Reads the file; false as ctx_vm_perfdata_parse, or no memory. */
bool ctx_vm_perfdata_read(int fd, struct ctx_buf *scratch, struct ctx_vm_counters *ret);

/* Safepoints that have ended since the last time. */
struct ctx_vm_safepoints { /* all zero: nothing is known */
	bool is_known;
	uint64_t safepoint_ns, sync_ns; /* up to the last time */
	uint64_t origin_ns;		/* the latest time at which the counters can have begun to run */
};

struct ctx_vm_safepoint {
	uint64_t begin_ns, end_ns; /* of several since the last time: as if they had been one, the last */
	uint64_t sync_ns;	   /* of it, until all threads had stopped */
};

/*
 * What the counters, read at a time, say of the time since they were read before. False: no safepoint has ended. Its length is exact;
 * its place is the latest that agrees with all readings so far: no later than `now_ns`, and off by less than the shortest time that
 * passed between a safepoint's end and a reading.
 */
bool ctx_vm_safepoints_update(struct ctx_vm_safepoints *safepoints, const struct ctx_vm_counters *counters,
			      uint64_t now_ns, struct ctx_vm_safepoint *ret);

#endif
