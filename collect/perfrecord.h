/*
 * Parses one record of our rings.
 *
 * All our events have the sample type CTX_PERF_SAMPLE_TYPE (plus bits of CTX_PERF_SAMPLE_MORE) and
 * sample_id_all, so that the time of any record is found whatever its type.
 * formats/perfevent/ parses; this module finds the event of a record.
 */
#ifndef CTX_COLLECT_PERFRECORD_H
#define CTX_COLLECT_PERFRECORD_H

#include "base/err.h"
#include "base/map64.h"
#include "formats/perfevent/pe_record.h"
#include "formats/perfevent/pe_sample.h"

#include <stdbool.h>

#define CTX_PERF_SAMPLE_TYPE                                                                                 \
	((uint64_t)PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN)

/* Optional parts of an event's samples; registers and stack come both or not at all. */
#define CTX_PERF_SAMPLE_MORE                                                                                 \
	((uint64_t)PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER |         \
	 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)

/* Maps a record to its event, and an event to the layout of its samples. */
struct ctx_perf_layout {
	const struct ctx_map64 *event_of_id; /* PERF_EVENT_IOC_ID -> index of the event; borrowed */
	const struct ctx_pe_layout *events;  /* by index; borrowed */
	uint32_t n_events;
	/*
	 * Software events that other programs may sample at the same time: the kernel gives the samples of all of them
	 * the id of the event that was opened last (do_perf_sw_event in kernel/events/core.c). In our rings a sample with
	 * a foreign id is of `shared`, which has no lists, where it is as long as these, else of `shared_longer`.
	 */
	bool has_shared;
	uint32_t shared, shared_longer; /* the latter UINT32_MAX: none */
};

struct ctx_perf_record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	uint64_t time_ns;
	uint32_t pid, tid; /* of the task that the record is for */
	int32_t cpu;
	uint32_t event; /* index, UINT32_MAX: unknown event */
	union {		/* texts and lists are borrowed */
		struct ctx_pe_sample sample;
		struct ctx_pe_mmap mmap; /* MMAP2 */
		const char *comm;	 /* COMM */
		struct ctx_pe_task task; /* FORK, EXIT */
		uint64_t lost;		 /* LOST, LOST_SAMPLES */
	};
};

/* Leaves of a sample's stack the kernel's part: the user's part of the call chain, registers and copy are gone. O(chain). */
void ctx_perf_record_drop_user(struct ctx_perf_record *record);

/* The time of a whole record (header.size bytes, at any address); 0 where it is too short to have one. */
uint64_t ctx_perf_record_time(const void *record);

/*
 * Parses `n` bytes, at any address. Kinds that are not used here give CTX_OK with only the common
 * fields set. CTX_E_FORMAT: the record does not match its type; *ret is undefined then.
 */
CTX_MUST_CHECK enum ctx_status ctx_perf_record_parse(const void *bytes, size_t n,
						     const struct ctx_perf_layout *layout,
						     struct ctx_perf_record *ret, struct ctx_err *err);

#endif
