/*
 * Waiting for records.
 *
 * At the end of each task the kernel wakes everybody who polls an event that the task had inherited
 * (perf_event_exit_event: a poller may have to learn that it was the last one), once for each event
 * and with no record to read. Where tasks end by the thousand these wake-ups are most of a
 * recorder's time, and each costs the ending task as much. So while many end, the rings are looked
 * at in short steps instead: a look reads one word of shared memory for each ring.
 */
#ifndef CTX_COLLECT_RING_WAIT_H
#define CTX_COLLECT_RING_WAIT_H

#include "collect/ring.h"

#include <poll.h>

#define CTX_RING_WAIT_OWN 3u

struct ctx_ring_wait {
	uint32_t n_ended; /* tasks, since the last wait: counted by the caller */
};

/*
 * Like poll(2) of the recorder's own descriptors (the first CTX_RING_WAIT_OWN) and of the rings'
 * events (behind them, one for each ring), until there is something on its own or a ring is filled
 * by a quarter. Short steps do not see events that have
 * no tasks left: a later wait does.
 */
int ctx_ring_wait(struct ctx_ring_wait *wait, struct pollfd *polls, struct ctx_ring *rings, uint32_t n_rings,
		  int timeout_ms);

#endif
