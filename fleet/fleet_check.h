/*
 * Check: what pushes left that did not end, recordings whose cells are not those that were sent, and what is too old.
 *
 * On a cluster each server is asked for what it has itself, so the check is to be done on each.
 */
#ifndef CTX_FLEET_FLEET_CHECK_H
#define CTX_FLEET_FLEET_CHECK_H

#include "fleet/fleet_schema.h"

/* A push may take so long: younger cells without a row of ctx_recording are on their way. */
#define CTX_FLEET_UNFINISHED_S 86400u

struct ctx_fleet_damage {
	uint64_t push;
	uint64_t cells, found; /* as many were sent, and are there */
};

struct ctx_fleet_check {     /* owned by the caller (ctx_fleet_check_deinit) */
	uint64_t recordings; /* that readers see, of all servers */
	uint64_t repeated;   /* pushes of a recording that readers pass over: there is an earlier one */
	uint64_t removed, removed_cells; /* unfinished pushes, with cells on this server */
	uint64_t young;			 /* the same, which may go on */
	uint64_t days;			 /* partitions that were too old */
	struct ctx_fleet_damage *damaged;
	size_t n_damaged, damaged_cap;
};

/*
 * Checks this server's fleet, and removes unfinished pushes and, with retain_days, old recordings. Cells go in the background: a
 * server of version 18.16 rewrites the parts that have them.
 */
CTX_MUST_CHECK enum ctx_status ctx_fleet_check_run(const struct ctx_fleet_server *server,
						   struct ctx_fleet_check *ret, struct ctx_err *err);
void ctx_fleet_check_deinit(struct ctx_fleet_check *check);

#endif
