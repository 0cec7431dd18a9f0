#include "formats/perfevent/pe_sample.h"

#include "formats/perfevent/pe_wire.h"

#define READ_LOST (1u << 4)	   /* PERF_FORMAT_LOST */
#define BRANCH_HW_INDEX (1u << 17) /* PERF_SAMPLE_BRANCH_HW_INDEX */
#define BRANCH_COUNTERS (1u << 19)
#define BRANCH_BYTES 24u

/* In the order of the format. */
#define LISTS                                                                                                \
	(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |             \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define REST                                                                                                 \
	(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |   \
	 PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP)

static inline uint32_t half(const uint8_t *bytes, bool swap)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return swap ? __builtin_bswap32(value) : value;
}

/* The leading one-word fields. The caller has checked that the record holds them all. */
static inline const uint8_t *take_words(uint64_t type, const uint8_t *at, bool swap,
					struct ctx_pe_sample *sample)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		at += 8;
	if (type & PERF_SAMPLE_IP) {
		sample->ip = ctx_pe_word(at, swap);
		sample->has_ip = true;
		at += 8;
	}
	if (type & PERF_SAMPLE_TID) {
		sample->pid = (int32_t)half(at, swap);
		sample->tid = (int32_t)half(at + 4, swap);
		at += 8;
	}
	if (type & PERF_SAMPLE_TIME) {
		sample->time_ns = ctx_pe_word(at, swap);
		at += 8;
	}
	if (type & PERF_SAMPLE_ADDR) {
		sample->address = ctx_pe_word(at, swap);
		at += 8;
	}
	if (type & PERF_SAMPLE_ID)
		at += 8;
	if (type & PERF_SAMPLE_STREAM_ID)
		at += 8;
	if (type & PERF_SAMPLE_CPU) {
		uint32_t cpu = half(at, swap);

		sample->cpu = cpu <= INT32_MAX ? (int32_t)cpu : -1;
		at += 8;
	}
	if (type & PERF_SAMPLE_PERIOD) {
		sample->period = ctx_pe_word(at, swap);
		at += 8;
	}
	return at;
}

/*
 *	single: value [enabled] [running] [id] [lost]
 *	group:  n [enabled] [running] then n times: value [id] [lost]
 */
static void take_read(struct ctx_pe_wire *wire, uint64_t format, struct ctx_pe_sample *sample)
{
	unsigned times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1u : 0u) +
			 (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1u : 0u);
	unsigned has_id = format & PERF_FORMAT_ID ? 1u : 0u;
	unsigned words = 1u + has_id + (format & READ_LOST ? 1u : 0u);
	uint64_t n = 1;

	if (format & PERF_FORMAT_GROUP) {
		n = ctx_pe_wire_u64(wire);
		ctx_pe_wire_bytes(wire, (size_t)times * 8);
		sample->id_word = 1;
	} else {
		words += times;
		sample->id_word = (uint8_t)(1 + times);
	}
	if (n > ctx_pe_wire_left(wire) / 8 / words) {
		wire->failed = true;
		return;
	}
	sample->counts = ctx_pe_wire_bytes(wire, (size_t)n * words * 8);
	sample->count_words = (uint8_t)words;
	sample->n_counts = has_id ? (size_t)n : 0;
}

static inline void take_chain(struct ctx_pe_wire *wire, struct ctx_pe_sample *sample)
{
	uint64_t n = ctx_pe_wire_u64(wire);

	if (n > ctx_pe_wire_left(wire) / 8) {
		wire->failed = true;
		return;
	}
	sample->chain = ctx_pe_wire_bytes(wire, (size_t)n * 8);
	sample->n_chain = (size_t)n;
}

static void take_branches(struct ctx_pe_wire *wire, uint64_t branch_type, struct ctx_pe_sample *sample)
{
	uint64_t n = ctx_pe_wire_u64(wire);
	uint8_t each = branch_type & BRANCH_COUNTERS ? 32 : 24;

	if (branch_type & BRANCH_HW_INDEX)
		ctx_pe_wire_u64(wire);
	if (n > ctx_pe_wire_left(wire) / each)
		wire->failed = true;
	else
		sample->branches =
			ctx_pe_wire_bytes(wire, (size_t)n * each); /* the counters behind all of them */
	sample->n_branches = n;
}

