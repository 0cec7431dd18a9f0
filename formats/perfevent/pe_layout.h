/*
 * Layout: what the records of one event hold, and where.
 *
 * A sample's fields follow the sample_type of its event, in the order of the format; the kernel's
 * other records end in a trailer with a few of the same fields (sample_id) where sample_id_all is
 * set. The fields up to PERIOD are one word of 8 bytes each. Source: enum perf_event_sample_format
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

/* Fields of a trailer, and of the beginning of a sample: a word each. */
#define CTX_PE_TRAILER_WORDS                                                                                 \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |     \
	 PERF_SAMPLE_IDENTIFIER)
#define CTX_PE_WORDS (CTX_PE_TRAILER_WORDS | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD)

struct ctx_pe_layout {
	/* As in struct perf_event_attr. */
	uint64_t sample_type, read_format, branch_sample_type, regs_user;
	uint64_t period; /* of samples that do not have their own */
	bool swap;	 /* records are in the other byte order */
	/* Derived by ctx_pe_layout_make. */
	uint8_t n_words; /* that a sample begins with, one for each field */
	uint8_t n_trailer_words;
	uint8_t n_regs;		  /* bits of regs_user */
	int8_t pc_reg;		  /* which of them is the program counter, -1 none */
	enum ctx_machine machine; /* whose registers they are */
};

static inline int ctx_pe_count_bits(uint64_t mask)
{
	return __builtin_popcountll(mask);
}

/*
 * Position of a sample's id: words behind the header, -1 none. O(1), constant for a constant type;
 * so are the next three.
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
 * Position in the trailer: words back from the end of the record, -1 none. The order is [tid]
 * [time] [id] [stream id] [cpu] [identifier].
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

/* The layout of what an event with this attribute writes. Nothing of `attr` is kept. */
struct ctx_pe_layout ctx_pe_layout_make(const struct perf_event_attr *attr, bool swap);

static inline uint64_t ctx_pe_word(const void *bytes, bool swap)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

/* The word at such a position in a record of `size` bytes; false: it has none. */
static inline bool ctx_pe_word_at(const void *record, size_t size, int at, bool swap, uint64_t *ret)
{
	size_t offset = CTX_PE_HEADER_BYTES + (size_t)at * 8;

	if (at < 0 || offset + 8 > size)
		return false;
	*ret = ctx_pe_word((const uint8_t *)record + offset, swap);
	return true;
}

static inline bool ctx_pe_word_back(const void *record, size_t size, int back, bool swap, uint64_t *ret)
{
	if (back < 0 || (size_t)back * 8 + CTX_PE_HEADER_BYTES > size)
		return false;
	*ret = ctx_pe_word((const uint8_t *)record + size - (size_t)back * 8, swap);
	return true;
}

#endif
