/*
 * The topology of this machine, from sysfs.
 */
#ifndef CTX_COLLECT_MACHINE_TOPOLOGY_H
#define CTX_COLLECT_MACHINE_TOPOLOGY_H

#include "base/arena.h"
#include "model/topology.h"

/*
 * `sys` is "/sys". Processors that are offline, and what sysfs does not have or has malformed, are left out. Call
 * ctx_topology_deinit in any case; names of PMUs are in `arena`. Fails with CTX_E_NOMEM. Some 10 us for each processor.
 */
CTX_MUST_CHECK enum ctx_status ctx_machine_topology(const char *sys, struct ctx_arena *arena,
						    struct ctx_topology *ret, struct ctx_err *err);

#endif
