/*
 * Parsing of records: every set of fields round-trips, in either byte order, and truncated records
 * are not read past their end (records are copied to memory of exactly their size, so that a
 * sanitizer detects it).
 */
#include "formats/perfevent/pe_sample.h"
#include "tests/unit/perfdata_fixture.h"

#define REGS_X86 UINT64_C(0xff0fff)	 /* without segments; 8 is the instruction pointer */
#define REGS_ARM64 UINT64_C(0x1ffffffff) /* 32 is the program counter */
#define BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define BRANCH_COUNTERS (UINT64_C(1) << 19)

static const uint64_t fields[] = {
	PERF_SAMPLE_IDENTIFIER,	  PERF_SAMPLE_IP,	 PERF_SAMPLE_TID,	 PERF_SAMPLE_TIME,
	PERF_SAMPLE_ADDR,	  PERF_SAMPLE_ID,	 PERF_SAMPLE_STREAM_ID,	 PERF_SAMPLE_CPU,
	PERF_SAMPLE_PERIOD,	  PERF_SAMPLE_READ,	 PERF_SAMPLE_CALLCHAIN,	 PERF_SAMPLE_RAW,
	PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER,
};
#define FIELD_SETS (1u << CTX_COUNT_OF(fields))

static uint64_t type_of_set(uint32_t set)
{
	uint64_t type = 0;

	for (size_t i = 0; i < CTX_COUNT_OF(fields); i++)
		type |= set >> i & 1 ? fields[i] : 0;
	return type;
}

/* The first `n` bytes of the last record, in memory of their own; free() it. */
static uint8_t *copy_last(const struct pd_recording *recording, size_t n)
{
	uint8_t *copy = malloc(n);

	assert_non_null(copy);
	memcpy(copy, recording->bytes.bytes + recording->starts[recording->n - 1], n);
	return copy;
}

static struct perf_event_header last_header(const struct pd_recording *recording)
{
	return ctx_pe_header_read(recording->bytes.bytes + recording->starts[recording->n - 1],
				  recording->swap);
}

/* The attrs as in the file. */
static void make_events(const struct pd_recording *recording, struct ctx_pd_events *events)
{
	*events = (struct ctx_pd_events){0};
	for (size_t i = 0; i < recording->n_attrs; i++) {
		const struct pd_attr *attr = &recording->attrs[i];
		struct ctx_buf bytes = {0};

		pd_put_attr(&bytes, recording->swap, attr, PD_ATTR_BYTES);
		assert_int_equal(ctx_pd_events_add(events, bytes.bytes, bytes.n, recording->swap, NULL),
				 CTX_OK);
		for (uint32_t k = 0; k < attr->n_ids; k++)
			assert_int_equal(ctx_pd_events_add_id(events, attr->ids[k], (uint32_t)i, NULL),
					 CTX_OK);
		ctx_buf_deinit(&bytes);
	}
	assert_int_equal(ctx_pd_events_settle(events, NULL), CTX_OK);
}

static struct pd_attr *add_drawn_attr(struct pd_recording *recording, uint64_t type, uint64_t id,
				      uint64_t *seed)
{
	struct pd_attr *attr = pd_add_attr(recording, type, id);

	attr->read_format = pd_random(seed, 32);
	attr->branch_type = (pd_random(seed, 2) != 0 ? BRANCH_HW_INDEX : 0) |
			    (pd_random(seed, 2) != 0 ? BRANCH_COUNTERS : 0) | 8;
	attr->regs_user = pd_random(seed, 2) != 0 ? REGS_X86 : REGS_ARM64;
	attr->flags |= pd_random(seed, 2) != 0 ? PD_FLAG_FREQ : 0;
	attr->period = 4000;
	return attr;
}

