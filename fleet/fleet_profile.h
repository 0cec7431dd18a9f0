/*
 * The entities of the chosen recordings, as reports see them: metrics with their sums, groups of threads as threads, what was lost,
 * functions and call stacks. One process stands for all.
 *
 * Stacks and functions come in when a histogram needs them: those that the profile does not know yet are asked for by their hashes.
 */
#ifndef CTX_FLEET_FLEET_PROFILE_H
#define CTX_FLEET_FLEET_PROFILE_H

#include "base/map64.h"
#include "base/strtab.h"
#include "fleet/fleet_choice.h"
#include "fleet/path_hash.h"
#include "model/profile.h"

struct ctx_fleet_profile { /* owned by the caller (ctx_fleet_profile_deinit) */
	struct ctx_profile profile;
	uint32_t *metric_keys; /* by metric id; sums of others have none of their own in cells */
	uint32_t *thread_keys; /* by thread id */
	struct ctx_process_info process;
	struct ctx_strtab texts;
	/* Growing: */
	struct ctx_map64 function_of; /* by key */
	struct ctx_map64 stack_of;    /* by the low half of the hash: an index in `hashes` */
	struct ctx_path_hash *hashes; /* by CCT node, of those that were asked for; all zero for others */
	size_t hashes_cap, functions_cap, objects_cap;
	struct ctx_map64 object_of; /* by id in `texts` */
};

/* CTX_E_NOMEM, CTX_E_FORMAT: an answer that is not as it should be; what the server fails with. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_profile_make(const struct ctx_fleet_server *server,
						      const struct ctx_fleet_choice *choice,
						      struct ctx_fleet_profile *ret, struct ctx_err *err);
void ctx_fleet_profile_deinit(struct ctx_fleet_profile *fleet);

#endif
