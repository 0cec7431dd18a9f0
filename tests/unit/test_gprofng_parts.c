/*
 * The parts of the reader of gprofng's experiments: blocks, stacks, tags, layouts, maps, merged
 * events.
 */
#include "formats/gprofng/gp_archive.h"
#include "formats/gprofng/gp_events.h"
#include "formats/gprofng/gp_frames.h"
#include "formats/gprofng/gp_map.h"
#include "formats/gprofng/gprofng.h"
#include "tests/unit/gprofng_fixture.h"
#include "tests/unit/source_memory.h"

/* Blocks */

static void test_gp_blocks__go_on_behind_closed_empty_and_unwritten_parts(void **state)
{
	struct ctx_gp_blocks blocks;
	struct ctx_gp_record record;
	struct ctx_buf bytes = {0};
	uint64_t at[] = {0, 16384, 16440, 65536};

	(void)state;
	gp_clock(&bytes, false, 1, 10, 0);
	while (bytes.n < 16384)
		ctx_buf_put_u8(&bytes, 0);
	gp_clock(&bytes, false, 1, 20, 0);
	gp_clock(&bytes, false, 1, 30, 0);
	gp_end_block(&bytes, false, CTX_GP_CLOSED);
	gp_clock(&bytes, false, 2, 40, 0);
	gp_u16(&bytes, false, 6); /* ends at an odd place */
	gp_u16(&bytes, false, 8);
	gp_u16(&bytes, false, 0);
	gp_clock(&bytes, false, 3, 50, 0);
	ctx_gp_blocks_set(&blocks, bytes.bytes, bytes.n, 0, false);
	for (size_t i = 0; i < CTX_COUNT_OF(at); i++) {
		assert_int_equal(ctx_gp_blocks_next(&blocks, &record, NULL), CTX_OK);
		assert_int_equal(record.offset, at[i]);
		assert_int_equal(record.n, 56);
	}
	assert_int_equal(ctx_gp_blocks_next(&blocks, &record, NULL), CTX_OK);
	assert_int_equal(record.n, 6);
	assert_int_equal(ctx_gp_blocks_next(&blocks, &record, NULL), CTX_END);
	assert_int_equal(blocks.invalid, 1);
	assert_int_equal(blocks.invalid_at, 65536 + 56 + 6);
	ctx_buf_deinit(&bytes);
}

/* Stacks */

#define STACKS 200u
#define DEPTH 40u

struct stored {
	uint64_t frames[DEPTH];
	size_t n;
};

static struct stored stacks[STACKS];

/* Stack `i`, of which `stored[i]` frames are written: of none only its number. */
static void put_stack(struct ctx_buf *bytes, size_t i, const size_t *stored)
{
	const struct stored *stack = &stacks[i];
	size_t own = stored[i];

	if (own == 0) {
		gp_u16(bytes, false, 32);
		gp_u16(bytes, false, 11);
		gp_u32(bytes, false, 16);
		gp_u64(bytes, false, gp_uid(stack->frames, stack->n, GP_R));
		gp_u32(bytes, false, 16);
		gp_u32(bytes, false, 0x80000001u);
		gp_u64(bytes, false, gp_uid(stack->frames, stack->n, 1));
		return;
	}
	gp_frame(bytes, false, gp_uid(stack->frames, stack->n, GP_R), gp_uid(stack->frames, stack->n, 1),
		 stack->frames, own, own < stack->n ? gp_uid(stack->frames + own, stack->n - own, 1) : 0);
}

/*
 * Stacks that share root sides, stored whole or by a link to any suffix of any other, in any order,
 * some in several ways.
 */
