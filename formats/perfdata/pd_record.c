#include "formats/perfdata/pd_record.h"

#include "formats/perfdata/pd_wire.h"
#include "model/profile.h"

#include <string.h>

#define REG_X86_IP 8
#define OBJECT_ID_BYTES (4 + CTX_PD_BUILD_ID_BYTES)
#define REG_ARM64_PC 32

/* What take_numbers and take_lists know: a sample with no other fields ends behind them. */
#define FIELDS_TAKEN                                                                                         \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |   \
	 PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ |  \
	 PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |        \
	 PERF_SAMPLE_STACK_USER)

struct ctx_pd_header ctx_pd_header_read(const void *bytes, bool swap)
{
	struct ctx_pd_wire wire = ctx_pd_wire_make(bytes, CTX_PD_HEADER_BYTES, swap);
	struct ctx_pd_header header;

	header.type = ctx_pd_wire_u32(&wire);
	header.misc = ctx_pd_wire_u16(&wire);
	header.size = ctx_pd_wire_u16(&wire);
	return header;
}

static uint64_t word(const uint8_t *bytes, bool swap)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

/* The number `at` words behind the header, or `back` words before the end. */
static bool word_at(const uint8_t *record, const struct ctx_pd_header *header, bool swap, int at,
		    uint64_t *ret)
{
	size_t offset = CTX_PD_HEADER_BYTES + (size_t)at * 8;

	if (at < 0 || offset + 8 > header->size)
		return false;
	*ret = word(record + offset, swap);
	return true;
}

static bool word_back(const uint8_t *record, const struct ctx_pd_header *header, bool swap, int back,
		      uint64_t *ret)
{
	if (back < 0 || (size_t)back * 8 + CTX_PD_HEADER_BYTES > header->size)
		return false;
	*ret = word(record + header->size - (size_t)back * 8, swap);
	return true;
}

/* The event that a sample belongs to; an id of zero is perf's own way to say "the first". */
static bool event_of_sample(const struct ctx_pd_events *events, const uint8_t *record,
			    const struct ctx_pd_header *header, bool swap, uint32_t *ret)
{
	uint64_t id;

	*ret = 0;
	if (events->n == 1)
		return true;
	if (events->n == 0 || !word_at(record, header, swap, events->sample_id_at, &id))
		return false;
	if (id == 0)
		return true;
	*ret = ctx_map64_get(&events->by_id, id);
	return *ret != CTX_MAP64_NONE;
}

/* The same for the other records, whose id is in the trailer. */
static bool event_of_trailer(const struct ctx_pd_events *events, const uint8_t *record,
			     const struct ctx_pd_header *header, bool swap, uint32_t *ret)
{
	uint64_t id;

	*ret = 0;
	if (!word_back(record, header, swap, events->trailer_id_at, &id))
		return false;
	if (id == 0)
		return true;
	*ret = ctx_map64_get(&events->by_id, id);
	return *ret != CTX_MAP64_NONE;
}

uint64_t ctx_pd_record_time(const struct ctx_pd_events *events, const uint8_t *record,
			    const struct ctx_pd_header *header, bool swap)
{
	uint64_t time;
	uint32_t event;
	int at;

	if (header->type >= CTX_PD_HEADER_ATTR || events->n == 0)
		return CTX_PD_NO_TIME;
	if (header->type != PERF_RECORD_SAMPLE) {
		at = events->has_trailer ? events->trailer_time_at : -1;
		if (at < 0 && events->has_trailer && event_of_trailer(events, record, header, swap, &event))
			at = ctx_pd_event_trailer_time(&events->items[event]);
		return word_back(record, header, swap, at, &time) ? time : CTX_PD_NO_TIME;
	}
	at = events->sample_time_at;
	if (at < 0 && event_of_sample(events, record, header, swap, &event))
		at = ctx_pd_event_sample_time(&events->items[event]);
	return word_at(record, header, swap, at, &time) ? time : CTX_PD_NO_TIME;
}

