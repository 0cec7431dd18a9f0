/*
 * Invariants of a database: ids in range, no process its own ancestor, sums of metrics, sites.
 * Checked before writing (`wrong` is CTX_E_ARG) and after reading (`wrong` is CTX_E_FORMAT). Also
 * fails with CTX_E_NOMEM.
 */
#ifndef CTX_STORE_STORE_CHECK_H
#define CTX_STORE_STORE_CHECK_H

#include "model/code.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>

static inline bool ctx_store_is_id(uint32_t id, uint64_t n, bool none_allowed)
{
	return id < n || (none_allowed && id == CTX_NONE);
}

/* Sets a message for item `i` of the kind `what`. Returns `wrong`. */
enum ctx_status ctx_store_range(enum ctx_status wrong, const char *what, size_t i, struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_store_check_profile(const struct ctx_profile *profile,
						       enum ctx_status wrong, struct ctx_err *err);

/* Locations, sites and raw stacks. */
CTX_MUST_CHECK enum ctx_status ctx_store_check_code(const struct ctx_code *code,
						    const struct ctx_profile *profile, enum ctx_status wrong,
						    struct ctx_err *err);

#endif
