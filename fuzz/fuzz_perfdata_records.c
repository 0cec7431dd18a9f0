/*
 * One record of arbitrary bytes, in either byte order, parsed with the layout of any event.
 *
 * The first bytes select the layout, see `choice_of`; the rest is the body of the record, after a
 * valid header.
 */
#include "base/cursor.h"
#include "formats/perfdata/pd_chain.h"
#include "formats/perfdata/pd_record.h"
#include "formats/perfevent/pe_sample.h"
#include "model/event_source.h"

#include <stdlib.h>
#include <string.h>

#define CHOICE_BYTES 22u
#define BODY_MAX (65535u - CTX_PE_HEADER_BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct choice {
	struct perf_event_header header;
	struct ctx_pd_event events[2];
	size_t n_events;
	bool swap;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static struct choice choice_of(struct ctx_cursor *cursor)
{
	struct choice choice = {0};
	struct perf_event_attr attr = {0};
	struct ctx_pd_event *event = &choice.events[0];
	uint8_t bits = ctx_cursor_get_u8(cursor);

	choice.swap = bits & 1;
	choice.n_events = bits & 2 ? 2 : 1;
	attr.freq = (bits & 4) != 0;
	event->sample_id_all = !(bits & 8);
	event->exclude_callchain_user = bits & 16;
	choice.header.type = ctx_cursor_get_u8(cursor);
	choice.header.misc = ctx_cursor_get_u16(cursor);
	attr.sample_type = ctx_cursor_get_u32(cursor);
	attr.read_format = ctx_cursor_get_u8(cursor);
	event->max_stack = ctx_cursor_get_u8(cursor);
	attr.branch_sample_type = ctx_cursor_get_u32(cursor);
	attr.sample_regs_user = ctx_cursor_get_u64(cursor);
	attr.sample_period = 1000;
	event->layout = ctx_pe_layout_make(&attr, choice.swap);
	event->name = "event";
	event->first_id = 1;
	choice.events[1] = *event;
	choice.events[1].first_id = 2;
	if (bits & 32) /* the events have different sample fields */
		attr.sample_type ^= PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
	choice.events[1].layout = ctx_pe_layout_make(&attr, choice.swap);
	return choice;
}

/* Whether the `n` items of `each` bytes at `part` are inside the record. Reads them. */
static void check_part(const uint8_t *record, const struct perf_event_header *header, const uint8_t *part,
		       uint64_t n, size_t each)
{
	static volatile unsigned sink;

	if (part == NULL) {
		require(n == 0);
		return;
	}
	require(part >= record + CTX_PE_HEADER_BYTES && part <= record + header->size);
	require(n <= (size_t)(record + header->size - part) / each);
	for (size_t i = 0; i < n * each; i++)
		sink = sink + part[i];
}

static void check_chain(const struct ctx_pd_chain *chain, const struct ctx_pe_sample *sample)
{
	require(chain->n <= sample->n_chain + sample->n_branches + 3);
	for (uint32_t i = 0; i < chain->n; i++) {
		bool is_mark = ctx_frame_truncation(chain->frames[i]) != CTX_TRUNCATED_NOT;

		require(is_mark == (chain->truncated && i + 1 == chain->n));
	}
	/* In user mode the registers contain the address. */
	if (sample->has_ip && !chain->has_user)
		require(chain->n != 0 && (chain->frames[0] == sample->ip || chain->frames[0] == 0 ||
					  chain->frames[0] == ctx_pd_kernel_address(sample->ip)));
}

/* The time, found by walking the fields in order. */
static uint64_t slow_time(const struct ctx_pe_layout *layout, const uint8_t *record)
{
	static const uint64_t before[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID};
	const uint8_t *at = record + CTX_PE_HEADER_BYTES;
	uint64_t time;

	if (!(layout->sample_type & PERF_SAMPLE_TIME))
		return CTX_PD_NO_TIME;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		at += layout->sample_type & before[i] ? 8 : 0;
	memcpy(&time, at, sizeof(time));
	return layout->swap ? __builtin_bswap64(time) : time;
}

