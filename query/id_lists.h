/*
 * Id lists of the command line: --thread 0,2-5,tid:4711,worker* and --process, --cpu 0,2-5.
 */
#ifndef CTX_QUERY_ID_LISTS_H
#define CTX_QUERY_ID_LISTS_H

#include "base/err.h"
#include "model/profile.h"
#include "query/selection_spec.h"

struct ctx_cpu_range {
	int32_t first, last;
};

/*
 * The threads selected by both lists of the spec, ascending, malloc'ed; `*ret` NULL: neither list
 * is given, all threads. A term is an id or a range of ids, "tid:N" or "pid:N", a name or a pattern
 * of names. CTX_E_ARG: not a list; CTX_E_NOTFOUND: a term matches nothing.
 */
CTX_MUST_CHECK enum ctx_status ctx_thread_list_read(const struct ctx_selection_spec *spec,
						    const struct ctx_profile *profile, uint32_t **ret,
						    size_t *ret_n, struct ctx_err *err);

/* malloc'ed. CTX_E_ARG: not a list; CTX_E_NOTFOUND: the recorded machine has no such processor. */
CTX_MUST_CHECK enum ctx_status ctx_cpu_list_read(const char *list, const struct ctx_profile *profile,
						 struct ctx_cpu_range **ret, size_t *ret_n,
						 struct ctx_err *err);

#endif
