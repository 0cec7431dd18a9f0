#include "collect/trace_grant.h"

#define PART 16u
#define PART_OF_LITTLE 64u

bool ctx_trace_grant(uint64_t limit_bytes, uint64_t used_bytes, uint32_t n_segments,
		     struct ctx_trace_grant *ret)
{
	uint64_t left = used_bytes < limit_bytes ? limit_bytes - used_bytes : 0;
	uint64_t part = left / (left > limit_bytes / 2 ? PART : PART_OF_LITTLE);
	struct ctx_trace_grant grant = {.slots = n_segments < 4 ? 1u << n_segments : CTX_RT_SLOTS,
					.ring_bytes = CTX_RT_RING_BYTES_MAX};

	while (grant.ring_bytes > CTX_RT_RING_BYTES_MIN && grant.slots * grant.ring_bytes > part)
		grant.ring_bytes /= 2;
	while (grant.slots > 0 && ctx_rt_segment_bytes(grant.slots, grant.ring_bytes) > left)
		grant.slots--;
	if (grant.slots == 0)
		return false;
	*ret = grant;
	return true;
}
