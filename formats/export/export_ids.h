/*
 * Numbers of processes and threads that are unique in a file. The system reuses numbers, and a
 * process keeps its number across exec, while other tools identify a process by its number alone.
 * So each use of a number has a turn, 0 for the first one.
 */
#ifndef CTX_FORMATS_EXPORT_EXPORT_IDS_H
#define CTX_FORMATS_EXPORT_EXPORT_IDS_H

#include "model/profile.h"

struct ctx_export_ids {
	uint32_t *process_turn; /* by process id */
	uint32_t *thread_turn;	/* by thread id */
};

/* O(processes + threads). Fails with CTX_E_NOMEM. Release with deinit in any case. */
CTX_MUST_CHECK enum ctx_status ctx_export_ids_init(struct ctx_export_ids *ids,
						   const struct ctx_profile *profile, struct ctx_err *err);
void ctx_export_ids_deinit(struct ctx_export_ids *ids);

/* A pid or tid as a non-negative number: other tools cannot represent the kernel's -1. */
static inline uint64_t ctx_export_id(int64_t id)
{
	return id > 0 ? (uint64_t)id : 0;
}

#endif