/*
 *	one:    value [enabled] [running] [id] [lost]
 *	group:  n [enabled] [running] then n times: value [id] [lost]
 */
static void take_read(struct ctx_pd_wire *wire, uint64_t format, struct ctx_pd_sample *sample)
{
	unsigned times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1u : 0u) +
			 (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1u : 0u);
	unsigned has_id = format & PERF_FORMAT_ID ? 1u : 0u;
	unsigned words = 1u + has_id + (format & (1u << 4) ? 1u : 0u); /* LOST */
	uint64_t n = 1;

	if (format & PERF_FORMAT_GROUP) {
		n = ctx_pd_wire_u64(wire);
		ctx_pd_wire_bytes(wire, (size_t)times * 8);
		sample->id_word = 1;
	} else {
		words += times;
		sample->id_word = (uint8_t)(1 + times);
	}
	if (n > ctx_pd_wire_left(wire) / 8 / words) {
		wire->failed = true;
		return;
	}
	sample->counts = ctx_pd_wire_bytes(wire, (size_t)n * words * 8);
	sample->count_words = (uint8_t)words;
	sample->n_counts = has_id ? (size_t)n : 0;
}

void ctx_pd_sample_count(const struct ctx_pd_sample *sample, size_t i, bool swap, uint64_t *ret_id,
			 uint64_t *ret_value)
{
	const uint8_t *count = sample->counts + i * sample->count_words * 8;

	*ret_value = word(count, swap);
	*ret_id = word(count + (size_t)sample->id_word * 8, swap);
}

static void take_chain(struct ctx_pd_wire *wire, struct ctx_pd_sample *sample)
{
	uint64_t n = ctx_pd_wire_u64(wire);

	if (n > ctx_pd_wire_left(wire) / 8) {
		wire->failed = true;
		return;
	}
	sample->chain = ctx_pd_wire_bytes(wire, (size_t)n * 8);
	sample->n_chain = (size_t)n;
}

static void skip_branches(struct ctx_pd_wire *wire, const struct ctx_pd_event *event,
			  struct ctx_pd_sample *sample)
{
	uint64_t n = ctx_pd_wire_u64(wire);
	size_t each = event->branch_sample_type & (1u << 19) ? 32 : 24; /* with counters of each branch */

	if (event->branch_sample_type & (1u << 17))
		ctx_pd_wire_u64(wire); /* hardware index */
	if (n > ctx_pd_wire_left(wire) / each)
		wire->failed = true;
	else
		ctx_pd_wire_bytes(wire, (size_t)n * each);
	sample->n_branches = n;
}

/* Number of the program counter among the registers of the mask. Which machine it was is not told here: x86 has no
 * register 32, aarch64 has no use for 8 alone. */
static int place_of_ip(uint64_t mask)
{
	int ip = mask >> REG_ARM64_PC & 1 ? REG_ARM64_PC : REG_X86_IP;

	return mask >> ip & 1 ? __builtin_popcountll(mask & ((UINT64_C(1) << ip) - 1)) : -1;
}

static void take_registers(struct ctx_pd_wire *wire, const struct ctx_pd_event *event,
			   struct ctx_pd_sample *sample)
{
	int ip = place_of_ip(event->regs_user);

	sample->regs_abi = ctx_pd_wire_u64(wire);
	if (sample->regs_abi == 0)
		return;
	sample->user_regs = ctx_pd_wire_bytes(wire, (size_t)__builtin_popcountll(event->regs_user) * 8);
	sample->has_user_regs = sample->user_regs != NULL;
	if (sample->has_user_regs && ip >= 0)
		sample->user_ip = word(sample->user_regs + (size_t)ip * 8, wire->swap);
}

static void take_stack(struct ctx_pd_wire *wire, struct ctx_pd_sample *sample)
{
	uint64_t room = ctx_pd_wire_u64(wire), used;

	if (room == 0)
		return;
	if (room > ctx_pd_wire_left(wire)) {
		wire->failed = true;
		return;
	}
	sample->user_stack = ctx_pd_wire_bytes(wire, (size_t)room);
	used = ctx_pd_wire_u64(wire);
	sample->user_stack_bytes = used < room ? used : room;
}