static void test_gp_frames__find_every_stack_however_it_is_stored(void **state)
{
	size_t stored[STACKS];

	(void)state;
	for (unsigned seed = 1; seed <= 40; seed++) {
		struct ctx_gp_frames frames = {0};
		struct ctx_gp_blocks blocks;
		struct ctx_buf bytes = {0};
		unsigned random = seed;

		for (size_t i = 0; i < STACKS; i++) {
			const struct stored *base = i != 0 ? &stacks[(size_t)rand_r(&random) % i] : NULL;
			size_t shared = base != NULL ? (size_t)rand_r(&random) % (base->n + 1) : 0;
			size_t own = (shared == 0) + (size_t)rand_r(&random) % 8;

			if (own + shared > DEPTH)
				shared = DEPTH - own;
			for (size_t k = 0; k < own; k++)
				stacks[i].frames[k] =
					0x1000 + (uint64_t)rand_r(&random) % (seed % 4 != 0 ? 5000 : 30);
			for (size_t k = 0; k < shared; k++)
				stacks[i].frames[own + k] = base->frames[base->n - shared + k];
			stacks[i].n = own + shared;
			if (rand_r(&random) % 3 == 0)
				own += shared; /* whole */
			stored[i] = own;
		}
		for (size_t i = 0; i < STACKS; i++) /* a link may lead forward */
			put_stack(&bytes, seed % 2 != 0 ? i : STACKS - 1 - i, stored);
		ctx_gp_blocks_set(&blocks, bytes.bytes, bytes.n, 0, false);
		assert_int_equal(ctx_gp_frames_read(&frames, &blocks, false, NULL), CTX_OK);
		for (size_t i = 0; i < STACKS; i++) {
			uint64_t out[DEPTH + 8];
			size_t n;

			assert_int_equal(ctx_gp_frames_get(&frames,
							   gp_uid(stacks[i].frames, stacks[i].n, GP_R), out,
							   DEPTH + 8, &n),
					 CTX_GP_STACK_WHOLE);
			assert_int_equal(n, stacks[i].n);
			assert_memory_equal(out, stacks[i].frames, n * sizeof(*out));
		}
		ctx_gp_frames_deinit(&frames);
		ctx_buf_deinit(&bytes);
	}
}

static void test_gp_frames__links_in_a_circle_end(void **state)
{
	static const uint64_t leaf[] = {7, 8};
	struct ctx_gp_frames frames = {0};
	struct ctx_gp_blocks blocks;
	struct ctx_buf bytes = {0};
	uint64_t out[100];
	size_t n;

	(void)state;
	gp_frame(&bytes, false, 50, 51, leaf, 2, 52);
	gp_frame(&bytes, false, 60, 52, leaf, 1, 53);
	gp_frame(&bytes, false, 70, 53, leaf, 0, 52);
	gp_frame(&bytes, false, 80, 54, leaf, 0, 54);
	gp_frame(&bytes, false, 90, 55, leaf, 2, 99);
	ctx_gp_blocks_set(&blocks, bytes.bytes, bytes.n, 0, false);
	assert_int_equal(ctx_gp_frames_read(&frames, &blocks, false, NULL), CTX_OK);
	assert_int_equal(ctx_gp_frames_get(&frames, 50, out, 100, &n), CTX_GP_STACK_CUT);
	assert_true(n >= 2 && n < 6);
	assert_int_equal(ctx_gp_frames_get(&frames, 80, out, 100, &n), CTX_GP_STACK_CUT);
	assert_int_equal(n, 0);
	assert_int_equal(ctx_gp_frames_get(&frames, 90, out, 100, &n), CTX_GP_STACK_CUT);
	assert_int_equal(n, 2);
	assert_int_equal(ctx_gp_frames_get(&frames, 4711, out, 100, &n), CTX_GP_STACK_MISSING);
	ctx_gp_frames_deinit(&frames);
	ctx_buf_deinit(&bytes);
}

/* Tags */

