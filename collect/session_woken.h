/*
 * The events that see the wake-ups of all threads of a CPU, and the filter that leaves out those of threads that cannot
 * be of the recording:
 *
 *	last id that was given          recorded threads               new ones: until the ids begin anew
 *	   when events are opened  -->  pid > LAST || (pid >= A && pid <= B) || ...
 *
 * The kernel takes such a filter once for each event. So when new threads get lower ids again (kernel.pid_max), or soon
 * will, the events are replaced by others without a filter. Wake-ups that pass the filter can still be of others.
 *
 * Cost of a wake-up: 1.7 us if it is sampled, 0.05 us if it is not (bench/results/states.md).
 */
#ifndef CTX_COLLECT_SESSION_WOKEN_H
#define CTX_COLLECT_SESSION_WOKEN_H

#include "collect/procfs.h"

#include <linux/perf_event.h>

#define CTX_WOKEN_RANGES 8u /* of present threads; further ones are joined with what is between them */
#define CTX_WOKEN_FILTER_BYTES 512u

struct ctx_woken_filter {
	char text[CTX_WOKEN_FILTER_BYTES]; /* as the kernel takes it; "": all wake-ups are seen */
	int64_t after;			   /* threads that are created later have higher ids, */
	int64_t before;			   /* as long as these are lower than that */
};

struct ctx_woken_event { /* of a CPU; borrowed */
	int fd, cpu, ring_fd;
};

/* All zero: no events, no filter. */
struct ctx_woken {
	struct ctx_woken_filter filter;
	struct perf_event_attr attr; /* of the events */
	uint32_t number;	     /* of the event */
	struct ctx_woken_event *items;
	size_t n, cap;
	int *fds; /* those that replaced them; owned */
	size_t n_fds, fds_cap;
};

/*
 * The filter for these threads and all that are created from now on. `last`: the id that was given last; `max`:
 * kernel.pid_max. None where one of these is 0 (unknown), or the ids are about to begin anew. O(threads log threads);
 * on memory shortage there is none.
 */
void ctx_woken_filter_make(struct ctx_woken_filter *ret, const struct ctx_ids *tids, int64_t last,
			   int64_t max);

/* The id that the kernel of this pid namespace gave last; 0: unknown. Reads a small file. */
int64_t ctx_woken_last_id(void);

/* Whether the wake-ups of a new thread, and of those that follow soon, are seen. */
static inline bool ctx_woken_filter_holds(const struct ctx_woken_filter *filter, int64_t tid)
{
	return filter->text[0] == '\0' || (tid > filter->after && tid < filter->before);
}

/* Sets the filter of an event that was opened. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_woken_add(struct ctx_woken *woken, const struct ctx_woken_event *event,
					     struct ctx_err *err);

/* Of those that replaced others. */
void ctx_woken_disable(const struct ctx_woken *woken);
void ctx_woken_close(struct ctx_woken *woken);

#endif
