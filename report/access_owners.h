/*
 * Which allocation each access to memory belongs to: the block, or mapping of no file, that lived at its address at its time.
 *
 * Only addresses that are accessed matter, so blocks are not kept: each address of a process has the allocation that lives there
 * now. Accesses and heap operations are passed through together, in order of time. Source: requirement E17.
 */
#ifndef CTX_REPORT_ACCESS_OWNERS_H
#define CTX_REPORT_ACCESS_OWNERS_H

#include "base/err.h"
#include "model/profile.h"
#include "model/report_data.h"

struct ctx_access_owner {
	const struct ctx_traced
		*allocation; /* borrowed from the heap operations; NULL: none that was recorded */
	uint64_t offset;     /* of the access in it */
};

/*
 * *ret: owners by access, malloc'ed. Both lists are in order of time; `heap` is of the whole run. O(accesses log accesses + heap
 * operations log accesses + accessed addresses in each block that is allocated). Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_access_owners_find(const struct ctx_profile *profile,
						      const struct ctx_report_traced *accesses,
						      const struct ctx_report_traced *heap,
						      struct ctx_access_owner **ret, struct ctx_err *err);

#endif