/* The fields that are one number each, in the order of the format. */
static void take_numbers(struct ctx_pd_wire *wire, uint64_t type, struct ctx_pd_sample *sample)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		ctx_pd_wire_u64(wire);
	if (type & PERF_SAMPLE_IP) {
		sample->ip = ctx_pd_wire_u64(wire);
		sample->has_ip = true;
	}
	if (type & PERF_SAMPLE_TID) {
		sample->pid = (int32_t)ctx_pd_wire_u32(wire);
		sample->tid = (int32_t)ctx_pd_wire_u32(wire);
	}
	if (type & PERF_SAMPLE_TIME)
		ctx_pd_wire_u64(wire);
	if (type & PERF_SAMPLE_ADDR) {
		sample->addr = ctx_pd_wire_u64(wire);
		sample->has_addr = true;
	}
	if (type & PERF_SAMPLE_ID)
		ctx_pd_wire_u64(wire);
	if (type & PERF_SAMPLE_STREAM_ID)
		ctx_pd_wire_u64(wire);
	if (type & PERF_SAMPLE_CPU) {
		sample->cpu = (int32_t)ctx_pd_wire_u32(wire);
		ctx_pd_wire_u32(wire);
	}
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = ctx_pd_wire_u64(wire);
}

static void take_lists(struct ctx_pd_wire *wire, const struct ctx_pd_event *event,
		       struct ctx_pd_sample *sample)
{
	uint64_t type = event->sample_type;

	if (type & PERF_SAMPLE_READ)
		take_read(wire, event->read_format, sample);
	if (type & PERF_SAMPLE_CALLCHAIN)
		take_chain(wire, sample);
	if (type & PERF_SAMPLE_RAW) {
		sample->raw_bytes = ctx_pd_wire_u32(wire);
		sample->raw = ctx_pd_wire_bytes(wire, sample->raw_bytes);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(wire, event, sample);
	if (type & PERF_SAMPLE_REGS_USER)
		take_registers(wire, event, sample);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(wire, sample);
}

enum ctx_status ctx_pd_sample_parse(const struct ctx_pd_events *events, const uint8_t *record,
				    const struct ctx_pd_header *header, bool swap, struct ctx_pd_sample *ret,
				    bool *ret_unknown_id, struct ctx_err *err)
{
	struct ctx_pd_wire wire = ctx_pd_wire_make(record + CTX_PD_HEADER_BYTES,
						   (size_t)header->size - CTX_PD_HEADER_BYTES, swap);
	const struct ctx_pd_event *event;

	*ret = (struct ctx_pd_sample){.cpu = -1, .pid = -1, .tid = -1};
	*ret_unknown_id = !event_of_sample(events, record, header, swap, &ret->event);
	if (*ret_unknown_id)
		return ctx_err_set(err, CTX_E_FORMAT, "a sample of an event that was not announced");
	event = &events->items[ret->event];
	ret->period = event->freq ? 1 : event->sample_period;
	take_numbers(&wire, event->sample_type, ret);
	take_lists(&wire, event, ret);
	if (wire.failed)
		return ctx_err_set(err, CTX_E_FORMAT, "a sample that is shorter than its event says");
	ret->is_longer = (event->sample_type & ~(uint64_t)FIELDS_TAKEN) == 0 && ctx_pd_wire_left(&wire) != 0;
	return CTX_OK;
}

bool ctx_pd_trailer_parse(const struct ctx_pd_events *events, const uint8_t *record,
			  const struct ctx_pd_header *header, bool swap, struct ctx_pd_trailer *ret)
{
	const uint64_t fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	uint32_t index = 0;
	struct ctx_pd_wire wire;
	uint64_t type;
	size_t bytes;

	if (!events->has_trailer || events->n == 0 ||
	    (events->trailer_id_at >= 0 && !event_of_trailer(events, record, header, swap, &index)))
		return false;
	type = events->items[index].sample_type;
	bytes = (size_t)__builtin_popcountll(type & fields) * 8;
	if (!(type & PERF_SAMPLE_TID) || bytes + CTX_PD_HEADER_BYTES > header->size)
		return false;
	wire = ctx_pd_wire_make(record + header->size - bytes, bytes, swap);
	ret->pid = (int32_t)ctx_pd_wire_u32(&wire);
	ret->tid = (int32_t)ctx_pd_wire_u32(&wire);
	ret->cpu = -1;
	ctx_pd_wire_bytes(&wire, (size_t)__builtin_popcountll(
					 type & (PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)) *
					 8);
	if (type & PERF_SAMPLE_CPU)
		ret->cpu = (int32_t)ctx_pd_wire_u32(&wire);
	return true;
}

void ctx_pd_build_id_text(const uint8_t *bytes, size_t n, char ret[CTX_BUILDID_TEXT])
{
	ctx_buildid_format(bytes, n < CTX_PD_BUILD_ID_BYTES ? n : CTX_PD_BUILD_ID_BYTES, ret);
	if (ret[strspn(ret, "0")] == '\0')
		ret[0] = '\0';
}

/*
 * OBJECT_ID_BYTES: size, three zeros, the build id and zeros up to the end; or device and inode, the generation last. The bit that tells
 * which is not enough: once one of those who record a mapping at the same time has asked for build ids, the kernel (6.18 still) sets
 * it for all of them.
 */
static bool is_build_id(const uint8_t *bytes)
{
	static const uint8_t zeros[OBJECT_ID_BYTES];
	size_t end = 4 + (size_t)bytes[0];

	return end > 4 && end <= OBJECT_ID_BYTES && memcmp(bytes + 1, zeros, 3) == 0 &&
	       memcmp(bytes + end, zeros, OBJECT_ID_BYTES - end) == 0;
}

static void take_object_id(struct ctx_pd_wire *wire, const struct ctx_pd_header *header,
			   struct ctx_pd_mmap *mmap)
{
	const uint8_t *bytes = ctx_pd_wire_bytes(wire, OBJECT_ID_BYTES);

