/*
 * What the recorder decides under load. Pure: fill levels and times in, decisions out.
 */
#ifndef CTX_COLLECT_PRESSURE_H
#define CTX_COLLECT_PRESSURE_H

#include "collect/session_sizes.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the recorder came too late: it waited for `waited_ms` where `limit_ms` was the longest, or found a ring more
 * than half full, of which a quarter should have woken it.
 */
bool ctx_pressure_is_late(uint64_t waited_ms, uint64_t limit_ms, unsigned fullest_percent);

/* Whether so many threads live that the recorder will be late when they run at once. */
bool ctx_pressure_is_crowded(uint64_t n_threads, uint32_t n_cpus);

/*
 * Whether to skip unwinding from here on. A full ring is no reason alone, for it is emptied faster than stacks arrive
 * as a rule: only one that has become fuller while a part of it was worked through. Skipping goes on until half of the
 * ring is free. `before` and `now`: percent of the fullest ring, an eighth of a ring of work ago and now.
 */
bool ctx_pressure_hurries(bool hurries, unsigned before, unsigned now);

/* What is known at the end of a round. */
struct ctx_pressure {
	uint64_t now_ns;
	unsigned fullest_percent; /* of a ring, when the round began */
	uint64_t stacks,
		cut;	 /* so far: unwound ones, and those that the copy was too short for, with a gap too */
	uint64_t lost;	 /* so far */
	uint64_t events; /* that a change of size goes through */
	uint64_t tried, deep, failed; /* so far, of struct ctx_copy_trial */
};

/*
 * Which size of copy samples should have. Small ones as soon as a ring was half full, for what is lost has no stack at
 * all; the usual ones again when nothing has pressed for some seconds, twice as many each time that was too early, and
 * stacks are cut. Large ones while nothing presses, stacks are cut, and that helps. A change costs 24 microseconds for
 * each thread and CPU (48 ms with 1,000 threads on two), during which there are no samples: unless records are lost, it
 * may take a fiftieth of the time since the last one.
 *
 * Small ones, too, where the kernel's frame pointers complete the stacks: of 128 stacks a tenth is too deep for the small copies, and
 * one at most would be another. They are left when one in 100 is cut. What failed is tried again after 2 s, then after 4 s, up
 * to 64 s.
 */
struct ctx_copy_choice {
	size_t copy_bytes[CTX_COPY_N]; /* set by the caller, as is `now`; 0: there is no such copy */
	enum ctx_copy now;
	uint64_t since_ns, pressed_ns; /* the size was chosen; a ring was half full. 0: never */
	uint64_t hold_ns;	       /* without pressure, before the usual size returns */
	uint64_t stacks, cut;	       /* at the begin of the window */
	uint64_t lost;		       /* when it was last asked */
	bool has_window;
	double usual_share; /* of cut stacks with the usual size, when large ones were chosen; 0: not yet */
	bool is_proven;	    /* large ones cut fewer */
	bool tries;	    /* small ones are to be tried on the stacks */
	bool is_chained;    /* small ones were chosen because frame pointers complete the stacks */
	uint64_t tried, deep, failed; /* at the begin of the trial */
	uint64_t try_ns, try_hold_ns; /* the next one; after a failure so long. 0: not yet */
};

/* Sets `now`; true: it is another one. */
bool ctx_copy_choose(struct ctx_copy_choice *choice, const struct ctx_pressure *pressure);

#endif