/* An abi of 0 is not followed by registers. */
static inline void take_registers(struct ctx_pe_wire *wire, struct ctx_pe_sample *sample)
{
	uint64_t abi = ctx_pe_wire_u64(wire);

	sample->regs_abi = abi <= UINT32_MAX ? (uint32_t)abi : UINT32_MAX;
	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		sample->user_regs = ctx_pe_wire_bytes(wire, (size_t)sample->layout->n_regs * 8);
}

/*
 * Nothing follows a size of 0. The last word is the number of bytes copied: the copy stops at an
 * unmapped page.
 */
static inline void take_stack(struct ctx_pe_wire *wire, struct ctx_pe_sample *sample)
{
	uint64_t room = ctx_pe_wire_u64(wire), used;

	if (room == 0)
		return;
	if (room > ctx_pe_wire_left(wire)) {
		wire->failed = true;
		return;
	}
	sample->user_stack = ctx_pe_wire_bytes(wire, (size_t)room);
	used = ctx_pe_wire_u64(wire);
	sample->user_stack_bytes = used < room ? used : room;
}

static inline void take_lists(struct ctx_pe_wire *wire, const struct ctx_pe_layout *layout,
			      struct ctx_pe_sample *sample)
{
	uint64_t type = layout->sample_type;

	if (type & PERF_SAMPLE_READ)
		take_read(wire, layout->read_format, sample);
	if (type & PERF_SAMPLE_CALLCHAIN)
		take_chain(wire, sample);
	if (type & PERF_SAMPLE_RAW) {
		sample->raw_bytes = ctx_pe_wire_u32(wire);
		sample->raw = ctx_pe_wire_bytes(wire, sample->raw_bytes);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		take_branches(wire, layout->branch_sample_type, sample);
	if (type & PERF_SAMPLE_REGS_USER)
		take_registers(wire, sample);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(wire, sample);
}

/* Of few events: what comes behind the user's stack. */
static void take_rest(struct ctx_pe_wire *wire, const struct ctx_pe_layout *layout,
		      struct ctx_pe_sample *sample)
{
	uint64_t type = layout->sample_type;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		sample->weight = ctx_pe_wire_u64(wire);
	if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		sample->weight &= UINT32_MAX;
	if (type & PERF_SAMPLE_DATA_SRC)
		sample->data_source = ctx_pe_wire_u64(wire);
	if (type & PERF_SAMPLE_TRANSACTION)
		ctx_pe_wire_u64(wire);
	if ((type & PERF_SAMPLE_REGS_INTR) && ctx_pe_wire_u64(wire) != PERF_SAMPLE_REGS_ABI_NONE)
		ctx_pe_wire_bytes(wire, (size_t)layout->n_regs_intr * 8);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		sample->physical = ctx_pe_wire_u64(wire);
	if (type & PERF_SAMPLE_CGROUP)
		sample->cgroup = ctx_pe_wire_u64(wire);
}

static enum ctx_status too_short(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "a sample that is shorter than its event says");
}

enum ctx_status ctx_pe_sample_parse(const struct ctx_pe_layout *layout, const void *record, size_t size,
				    struct ctx_pe_sample *ret, struct ctx_err *err)
{
	const uint8_t *at = (const uint8_t *)record + CTX_PE_HEADER_BYTES;
	struct ctx_pe_wire wire;

