/*
 * Sample: a PERF_RECORD_SAMPLE, parsed by the layout of its event.
 *
 *	header | identifier | ip | pid tid | time | addr | id | stream id | cpu - | period	one word each
 *	read values | n, call chain | size, raw | branch stack | abi, user registers | size, user stack, size in use |
 *	weight | data source | transaction | abi, registers at the interrupt | physical address | control group
 *
 * Only the fields that sample_type selects are present. Every length is checked against the
 * record's size: the bytes may come from an arbitrary file. Source: PERF_RECORD_SAMPLE in
 * include/uapi/linux/perf_event.h.
 */
#ifndef CTX_FORMATS_PERFEVENT_PE_SAMPLE_H
#define CTX_FORMATS_PERFEVENT_PE_SAMPLE_H

#include "base/err.h"
#include "formats/perfevent/pe_layout.h"
#include "model/user_regs.h"

/*
 * All pointers are borrowed from the record and may be unaligned; the data they point to is in the
 * record's byte order.
 */
struct ctx_pe_sample {
	const struct ctx_pe_layout *layout; /* of its event; borrowed */
	uint64_t time_ns;		    /* on the clock of the event; 0 none */
	uint64_t ip, address;		    /* 0 if absent, see has_ip */
	uint64_t period;		    /* of the sample, else of the layout */
	int32_t pid, tid;		    /* -1 none */
	int32_t cpu;			    /* -1 none */
	bool has_ip;
	bool is_longer; /* bytes follow the last field: a damaged size may span further records */
	/*
	 * PERF_SAMPLE_READ with ids: the value of the counter, or of each counter of its group;
	 * see ctx_pe_sample_count.
	 */
	uint8_t count_words, id_word; /* words per counter; index of the id word (the value is word 0) */
	const uint8_t *counts;
	size_t n_counts;      /* 0: none */
	const uint8_t *chain; /* n_chain words */
	size_t n_chain;
	const uint8_t *raw;	   /* tracepoint data; NULL none */
	uint64_t n_branches;	   /* entries of the branch stack, the last branch first */
	const uint8_t *branches;   /* see ctx_pe_sample_branch_from */
	const uint8_t *user_regs;  /* one word for each bit of regs_user; NULL none */
	const uint8_t *user_stack; /* copy of the user stack from the stack pointer upward; NULL none */
	uint64_t user_stack_bytes; /* that hold data */
	uint32_t raw_bytes;
	uint32_t regs_abi; /* enum perf_sample_regs_abi */
	uint64_t
		weight; /* PERF_SAMPLE_WEIGHT, or the first part of WEIGHT_STRUCT: mostly a latency; 0 none */
	uint64_t data_source; /* 0 none */
	uint64_t physical;    /* address; 0 none */
	uint64_t cgroup;      /* id; 0 none */
};

/* An entry of a branch stack. */
struct ctx_pe_branch {
	uint64_t from, to;
	uint16_t cycles;				      /* since the entry before it; 0 unknown */
	uint8_t type;					      /* PERF_BR_* */
	bool mispredicted, predicted, in_transaction, aborts; /* neither of the first two: unknown */
};

/*
 * Parses a record of `size` bytes, header included. Fails with CTX_E_FORMAT when the record is
 * shorter than its layout requires; then *ret is undefined. O(1): lists are not read.
 */
CTX_MUST_CHECK enum ctx_status ctx_pe_sample_parse(const struct ctx_pe_layout *layout, const void *record,
						   size_t size, struct ctx_pe_sample *ret,
						   struct ctx_err *err);

/* The id and the value of counter `i`, which is less than n_counts. */
void ctx_pe_sample_count(const struct ctx_pe_sample *sample, size_t i, uint64_t *ret_id, uint64_t *ret_value);

/*
 * Whether the branch stack holds the calls that have not returned (perf record --call-graph lbr):
 * the user's part of the call stack, as far as the processor has registers for it.
 */
bool ctx_pe_sample_has_lbr_stack(const struct ctx_pe_sample *sample);

/* The address that branch `i` came from, which is less than n_branches; and all of it. */
uint64_t ctx_pe_sample_branch_from(const struct ctx_pe_sample *sample, size_t i);
struct ctx_pe_branch ctx_pe_sample_branch(const struct ctx_pe_sample *sample, size_t i);

/*
 * Whether the branch stack holds every branch that was taken, so that code between two entries ran from
 * the first to the last instruction.
 */
bool ctx_pe_sample_has_all_branches(const struct ctx_pe_sample *sample);

/* Program counter of the user registers; 0 unknown. */
uint64_t ctx_pe_sample_user_pc(const struct ctx_pe_sample *sample);

/* Stack pointer of the user registers; 0 unknown. */
uint64_t ctx_pe_sample_user_sp(const struct ctx_pe_sample *sample);

/*
 * Registers and stack for an unwinder. The stack is borrowed from the record. The machine is
 * CTX_MACHINE_UNKNOWN when the sample has no 64-bit user registers: a kernel thread, a 32-bit
 * process.
 */
void ctx_pe_sample_user_state(const struct ctx_pe_sample *sample, struct ctx_user_state *ret);

#endif