static void draw_sample(struct pd_sample *sample, size_t attr, uint64_t *seed)
{
	*sample = (struct pd_sample){.attr = attr, .misc = PERF_RECORD_MISC_USER};
	sample->place = (struct pd_place){.pid = (int32_t)pd_random(seed, 1u << 30) - 1,
					  .tid = (int32_t)pd_random(seed, 1u << 30) - 1,
					  .time = pd_random(seed, UINT64_C(1) << 39) + 1,
					  .cpu = (uint32_t)pd_random(seed, 1000)};
	sample->ip = pd_random(seed, UINT64_C(1) << 39);
	sample->addr = pd_random(seed, 99);
	sample->period = pd_random(seed, 1u << 20);
	sample->n_frames = pd_random(seed, 6);
	for (size_t i = 0; i < sample->n_frames; i++)
		sample->frames[i] = pd_random(seed, UINT64_C(1) << 39);
	sample->raw_bytes = 4 + 8 * (uint32_t)pd_random(seed, 4);
	sample->n_values = pd_random(seed, 4);
	sample->n_branches = pd_random(seed, 4);
	sample->regs_abi = pd_random(seed, 3);
	sample->first_reg = 1000;
	sample->stack_bytes = 8 * pd_random(seed, 5);
	sample->stack_used = pd_random(seed, 50);
}

/* A sample as the reader parses it: first which event it is of. */
struct parsed {
	enum ctx_status status;
	const struct ctx_pd_event *event; /* NULL: unknown */
	struct ctx_pe_sample sample;
	struct ctx_err err;
};

static struct parsed parse(const struct ctx_pd_events *events, const uint8_t *record,
			   const struct perf_event_header *header)
{
	struct parsed parsed = {.status = CTX_E_FORMAT, .event = ctx_pd_sample_event(events, record, header)};

	if (parsed.event != NULL)
		parsed.status = ctx_pe_sample_parse(&parsed.event->layout, record, header->size,
						    &parsed.sample, &parsed.err);
	return parsed;
}

static void check_chain(const struct pd_sample *in, const struct ctx_pe_sample *out, bool swap)
{
	assert_int_equal(out->n_chain, in->n_frames);
	for (size_t i = 0; i < in->n_frames; i++) {
		struct ctx_pe_wire wire = ctx_pe_wire_make(out->chain + 8 * i, 8, swap);

		assert_int_equal(ctx_pe_wire_u64(&wire), in->frames[i]);
	}
}

static void check_registers(const struct pd_sample *in, const struct ctx_pe_sample *out, uint64_t mask)
{
	uint64_t below = mask == REGS_X86 ? mask & 0xff : mask & UINT64_C(0xffffffff);

	assert_int_equal(out->user_regs != NULL, in->regs_abi != 0);
	assert_int_equal(out->regs_abi, in->regs_abi);
	assert_int_equal(ctx_pe_sample_user_pc(out),
			 in->regs_abi != 0 ? in->first_reg + (uint64_t)__builtin_popcountll(below) : 0);
}

static void check_stack(const struct pd_sample *in, const struct ctx_pe_sample *out)
{
	if (in->stack_bytes == 0) {
		assert_null(out->user_stack);
		return;
	}
	assert_int_equal(out->user_stack_bytes,
			 in->stack_used < in->stack_bytes ? in->stack_used : in->stack_bytes);
	for (uint64_t i = 0; i < out->user_stack_bytes; i++)
		assert_int_equal(out->user_stack[i], i + 1);
}

/* Values, ids and losses of counters count up from 80, 81, 82; a single counter is 77. */
static void check_counts(const struct pd_sample *in, const struct pd_attr *attr,
			 const struct ctx_pe_sample *out, uint64_t type)
{
	bool group = attr->read_format & PERF_FORMAT_GROUP;
	uint64_t n = group ? in->n_values : 1, id, value;

	if (!(type & PERF_SAMPLE_READ) || !(attr->read_format & PERF_FORMAT_ID))
		n = 0;
	assert_int_equal(out->n_counts, n);
	for (uint64_t i = 0; i < n; i++) {
		ctx_pe_sample_count(out, (size_t)i, &id, &value);
		assert_int_equal(value, group ? 80 + i : 77);
		assert_int_equal(id, 81 + i);
	}
}

