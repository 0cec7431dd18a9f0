/*
 * One record of a perf ring buffer, taken apart.
 *
 * All our events have the sample type CTX_PERF_SAMPLE_TYPE (plus what of CTX_PERF_SAMPLE_MORE an event asks for) and
 * sample_id_all, so that the time of any record is found without looking at its kind. Bytes come from the
 * kernel, but nothing is believed: every length is checked against the record's own size. Source:
 * include/uapi/linux/perf_event.h, enum perf_event_type.
 */
#ifndef CTX_COLLECT_PERFRECORD_H
#define CTX_COLLECT_PERFRECORD_H

#include "base/err.h"
#include "base/map64.h"
#include "model/user_regs.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_PERF_SAMPLE_TYPE                                                                                 \
	((uint64_t)PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN)

/* What the samples of an event can have beside that; of registers and stack both or none. */
#define CTX_PERF_SAMPLE_MORE                                                                                 \
	((uint64_t)PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER |         \
	 PERF_SAMPLE_STACK_USER)

#define CTX_PERF_BUILD_ID_MAX 20

/* Which event a record belongs to, and what its samples hold. */
struct ctx_perf_layout {
	const struct ctx_map64 *event_of_id; /* PERF_EVENT_IOC_ID -> index of the event; borrowed */
	const uint64_t *sample_types;	     /* by index: attr.sample_type; borrowed */
	uint32_t n_events;
	uint64_t user_regs; /* attr.sample_regs_user of samples with registers and a stack */
};

struct ctx_perf_mmap {
	uint64_t address, size, file_offset;
	uint32_t protection;
	uint8_t build_id[CTX_PERF_BUILD_ID_MAX];
	uint8_t build_id_bytes; /* 0: the kernel could not read it */
	const char *path;	/* borrowed from the record, zero-terminated */
};

struct ctx_perf_record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	uint64_t time_ns;
	uint32_t pid, tid; /* of the task that the record is about */
	int32_t cpu;
	uint32_t event; /* index, UINT32_MAX: none of ours */
	union {
		struct {
			uint64_t ip;
			uint64_t period;    /* 0 where the event has a fixed one */
			uint64_t address;   /* 0 where the event has none */
			const uint8_t *raw; /* what a tracepoint tells; borrowed; NULL: nothing */
			size_t raw_bytes;
			const uint64_t *chain; /* borrowed */
			size_t n_chain;
			/*
			 * What to unwind the user's part from; the stack is borrowed. Its machine is unknown where there is nothing: a
			 * kernel thread, a 32-bit process.
			 */
			struct ctx_user_state user;
		} sample;
		struct ctx_perf_mmap mmap; /* MMAP2 */
		const char *comm;	   /* COMM; borrowed */
		struct {
			uint32_t ppid, ptid;
		} task;	       /* FORK, EXIT */
		uint64_t lost; /* LOST, LOST_SAMPLES */
	};
};

/* The time of a whole record (header.size bytes); 0 where it is too short to have one. */
uint64_t ctx_perf_record_time(const struct perf_event_header *header);

/*
 * Takes `n` bytes, aligned to 8, apart. Kinds that nobody wants here give CTX_OK with only the common fields
 * set. CTX_E_FORMAT: the record does not hold what its kind promises.
 */
CTX_MUST_CHECK enum ctx_status ctx_perf_record_parse(const void *bytes, size_t n,
						     const struct ctx_perf_layout *layout,
						     struct ctx_perf_record *ret, struct ctx_err *err);

#endif
