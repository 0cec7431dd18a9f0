/*
 * Layout: which fields the records of one event have, and where.
 *
 * sample_type of the event selects the fields of a sample; their order is fixed by the format. With
 * sample_id_all, the kernel's other records end in a trailer (sample_id) with some of the same
 * fields. Each field up to PERIOD is one word of 8 bytes. Source: enum perf_event_sample_format
 * and PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h.
 */
#ifndef CTX_FORMATS_PERFEVENT_PE_LAYOUT_H
#define CTX_FORMATS_PERFEVENT_PE_LAYOUT_H

#include "model/user_regs.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CTX_PE_HEADER_BYTES 8u

/* Fields of a trailer, and the leading fields of a sample: one word each. */
#define CTX_PE_TRAILER_WORDS                                                                                 \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |     \
	 PERF_SAMPLE_IDENTIFIER)
#define CTX_PE_WORDS (CTX_PE_TRAILER_WORDS | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD)

struct ctx_pe_layout {
	/* As in struct perf_event_attr. */
	uint64_t sample_type, read_format, branch_sample_type, regs_user;
	uint64_t period; /* of samples without a period field */
	bool swap;	 /* records are in the other byte order */
	/* Derived by ctx_pe_layout_make. */
	uint8_t n_words; /* leading fields of a sample, one word each */
	uint8_t n_trailer_words;
	uint8_t n_regs;		  /* bits of regs_user */
	uint8_t n_regs_intr;	  /* of the registers at the interrupt */
	int8_t pc_reg, sp_reg;	  /* index of program counter and stack pointer among them, -1 none */
	enum ctx_machine machine; /* that the registers belong to */
};

static inline int ctx_pe_count_bits(uint64_t mask)
{
	return __builtin_popcountll(mask);
}

/*
 * Position of a sample's id: words after the header, -1 none. O(1), and a constant for a constant
 * type, like the next three.
 */
static inline int ctx_pe_sample_id_at(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	return type & PERF_SAMPLE_ID ? ctx_pe_count_bits(type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
								 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR))
				     : -1;
}

static inline int ctx_pe_sample_time_at(uint64_t type)
{
	return type & PERF_SAMPLE_TIME
		       ? ctx_pe_count_bits(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID))
		       : -1;
}

/*
 * Position in the trailer: words before the end of the record, -1 none. The order is [tid] [time]
 * [id] [stream id] [cpu] [identifier].
 */
static inline int ctx_pe_trailer_time_at(uint64_t type)
{
	return type & PERF_SAMPLE_TIME
		       ? 1 + ctx_pe_count_bits(type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
						       PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER))
		       : -1;
}

static inline int ctx_pe_trailer_id_at(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	return type & PERF_SAMPLE_ID ? 1 + ctx_pe_count_bits(type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU))
				     : -1;
}

/* The layout of the records of an event with this attribute. `attr` is not kept. */
struct ctx_pe_layout ctx_pe_layout_make(const struct perf_event_attr *attr, bool swap);

static inline uint64_t ctx_pe_word(const void *bytes, bool swap)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

/* The word `at` words after the header of a record of `size` bytes; false: not in the record. */
static inline bool ctx_pe_word_at(const void *record, size_t size, int at, bool swap, uint64_t *ret)
{
	size_t offset = CTX_PE_HEADER_BYTES + (size_t)at * 8;

	if (at < 0 || offset + 8 > size)
		return false;
	*ret = ctx_pe_word((const uint8_t *)record + offset, swap);
	return true;
}

/* The word `back` words before the end. */
static inline bool ctx_pe_word_back(const void *record, size_t size, int back, bool swap, uint64_t *ret)
{
	if (back < 0 || (size_t)back * 8 + CTX_PE_HEADER_BYTES > size)
		return false;
	*ret = ctx_pe_word((const uint8_t *)record + size - (size_t)back * 8, swap);
	return true;
}

#endif