static void check_sample(const struct pd_attr *attr, const struct pd_sample *in,
			 const struct ctx_pe_sample *out, bool swap)
{
	uint64_t type = attr->sample_type;
	bool has_tid = type & PERF_SAMPLE_TID, has_ip = type & PERF_SAMPLE_IP;

	assert_int_equal(out->pid, has_tid ? in->place.pid : -1);
	assert_int_equal(out->tid, has_tid ? in->place.tid : -1);
	assert_int_equal(out->has_ip, has_ip);
	assert_int_equal(out->ip, has_ip ? in->ip : 0);
	assert_int_equal(out->cpu, type & PERF_SAMPLE_CPU ? (int32_t)in->place.cpu : -1);
	assert_int_equal(out->period, type & PERF_SAMPLE_PERIOD	   ? in->period
				      : attr->flags & PD_FLAG_FREQ ? 1
								   : attr->period);
	assert_int_equal(out->n_branches, type & PERF_SAMPLE_BRANCH_STACK ? in->n_branches : 0);
	check_counts(in, attr, out, type);
	assert_false(out->is_longer);
	if (type & PERF_SAMPLE_CALLCHAIN)
		check_chain(in, out, swap);
	else
		assert_int_equal(out->n_chain, 0);
	if (type & PERF_SAMPLE_REGS_USER)
		check_registers(in, out, attr->regs_user);
	else
		assert_null(out->user_regs);
	if (type & PERF_SAMPLE_STACK_USER)
		check_stack(in, out);
	else
		assert_null(out->user_stack);
}

/* The record whole, and its time. */
static void check_whole(const struct pd_recording *recording, const struct ctx_pd_events *events,
			const struct pd_sample *sample)
{
	struct perf_event_header header = last_header(recording);
	uint8_t *copy = copy_last(recording, header.size);
	const struct pd_attr *attr = &recording->attrs[sample->attr];
	struct parsed out = parse(events, copy, &header);

	assert_int_equal(out.status, CTX_OK);
	assert_int_equal(out.event - events->items, sample->attr);
	check_sample(attr, sample, &out.sample, recording->swap);
	assert_int_equal(ctx_pd_record_time(events, copy, &header),
			 attr->sample_type & PERF_SAMPLE_TIME ? sample->place.time : CTX_PD_NO_TIME);
	free(copy);
}

static void check_cut(const struct pd_recording *recording, const struct ctx_pd_events *events)
{
	struct perf_event_header header = last_header(recording);
	size_t whole = header.size;

	for (size_t n = CTX_PE_HEADER_BYTES; n < whole; n++) {
		uint8_t *copy = copy_last(recording, n);
		struct parsed out;

		header.size = (uint16_t)n;
		out = parse(events, copy, &header);
		assert_int_equal(out.status, CTX_E_FORMAT);
		assert_true(out.event == NULL || out.err.msg[0] != '\0');
		(void)ctx_pd_record_time(events, copy, &header);
		free(copy);
	}
}