static void test_gp_xml__a_bad_tag_costs_itself(void **state)
{
	static const char text[] = "<a x='1' y=\"&lt;&#65;&bad;\">t&amp;u</a>\n<b <c z=\"2\"/>\n"
				   "<!DOCTYPE d [<!ENTITY e \"f\">]>\n<g h>\n<i j=\"k\">";
	struct ctx_gp_tag tag = {0};
	struct ctx_gp_xml xml;
	char got[200] = "";

	(void)state;
	assert_int_equal(ctx_gp_xml_set(&xml, text, sizeof(text), NULL), CTX_OK);
	for (;;) {
		enum ctx_status status = ctx_gp_xml_next(&xml, &tag, NULL);
		size_t n = strlen(got);

		if (status == CTX_END)
			break;
		snprintf(got + n, sizeof(got) - n, "%zu%s%s", tag.line,
			 tag.closes && status == CTX_OK ? "/" : " ", status == CTX_OK ? tag.name : "bad");
		for (size_t i = 0; i < tag.n_attributes && status == CTX_OK; i++)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), " %s=%s",
				 tag.attributes[i].name, tag.attributes[i].value);
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "|%s|",
			 status == CTX_OK && tag.name[0] == 'a' && !tag.closes ? tag.text : "");
	}
	assert_string_equal(got, "1 a x=1 y=<A&bad;|t&u|1/a||2 bad||2 c z=2||3 bad||3 bad||4 bad||5 i j=k||");
	ctx_gp_xml_deinit(&xml);
}

/* Layouts and events */

static const char trace_log[] =
	"<experiment version=\"12.4\">\n<event kind=\"run\" tstamp=\"5000.0\" time=\"1\"/>\n"
	"<profile name=\"heaptrace\"><profdata fname=\"heap\"/><profpckt kind=\"5\">"
	"<field name=\"LWPID\" offset=\"8\" type=\"INT32\"/><field name=\"TSTAMP\" offset=\"12\" "
	"type=\"INT64\"/>"
	"<field name=\"HTYPE\" offset=\"20\" type=\"INT32\"/><field name=\"HSIZE\" offset=\"24\" "
	"type=\"UINT32\"/>"
	"<field name=\"HVADDR\" offset=\"28\" type=\"UINT64\"/><field name=\"NEW\" offset=\"36\" "
	"type=\"INT32\"/>"
	"</profpckt></profile>\n"
	"<profile name=\"iotrace\"><profdata fname=\"io\"/><profpckt kind=\"19\">"
	"<field name=\"TSTAMP\" offset=\"8\" type=\"INT64\"/><field name=\"IOFD\" offset=\"16\" "
	"type=\"INT32\"/>"
	"<field name=\"IORQST\" offset=\"24\" type=\"INT64\"/><field name=\"IOFNAME\" offset=\"32\" "
	"type=\"STRING\"/>"
	"</profpckt></profile>\n"
	"<profile name=\"synctrace\"><profdata fname=\"../../etc/passwd\"/><profpckt "
	"kind=\"2\"></profpckt></profile>\n";

static void test_gp_events__fields_are_at_the_offsets_of_the_log(void **state)
{
	uint8_t bytes[48] = {0};
	struct ctx_gp_record record = {.bytes = bytes, .n = 36, .type = CTX_GP_HEAP};
	struct ctx_gp_event event;
	struct ctx_gp_xml xml;
	struct ctx_gp_log log;

	(void)state;
	assert_int_equal(ctx_gp_xml_set(&xml, trace_log, sizeof(trace_log) - 1, NULL), CTX_OK);
	assert_int_equal(ctx_gp_log_parse(&log, &xml, NULL), CTX_OK);
	assert_int_equal(log.n_files, 2);
	assert_int_equal(log.n_layouts, 2);
	memset(bytes + 8, 0xff, 4);
	bytes[12] = 77;
	bytes[20] = CTX_GP_HEAP_REALLOC;
	bytes[27] = 0x80;
	bytes[28] = 9;
	assert_true(ctx_gp_event_decode(ctx_gp_log_layout(&log, 0, record.type), &record,
					log.machine.big_endian, &event));
	assert_int_equal(event.time_ns, 77);
	assert_int_equal(event.lwp, -1);
	assert_int_equal(event.cpu, -1); /* the log has no field for it */
	assert_int_equal(event.heap.kind, CTX_GP_HEAP_REALLOC);
	assert_int_equal(event.heap.size, 0x80000000u);
	assert_int_equal(event.heap.address, 9);
	record.n = 35;
	assert_false(ctx_gp_event_decode(ctx_gp_log_layout(&log, 0, record.type), &record,
					 log.machine.big_endian, &event));
	record.type = CTX_GP_IO;
	record.n = 36;
	memcpy(bytes + 32, "name", 4);
	assert_true(ctx_gp_event_decode(ctx_gp_log_layout(&log, 1, record.type), &record,
					log.machine.big_endian, &event));
	assert_int_equal(event.io.file_bytes, 4);
	assert_memory_equal(event.io.file, "name", 4);
	record.type = CTX_GP_SYNC;
	assert_false(ctx_gp_event_decode(ctx_gp_log_layout(&log, 1, record.type), &record,
					 log.machine.big_endian, &event));
	ctx_gp_log_deinit(&log);
	ctx_gp_xml_deinit(&xml);
}

