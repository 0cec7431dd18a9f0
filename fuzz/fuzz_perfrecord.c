/*
 * Fuzz target: one record of a ring buffer, a sample's call chain, and the fields of a tracepoint.
 * The highest bits of misc, which the kernel does not set, select the sample fields: registers and
 * a stack; an address and raw data.
 */
#include "base/map64.h"
#include "collect/callchain.h"
#include "formats/perfevent/pe_tracepoint.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ctx_callchain chain = {.max_stack = 127};
	static const struct ctx_pe_field field = {.offset = 24, .size = 4, .is_signed = true};
	struct perf_event_attr attr = {.sample_type = CTX_PERF_SAMPLE_TYPE};
	struct ctx_pe_layout layouts[2];
	struct ctx_map64 events = {0};
	struct ctx_perf_layout layout = {.event_of_id = &events, .events = layouts, .n_events = 2};
	struct perf_event_header header;
	struct ctx_perf_record record;
	uint64_t *aligned;
	int64_t value;
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
		/* A ring returns header.size bytes: here the size of the input. */
		memcpy(&header, data, sizeof(header));
		if ((header.misc & 0x8000) != 0) {
			attr.sample_regs_user = ctx_user_regs_perf_mask(ctx_machine_own());
			attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		}
		if ((header.misc & 0x400) != 0)
			attr.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_RAW;
		layouts[0] = ctx_pe_layout_make(&attr, false);
		attr.sample_type |= PERF_SAMPLE_PERIOD;
		layouts[1] = ctx_pe_layout_make(&attr, false);
		header.size = (uint16_t)size;
		memcpy(aligned, data, size);
		memcpy(aligned, &header, sizeof(header));
		(void)ctx_perf_record_time((const struct perf_event_header *)aligned);
		if (ctx_perf_record_parse(aligned, size, &layout, &record, NULL) == CTX_OK &&
		    record.type == PERF_RECORD_SAMPLE) {
			ctx_callchain_unwind(&chain, &record);
			for (size_t i = 0; i < record.sample.user_stack_bytes; i++)
				sum += record.sample.user_stack[i]; /* all of it is there */
			for (size_t i = 0; i < record.sample.raw_bytes; i++)
				sum += record.sample.raw[i];
			if (ctx_pe_field_read(&field, record.sample.raw, record.sample.raw_bytes, false,
					      &value))
				sum += (unsigned)(value & 1);
		}
	}
	free(aligned);
	ctx_map64_deinit(&events);
	return chain.n > CTX_CALLCHAIN_MAX + 1 || sum > UINT16_MAX * 256u ? (abort(), 1) : 0;
}