static void test_perfdata_record__every_set_of_fields_round_trips(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (uint32_t set = 0; set < FIELD_SETS; set++) {
		struct pd_recording recording = {.swap = pd_random(&seed, 2) != 0};
		struct ctx_pd_events events;
		struct pd_sample sample;

		add_drawn_attr(&recording, type_of_set(set), 5, &seed);
		make_events(&recording, &events);
		draw_sample(&sample, 0, &seed);
		pd_sample(&recording, &sample);
		check_whole(&recording, &events, &sample);
		if (set % 61 == 0 || set == FIELD_SETS - 1)
			check_cut(&recording, &events);
		ctx_pd_events_deinit(&events);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata_record__the_id_selects_one_of_two_events(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct pd_recording recording = {.swap = i % 2 != 0};
		struct ctx_pd_events events;
		struct pd_sample sample;

		for (uint64_t k = 0; k < 3; k++)
			add_drawn_attr(&recording,
				       type_of_set((uint32_t)pd_random(&seed, FIELD_SETS)) |
					       PERF_SAMPLE_IDENTIFIER,
				       100 + k, &seed);
		make_events(&recording, &events);
		draw_sample(&sample, (size_t)i % 3, &seed);
		pd_sample(&recording, &sample);
		check_whole(&recording, &events, &sample);
		if (i % 50 == 0)
			check_cut(&recording, &events);
		ctx_pd_events_deinit(&events);
		pd_recording_deinit(&recording);
	}
}

/*
 * Events without IDENTIFIER whose ids are at one place all the same; and at two places: then the
 * event is unknown.
 */
static void test_perfdata_record__without_identifier_the_place_of_the_id_must_be_common(void **state)
{
	const uint64_t base = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID;

	(void)state;
	for (int differs = 0; differs < 2; differs++) {
		struct pd_recording recording = {0};
		struct ctx_pd_events events;
		struct pd_sample sample = {.attr = 1, .place = {.pid = 3, .tid = 4, .time = 77}, .ip = 9};
		struct perf_event_header header;
		struct parsed out;
		uint8_t *copy;

		pd_add_attr(&recording, base | PERF_SAMPLE_PERIOD, 1);
		pd_add_attr(&recording, base | (differs ? PERF_SAMPLE_ADDR : PERF_SAMPLE_CPU), 2);
		make_events(&recording, &events);
		pd_sample(&recording, &sample);
		header = last_header(&recording);
		copy = copy_last(&recording, header.size);
		out = parse(&events, copy, &header);
		assert_int_equal(out.status, differs ? CTX_E_FORMAT : CTX_OK);
		assert_int_equal(out.event == NULL, differs);
		assert_int_equal(ctx_pd_record_time(&events, copy, &header), 77);
		free(copy);
		ctx_pd_events_deinit(&events);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata_record__an_id_of_zero_is_the_first_event_and_others_are_unknown(void **state)
{
	static const uint64_t ids[] = {0, 1, 3, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(ids); i++) {
		struct pd_recording recording = {0};
		struct ctx_pd_events events;
		struct pd_sample sample = {.attr = 1, .place = {.id = 7, .time = 5}};
		struct perf_event_header header;
		struct parsed out;

		pd_add_attr(&recording, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME, 1);
		pd_add_attr(&recording, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME, 2);
		make_events(&recording, &events);
		pd_sample(&recording, &sample);
		pd_patch64(&recording.bytes, false, 8, ids[i]);
		header = last_header(&recording);
		out = parse(&events, recording.bytes.bytes, &header);
		assert_int_equal(out.status, i < 2 ? CTX_OK : CTX_E_FORMAT);
		assert_int_equal(out.event == NULL, i >= 2);
		if (i < 2)
			assert_ptr_equal(out.event, &events.items[0]);
		ctx_pd_events_deinit(&events);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata_record__counts_that_are_too_large_are_refused(void **state)
{
	static const uint64_t counts[] = {
		2,	   3, UINT64_C(1) << 29, UINT64_C(1) << 32, UINT64_C(1) << 61, UINT64_MAX / 24 + 2,
		UINT64_MAX};
	static const uint64_t types[] = {PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_READ,
					 PERF_SAMPLE_STACK_USER, PERF_SAMPLE_RAW};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(types); i++) {
		for (size_t k = 0; k < CTX_COUNT_OF(counts); k++) {
			struct pd_recording recording = {.swap = k % 2 != 0};
			struct ctx_pd_events events;
			struct perf_event_header header;
			struct parsed out;
			uint8_t *copy;

			pd_add_attr(&recording, types[i], 1)->read_format = PERF_FORMAT_GROUP;
			make_events(&recording, &events);
			pd_begin(&recording, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
			pd_u64(&recording.bytes, recording.swap,
			       types[i] == PERF_SAMPLE_RAW ? (k + 1) * UINT64_C(0x0101010101010101)
							   : counts[k]);
			pd_end(&recording);
			header = last_header(&recording);
			copy = copy_last(&recording, header.size);
			out = parse(&events, copy, &header);
			assert_int_equal(out.status, CTX_E_FORMAT);
			free(copy);
			ctx_pd_events_deinit(&events);
			pd_recording_deinit(&recording);
		}
	}
}

static void test_perfdata_record__a_sample_longer_than_its_fields_is_reported(void **state)
{
	(void)state;
	for (int later = 0; later < 2; later++) {
		struct pd_recording recording = {0};
		struct pd_sample sample = {.ip = 4};
		struct ctx_pd_events events;
		struct perf_event_header header;
		struct parsed out;

		/* With a field that is not read there is always more. */
		pd_add_attr(&recording, PERF_SAMPLE_IP | (later ? PERF_SAMPLE_WEIGHT : 0), 1);
		make_events(&recording, &events);
		pd_sample(&recording, &sample);
		pd_zeros(&recording.bytes, 8);
		pd_end(&recording);
		header = last_header(&recording);
		out = parse(&events, recording.bytes.bytes, &header);
		assert_int_equal(out.status, CTX_OK);
		assert_int_equal(out.sample.is_longer, !later);
		ctx_pd_events_deinit(&events);
		pd_recording_deinit(&recording);
	}
}

/* ---- times of the other records ---- */

static const uint64_t trailer_fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
				       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

static void test_perfdata_record__the_trailer_has_the_time_whatever_else_is_in_it(void **state)
{
	(void)state;
	for (uint32_t set = 0; set < FIELD_SETS; set++) {
		struct pd_recording recording = {.swap = set % 3 == 0};
		struct ctx_pd_events events;
		struct pd_place place = {.pid = 3, .tid = 4, .time = 4711, .cpu = 2};
		struct perf_event_header header;
		uint64_t type = type_of_set(set), want;

		if ((type & ~trailer_fields) != 0)
			continue;
		pd_add_attr(&recording, type, 5);
		if (set % 2 != 0)
			recording.attrs[0].flags = 0; /* no trailers at all */
		make_events(&recording, &events);
		pd_comm(&recording, &place, "a", false);
		header = last_header(&recording);
		want = type & PERF_SAMPLE_TIME && recording.attrs[0].flags != 0 ? 4711 : CTX_PD_NO_TIME;
		assert_int_equal(ctx_pd_record_time(&events, recording.bytes.bytes, &header), want);
		ctx_pd_events_deinit(&events);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata_record__the_id_selects_the_position_of_the_time_in_the_trailer(void **state)
{
	(void)state;
	for (uint64_t id = 0; id < 4; id++) {
		struct pd_recording recording = {.swap = id % 2 != 0};
		struct ctx_pd_events events;
		struct pd_place place = {.id = id, .pid = 3, .tid = 4, .time = 4711, .cpu = 2};
		struct perf_event_header header;

		pd_add_attr(&recording, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, 1);
		pd_add_attr(&recording, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME, 2);
		make_events(&recording, &events);
		pd_begin(&recording, PERF_RECORD_SWITCH, 0);
		pd_end_with(&recording, id == 2, &place);
		if (id == 0) /* as perf writes it for what was there before */
			pd_patch64(&recording.bytes, recording.swap, recording.bytes.n - 8, 0);
		header = last_header(&recording);
		assert_int_equal(ctx_pd_record_time(&events, recording.bytes.bytes, &header),
				 id < 3 ? 4711 : CTX_PD_NO_TIME);
		ctx_pd_events_deinit(&events);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata_record__own_kinds_of_perf_and_short_records_have_no_time(void **state)
{
	struct pd_recording recording = {0};
	struct ctx_pd_events none = {0}, events;
	struct perf_event_header header;

	(void)state;
	pd_add_attr(&recording, PERF_SAMPLE_TIME | PERF_SAMPLE_TID, 1);
	make_events(&recording, &events);
	pd_round(&recording);
	header = last_header(&recording);
	assert_int_equal(ctx_pd_record_time(&events, recording.bytes.bytes, &header), CTX_PD_NO_TIME);
	header.type = PERF_RECORD_SAMPLE;
	assert_int_equal(ctx_pd_record_time(&events, recording.bytes.bytes, &header), CTX_PD_NO_TIME);
	header.type = PERF_RECORD_EXIT;
	assert_int_equal(ctx_pd_record_time(&events, recording.bytes.bytes, &header), CTX_PD_NO_TIME);
	assert_int_equal(ctx_pd_record_time(&none, recording.bytes.bytes, &header), CTX_PD_NO_TIME);
	ctx_pd_events_deinit(&events);
	pd_recording_deinit(&recording);
}

/* ---- maps ---- */

static enum ctx_status parse_map(const struct pd_recording *recording, size_t n, struct ctx_pe_mmap *ret,
				 uint8_t **ret_copy)
{
	struct perf_event_header header = last_header(recording);

	header.size = (uint16_t)n;
	*ret_copy = copy_last(recording, n);
	return ctx_pe_mmap_parse(ctx_pe_body(*ret_copy, n, recording->swap), &header, ret, NULL);
}

static void check_map(const struct pd_recording *recording, const struct pd_map *map, size_t path_at)
{
	size_t n = last_header(recording).size, path_end = path_at + strlen(map->path) + 1;
	char build_id[41] = "";

	for (int i = 0; map->build_id != 0 && i < 20; i++)
		snprintf(build_id + 2 * i, 3, "%02x", (uint8_t)(map->build_id + i));
	for (size_t cut = CTX_PE_HEADER_BYTES; cut <= n; cut++) {
		struct ctx_pe_mmap out;
		uint8_t *copy;
		enum ctx_status status = parse_map(recording, cut, &out, &copy);

		assert_int_equal(status, cut < path_end ? CTX_E_FORMAT : CTX_OK);
		if (status == CTX_OK) {
			assert_int_equal(out.pid, 44);
			assert_int_equal(out.tid, 45);
			assert_int_equal(out.address, map->address);
			assert_int_equal(out.size, map->size);
			assert_int_equal(out.file_offset, map->offset);
			assert_int_equal((out.protection & 4) != 0, !map->data);
			assert_string_equal(out.path, map->path);
			assert_string_equal(out.build_id, build_id);
		}
		free(copy);
	}
}

static void test_perfdata_record__maps_come_out_as_they_went_in(void **state)
{
	static const char *const paths[] = {"", "/", "/bin/xz", "12345678",
					    "/a path with spaces and \xc3\xa4"};

	(void)state;
	for (int variant = 0; variant < 16; variant++) {
		for (size_t i = 0; i < CTX_COUNT_OF(paths); i++) {
			struct pd_recording recording = {.swap = variant % 2 != 0};
			struct pd_place place = {.pid = 44, .tid = 45, .time = 1};
			bool second = variant & 2;
			struct pd_map map = {.address = 0x7f0000001000,
					     .size = UINT64_C(0x123456789),
					     .offset = UINT64_C(0xabcdef000),
					     .path = paths[i],
					     .data = variant & 4,
					     .build_id = variant & 8 && second ? 0xe0 : 0};

			pd_add_attr(&recording, 0, 1);
			(second ? pd_mmap2 : pd_mmap)(&recording, &place, &map);
			check_map(&recording, &map, second ? 72 : 40);
			pd_recording_deinit(&recording);
		}
	}
}

static void test_perfdata_record__a_map_past_the_end_of_the_address_space_is_refused(void **state)
{
	(void)state;
	for (uint64_t past = 0; past < 2; past++) {
		struct pd_recording recording = {0};
		struct pd_place place = {.pid = -1, .tid = 0};
		struct pd_map map = {.address = UINT64_MAX - 0xfff, .size = 0xfff + past, .path = "x"};
		struct ctx_pe_mmap out;
		uint8_t *copy;

		pd_add_attr(&recording, 0, 1);
		pd_mmap(&recording, &place, &map);
		assert_int_equal(parse_map(&recording, last_header(&recording).size, &out, &copy),
				 past ? CTX_E_FORMAT : CTX_OK);
		assert_int_equal(out.pid, -1);
		free(copy);
		pd_recording_deinit(&recording);
	}
}

/* What a map is that is said to have a build id, with these 24 bytes in its place. */
static struct ctx_pe_mmap map_of_object_id(const void *bytes)
{
	struct pd_recording recording = {0};
	struct pd_place place = {.pid = 1, .tid = 1};
	struct pd_map map = {.size = 1, .path = "x", .build_id = 0xa0};
	struct ctx_pe_mmap out;
	uint8_t *copy;

	pd_add_attr(&recording, 0, 1);
	pd_mmap2(&recording, &place, &map);
	memcpy(recording.bytes.bytes + recording.starts[recording.n - 1] + 40, bytes, 24);
	assert_int_equal(parse_map(&recording, last_header(&recording).size, &out, &copy), CTX_OK);
	out.path = NULL;
	free(copy);
	pd_recording_deinit(&recording);
	return out;
}

static void test_perfdata_record__a_build_id_of_any_size_stays_in_its_place(void **state)
{
	(void)state;
	for (unsigned size = 0; size < 256; size++) {
		uint8_t bytes[24] = {(uint8_t)size};
		struct ctx_pe_mmap out;

		memset(bytes + 4, 0xa0, size < 20 ? size : 20);
		out = map_of_object_id(bytes);
		assert_int_equal(strlen(out.build_id), size <= 20 ? 2 * size : 0);
	}
}

/*
 * The kernel says "build id" of a device and an inode, when another recorder of the same program
 * has asked for build ids.
 */
static void test_perfdata_record__device_and_inode_are_never_a_build_id(void **state)
{
	static const struct {
		uint32_t major, minor;
		uint64_t inode, generation;
	} files[] = {
		{254, 0, 1234567, 77}, /* as a size: more than there is */
		{0, 38, 99, 0},
		{8, 1, 1234567, 0x12345678}, /* a size that could be, and something behind it */
		{259, 3, 4321, 5},
		{20, 1, 2, 3}, /* the whole place: the zeros in front decide nothing here */
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(files); i++) {
		bool fills_it = files[i].major == 20; /* no way to tell */
		struct ctx_pe_mmap out = map_of_object_id(&files[i]);

		assert_int_equal(out.build_id[0] != '\0', fills_it);
	}
}

static void test_perfdata_record__zeros_are_not_a_build_id(void **state)
{
	static const uint8_t zeros[20], last[20] = {[19] = 1};
	char text[CTX_BUILDID_TEXT];

	(void)state;
	ctx_pe_build_id_text(zeros, 20, text);
	assert_string_equal(text, "");
	ctx_pe_build_id_text(last, 20, text);
	assert_string_equal(text, "0000000000000000000000000000000000000001");
	ctx_pe_build_id_text(last, 19, text);
	assert_string_equal(text, "");
}

/* ---- events ---- */

static bool flag_of(const struct ctx_pd_event *event, uint64_t flag)
{
	return flag == PD_FLAG_FREQ			  ? event->freq
	       : flag == PD_FLAG_SAMPLE_ID_ALL		  ? event->sample_id_all
	       : flag == PD_FLAG_EXCLUDE_CALLCHAIN_KERNEL ? event->exclude_callchain_kernel
	       : flag == PD_FLAG_EXCLUDE_CALLCHAIN_USER	  ? event->exclude_callchain_user
							  : event->use_clockid;
}

static void test_perfdata_record__each_flag_of_an_attr_is_found_in_either_byte_order(void **state)
{
	static const uint64_t flags[] = {PD_FLAG_FREQ, PD_FLAG_SAMPLE_ID_ALL,
					 PD_FLAG_EXCLUDE_CALLCHAIN_KERNEL, PD_FLAG_EXCLUDE_CALLCHAIN_USER,
					 PD_FLAG_USE_CLOCKID};

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		for (unsigned bit = 0; bit < 64; bit++) {
			struct pd_recording recording = {.swap = swap != 0};
			struct ctx_pd_events events;

			pd_add_attr(&recording, 0, 1)->flags = UINT64_C(1) << bit;
			recording.attrs[0].clockid = 7;
			recording.attrs[0].max_stack = 500;
			make_events(&recording, &events);
			for (size_t i = 0; i < CTX_COUNT_OF(flags); i++)
				assert_int_equal(flag_of(&events.items[0], flags[i]),
						 flags[i] == UINT64_C(1) << bit);
			assert_int_equal(events.items[0].clockid, 7);
			assert_int_equal(events.items[0].max_stack, 500);
			ctx_pd_events_deinit(&events);
			pd_recording_deinit(&recording);
		}
	}
}

/* The bit field as this machine's compiler lays it out. */
static void test_perfdata_record__flags_are_where_the_compiler_puts_them(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_HARDWARE,
				       .config = 3,
				       .sample_freq = 99,
				       .freq = 1,
				       .use_clockid = 1,
				       .clockid = 4,
				       .sample_max_stack = 20,
				       .exclude_callchain_user = 1,
				       .branch_sample_type = 6,
				       .sample_regs_user = 7};
	struct ctx_pd_events events = {0};
	const struct ctx_pd_event *event;

	(void)state;
	assert_int_equal(ctx_pd_events_add(&events, &attr, sizeof(attr), false, NULL), CTX_OK);
	assert_int_equal(ctx_pd_events_settle(&events, NULL), CTX_OK);
	event = &events.items[0];
	assert_string_equal(event->name, "cache-misses");
	assert_true(event->freq && event->use_clockid && event->exclude_callchain_user);
	assert_false(event->sample_id_all || event->exclude_callchain_kernel);
	assert_int_equal(event->clockid, 4);
	assert_int_equal(event->max_stack, 20);
	assert_int_equal(event->layout.branch_sample_type, 6);
	assert_int_equal(event->layout.regs_user, 7);
	assert_int_equal(event->sample_period, 99);
	ctx_pd_events_deinit(&events);
}

static void test_perfdata_record__an_attr_is_read_within_its_size_only(void **state)
{
	(void)state;
	for (size_t n = 0; n < 200; n++) {
		struct pd_attr attr = {.type = 1, .max_stack = 9, .size = (uint32_t)n};
		struct ctx_buf bytes = {0};
		struct ctx_pd_events events = {0};
		uint8_t *copy = malloc(n + 1);
		enum ctx_status status;

		assert_non_null(copy);
		pd_put_attr(&bytes, false, &attr, 256);
		memcpy(copy, bytes.bytes, n);
		status = ctx_pd_events_add(&events, copy, n, false, NULL);
		assert_int_equal(status, n < 64 ? CTX_E_FORMAT : CTX_OK);
		if (n >= 64) /* it is at 108 */
			assert_int_equal(events.items[0].max_stack, n > 108 ? 9 : 0);
		free(copy);
		ctx_buf_deinit(&bytes);
		ctx_pd_events_deinit(&events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_record__every_set_of_fields_round_trips),
		cmocka_unit_test(test_perfdata_record__the_id_selects_one_of_two_events),
		cmocka_unit_test(test_perfdata_record__without_identifier_the_place_of_the_id_must_be_common),
		cmocka_unit_test(
			test_perfdata_record__an_id_of_zero_is_the_first_event_and_others_are_unknown),
		cmocka_unit_test(test_perfdata_record__counts_that_are_too_large_are_refused),
		cmocka_unit_test(test_perfdata_record__a_sample_longer_than_its_fields_is_reported),
		cmocka_unit_test(test_perfdata_record__the_trailer_has_the_time_whatever_else_is_in_it),
		cmocka_unit_test(
			test_perfdata_record__the_id_selects_the_position_of_the_time_in_the_trailer),
		cmocka_unit_test(test_perfdata_record__own_kinds_of_perf_and_short_records_have_no_time),
		cmocka_unit_test(test_perfdata_record__maps_come_out_as_they_went_in),
		cmocka_unit_test(test_perfdata_record__a_map_past_the_end_of_the_address_space_is_refused),
		cmocka_unit_test(test_perfdata_record__a_build_id_of_any_size_stays_in_its_place),
		cmocka_unit_test(test_perfdata_record__device_and_inode_are_never_a_build_id),
		cmocka_unit_test(test_perfdata_record__zeros_are_not_a_build_id),
		cmocka_unit_test(test_perfdata_record__each_flag_of_an_attr_is_found_in_either_byte_order),
		cmocka_unit_test(test_perfdata_record__flags_are_where_the_compiler_puts_them),
		cmocka_unit_test(test_perfdata_record__an_attr_is_read_within_its_size_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