/*
 * Blocks of several flows, in any order and hardly sorted inside: what comes out is sorted, and all
 * of it.
 */
static void test_gp_events__come_in_order_of_time_from_any_blocks(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_gp_events.%d", (int)getpid());
	for (unsigned seed = 1; seed <= 5; seed++) {
		struct ctx_buf text = {0}, bytes = {0};
		struct ctx_gp_events_found found;
		struct ctx_gp_events *events;
		struct ctx_gp_event event;
		struct ctx_gp_xml xml;
		struct ctx_gp_log log;
		unsigned random = seed;
		int64_t last = 0;
		size_t n = 0, sum = 0, got = 0;

		gp_log_head(&text, "x86_64", 1, 0, "x", 0);
		assert_int_equal(ctx_gp_xml_set(&xml, text.bytes, text.n, NULL), CTX_OK);
		assert_int_equal(ctx_gp_log_parse(&log, &xml, NULL), CTX_OK);
		for (int block = 0; block < 12; block++) {
			for (int i = rand_r(&random) % 1000; i >= 0; i--, n++) {
				int64_t time = GP_RUN_NS + (block % 4) * 1000000 + rand_r(&random) % 3000000;

				gp_clock(&bytes, false, (uint32_t)block, time, n);
				sum += n;
			}
			gp_end_block(&bytes, false, block % 2 != 0 ? CTX_GP_CLOSED : CTX_GP_EMPTY);
		}
		gp_write_buf("/tmp", ctx_path_base(path), &bytes);
		assert_int_equal(ctx_gp_events_create(&events, NULL), CTX_OK);
		assert_int_equal(ctx_gp_events_add(
					 events, &(struct ctx_gp_data_file){path, &log, 0, 3, 100, INT64_MAX},
					 &found, NULL),
				 CTX_OK);
		assert_int_equal(found.n, n);
		while (ctx_gp_events_next(events, &event, NULL) == CTX_OK) {
			assert_true(event.time_ns >= last);
			assert_int_equal(event.owner, 3);
			last = event.time_ns;
			sum -= event.stack;
			got++;
		}
		assert_int_equal(got, n);
		assert_int_equal(sum, 0);
		ctx_gp_events_destroy(events);
		ctx_gp_log_deinit(&log);
		ctx_gp_xml_deinit(&xml);
		ctx_buf_deinit(&text);
	}
	unlink(path);
}

/* Maps, archives */

