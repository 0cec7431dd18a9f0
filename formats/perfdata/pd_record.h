/*
 * Records of perf.data: the types that perf itself writes (from 64 on), and the event and time of a
 * kernel record. Kernel records are parsed in formats/perfevent/. Source:
 * tools/lib/perf/include/perf/event.h of Linux.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_RECORD_H
#define CTX_FORMATS_PERFDATA_PD_RECORD_H

#include "formats/perfdata/pd_events.h"
#include "formats/perfevent/pe_record.h"

#include <linux/perf_event.h>

enum ctx_pd_user_type { /* record types of perf itself */
			CTX_PD_HEADER_ATTR = 64,
			CTX_PD_HEADER_EVENT_TYPE = 65,
			CTX_PD_HEADER_TRACING_DATA = 66, /* followed by data; its size is in the record */
			CTX_PD_HEADER_BUILD_ID = 67,
			CTX_PD_FINISHED_ROUND = 68,
			CTX_PD_ID_INDEX = 69,
			CTX_PD_AUXTRACE_INFO = 70,
			CTX_PD_AUXTRACE = 71, /* followed by data; its size is in the record */
			CTX_PD_AUXTRACE_ERROR = 72,
			CTX_PD_STAT = 76, /* counts of perf stat; no samples */
			CTX_PD_STAT_ROUND = 77,
			CTX_PD_EVENT_UPDATE = 78,
			CTX_PD_HEADER_FEATURE = 80,
			CTX_PD_COMPRESSED = 81,
			CTX_PD_COMPRESSED2 = 83,
			CTX_PD_TYPE_END = 96, /* above all known types, with room */
};

/*
 * Records of Android's simpleperf: 32769 to 32778. They may be longer than 64 KiB: `misc` has the
 * upper half of their size. Source: system/extras/simpleperf/record.h of Android.
 */
#define CTX_PD_SIMPLEPERF_FIRST 32769u
#define CTX_PD_SIMPLEPERF_SPLIT 32772u	   /* a part of a record that is longer than 64 KiB */
#define CTX_PD_SIMPLEPERF_SPLIT_END 32773u /* behind its last part */
#define CTX_PD_SIMPLEPERF_TRACING 32777u   /* u32 n, n bytes of tracing data */
#define CTX_PD_SIMPLEPERF_END 32779u

static inline bool ctx_pd_record_is_simpleperf(const struct perf_event_header *header)
{
	return header->type >= CTX_PD_SIMPLEPERF_FIRST && header->type < CTX_PD_SIMPLEPERF_END;
}

/* Bytes of a record with this header; 0: there is none. */
static inline size_t ctx_pd_record_bytes(const struct perf_event_header *header)
{
	size_t n = header->size;

	if (ctx_pd_record_is_simpleperf(header))
		n |= (size_t)header->misc << 16;
	else if (header->type == 0 || header->type >= CTX_PD_TYPE_END)
		return 0;
	return n >= CTX_PE_HEADER_BYTES ? n : 0;
}

#define CTX_PD_MISC_LOST_SAMPLES_BPF (1u << 15)
#define CTX_PD_NO_TIME UINT64_MAX

/* Is it a sample in a guest, or a record about one? */
static inline bool ctx_pd_record_is_of_guest(uint16_t misc)
{
	uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

/*
 * Kernels of 32 bits are between 1 and 4 GiB, where the model has users' code: their addresses are
 * moved to the kernel's half; but not those of the last page, which has no code: there they would be
 * marks (CTX_FRAME_TRUNCATED).
 */
static inline uint64_t ctx_pd_kernel_address(uint64_t address)
{
	return address >= 0x40000000u && address < 0xfffff000u ? address | UINT64_C(0xffffffff00000000)
							       : address;
}

/* The time of a whole record, CTX_PD_NO_TIME when it has none. O(1). */
uint64_t ctx_pd_record_time(const struct ctx_pd_events *events, const uint8_t *record,
			    const struct perf_event_header *header);

/*
 * The event of a SAMPLE record; NULL: unknown id. In records that perf synthesizes, an id of 0
 * means the first event.
 */
const struct ctx_pd_event *ctx_pd_sample_event(const struct ctx_pd_events *events, const uint8_t *record,
					       const struct perf_event_header *header);

/*
 * The trailer of a kernel record other than a sample; false: no trailer, or one without pid and
 * tid.
 */
bool ctx_pd_trailer_parse(const struct ctx_pd_events *events, const uint8_t *record,
			  const struct perf_event_header *header, struct ctx_pe_trailer *ret);

#endif
