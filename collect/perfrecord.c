#include "collect/perfrecord.h"

#include <string.h>

/*
 * sample:	header | id | ip | pid tid | time | [address] | cpu - | [period] | nr | chain... |
 *		[size raw...] | [abi | registers... | size | stack... | bytes of it that were there]
 * all others:	header | body ............................ | pid tid | time | cpu - | id
 */
struct sample_head {
	struct perf_event_header header;
	uint64_t id;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
};

struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, padding;
	uint64_t id;
};

struct mmap2_body {
	uint32_t pid, tid;
	uint64_t address, size, file_offset;
	uint8_t build_id_bytes; /* all three only with the build-id bit; otherwise device and inode */
	uint8_t padding[3];
	uint8_t build_id[CTX_PERF_BUILD_ID_MAX];
	uint32_t protection, flags;
};

struct task_body {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

uint64_t ctx_perf_record_time(const struct perf_event_header *header)
{
	const char *bytes = (const char *)header;
	uint64_t time;

	if (header->type == PERF_RECORD_SAMPLE) {
		if (header->size < sizeof(struct sample_head))
			return 0;
		memcpy(&time, bytes + offsetof(struct sample_head, time), sizeof(time));
		return time;
	}
	if (header->size < sizeof(*header) + sizeof(struct trailer))
		return 0;
	memcpy(&time, bytes + header->size - sizeof(struct trailer) + offsetof(struct trailer, time),
	       sizeof(time));
	return time;
}

static uint32_t event_of(const struct ctx_perf_layout *layout, uint64_t id)
{
	uint32_t event = ctx_map64_get(layout->event_of_id, id);

	return event < layout->n_events ? event : UINT32_MAX;
}

static enum ctx_status too_short(const char *what, size_t n, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "%s record of %zu bytes is too short", what, n);
}

/*
 * Registers and stack, from `at` on. `abi` 0 has no registers; a stack of size 0 has nothing behind its size. The last word
 * tells how much of the stack's room was filled: the copy ends where nothing is mapped.
 */
static enum ctx_status parse_user(const uint8_t *bytes, size_t n, size_t at, uint64_t mask,
				  struct ctx_user_state *ret, struct ctx_err *err)
{
	size_t n_regs = (size_t)__builtin_popcountll(mask);
	struct ctx_user_state user = {0};
	uint64_t abi, size = 0, filled = 0;

	if (n - at < sizeof(abi))
		return too_short("sample", n, err);
	memcpy(&abi, bytes + at, sizeof(abi));
	at += sizeof(abi);
	if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
		if (n - at < n_regs * sizeof(uint64_t))
			return too_short("sample", n, err);
		if (abi == PERF_SAMPLE_REGS_ABI_64)
			ctx_user_regs_from_perf(&user.regs, ctx_machine_own(), mask, bytes + at, false);
		at += n_regs * sizeof(uint64_t);
	}
	if (n - at < sizeof(size))
		return too_short("sample", n, err);
	memcpy(&size, bytes + at, sizeof(size));
	at += sizeof(size);
	if (size != 0) {
		if (n - at < sizeof(filled) || size > n - at - sizeof(filled))
			return ctx_err_set(err, CTX_E_FORMAT, "sample record: a stack of %llu bytes in %zu",
					   (unsigned long long)size, n - at);
		memcpy(&filled, bytes + at + size, sizeof(filled));
		user.stack = bytes + at;
		user.stack_bytes = (size_t)(filled < size ? filled : size);
	}
	*ret = user;
	return CTX_OK;
}

/* What a tracepoint tells: the size has 32 bits, and with it all is a multiple of 8. */
static enum ctx_status parse_raw(const uint8_t *bytes, size_t n, size_t *at, struct ctx_perf_record *record,
				 struct ctx_err *err)
{
	uint32_t size;