	if (bytes == NULL || !(header->misc & CTX_PD_MISC_MMAP_BUILD_ID) || !is_build_id(bytes))
		return;
	ctx_pd_build_id_text(bytes + 4, bytes[0], mmap->build_id);
	mmap->has_build_id = mmap->build_id[0] != '\0';
}

enum ctx_status ctx_pd_mmap_parse(const uint8_t *record, const struct ctx_pd_header *header, bool swap,
				  struct ctx_pd_mmap *ret, struct ctx_err *err)
{
	struct ctx_pd_wire wire = ctx_pd_wire_make(record + CTX_PD_HEADER_BYTES,
						   (size_t)header->size - CTX_PD_HEADER_BYTES, swap);

	*ret = (struct ctx_pd_mmap){.executable = !(header->misc & CTX_PD_MISC_MMAP_DATA)};
	ret->pid = (int32_t)ctx_pd_wire_u32(&wire);
	ret->tid = (int32_t)ctx_pd_wire_u32(&wire);
	ret->address = ctx_pd_wire_u64(&wire);
	ret->size = ctx_pd_wire_u64(&wire);
	ret->file_offset = ctx_pd_wire_u64(&wire);
	if (header->type == PERF_RECORD_MMAP2) {
		take_object_id(&wire, header, ret);
		ret->executable = ctx_pd_wire_u32(&wire) >> 2 & 1; /* PROT_EXEC */
		ctx_pd_wire_u32(&wire);				   /* flags */
	}
	/* The path ends in a zero byte, somewhere before the trailer. */
	ret->path = wire.failed ? NULL : ctx_pd_wire_text(&wire, ctx_pd_wire_left(&wire));
	if (ret->path == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "a map that is shorter than it must be");
	if (ret->size > UINT64_MAX - ret->address)
		return ctx_err_set(err, CTX_E_FORMAT, "a map past the end of the address space");
	return CTX_OK;
}
