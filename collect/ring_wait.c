#include "collect/ring_wait.h"

#include <stdbool.h>

#define MANY_ENDED 20u /* since the last wait, which was up to 100 ms ago */
#define STEP_MS 5

static bool is_any_filled(struct ctx_ring *rings, uint32_t n_rings)
{
	for (uint32_t i = 0; i < n_rings; i++) {
		ctx_ring_refresh(&rings[i]);
		if (ctx_ring_fill(&rings[i]) >= rings[i].size / 4)
			return true;
	}
	return false;
}

int ctx_ring_wait(struct ctx_ring_wait *wait, struct pollfd *polls, struct ctx_ring *rings, uint32_t n_rings,
		  int timeout_ms)
{
	bool in_steps = wait->n_ended >= MANY_ENDED;
	int n = 0;

	wait->n_ended = 0;
	if (!in_steps)
		return poll(polls, CTX_RING_WAIT_OWN + n_rings, timeout_ms);
	for (uint32_t i = 0; i < n_rings; i++)
		polls[CTX_RING_WAIT_OWN + i].revents = 0;
	while (n == 0 && timeout_ms > 0 && !is_any_filled(rings, n_rings)) {
		n = poll(polls, CTX_RING_WAIT_OWN, timeout_ms < STEP_MS ? timeout_ms : STEP_MS);
		timeout_ms -= STEP_MS;
	}
	return n;
}