	if (n - *at < sizeof(size))
		return too_short("sample", n, err);
	memcpy(&size, bytes + *at, sizeof(size));
	*at += sizeof(size);
	if (size > n - *at)
		return ctx_err_set(err, CTX_E_FORMAT, "sample record: %u raw bytes in %zu", size, n);
	record->sample.raw = bytes + *at;
	record->sample.raw_bytes = size;
	*at += size;
	return CTX_OK;
}

/* One word of a sample. */
static bool take_word(const uint8_t *bytes, size_t n, size_t *at, uint64_t *ret)
{
	if (n - *at < sizeof(*ret))
		return false;
	memcpy(ret, bytes + *at, sizeof(*ret));
	*at += sizeof(*ret);
	return true;
}

/* From the address to the call chain. */
static enum ctx_status parse_words(const uint8_t *bytes, size_t n, uint64_t type, size_t *at,
				   struct ctx_perf_record *record, struct ctx_err *err)
{
	uint64_t cpu, n_chain;

	if (((type & PERF_SAMPLE_ADDR) != 0 && !take_word(bytes, n, at, &record->sample.address)) ||
	    !take_word(bytes, n, at, &cpu) ||
	    ((type & PERF_SAMPLE_PERIOD) != 0 && !take_word(bytes, n, at, &record->sample.period)) ||
	    !take_word(bytes, n, at, &n_chain))
		return too_short("sample", n, err);
	memcpy(&record->cpu, &cpu, sizeof(record->cpu));
	if (n_chain > (n - *at) / sizeof(uint64_t))
		return ctx_err_set(err, CTX_E_FORMAT, "sample record: %llu frames in %zu bytes",
				   (unsigned long long)n_chain, n - *at);
	record->sample.n_chain = (size_t)n_chain;
	record->sample.chain = (const uint64_t *)(const void *)(bytes + *at);
	*at += record->sample.n_chain * sizeof(uint64_t);
	return CTX_OK;
}

static enum ctx_status parse_sample(const uint8_t *bytes, size_t n, const struct ctx_perf_layout *layout,
				    struct ctx_perf_record *record, struct ctx_err *err)
{
	struct sample_head head;
	size_t at = sizeof(head);
	uint64_t type = 0;
	enum ctx_status status;

	if (n < sizeof(head))
		return too_short("sample", n, err);
	memcpy(&head, bytes, sizeof(head));
	record->event = event_of(layout, head.id);
	record->pid = head.pid;
	record->tid = head.tid;
	record->time_ns = head.time;
	record->sample.ip = head.ip;
	if (record->event != UINT32_MAX)
		type = layout->sample_types[record->event];
	status = parse_words(bytes, n, type, &at, record, err);
	if (status == CTX_OK && (type & PERF_SAMPLE_RAW) != 0)
		status = parse_raw(bytes, n, &at, record, err);
	if (status == CTX_OK && (type & PERF_SAMPLE_REGS_USER) != 0)
		status = parse_user(bytes, n, at, layout->user_regs, &record->sample.user, err);
	return status;
}

/* A string that ends within the body. */
static const char *text_at(const uint8_t *body, size_t n, size_t offset)
{
	if (offset >= n || memchr(body + offset, 0, n - offset) == NULL)
		return NULL;
	return (const char *)body + offset;
}

static enum ctx_status parse_mmap(const uint8_t *body, size_t n, struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	struct mmap2_body raw;

	if (n < sizeof(raw) || text_at(body, n, sizeof(raw)) == NULL)
		return too_short("mmap", n, err);
	memcpy(&raw, body, sizeof(raw));
	record->pid = raw.pid;
	record->tid = raw.tid;
	record->mmap = (struct ctx_perf_mmap){
		.address = raw.address,
		.size = raw.size,
		.file_offset = raw.file_offset,
		.protection = raw.protection,
		.path = text_at(body, n, sizeof(raw)),
	};
	if ((record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) == 0)
		return CTX_OK;
	if (raw.build_id_bytes > CTX_PERF_BUILD_ID_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "mmap record: build id of %u bytes",
				   raw.build_id_bytes);
	record->mmap.build_id_bytes = raw.build_id_bytes;
	memcpy(record->mmap.build_id, raw.build_id, sizeof(raw.build_id));
	return CTX_OK;
}

