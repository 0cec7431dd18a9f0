/*
 * The tables of a fleet in ClickHouse (docs/fleet.md), and their version.
 *
 *	ctx_fleet       key, value: the version of the tables, how long recordings are kept
 *	ctx_recording   a row for each push that is complete: who, when, labels, metrics, what was lost, how many rows
 *	ctx_cell        (recording, metric, group of threads, call stack, span of time) -> weight, samples, calls
 *	ctx_stack       hash of a call stack -> hash of its caller, key of its function, its whole path
 *	ctx_function    key -> name, load object, kind
 *
 * On a cluster these names are Distributed tables over ctx_cell_local and so on, which every server has.
 */
#ifndef CTX_FLEET_FLEET_SCHEMA_H
#define CTX_FLEET_FLEET_SCHEMA_H

#include "fleet/fleet_server.h"

#include <stdint.h>

#define CTX_FLEET_SCHEMA_VERSION 1u

struct ctx_fleet_init {
	const char *cluster;  /* as in the servers' <remote_servers>; NULL: one server */
	uint32_t retain_days; /* 0: for ever */
};

/*
 * Creates what is not there, on this server; on a cluster it is to be done on each. Done again it changes how long recordings are
 * kept, and nothing else. CTX_E_VERSION: the tables are of another version.
 */
CTX_MUST_CHECK enum ctx_status ctx_fleet_schema_init(const struct ctx_fleet_server *server,
						     const struct ctx_fleet_init *init, struct ctx_err *err);

struct ctx_fleet_state {
	uint32_t retain_days; /* 0: for ever */
	bool is_cluster;
};

/*
 * Whether a fleet is here, of this version, and answers for all its shards. CTX_E_NOTFOUND: no fleet; CTX_E_VERSION;
 * CTX_E_ARG: the user's settings would leave out shards that are down.
 */
CTX_MUST_CHECK enum ctx_status ctx_fleet_schema_check(const struct ctx_fleet_server *server,
						      struct ctx_fleet_state *ret, struct ctx_err *err);

#endif