	if (size < CTX_PE_HEADER_BYTES + (size_t)layout->n_words * 8)
		return too_short(err);
	*ret = (struct ctx_pe_sample){
		.layout = layout, .period = layout->period, .pid = -1, .tid = -1, .cpu = -1};
	at = take_words(layout->sample_type, at, layout->swap, ret);
	wire = ctx_pe_wire_make(at, (size_t)((const uint8_t *)record + size - at), layout->swap);
	take_lists(&wire, layout, ret);
	if ((layout->sample_type & REST) != 0)
		take_rest(&wire, layout, ret);
	if (wire.failed)
		return too_short(err);
	/* Fields unknown to this parser would follow here. */
	ret->is_longer =
		(layout->sample_type & ~(uint64_t)(CTX_PE_WORDS | LISTS | REST)) == 0 && wire.at != wire.end;
	return CTX_OK;
}

void ctx_pe_sample_count(const struct ctx_pe_sample *sample, size_t i, uint64_t *ret_id, uint64_t *ret_value)
{
	const uint8_t *count = sample->counts + i * sample->count_words * 8;

	*ret_value = ctx_pe_word(count, sample->layout->swap);
	*ret_id = ctx_pe_word(count + (size_t)sample->id_word * 8, sample->layout->swap);
}

bool ctx_pe_sample_has_lbr_stack(const struct ctx_pe_sample *sample)
{
	return sample->n_branches != 0 &&
	       (sample->layout->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) != 0;
}

uint64_t ctx_pe_sample_branch_from(const struct ctx_pe_sample *sample, size_t i)
{
	return ctx_pe_word(sample->branches + i * BRANCH_BYTES, sample->layout->swap);
}

/* The bits of a word of flags, as if the recorder's machine were little endian. */
static unsigned bits_of(const struct ctx_pe_sample *sample, uint64_t flags, unsigned at, unsigned n)
{
	return (unsigned)(flags >> (sample->layout->swap ? 64 - at - n : at)) & ((1u << n) - 1);
}

struct ctx_pe_branch ctx_pe_sample_branch(const struct ctx_pe_sample *sample, size_t i)
{
	const uint8_t *entry = sample->branches + i * BRANCH_BYTES;
	bool swap = sample->layout->swap;
	uint64_t flags = ctx_pe_word(entry + 16, swap);

	return (struct ctx_pe_branch){
		.from = ctx_pe_word(entry, swap),
		.to = ctx_pe_word(entry + 8, swap),
		.mispredicted = bits_of(sample, flags, 0, 1) != 0,
		.predicted = bits_of(sample, flags, 1, 1) != 0,
		.in_transaction = bits_of(sample, flags, 2, 1) != 0,
		.aborts = bits_of(sample, flags, 3, 1) != 0,
		.cycles = (uint16_t)bits_of(sample, flags, 4, 16),
		.type = (uint8_t)bits_of(sample, flags, 20, 4),
	};
}

bool ctx_pe_sample_has_all_branches(const struct ctx_pe_sample *sample)
{
	return (sample->layout->branch_sample_type & PERF_SAMPLE_BRANCH_ANY) != 0;
}

static uint64_t user_reg(const struct ctx_pe_sample *sample, int8_t index)
{
	return sample->user_regs != NULL && index >= 0
		       ? ctx_pe_word(sample->user_regs + (size_t)index * 8, sample->layout->swap)
		       : 0;
}

uint64_t ctx_pe_sample_user_pc(const struct ctx_pe_sample *sample)
{
	return user_reg(sample, sample->layout->pc_reg);
}

uint64_t ctx_pe_sample_user_sp(const struct ctx_pe_sample *sample)
{
	return user_reg(sample, sample->layout->sp_reg);
}

void ctx_pe_sample_user_state(const struct ctx_pe_sample *sample, struct ctx_user_state *ret)
{
	const struct ctx_pe_layout *layout = sample->layout;

	ret->regs.machine = CTX_MACHINE_UNKNOWN;
	ret->regs.valid = 0;
	if (sample->regs_abi == PERF_SAMPLE_REGS_ABI_64 && sample->user_regs != NULL)
		ctx_user_regs_from_perf(&ret->regs, layout->machine, layout->regs_user, sample->user_regs,
					layout->swap);
	ret->stack = sample->user_stack;
	ret->stack_bytes = (size_t)sample->user_stack_bytes;
}
