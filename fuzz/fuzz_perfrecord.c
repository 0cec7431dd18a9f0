/*
 * Fuzz target: one record out of a ring buffer, and the call chain of a sample in it. The highest bit of misc, which the kernel
 * never sets, says that samples have registers and a stack.
 */
#include "base/map64.h"
#include "collect/callchain.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ctx_callchain chain = {.max_stack = 127};
	static const bool has_period[] = {false, true};
	struct ctx_map64 events = {0};
	struct ctx_perf_layout layout = {.event_of_id = &events, .has_period = has_period, .n_events = 2};
	struct perf_event_header header;
	struct ctx_perf_record record;
	uint64_t *aligned;
	unsigned sum = 0;

	if (size < sizeof(header) || size > UINT16_MAX)
		return 0;
	for (uint32_t i = 0; i < layout.n_events; i++) {
		uint32_t *place = ctx_map64_place(&events, i + 1);

		if (place == NULL)
			return 0;
		*place = i;
	}
	aligned = malloc(size);
	if (aligned != NULL) {
		/* A ring hands out header.size bytes: here that is what there is. */
		memcpy(&header, data, sizeof(header));
		if ((header.misc & 0x8000) != 0)
			layout.user_regs = ctx_user_regs_perf_mask(ctx_machine_own());
		header.size = (uint16_t)size;
		memcpy(aligned, data, size);
		memcpy(aligned, &header, sizeof(header));
		(void)ctx_perf_record_time((const struct perf_event_header *)aligned);
		if (ctx_perf_record_parse(aligned, size, &layout, &record, NULL) == CTX_OK &&
		    record.type == PERF_RECORD_SAMPLE) {
			ctx_callchain_unwind(&chain, &record);
			for (size_t i = 0; i < record.sample.user.stack_bytes; i++)
				sum += record.sample.user.stack[i]; /* all of it is there */
		}
	}
	free(aligned);
	ctx_map64_deinit(&events);
	return chain.n > CTX_CALLCHAIN_MAX + 1 || sum > UINT16_MAX * 255u ? (abort(), 1) : 0;
}
