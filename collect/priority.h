/*
 * The recorder's priority over its target: samples are lost when a thousand runnable threads leave it one share in a
 * thousand.
 *
 *	begin	nice -20 where allowed, and short slices, which everyone may have (Linux 6.12): with these a thread that
 *		wakes up runs within milliseconds
 *	late	real-time priority 1 where allowed, from the first time on that the recorder came too late, or that so many
 *		threads live that it will
 *	end	the caller's again: copying archives is ordinary work
 *
 * Only threads of this process are changed; the target is forked before. Source: sched(7), sched_setattr(2).
 */
#ifndef CTX_COLLECT_PRIORITY_H
#define CTX_COLLECT_PRIORITY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_PRIORITY_AUTO (-1)

/* struct sched_attr of the kernel, first version; glibc has none before 2.41. */
struct ctx_priority_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t realtime;
	uint64_t slice_ns; /* sched_runtime */
	uint64_t deadline_ns, period_ns;
};

struct ctx_priority {
	struct ctx_priority_attr caller; /* at the begin */
	struct ctx_priority_attr own;	 /* as it was reached; threads started later inherit it */
	bool may_rise;			 /* real-time priority has not been tried yet */
};

/* Of this thread. size 0: unknown, and setting it does nothing. */
struct ctx_priority_attr ctx_priority_get(void);

/* For this thread alone; in a forked process too. False: not allowed. */
bool ctx_priority_set(const struct ctx_priority_attr *attr);

/*
 * Raises the priority of all threads: `asked` is CTX_PRIORITY_AUTO; 0: it stays as it is; else a priority of
 * SCHED_FIFO. A caller that is real-time itself stays so. Fails with CTX_E_PERM where an asked one is not allowed.
 */
CTX_MUST_CHECK enum ctx_status ctx_priority_raise(struct ctx_priority *priority, int asked,
						  struct ctx_err *err);

/* The recorder was late: true when this has made it real-time now. */
bool ctx_priority_rise(struct ctx_priority *priority);

/* Back to the caller's, for all threads. */
void ctx_priority_restore(struct ctx_priority *priority);

/* "real-time 1", "nice -20, slices of 0.1 ms". */
void ctx_priority_describe(const struct ctx_priority_attr *attr, char *text, size_t size);

#endif