static void check_sample(const struct ctx_pd_events *events, const uint8_t *record,
			 const struct perf_event_header *header)
{
	const struct ctx_pd_event *event = ctx_pd_sample_event(events, record, header);
	struct ctx_pd_chain chain = {0};
	struct ctx_pe_sample sample;
	struct ctx_err err = {0};
	enum ctx_status status;

	if (event == NULL)
		return;
	status = ctx_pe_sample_parse(&event->layout, record, header->size, &sample, &err);
	if (status != CTX_OK) {
		require(status == CTX_E_FORMAT && err.msg[0] != '\0');
		return;
	}
	require(sample.n_branches <= header->size / 24u);
	check_part(record, header, sample.chain, sample.n_chain, 8);
	check_part(record, header, sample.raw, sample.raw_bytes, 1);
	check_part(record, header, sample.branches, sample.n_branches, sample.n_branches != 0 ? 24 : 1);
	check_part(record, header, sample.user_stack, sample.user_stack_bytes, 1);
	if (sample.user_regs != NULL)
		check_part(record, header, sample.user_regs,
			   (uint64_t)__builtin_popcountll(event->layout.regs_user), 8);
	for (size_t i = 0; i < sample.n_branches; i++) {
		struct ctx_pe_branch branch = ctx_pe_sample_branch(&sample, i);

		require(branch.from == ctx_pe_sample_branch_from(&sample, i) && branch.type < 16);
	}
	require(ctx_pd_record_time(events, record, header) == slow_time(&event->layout, record));
	if (ctx_pd_chain_set(&chain, &sample, event, header->misc, NULL) != CTX_OK)
		abort();
	check_chain(&chain, &sample);
	ctx_pd_chain_deinit(&chain);
}

static void check_text(const uint8_t *record, const struct perf_event_header *header, const char *text)
{
	check_part(record, header, (const uint8_t *)text, strlen(text) + 1, 1);
}

/* The other records, parsed as every kind: no parser relies on the header's type. */
static void check_bodies(const uint8_t *record, const struct perf_event_header *header, bool swap)
{
	struct ctx_pe_wire body = ctx_pe_body(record, header->size, swap);
	struct ctx_err err = {0};
	struct ctx_pe_mmap mmap;
	struct ctx_pe_comm comm;
	struct ctx_pe_task task;
	struct ctx_pe_ksymbol symbol;
	uint64_t lost;

	if (ctx_pe_mmap_parse(body, header, &mmap, &err) == CTX_OK) {
		check_text(record, header, mmap.path);
		require(mmap.size <= UINT64_MAX - mmap.address && strlen(mmap.build_id) <= 40);
	}
	if (ctx_pe_comm_parse(body, &comm, &err) == CTX_OK)
		check_text(record, header, comm.name);
	if (ctx_pe_ksymbol_parse(body, &symbol, &err) == CTX_OK)
		check_text(record, header, symbol.name);
	require(ctx_pe_task_parse(body, &task, &err) == (header->size < 24 ? CTX_E_FORMAT : CTX_OK));
	require(ctx_pe_lost_parse(body, header, &lost, &err) ==
		(header->size < (header->type == PERF_RECORD_LOST ? 24 : 16) ? CTX_E_FORMAT : CTX_OK));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_cursor cursor = ctx_cursor_make(data, size);
	struct choice choice = choice_of(&cursor);
	struct ctx_pd_events events = {.items = choice.events, .n = choice.n_events};
	size_t n = ctx_cursor_left(&cursor);
	struct perf_event_header header;
	struct ctx_pe_trailer trailer;
	uint8_t *record;

	if (size < CHOICE_BYTES || n > BODY_MAX)
		return 0;
	for (uint32_t i = 0; i < events.n; i++) {
		if (ctx_pd_events_add_id(&events, choice.events[i].first_id, i, NULL) != CTX_OK)
			abort();
	}
	if (ctx_pd_events_settle(&events, NULL) != CTX_OK)
		abort();
	choice.header.size = (uint16_t)(n + CTX_PE_HEADER_BYTES);
	record = malloc(choice.header.size); /* so that a sanitizer detects a read past its end */
	if (record == NULL)
		abort();
	memcpy(record, &choice.header, CTX_PE_HEADER_BYTES);
	if (n != 0)
		memcpy(record + CTX_PE_HEADER_BYTES, ctx_cursor_get_bytes(&cursor, n), n);
	header = ctx_pe_header_read(record, false);
	require(header.type == choice.header.type && header.misc == choice.header.misc &&
		header.size == choice.header.size);
	if (header.type == PERF_RECORD_SAMPLE) {
		check_sample(&events, record, &header);
	} else {
		(void)ctx_pd_record_time(&events, record, &header);
		(void)ctx_pd_trailer_parse(&events, record, &header, &trailer);
		check_bodies(record, &header, choice.swap);
	}
	free(record);
	ctx_map64_deinit(&events.by_id);
	return 0;
}
