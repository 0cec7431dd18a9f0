/*
 * Record: one record of perf.data taken apart.
 *
 * A record is a header (type, misc, size) and a body; the kernel's kinds (type below 64) end in a trailer with the
 * fields of sample_id when sample_id_all is set. Nothing is believed: every length is checked against the record's
 * own size. Source: enum perf_event_type in include/uapi/linux/perf_event.h; the kinds from 64 on in
 * tools/lib/perf/include/perf/event.h of Linux.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_RECORD_H
#define CTX_FORMATS_PERFDATA_PD_RECORD_H

#include "base/buildid.h"
#include "base/err.h"
#include "formats/perfdata/pd_events.h"

#include <linux/perf_event.h>

#define CTX_PD_HEADER_BYTES 8u
#define CTX_PD_BUILD_ID_BYTES 20u /* at the most */

enum ctx_pd_user_type { /* perf's own kinds of record */
			CTX_PD_HEADER_ATTR = 64,
			CTX_PD_HEADER_EVENT_TYPE = 65,
			CTX_PD_HEADER_TRACING_DATA = 66, /* that many bytes follow the record */
			CTX_PD_HEADER_BUILD_ID = 67,
			CTX_PD_FINISHED_ROUND = 68,
			CTX_PD_ID_INDEX = 69,
			CTX_PD_AUXTRACE_INFO = 70,
			CTX_PD_AUXTRACE = 71, /* that many bytes follow the record */
			CTX_PD_AUXTRACE_ERROR = 72,
			CTX_PD_STAT = 76, /* what perf stat counted; no samples */
			CTX_PD_STAT_ROUND = 77,
			CTX_PD_EVENT_UPDATE = 78,
			CTX_PD_HEADER_FEATURE = 80,
			CTX_PD_COMPRESSED = 81,
			CTX_PD_COMPRESSED2 = 83,
			CTX_PD_TYPE_END = 96, /* larger than any type known today, with room */
};

#define CTX_PD_MISC_FORK_EXEC (1u << 13)
#define CTX_PD_MISC_COMM_EXEC (1u << 13)
#define CTX_PD_MISC_MMAP_DATA (1u << 13)
#define CTX_PD_MISC_MMAP_BUILD_ID (1u << 14)
#define CTX_PD_MISC_LOST_SAMPLES_BPF (1u << 15)
#define CTX_PD_MISC_SWITCH_OUT (1u << 13)
#define CTX_PD_MISC_SWITCH_OUT_PREEMPT (1u << 14)
#define CTX_PD_NO_TIME UINT64_MAX

struct ctx_pd_header {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
};

struct ctx_pd_sample {
	uint32_t event; /* index */
	uint64_t ip, addr;
	bool has_ip, has_addr;
	int64_t pid, tid;
	int32_t cpu; /* -1 unknown */
	uint64_t period;
	const uint8_t *chain; /* n_chain numbers of 8 bytes in the file's order, borrowed */
	size_t n_chain;
	const uint8_t *raw; /* what a tracepoint tells: raw_bytes, borrowed; NULL none */
	uint32_t raw_bytes;
	uint64_t n_branches; /* entries of the branch stack, skipped */
	/* PERF_SAMPLE_READ with ids: counters as they stood, of the event or of all of its group. */
	const uint8_t *counts; /* borrowed; see ctx_pd_sample_count */
	size_t n_counts;       /* 0: none */
	uint8_t count_words,
		id_word; /* numbers of a counter, and which of them is its id; the value is the first */
	bool has_user_regs;
	uint64_t user_ip; /* of the registers; 0 unknown */
	uint64_t regs_abi;
	const uint8_t *user_regs;  /* as many numbers as the event's mask has bits; for the unwinder */
	const uint8_t *user_stack; /* copy of the user stack from the stack pointer up; NULL none */
	uint64_t user_stack_bytes; /* that hold data */
	bool is_longer;		   /* than its fields: its size may be damaged, and have taken in others */
};

/* Was it taken in a guest, or does it tell of one? */
static inline bool ctx_pd_record_is_of_guest(uint16_t misc)
{
	uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

/* The event header at `bytes` (8 bytes). */
struct ctx_pd_header ctx_pd_header_read(const void *bytes, bool swap);

/* The time of a whole record, CTX_PD_NO_TIME when it has none. O(1). */
uint64_t ctx_pd_record_time(const struct ctx_pd_events *events, const uint8_t *record,
			    const struct ctx_pd_header *header, bool swap);

/*
 * Takes a SAMPLE record apart. Fails with CTX_E_FORMAT (short, or its event is not known: then *ret_unknown_id is
 * set).
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_sample_parse(const struct ctx_pd_events *events, const uint8_t *record,
						   const struct ctx_pd_header *header, bool swap,
						   struct ctx_pd_sample *ret, bool *ret_unknown_id,
						   struct ctx_err *err);

/* The value and the id of counter `i`, less than sample->n_counts. */
void ctx_pd_sample_count(const struct ctx_pd_sample *sample, size_t i, bool swap, uint64_t *ret_id,
			 uint64_t *ret_value);

struct ctx_pd_trailer {
	int64_t pid, tid;
	int32_t cpu; /* -1 unknown */
};

/* Who a record of the kernel other than SAMPLE is about, from its trailer; false when that does not tell. */
bool ctx_pd_trailer_parse(const struct ctx_pd_events *events, const uint8_t *record,
			  const struct ctx_pd_header *header, bool swap, struct ctx_pd_trailer *ret);

struct ctx_pd_mmap {
	int64_t pid, tid; /* pid -1: the kernel */
	uint64_t address, size, file_offset;
	bool executable;
	const char *path;		 /* borrowed */
	char build_id[CTX_BUILDID_TEXT]; /* lower-case hex, "" none */
	bool has_build_id;
};

/* MMAP and MMAP2. Fails with CTX_E_FORMAT. */
CTX_MUST_CHECK enum ctx_status ctx_pd_mmap_parse(const uint8_t *record, const struct ctx_pd_header *header,
						 bool swap, struct ctx_pd_mmap *ret, struct ctx_err *err);

/* Lower-case hex of `n` (at most CTX_PD_BUILD_ID_BYTES) bytes; all zero bytes give "". */
void ctx_pd_build_id_text(const uint8_t *bytes, size_t n, char ret[CTX_BUILDID_TEXT]);

#endif
