/*
 * Sample: a PERF_RECORD_SAMPLE, parsed by the layout of its event.
 *
 *	header | identifier | ip | pid tid | time | addr | id | stream id | cpu - | period	one word each
 *	read values | n, call chain | size, raw | branch stack | abi, user registers | size, user stack, size in use
 *
 * Only the fields that sample_type names are there. Every length is checked against the record's
 * own size: bytes may come from a kernel or from any file. Source: PERF_RECORD_SAMPLE in
 * include/uapi/linux/perf_event.h.
 */
#ifndef CTX_FORMATS_PERFEVENT_PE_SAMPLE_H
#define CTX_FORMATS_PERFEVENT_PE_SAMPLE_H

#include "base/err.h"
#include "formats/perfevent/pe_layout.h"
#include "model/user_regs.h"

/*
 * All pointers are borrowed from the record and need not be aligned; numbers behind them are in the
 * record's byte order.
 */
struct ctx_pe_sample {
	const struct ctx_pe_layout *layout; /* of its event; borrowed */
	uint64_t time_ns;		    /* on the clock of the event; 0 none */
	uint64_t ip, address;		    /* 0 where there is none: see has_ip */
	uint64_t period;		    /* its own, or the layout's */
	int32_t pid, tid;		    /* -1 none */
	int32_t cpu;			    /* -1 none */
	bool has_ip;
	bool is_longer; /* than its fields: its size may be damaged and include other records */
	/*
	 * PERF_SAMPLE_READ with ids: values of the counter, or of all in its group; see
	 * ctx_pe_sample_count.
	 */
	uint8_t count_words, id_word; /* words of one; which of them is the id (the value is the first) */
	const uint8_t *counts;
	size_t n_counts;      /* 0: none */
	const uint8_t *chain; /* n_chain words */
	size_t n_chain;
	const uint8_t *raw;	   /* data of a tracepoint; NULL none */
	uint64_t n_branches;	   /* entries of the branch stack, skipped */
	const uint8_t *user_regs;  /* a word for each bit of the layout's mask; NULL none */
	const uint8_t *user_stack; /* copy of the user stack from the stack pointer upward; NULL none */
	uint64_t user_stack_bytes; /* that hold data */
	uint32_t raw_bytes;
	uint32_t regs_abi; /* enum perf_sample_regs_abi */
};

/*
 * Parses a record of `size` bytes (the header included). CTX_E_FORMAT: it is shorter than its
 * layout says; then *ret is undefined. O(1): lists are not read.
 */
CTX_MUST_CHECK enum ctx_status ctx_pe_sample_parse(const struct ctx_pe_layout *layout, const void *record,
						   size_t size, struct ctx_pe_sample *ret,
						   struct ctx_err *err);

/* The value and the id of counter `i`, less than n_counts. */
void ctx_pe_sample_count(const struct ctx_pe_sample *sample, size_t i, uint64_t *ret_id, uint64_t *ret_value);

/* Program counter of the user registers; 0 unknown. */
uint64_t ctx_pe_sample_user_pc(const struct ctx_pe_sample *sample);

/*
 * What an unwinder needs, the stack borrowed from the record. The machine is CTX_MACHINE_UNKNOWN
 * where a sample has no registers of 64-bit code: a kernel thread, a 32-bit process.
 */
void ctx_pe_sample_user_state(const struct ctx_pe_sample *sample, struct ctx_user_state *ret);

#endif