static void test_gp_map__a_map_counts_from_when_its_addresses_were_free(void **state)
{
	static const char text[] = "<event kind=\"map\" object=\"segment\" tstamp=\"1.0\" vaddr=\"0x1000\" "
				   "size=\"4096\" foffset=\"+0x0\" "
				   "modes=\"0x005\" name=\"a\"/>"
				   "<event kind=\"map\" object=\"segment\" tstamp=\"2.0\" vaddr=\"0x1800\" "
				   "size=\"4096\" foffset=\"+0x0\" "
				   "modes=\"0x005\" name=\"over a\"/>"
				   "<event kind=\"map\" object=\"segment\" tstamp=\"3.0\" vaddr=\"0x8000\" "
				   "size=\"4096\" foffset=\"+0x0\" "
				   "modes=\"0x005\" name=\"elsewhere\"/>"
				   "<event kind=\"map\" object=\"jcm\" tstamp=\"4.0\" vaddr=\"0x9000\" "
				   "size=\"16\" methodId=\"0x77\"/>"
				   "<event kind=\"unmap\" tstamp=\"5.0\" methodId=\"0x77\"/>"
				   "<event kind=\"map\" object=\"segment\" tstamp=\"6.0\" "
				   "vaddr=\"0xffffffffffffffff\" size=\"2\" "
				   "foffset=\"+0x0\" modes=\"0x005\" name=\"wraps\"/>";
	struct ctx_gp_map map = {0};
	struct ctx_gp_xml xml;

	(void)state;
	assert_int_equal(ctx_gp_xml_set(&xml, text, sizeof(text) - 1, NULL), CTX_OK);
	assert_int_equal(ctx_gp_map_parse(&map, &xml, NULL), CTX_OK);
	assert_int_equal(map.n, 5);
	assert_int_equal(map.damaged, 1);
	assert_string_equal(ctx_strtab_get(&map.names, map.entries[0].path), "a");
	assert_int_equal(map.entries[0].time_ns, 0);
	assert_string_equal(ctx_strtab_get(&map.names, map.entries[1].path), "elsewhere");
	assert_int_equal(map.entries[1].time_ns, 0);
	assert_int_equal(map.entries[2].method, 0x77);
	assert_int_equal(map.entries[2].time_ns, 0);
	assert_int_equal(map.entries[2].reported_ns, 4000000000);
	assert_int_equal(map.entries[3].time_ns, 2000000000); /* over a */
	assert_true(map.entries[4].is_unmap);
	assert_int_equal(map.entries[4].address, 0x9000);
	assert_int_equal(map.entries[4].size, 16);
	ctx_gp_map_deinit(&map);
	ctx_gp_xml_deinit(&xml);
}

static void test_gp_archive__names_are_gprofngs(void **state)
{
	char name[CTX_GP_ARCHIVE_NAME], longer[400];

	(void)state;
	ctx_gp_archive_name("/usr/lib/x86_64-linux-gnu/libc.so.6", name);
	assert_string_equal(name, "libc.so.6_dnWuQRcLhw9");
	ctx_gp_archive_name("/usr/lib/x86_64-linux-gnu/gprofng/libgp-collector.so", name);
	assert_string_equal(name, "libgp-collector.so_1doggXvug9f");
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ctx_gp_archive_name(longer, name);
	assert_int_equal(strlen(name), 243 + 12);
}

/* Memory */

static void test_gprofng__fails_cleanly_when_memory_is_short(void **state)
{
	char where[64];
	struct ctx_buf log = {0}, profile = {0}, frames = {0};
	static const uint64_t stack[] = {0x10, 0x20};

	(void)state;
	snprintf(where, sizeof(where), "/tmp/test_gp_memory.%d.er", (int)getpid());
	assert_int_equal(mkdir(where, 0700), 0);
	gp_log_head(&log, "x86_64", 1, 0, "x", 0);
	gp_write_buf(where, "log.xml", &log);
	gp_write(where, "map.xml", "", 0);
	gp_write(where, "overview", "", 0);
	gp_clock(&profile, false, 1, GP_RUN_NS + 5, gp_uid(stack, 2, GP_R));
	gp_end_block(&profile, false, 0);
	gp_write_buf(where, "profile", &profile);
	gp_frame(&frames, false, gp_uid(stack, 2, GP_R), gp_uid(stack, 2, 1), stack, 2, 0);
	gp_write_buf(where, "data.frameinfo", &frames);
	assert_in_range(fail_each_allocation(ctx_gprofng_open, where), 20, 1999);
	assert_int_equal(ctx_dir_remove(where, NULL), CTX_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gp_blocks__go_on_behind_closed_empty_and_unwritten_parts),
		cmocka_unit_test(test_gp_frames__find_every_stack_however_it_is_stored),
		cmocka_unit_test(test_gp_frames__links_in_a_circle_end),
		cmocka_unit_test(test_gp_xml__a_bad_tag_costs_itself),
		cmocka_unit_test(test_gp_events__fields_are_at_the_offsets_of_the_log),
		cmocka_unit_test(test_gp_events__come_in_order_of_time_from_any_blocks),
		cmocka_unit_test(test_gp_map__a_map_counts_from_when_its_addresses_were_free),
		cmocka_unit_test(test_gp_archive__names_are_gprofngs),
		cmocka_unit_test(test_gprofng__fails_cleanly_when_memory_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