static enum ctx_status parse_comm(const uint8_t *body, size_t n, struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	record->comm = text_at(body, n, 2 * sizeof(uint32_t));
	if (record->comm == NULL)
		return too_short("comm", n, err);
	memcpy(&record->pid, body, sizeof(uint32_t));
	memcpy(&record->tid, body + sizeof(uint32_t), sizeof(uint32_t));
	return CTX_OK;
}

static enum ctx_status parse_task(const uint8_t *body, size_t n, struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	struct task_body raw;

	if (n < sizeof(raw))
		return too_short("task", n, err);
	memcpy(&raw, body, sizeof(raw));
	record->pid = raw.pid;
	record->tid = raw.tid;
	record->task.ppid = raw.ppid;
	record->task.ptid = raw.ptid;
	return CTX_OK;
}

/* LOST has an id in front of the count, LOST_SAMPLES has not. */
static enum ctx_status parse_lost(const uint8_t *body, size_t n, struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	size_t at = record->type == PERF_RECORD_LOST ? sizeof(uint64_t) : 0;

	if (n < at + sizeof(uint64_t))
		return too_short("lost", n, err);
	memcpy(&record->lost, body + at, sizeof(uint64_t));
	return CTX_OK;
}

/* Who comes or went is told where everything is switched; who it is about, the trailer says in both. */
static enum ctx_status check_switch(size_t n, const struct ctx_perf_record *record, struct ctx_err *err)
{
	if (record->type == PERF_RECORD_SWITCH_CPU_WIDE && n < 2 * sizeof(uint32_t))
		return too_short("switch", n, err);
	return CTX_OK;
}

enum ctx_status ctx_perf_record_parse(const void *bytes, size_t n, const struct ctx_perf_layout *layout,
				      struct ctx_perf_record *ret, struct ctx_err *err)
{
	struct ctx_perf_record record = {.event = UINT32_MAX};
	const uint8_t *body = (const uint8_t *)bytes + sizeof(struct perf_event_header);
	struct perf_event_header header;
	struct trailer trailer;
	enum ctx_status status = CTX_OK;

	if (n < sizeof(header))
		return too_short("perf", n, err);
	memcpy(&header, bytes, sizeof(header));
	if (header.size != n)
		return ctx_err_set(err, CTX_E_FORMAT, "record of %zu bytes says that it has %u", n,
				   header.size);
	record.type = header.type;
	record.misc = header.misc;
	if (header.type == PERF_RECORD_SAMPLE) {
		status = parse_sample(bytes, n, layout, &record, err);
		if (status == CTX_OK)
			*ret = record;
		return status;
	}
	if (n < sizeof(header) + sizeof(trailer))
		return too_short("perf", n, err);
	n -= sizeof(header) + sizeof(trailer);
	memcpy(&trailer, body + n, sizeof(trailer));
	record.pid = trailer.pid;
	record.tid = trailer.tid;
	record.time_ns = trailer.time;
	record.cpu = (int32_t)trailer.cpu;
	record.event = event_of(layout, trailer.id);
	if (header.type == PERF_RECORD_MMAP2)
		status = parse_mmap(body, n, &record, err);
	else if (header.type == PERF_RECORD_COMM)
		status = parse_comm(body, n, &record, err);
	else if (header.type == PERF_RECORD_FORK || header.type == PERF_RECORD_EXIT)
		status = parse_task(body, n, &record, err);
	else if (header.type == PERF_RECORD_LOST || header.type == PERF_RECORD_LOST_SAMPLES)
		status = parse_lost(body, n, &record, err);
	else if (header.type == PERF_RECORD_SWITCH || header.type == PERF_RECORD_SWITCH_CPU_WIDE)
		status = check_switch(n, &record, err);
	if (status == CTX_OK)
		*ret = record;
	return status;
}
