/*
 * Topology: to which core, socket, NUMA node and PMU each processor belongs.
 *
 * Recordings have it as properties, one for each of these, in the order of the numbers:
 *
 *	cores	S0-D0-C0: 0,4; S0-D0-C1: 1,5; ...	socket, die and core, as perf stat calls them
 *	sockets	0: 0-3; 1: 4-7
 *	nodes	0: 0-7
 *	pmus	cpu_atom: 4-7; cpu_core: 0-3		only where processors have different ones
 *
 * A processor that is in none of a property's lists was offline, or nothing is known of it.
 */
#ifndef CTX_MODEL_TOPOLOGY_H
#define CTX_MODEL_TOPOLOGY_H

#include "base/buf.h"
#include "base/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_TOPOLOGY_CPU_MAX 65535u
#define CTX_TOPOLOGY_ID_MAX 999999u
#define CTX_TOPOLOGY_UNKNOWN UINT32_MAX

enum ctx_topology_part {
	CTX_TOPOLOGY_CORE,
	CTX_TOPOLOGY_SOCKET,
	CTX_TOPOLOGY_NODE,
	CTX_TOPOLOGY_PMU,
	CTX_TOPOLOGY_N,
};

/* The key of its property: "cores". */
const char *ctx_topology_key(enum ctx_topology_part part);

/* ---- collecting ---- */

struct ctx_topology_cpu {
	uint32_t socket, die, core; /* CTX_TOPOLOGY_UNKNOWN: not known; an unknown die is 0 */
	uint32_t node;
	const char *pmu; /* NULL: not known */
};

struct ctx_topology {
	struct ctx_topology_cpu *cpus; /* owned; by number */
	size_t n, cap;
};

void ctx_topology_deinit(struct ctx_topology *topology);

/* Makes processors 0 to `cpu` known. CTX_E_FORMAT: above CTX_TOPOLOGY_CPU_MAX; CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_topology_reach(struct ctx_topology *topology, uint64_t cpu,
						  struct ctx_err *err);

/*
 * The processors of a list as the kernel writes it ("0-3,8", or nothing) belong to a node; to a PMU, whose name is
 * borrowed until deinit. CTX_E_FORMAT: the list is malformed, a processor is in another one already, or a PMU's name has other bytes than letters, digits,
 * '_', '-' and '.'.
 */
CTX_MUST_CHECK enum ctx_status ctx_topology_put_node(struct ctx_topology *topology, const char *list,
						     uint32_t node, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_topology_put_pmu(struct ctx_topology *topology, const char *list,
						    const char *pmu, struct ctx_err *err);

/*
 * What is known of a part becomes that of `from`. CTX_TOPOLOGY_CORE and CTX_TOPOLOGY_SOCKET are one. Fails with
 * CTX_E_NOMEM; nothing is changed then.
 */
CTX_MUST_CHECK enum ctx_status ctx_topology_take(struct ctx_topology *topology,
						 const struct ctx_topology *from, enum ctx_topology_part part,
						 struct ctx_err *err);

/* Appends the text of a property; nothing if it is of no processor known. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_topology_write(const struct ctx_topology *topology,
						  enum ctx_topology_part part, struct ctx_buf *out,
						  struct ctx_err *err);

/* ---- reading a property ---- */

struct ctx_topology_groups {
	int64_t *
		of_cpu; /* owned; by processor: the number of its socket or node, the id of a name; -1: none */
	size_t n, cap;
};

void ctx_topology_groups_deinit(struct ctx_topology_groups *groups);

/*
 * Names of cores and PMUs go to `names`, which can have others: ids ascend in the order of the text. CTX_E_FORMAT: the
 * text is malformed, or has a processor twice. O(length + processors).
 */
CTX_MUST_CHECK enum ctx_status ctx_topology_read(const char *text, enum ctx_topology_part part,
						 struct ctx_strtab *names, struct ctx_topology_groups *ret,
						 struct ctx_err *err);

#endif
