/*
 * Call stacks and functions of a fleet by their hashes: into the profile's tree of call stacks, when they are needed.
 */
#ifndef CTX_FLEET_FLEET_STACKS_H
#define CTX_FLEET_FLEET_STACKS_H

#include "fleet/fleet_profile.h"

/*
 * Makes nodes of the stacks with these hashes (in rows, 16 bytes each), asking for those that are not known. Each path must give its
 * hash: CTX_E_FORMAT otherwise, and where the server does not know one.
 */
CTX_MUST_CHECK enum ctx_status ctx_fleet_profile_learn(struct ctx_fleet_profile *fleet,
						       const struct ctx_fleet_server *server,
						       struct ctx_bytes hashes, struct ctx_err *err);

/* The node of a hash that was learnt; CTX_NONE: it was not. */
uint32_t ctx_fleet_profile_node(const struct ctx_fleet_profile *fleet, struct ctx_path_hash hash);

#endif
