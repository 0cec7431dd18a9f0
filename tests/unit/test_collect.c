/*
 * The recorder's parts on synthetic bytes: names of events, records, the merge of rings, call
 * chains, the process table with the real writer, /proc texts, options.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "collect/callchain.h"
#include "collect/child.h"
#include "collect/cpus.h"
#include "collect/machine_topology.h"
#include "collect/mapped_files.h"
#include "collect/merge.h"
#include "collect/perfevent.h"
#include "collect/perfrecord.h"
#include "collect/procfs.h"
#include "collect/proctree.h"
#include "collect/recargs.h"
#include "collect/recmeta.h"
#include "collect/session.h"
#include "elf/elf_buildid.h"
#include "formats/experiment/exp_reader.h"
#include "model/event_source.h"
#include "model/traced.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
/* cmocka wants the four above before it. */
#include <cmocka.h>

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_collect.XXXXXX");
	return mkdtemp(dir) == NULL;
}

static int remove_dir(void **state)
{
	(void)state;
	return ctx_dir_remove(dir, NULL) != CTX_OK;
}

static void put_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *at = path + strlen(dir) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		(void)mkdir(path, 0755);
		*at = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* --- names of events --- */

static struct ctx_perf_roots own_roots(void)
{
	put_file("cpu/type", "4\n");
	put_file("cpu/format/event", "config:0-7,32-35\n");
	put_file("cpu/format/umask", "config:8-15\n");
	put_file("cpu/format/edge", "config:18\n");
	put_file("cpu/format/ldlat", "config1:0-15\n");
	put_file("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	put_file("events/sched/sched_switch/id", "316\n");
	return (struct ctx_perf_roots){.event_sources = dir, .tracefs = dir};
}

static void check_event(const char *name, uint32_t type, uint64_t config, uint64_t config1, bool no_kernel,
			bool no_user)
{
	struct ctx_perf_roots roots = own_roots();
	struct ctx_perf_events events = {0};
	struct ctx_err err = {0};

	if (ctx_perf_events_parse(&events, name, &roots, &err) != CTX_OK)
		fail_msg("%s: %s", name, err.msg);
	assert_int_equal(events.n, 1);
	assert_string_equal(events.items[0].name, name);
	assert_int_equal(events.items[0].attr.type, type);
	assert_int_equal(events.items[0].attr.config, config);
	assert_int_equal(events.items[0].attr.config1, config1);
	assert_int_equal(events.items[0].attr.exclude_kernel, no_kernel);
	assert_int_equal(events.items[0].attr.exclude_user, no_user);
	ctx_perf_events_deinit(&events);
}

static void test_perfevent__knows_every_way_to_name_an_event(void **state)
{
	(void)state;
	check_event("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, false, false);
	check_event("mem:0x4040", PERF_TYPE_BREAKPOINT, 0, 0x4040, false, false);
	check_event("mem:0x4040/8:w:u", PERF_TYPE_BREAKPOINT, 0, 0x4040, true, false);
	check_event("mem:16448/1:u", PERF_TYPE_BREAKPOINT, 0, 0x4040, true, false);
	check_event("cycles:u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, true, false);
	check_event("page-faults:k", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, false, true);
	check_event("instructions:uk", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, false, false);
	check_event("L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000, 0, false, false);
	check_event("dTLB-stores", PERF_TYPE_HW_CACHE, 0x103, 0, false, false);
	check_event("r1a8", PERF_TYPE_RAW, 0x1a8, 0, false, false);
	check_event("cpu/event=0x1a8,umask=0x2,edge/k", 4, UINT64_C(0x1000402a8), 0, false, true);
	check_event("cpu/mem-loads/", 4, 0x1cd, 3, false, false);
	check_event("cpu/config=0x77/:u", 4, 0x77, 0, true, false);
	check_event("sched:sched_switch", PERF_TYPE_TRACEPOINT, 316, 0, false, false);
	check_event("sched:sched_switch:u", PERF_TYPE_TRACEPOINT, 316, 0, true, false);
}

static void test_perfevent__refuses_unknown_events_by_name(void **state)
{
	static const char *const bad[] = {"",
					  "cyclops",
					  "cycles:x",
					  "cycles:pppp",
					  "rxyz",
					  "r",
					  "cpu/event=1",
					  "cpu/nosuch=1/",
					  "cpu/event=zz/",
					  "cpu/umask=0x100/",
					  "nounit/event=1/",
					  "../x/event=1/",
					  "sched:nosuch",
					  "../..:x",
					  "cycles,",
					  "L1-dcache-load",
					  "/config=1/",
					  "cycles/event=1/",
					  "cycles/period=0/",
					  "cycles/period=x/",
					  "cycles/period=1,freq=1/",
					  "cycles/period=1",
					  "sched:sched_switch/what=1/",
					  "mem:",
					  "mem:counter",
					  "mem:0x10/3",
					  "mem:0x10/8:wx",
					  "mem:0x10:ww",
					  "mem:0x10:w:z"};
	struct ctx_perf_roots roots = own_roots();

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(bad); i++) {
		struct ctx_perf_events events = {0};
		struct ctx_err err = {0};

		if (ctx_perf_events_parse(&events, bad[i], &roots, &err) == CTX_OK)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_true(err.msg[0] != '\0');
		ctx_perf_events_deinit(&events);
	}
}

static void test_perfevent__some_events_have_addresses_of_data(void **state)
{
	static const struct {
		const char *name;
		bool has;
		unsigned operation;
	} cases[] = {
		{"page-faults", true, CTX_MEMORY_FAULT},
		{"major-faults:u", true, CTX_MEMORY_FAULT},
		{"cpu-clock", false, 0},
		{"sched:sched_switch", false, 0},
		{"mem:0x10/8:w", true, CTX_MEMORY_STORE},
		{"mem:0x10/8", true, CTX_MEMORY_UNKNOWN},
		{"mem:0x10:x", false, 0},
		{"cycles", false, 0},
		{"cycles:pp", true, CTX_MEMORY_UNKNOWN},
		{"cpu/mem-loads/p", true, CTX_MEMORY_UNKNOWN},
	};
	struct ctx_perf_roots roots = own_roots();

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_perf_events events = {0};

		assert_int_equal(ctx_perf_events_parse(&events, cases[i].name, &roots, NULL), CTX_OK);
		if (ctx_perf_event_can_have_address(&events.items[0]) != cases[i].has)
			fail_msg("%s", cases[i].name);
		if (cases[i].has)
			assert_int_equal(ctx_perf_event_operation(&events.items[0], 0), cases[i].operation);
		ctx_perf_events_deinit(&events);
	}
}

static void test_perfevent__separates_a_list_outside_of_slashes(void **state)
{
	struct ctx_perf_roots roots = own_roots();
	struct ctx_perf_events events = {0};

	(void)state;
	assert_int_equal(ctx_perf_events_parse(&events, "cycles,cpu/event=1,umask=2/,mem:0x10/8:w,faults:u",
					       &roots, NULL),
			 CTX_OK);
	assert_int_equal(events.n, 4);
	assert_string_equal(events.items[1].name, "cpu/event=1,umask=2/");
	assert_int_equal(events.items[1].attr.config, 0x201);
	assert_string_equal(events.items[2].name, "mem:0x10/8:w");
	assert_true(events.items[3].attr.exclude_kernel);
	ctx_perf_events_deinit(&events);
}

static void set_rate(struct ctx_perf_event *event, uint64_t period, uint64_t frequency_hz)
{
	const struct ctx_perf_rate asked = {period, frequency_hz, 999};

	assert_int_equal(ctx_perf_event_set_rate(event, &asked, NULL), CTX_OK);
}

static void test_perfevent__clocks_tick_at_fixed_intervals_and_hits_are_all_taken(void **state)
{
	struct ctx_perf_roots roots = own_roots();
	struct ctx_perf_events events = {0};

	(void)state;
	assert_int_equal(
		ctx_perf_events_parse(&events,
				      "cpu-clock,cycles,sched:sched_switch,cpu/event=1,period=77/,cpu-clock",
				      &roots, NULL),
		CTX_OK);
	set_rate(&events.items[0], 0, 0);
	assert_int_equal(events.items[0].period, 1001001);
	assert_false(events.items[0].has_period);
	set_rate(&events.items[1], 0, 0);
	assert_true(events.items[1].has_period && events.items[1].attr.freq);
	assert_int_equal(events.items[1].attr.sample_freq, 999);
	set_rate(&events.items[2], 0, 0);
	assert_int_equal(events.items[2].period, 1);
	assert_false(events.items[2].has_period);
	set_rate(&events.items[3], 5, 0);
	assert_int_equal(events.items[3].attr.sample_period, 77);
	set_rate(&events.items[4], 0, 100000);
	assert_int_equal(events.items[4].period, 10000);
	ctx_perf_events_deinit(&events);
}

static void test_perfevent__each_event_has_its_own_rate_between_slashes(void **state)
{
	struct ctx_perf_roots roots = own_roots();
	struct ctx_perf_events events = {0};

	(void)state;
	assert_int_equal(
		ctx_perf_events_parse(&events,
				      "page-faults/period=1/,cpu-clock/freq=99/u,r1a8/period=0x1000/,"
				      "L1-dcache-load-misses/period=100000/k,"
				      "sched:sched_switch/period=10/,faults//,cpu-clock",
				      &roots, NULL),
		CTX_OK);
	assert_int_equal(events.n, 7);
	for (size_t i = 0; i < events.n; i++)
		set_rate(&events.items[i], 0, 500);
	assert_int_equal(events.items[0].attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(events.items[0].attr.config, PERF_COUNT_SW_PAGE_FAULTS);
	assert_string_equal(events.items[0].name, "page-faults/period=1/");
	assert_int_equal(events.items[0].attr.sample_period, 1);
	assert_false(events.items[0].attr.freq);
	assert_int_equal(events.items[1].period, 10101010);
	assert_true(events.items[1].is_clock && events.items[1].attr.exclude_kernel);
	assert_int_equal(events.items[2].attr.config, 0x1a8);
	assert_int_equal(events.items[2].attr.sample_period, 0x1000);
	assert_int_equal(events.items[3].attr.type, PERF_TYPE_HW_CACHE);
	assert_true(events.items[3].attr.exclude_user);
	assert_int_equal(events.items[4].attr.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(events.items[4].attr.sample_period, 10);
	assert_true(events.items[5].attr.freq);
	assert_int_equal(events.items[5].attr.sample_freq, 500);
	assert_int_equal(events.items[6].period, 2000000);
	ctx_perf_events_deinit(&events);
}

static void test_perfevent__absurd_rates_are_refused_with_a_hint(void **state)
{
	static const struct {
		const char *event;
		uint64_t period, hertz;
		const char *hint; /* NULL: taken */
	} cases[] = {
		{"cpu-clock", 1, 0, "page-faults/period=1/"},
		{"cpu-clock", 9999, 0, "10000 ns"},
		{"cpu-clock", 10000, 0, NULL},
		{"cpu-clock", 0, 1000000, "-F 4999"},
		{"task-clock/period=1/", 0, 0, "-F 4999"},
		{"cpu-clock/freq=2000000/", 0, 0, "-F 4999"},
		{"cycles", 1, 0, "-c 1000000"},
		{"instructions/period=999/u", 0, 0, "-c 1000000"},
		{"instructions/period=1000/", 0, 0, NULL},
		{"cycles", 0, 100001, "-F 4999"},
		{"cycles", 0, 100000, NULL},
		{"page-faults", 1, 0, NULL},
		{"cache-misses", 1, 0, NULL},
		{"sched:sched_switch", 0, 0, NULL},
		{"faults/freq=100001/", 0, 0, "100000"},
	};
	struct ctx_perf_roots roots = own_roots();

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_perf_events events = {0};
		const struct ctx_perf_rate asked = {cases[i].period, cases[i].hertz, 999};
		struct ctx_err err = {0};

		assert_int_equal(ctx_perf_events_parse(&events, cases[i].event, &roots, NULL), CTX_OK);
		assert_int_equal(ctx_perf_event_set_rate(&events.items[0], &asked, &err),
				 cases[i].hint != NULL ? CTX_E_ARG : CTX_OK);
		if (cases[i].hint != NULL && strstr(err.msg, cases[i].hint) == NULL)
			fail_msg("%s: %s", cases[i].event, err.msg);
		ctx_perf_events_deinit(&events);
	}
}

/* --- records --- */

struct bytes { /* one record under construction */
	uint64_t words[512];
	size_t n; /* bytes */
};

static void put(struct bytes *bytes, const void *value, size_t n)
{
	memcpy((char *)bytes->words + bytes->n, value, n);
	bytes->n += n;
}

static void put32(struct bytes *bytes, uint32_t value)
{
	put(bytes, &value, sizeof(value));
}

static void put64(struct bytes *bytes, uint64_t value)
{
	put(bytes, &value, sizeof(value));
}

static void put_text(struct bytes *bytes, const char *text)
{
	put(bytes, text, strlen(text) + 1);
	while (bytes->n % 8 != 0)
		put(bytes, "", 1);
}

static void begin(struct bytes *bytes, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	bytes->n = 0;
	put(bytes, &header, sizeof(header));
}

static void end(struct bytes *bytes, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint16_t size;
	struct perf_event_header header;

	memcpy(&header, bytes->words, sizeof(header));
	if (header.type != PERF_RECORD_SAMPLE) {
		put32(bytes, pid);
		put32(bytes, tid);
		put64(bytes, time_ns);
		put32(bytes, 1);
		put32(bytes, 0);
		put64(bytes, 1000);
	}
	size = (uint16_t)bytes->n;
	memcpy((char *)bytes->words + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

static void make_sample(struct bytes *bytes, uint64_t id, uint64_t time_ns, const uint64_t *chain, uint64_t n)
{
	begin(bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(bytes, id);
	put64(bytes, 0x401000);
	put32(bytes, 7);
	put32(bytes, 8);
	put64(bytes, time_ns);
	put32(bytes, 3);
	put32(bytes, 0);
	if (id == 2000)
		put64(bytes, 4242);
	put64(bytes, n);
	put(bytes, chain, n * sizeof(*chain));
	end(bytes, 0, 0, 0);
}

static void make_task(struct bytes *bytes, uint32_t type, const uint32_t ids[4], uint64_t time_ns)
{
	begin(bytes, type, 0);
	for (int i = 0; i < 4; i++)
		put32(bytes, ids[i]);
	put64(bytes, time_ns);
	end(bytes, ids[0], ids[2], time_ns);
}

static void make_comm(struct bytes *bytes, uint32_t pid, uint32_t tid, const char *name, bool exec,
		      uint64_t time_ns)
{
	begin(bytes, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	put32(bytes, pid);
	put32(bytes, tid);
	put_text(bytes, name);
	end(bytes, pid, tid, time_ns);
}

static void make_mmap(struct bytes *bytes, uint32_t pid, const char *path, uint64_t time_ns)
{
	begin(bytes, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	put32(bytes, pid);
	put32(bytes, pid);
	put64(bytes, 0x400000);
	put64(bytes, 0x2000);
	put64(bytes, 0x1000);
	put32(bytes, 20);
	put(bytes, "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67", 20);
	put32(bytes, 5);
	put32(bytes, 2);
	put_text(bytes, path);
	end(bytes, pid, pid, time_ns);
}

static struct ctx_perf_layout layout_of(struct ctx_map64 *ids)
{
	static struct ctx_pe_layout layouts[2];

	for (unsigned i = 0; i < 2; i++) {
		struct perf_event_attr attr = {.sample_type = CTX_PERF_SAMPLE_TYPE |
							      (i != 0 ? PERF_SAMPLE_PERIOD : 0)};

		layouts[i] = ctx_pe_layout_make(&attr, false);
	}
	*ctx_map64_place(ids, 1000) = 0;
	*ctx_map64_place(ids, 2000) = 1;
	return (struct ctx_perf_layout){.event_of_id = ids, .events = layouts, .n_events = 2};
}

static void test_perfrecord__parses_samples_with_and_without_period(void **state)
{
	static const uint64_t chain[] = {1, 2, 3};
	struct ctx_map64 ids = {0};
	struct ctx_perf_layout layout = layout_of(&ids);
	struct ctx_perf_record record;
	struct bytes bytes;

	(void)state;
	for (uint64_t id = 1000; id <= 3000; id += 1000) {
		make_sample(&bytes, id, 123456, chain, 3);
		assert_int_equal(ctx_perf_record_parse(bytes.words, bytes.n, &layout, &record, NULL), CTX_OK);
		assert_int_equal(record.event, id == 3000 ? UINT32_MAX : id / 1000 - 1);
		assert_int_equal(record.sample.period, id == 2000 ? 4242 : 0);
		assert_int_equal(record.sample.n_chain, 3);
		assert_int_equal(ctx_pe_word(record.sample.chain + 16, false), 3);
		assert_int_equal(record.time_ns, 123456);
		assert_int_equal(ctx_perf_record_time((void *)bytes.words), 123456);
		assert_int_equal(record.pid, 7);
		assert_int_equal(record.tid, 8);
		assert_int_equal(record.cpu, 3);
	}
	ctx_map64_deinit(&ids);
}

static void test_perfrecord__parses_side_band_records(void **state)
{
	struct ctx_map64 ids = {0};
	struct ctx_perf_layout layout = layout_of(&ids);
	struct ctx_perf_record record;
	struct bytes bytes;

	(void)state;
	make_mmap(&bytes, 9, "/usr/lib/libx.so", 77);
	assert_int_equal(ctx_perf_record_parse(bytes.words, bytes.n, &layout, &record, NULL), CTX_OK);
	assert_int_equal(record.mmap.address, 0x400000);
	assert_int_equal(record.mmap.file_offset, 0x1000);
	assert_string_equal(record.mmap.path, "/usr/lib/libx.so");
	assert_string_equal(record.mmap.build_id, "0123456789abcdef0123456789abcdef01234567");
	assert_int_equal(ctx_perf_record_time((void *)bytes.words), 77);
	begin(&bytes, PERF_RECORD_LOST, 0);
	put64(&bytes, 1000);
	put64(&bytes, 55);
	end(&bytes, 1, 1, 5);
	assert_int_equal(ctx_perf_record_parse(bytes.words, bytes.n, &layout, &record, NULL), CTX_OK);
	assert_int_equal(record.lost, 55);
	ctx_map64_deinit(&ids);
}

/*
 * Arbitrary bytes: invalid sizes and counts, truncated records. The sanitizers detect overruns.
 */
static void test_perfrecord__survives_records_that_lie(void **state)
{
	static const uint64_t chain[] = {1, 2, 3};
	struct ctx_map64 ids = {0};
	struct ctx_perf_layout layout = layout_of(&ids);
	struct ctx_perf_record record;
	struct bytes bytes;
	unsigned refused = 0;

	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		uint8_t *exact;

		if (round % 3 == 0)
			make_sample(&bytes, 2000, 1, chain, 3);
		else if (round % 3 == 1)
			make_mmap(&bytes, 9, "/usr/lib/libx.so", 77);
		else
			make_comm(&bytes, 1, 1, "name", true, 5);
		for (int change = rand() % 4; change > 0; change--)
			((uint8_t *)bytes.words)[8 + (size_t)rand() % (bytes.n - 8)] = (uint8_t)rand();
		bytes.n = 8 + (size_t)rand() % (bytes.n - 8 + 1);
		memcpy((char *)bytes.words + offsetof(struct perf_event_header, size),
		       &(uint16_t){(uint16_t)bytes.n}, 2);
		exact = malloc(bytes.n);
		memcpy(exact, bytes.words, bytes.n);
		if (ctx_perf_record_parse(exact, bytes.n, &layout, &record, NULL) != CTX_OK)
			refused++;
		else if (record.type == PERF_RECORD_SAMPLE && record.sample.n_chain > 0)
			assert_true(record.sample.chain + 8 * record.sample.n_chain <= exact + bytes.n);
		free(exact);
	}
	assert_true(refused > 1000);
	make_sample(&bytes, 1000, 1, chain, 3);
	bytes.words[6] = UINT64_MAX / 8 + 2; /* the number of frames: times eight it wraps to 8 */
	assert_int_equal(ctx_perf_record_parse(bytes.words, bytes.n, &layout, &record, NULL), CTX_E_FORMAT);
	ctx_map64_deinit(&ids);
}

/* --- merge --- */

#define RING_BYTES 4096u

struct fake_ring {
	struct perf_event_mmap_page page;
	uint8_t data[RING_BYTES];
};

/* `extra` bytes before the trailer. */
static bool fake_write_bytes(struct fake_ring *ring, uint64_t time_ns, size_t extra)
{
	uint8_t bytes[128] = {0};
	size_t n = 8 + extra + 32;
	struct perf_event_header header = {.type = PERF_RECORD_COMM, .size = (uint16_t)n};

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + n - 24, &time_ns, sizeof(time_ns));
	if (ring->page.data_head - ring->page.data_tail + n > RING_BYTES)
		return false;
	for (size_t i = 0; i < n; i++)
		ring->data[(ring->page.data_head + i) % RING_BYTES] = bytes[i];
	ring->page.data_head += n;
	return true;
}

static bool fake_write(struct fake_ring *ring, uint64_t time_ns, unsigned extra)
{
	return fake_write_bytes(ring, time_ns, 8 * (size_t)(extra % 8));
}

static void test_merge__returns_all_records_in_time_order_across_wraps(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 30; seed++) {
		uint32_t n_rings = 1 + seed % 7;
		struct fake_ring *fakes = ctx_calloc(n_rings, sizeof(*fakes));
		struct ctx_ring rings[7];
		struct ctx_merge merge;
		uint64_t now = 1000, last = 0, written = 0, seen = 0;

		srand(seed);
		for (uint32_t i = 0; i < n_rings; i++)
			assert_int_equal(
				ctx_ring_attach(&rings[i], &fakes[i].page, fakes[i].data, RING_BYTES, NULL),
				CTX_OK);
		assert_int_equal(ctx_merge_init(&merge, rings, n_rings, NULL), CTX_OK);
		for (int round = 0; round < 300; round++) {
			const void *record;
			bool is_last = round == 299;
			uint64_t limit = now;

			/* Less than half a ring per round and a slack: the order must be exact. */
			for (int i = 0; i < 12; i++)
				written += fake_write(&fakes[(uint32_t)rand() % n_rings],
						      now += (uint64_t)rand() % 3, (unsigned)rand());
			ctx_merge_begin(&merge, is_last ? UINT64_MAX : limit);
			while ((record = ctx_merge_next(&merge)) != NULL) {
				uint64_t time = ctx_perf_record_time(record);

				assert_true(time >= last);
				assert_true(is_last || time <= limit);
				last = time;
				seen++;
				if (ctx_merge_is_due(&merge) && rand() % 2 == 0)
					ctx_merge_release(&merge);
			}
			ctx_merge_release(&merge);
		}
		assert_int_equal(seen, written);
		assert_int_equal(merge.damaged, 0);
		for (uint32_t i = 0; i < n_rings; i++) {
			assert_int_equal(fakes[i].page.data_tail, fakes[i].page.data_head);
			ctx_ring_unmap(&rings[i]);
		}
		ctx_merge_deinit(&merge);
		free(fakes);
	}
}

static void merge_one(struct fake_ring *fake, struct ctx_ring *ring, struct ctx_merge *merge)
{
	assert_non_null(fake);
	assert_int_equal(ctx_ring_attach(ring, &fake->page, fake->data, RING_BYTES, NULL), CTX_OK);
	assert_int_equal(ctx_merge_init(merge, ring, 1, NULL), CTX_OK);
}

/* As the kernel writes them where a stack is at the end of the address space; headers over the end of the ring, too. */
static void test_merge__records_of_any_size_are_read_wherever_they_begin(void **state)
{
	struct fake_ring *fake = ctx_calloc(1, sizeof(*fake));
	struct ctx_ring ring;
	struct ctx_merge merge;
	bool is_split[8] = {false}; /* a header with so many bytes before the end */
	uint64_t time = 0;

	(void)state;
	merge_one(fake, &ring, &merge);
	srand(3);
	for (int round = 0; round < 20000; round++) {
		size_t left = RING_BYTES - (size_t)(fake->page.data_head % RING_BYTES);
		const void *record;

		is_split[left < 8 ? left : 0] = true;
		assert_true(fake_write_bytes(fake, ++time, (size_t)rand() % 65));
		ctx_merge_begin(&merge, UINT64_MAX);
		record = ctx_merge_next(&merge);
		assert_non_null(record);
		assert_int_equal(ctx_perf_record_time(record), time);
		assert_null(ctx_merge_next(&merge));
		ctx_merge_release(&merge);
		assert_int_equal(fake->page.data_tail, fake->page.data_head);
	}
	for (size_t i = 1; i < 8; i++)
		assert_true(is_split[i]);
	assert_int_equal(merge.damaged, 0);
	ctx_ring_unmap(&ring);
	ctx_merge_deinit(&merge);
	free(fake);
}

static void test_merge__takes_young_records_too_when_a_ring_is_over_half_full(void **state)
{
	struct fake_ring *fake = ctx_calloc(1, sizeof(*fake));
	struct ctx_ring ring;
	struct ctx_merge merge;
	int n = 0;

	(void)state;
	merge_one(fake, &ring, &merge);
	assert_true(fake_write(fake, 50, 0));
	ctx_merge_begin(&merge, 10);
	assert_null(ctx_merge_next(&merge));
	while (fake->page.data_head <= RING_BYTES / 2)
		assert_true(fake_write(fake, 60, 0));
	ctx_merge_begin(&merge, 10);
	while (ctx_merge_next(&merge) != NULL)
		n++;
	assert_int_equal(n, fake->page.data_head / 40);
	ctx_ring_unmap(&ring);
	ctx_merge_deinit(&merge);
	free(fake);
}

static void test_merge__drops_a_ring_whose_header_cannot_be_right(void **state)
{
	struct fake_ring *fake = ctx_calloc(1, sizeof(*fake));
	struct ctx_ring ring;
	struct ctx_merge merge;

	(void)state;
	merge_one(fake, &ring, &merge);
	fake->page.data_head = 64; /* zero bytes: a record of size 0 */
	ctx_merge_begin(&merge, UINT64_MAX);
	assert_null(ctx_merge_next(&merge));
	ctx_merge_release(&merge);
	assert_int_equal(merge.damaged, 1);
	assert_int_equal(ring.skipped, 64);
	assert_int_equal(fake->page.data_tail, 64);
	/* What comes behind is read. */
	assert_true(fake_write(fake, 50, 0));
	ctx_merge_begin(&merge, UINT64_MAX);
	assert_int_equal(ctx_perf_record_time(ctx_merge_next(&merge)), 50);
	ctx_merge_release(&merge);
	assert_int_equal(ring.skipped, 64);
	/* More than there can be. */
	fake->page.data_head += 3 * RING_BYTES;
	ctx_merge_begin(&merge, UINT64_MAX);
	assert_null(ctx_merge_next(&merge));
	ctx_merge_release(&merge);
	assert_int_equal(merge.damaged, 2);
	assert_int_equal(ring.skipped, 64 + RING_BYTES);
	ctx_ring_unmap(&ring);
	ctx_merge_deinit(&merge);
	free(fake);
}

/* --- call chains --- */

static void check_chain(const uint64_t *in, size_t n_in, const uint64_t *want, size_t n_want)
{
	struct ctx_callchain *chain = malloc(sizeof(*chain));
	struct ctx_perf_record record = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER};

	assert_non_null(chain);
	chain->max_stack = 6;
	record.sample.ip = 0x401000;
	record.sample.chain = (const uint8_t *)in;
	record.sample.n_chain = n_in;
	ctx_callchain_unwind(chain, &record);
	assert_int_equal(chain->n, n_want);
	assert_memory_equal(chain->frames, want, n_want * sizeof(*want));
	free(chain);
}

#define KERNEL_IP UINT64_C(0xffffffff81000010)

static void test_callchain__pcs_are_exact_and_callers_are_inside_the_call(void **state)
{
	static const uint64_t in[] = {(uint64_t)PERF_CONTEXT_KERNEL, KERNEL_IP, KERNEL_IP + 16,
				      (uint64_t)PERF_CONTEXT_USER,   0x401000,	0x402000};
	static const uint64_t want[] = {KERNEL_IP, KERNEL_IP + 15, 0x401000, 0x401fff};

	(void)state;
	check_chain(in, CTX_COUNT_OF(in), want, CTX_COUNT_OF(want));
}

static void test_callchain__marks_truncated_chains_and_invalid_frame_pointers(void **state)
{
	static const uint64_t full[] = {
		(uint64_t)PERF_CONTEXT_USER, 0x401000, 0x402000, 0x403000, 0x404000, 0x405000, 0x406000};
	static const uint64_t want_full[] = {0x401000, 0x401fff, 0x402fff,	     0x403fff,
					     0x404fff, 0x405fff, CTX_FRAME_TRUNCATED};
	static const uint64_t zero[] = {(uint64_t)PERF_CONTEXT_USER, 0x401000, 0, 0x403000};
	static const uint64_t invalid[] = {(uint64_t)PERF_CONTEXT_USER, 0x401000,
					   UINT64_C(0x6f6c6c6548000000), 0x403000};
	static const uint64_t want_one[] = {0x401000, CTX_FRAME_TRUNCATED};

	(void)state;
	check_chain(full, CTX_COUNT_OF(full), want_full, CTX_COUNT_OF(want_full));
	check_chain(zero, CTX_COUNT_OF(zero), want_one, CTX_COUNT_OF(want_one));
	check_chain(invalid, CTX_COUNT_OF(invalid), want_one, CTX_COUNT_OF(want_one));
}

static void test_callchain__without_a_chain_uses_the_ip_and_skips_guests(void **state)
{
	static const uint64_t guest[] = {(uint64_t)PERF_CONTEXT_GUEST_KERNEL, KERNEL_IP,
					 (uint64_t)PERF_CONTEXT_USER, 0x402000};
	static const uint64_t want[] = {0x401000}, want_user[] = {0x402000};

	(void)state;
	check_chain(NULL, 0, want, 1);
	check_chain(guest, CTX_COUNT_OF(guest), want_user, 1);
}

/* --- the process table --- */

static void apply(struct ctx_proctree *tree, const struct bytes *bytes)
{
	struct ctx_map64 ids = {0};
	struct ctx_perf_layout layout = layout_of(&ids);
	struct ctx_perf_record record;
	struct ctx_err err = {0};

	assert_int_equal(ctx_perf_record_parse(bytes->words, bytes->n, &layout, &record, NULL), CTX_OK);
	if (ctx_proctree_apply(tree, &record, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	ctx_map64_deinit(&ids);
}

static void check_live(const struct ctx_proctree *tree, size_t want)
{
	struct ctx_proctree_live live[16];

	assert_int_equal(ctx_proctree_live(tree, live, 16), want);
}

static struct ctx_mapped_files *mapped_files;

static struct ctx_proctree *begin_tree(const char *name, struct ctx_exp_writer **ret_writer)
{
	char path[128];
	struct ctx_exp_metric metric = {.name = "cpu-clock", .unit = "ns", .file = "profile", .period = 1};
	struct ctx_exp_options options = {
		.path = path, .comment = "", .metrics = &metric, .n_metrics = 1, .start_ns = 1};
	struct ctx_proctree *tree;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(ctx_exp_create(&options, ret_writer, NULL), CTX_OK);
	assert_int_equal(ctx_mapped_files_create(&mapped_files, NULL), CTX_OK);
	assert_int_equal(ctx_proctree_create(*ret_writer, mapped_files, &tree, NULL), CTX_OK);
	return tree;
}

static void end_tree(struct ctx_proctree *tree, struct ctx_exp_writer *writer)
{
	ctx_proctree_destroy(tree);
	assert_int_equal(ctx_exp_close(writer, 20, NULL), CTX_OK);
	ctx_mapped_files_destroy(mapped_files);
}

/* Ids far above pid_max, so that nothing in /proc has them. */
#define P 5000000u

/* What is asked for, of this program, as this process maps it. */
static bool mapped_opens(struct ctx_mapped_file mapped, const char *want_build_id, char *ret_why, size_t size)
{
	struct ctx_mapper self = {.pid = getpid()};
	struct ctx_mapped_files *files;
	char build_id[CTX_BUILDID_TEXT];
	struct ctx_err err = {0};
	int fd;

	assert_int_equal(ctx_mapped_files_create(&files, NULL), CTX_OK);
	assert_int_equal(ctx_mapped_files_add(files, &self, &mapped, build_id, NULL), CTX_OK);
	assert_string_equal(build_id, want_build_id);
	fd = ctx_mapped_files_open(files, mapped.path, build_id, &err);
	snprintf(ret_why, size, "%s", err.msg);
	if (fd >= 0)
		close(fd);
	ctx_mapped_files_destroy(files);
	return fd >= 0;
}

static void test_mapped_files__a_path_counts_only_if_it_leads_to_what_was_mapped(void **state)
{
	int self CTX_AUTO_CLOSE = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char path[512] = "", build_id[CTX_BUILDID_TEXT], why[CTX_ERR_MAX];
	struct ctx_mapped_file mapped = {.path = path, .address = 0x1000, .size = 0x1000, .build_id = ""};
	struct stat info;

	(void)state;
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_true(self >= 0 && fstat(self, &info) == 0);
	ctx_buildid_of_fd(self, build_id);
	mapped.major = major(info.st_dev);
	mapped.minor = minor(info.st_dev);
	mapped.inode = info.st_ino;
	assert_true(mapped_opens(mapped, build_id, why, sizeof(why)));
	mapped.inode++;
	assert_false(mapped_opens(mapped, "", why, sizeof(why)));
	assert_non_null(strstr(why, "no longer the file that was mapped"));
	/* Another reader has made the kernel report build ids: there is no inode then. */
	mapped.inode = 0;
	mapped.build_id = build_id;
	assert_true(mapped_opens(mapped, build_id, why, sizeof(why)));
	mapped.build_id = "00ff00ff";
	assert_false(mapped_opens(mapped, "00ff00ff", why, sizeof(why)));
	assert_non_null(strstr(why, "build id"));
	mapped.path = "//anon";
	assert_false(mapped_opens(mapped, "00ff00ff", why, sizeof(why)));
}

static void test_credentials__are_those_of_the_file_system(void **state)
{
	struct ctx_credentials own = ctx_credentials_own(), read = {0}, nobody = ctx_credentials_nobody();
	struct ctx_credentials_before before;

	(void)state;
	assert_true(ctx_credentials_read(getpid(), &read));
	assert_int_equal(read.uid, own.uid);
	assert_int_equal(read.gid, own.gid);
	assert_false(ctx_credentials_read(P, &read));
	assert_true(ctx_credentials_take(&nobody, &before) || geteuid() == 0);
	assert_true(ctx_credentials_read(getpid(), &read));
	assert_int_equal(read.uid, geteuid() == 0 ? nobody.uid : own.uid);
	ctx_credentials_give_back(&before);
	assert_true(ctx_credentials_read(getpid(), &read));
	assert_int_equal(read.uid, own.uid);
	assert_int_equal(read.gid, own.gid);
}

static void test_proctree__follows_fork_exec_threads_and_exit(void **state)
{
	struct ctx_exp_writer *writer;
	struct ctx_proctree *tree;
	struct bytes bytes;
	uint32_t process, thread, child_process, first_thread;

	(void)state;
	tree = begin_tree("tree.er", &writer);
	assert_int_equal(ctx_proctree_add_root_process(tree, P, "app", 1, NULL), CTX_OK);
	make_comm(&bytes, P, P, "app", true, 2); /* the root process's own exec: no new process */
	apply(tree, &bytes);
	assert_int_equal(ctx_exp_stats(writer).processes, 1);
	make_task(&bytes, PERF_RECORD_FORK, (uint32_t[]){P, P, P + 1, P}, 3); /* a thread */
	apply(tree, &bytes);
	assert_int_equal(ctx_proctree_find(tree, &(struct ctx_proctree_task){P, P + 1, 4}, &process,
					   &first_thread, NULL),
			 CTX_OK);
	assert_int_equal(process, 0);
	make_task(&bytes, PERF_RECORD_FORK, (uint32_t[]){P + 2, P, P + 2, P + 1}, 5); /* a process */
	apply(tree, &bytes);
	check_live(tree, 2);
	assert_int_equal(ctx_proctree_root_process_end_ns(tree, 17), 17);
	assert_int_equal(ctx_proctree_end_ns(tree, 17), 17);
	assert_int_equal(ctx_proctree_find(tree, &(struct ctx_proctree_task){P + 2, P + 2, 6}, &child_process,
					   &thread, NULL),
			 CTX_OK);
	assert_int_equal(child_process, 1);
	make_comm(&bytes, P + 2, P + 2, "ls", true, 7); /* exec: another image, another life of the tid */
	apply(tree, &bytes);
	assert_int_equal(ctx_proctree_find(tree, &(struct ctx_proctree_task){P + 2, P + 2, 8}, &process,
					   &thread, NULL),
			 CTX_OK);
	assert_int_equal(process, 2);
	check_live(tree, 2);
	make_task(&bytes, PERF_RECORD_EXIT, (uint32_t[]){P + 2, P, P + 2, P}, 9);
	apply(tree, &bytes);
	check_live(tree, 1);
	assert_int_equal(ctx_proctree_end_ns(tree, 17), 17);
	/* The same tid again is another thread. */
	make_task(&bytes, PERF_RECORD_EXIT, (uint32_t[]){P, P, P + 1, P}, 10);
	apply(tree, &bytes);
	make_task(&bytes, PERF_RECORD_FORK, (uint32_t[]){P, P, P + 1, P}, 11);
	apply(tree, &bytes);
	assert_int_equal(
		ctx_proctree_find(tree, &(struct ctx_proctree_task){P, P + 1, 12}, &process, &thread, NULL),
		CTX_OK);
	assert_int_equal(process, 0);
	assert_true(thread > first_thread);
	/* The second thread calls exec: the other one ends, it takes the process's id over. */
	make_task(&bytes, PERF_RECORD_EXIT, (uint32_t[]){P, P, P, P}, 13);
	apply(tree, &bytes);
	make_comm(&bytes, P, P, "again", true, 14);
	apply(tree, &bytes);
	assert_int_equal(
		ctx_proctree_find(tree, &(struct ctx_proctree_task){P, P, 15}, &process, &thread, NULL),
		CTX_OK);
	assert_int_equal(process, 3);
	assert_int_equal(ctx_proctree_root_process(tree), 3);
	make_task(&bytes, PERF_RECORD_EXIT, (uint32_t[]){P, P, P, P}, 16);
	apply(tree, &bytes);
	check_live(tree, 0);
	assert_int_equal(ctx_proctree_root_process_end_ns(tree, 17), 16);
	assert_int_equal(ctx_proctree_end_ns(tree, 17), 16);
	assert_int_equal(ctx_proctree_root_process_exit(tree, 17, 256, NULL), CTX_OK);
	assert_int_equal(ctx_proctree_root_process(tree), CTX_NONE);
	end_tree(tree, writer);
}

static void test_proctree__makes_up_for_records_that_were_lost(void **state)
{
	struct ctx_exp_writer *writer;
	struct ctx_proctree *tree;
	struct bytes bytes;
	uint32_t process, thread, again;

	(void)state;
	tree = begin_tree("lost.er", &writer);
	/* Samples and forks of unannounced processes; pid -1: gone. */
	assert_int_equal(
		ctx_proctree_find(tree, &(struct ctx_proctree_task){P, P, 4}, &process, &thread, NULL),
		CTX_OK);
	assert_int_equal(ctx_proctree_find(tree, &(struct ctx_proctree_task){P, P, 5}, &again, &thread, NULL),
			 CTX_OK);
	assert_int_equal(process, again);
	assert_int_equal(
		ctx_proctree_find(tree, &(struct ctx_proctree_task){-1, -1, 5}, &process, &thread, NULL),
		CTX_E_NOTFOUND);
	make_task(&bytes, PERF_RECORD_EXIT, (uint32_t[]){P + 9, P, P + 9, P}, 6);
	apply(tree, &bytes);
	make_mmap(&bytes, P + 9, "/x", 6);
	apply(tree, &bytes);
	check_live(tree, 1);
	end_tree(tree, writer);
}

static uint64_t start_of_thread(const char *path, int64_t tid)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	uint64_t found_ns = UINT64_MAX;

	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		if (event.kind == CTX_EV_THREAD_START && event.thread_start.tid == tid)
			found_ns = event.time_ns;
	}
	source->close(source);
	return found_ns;
}

/* Else its threads that sleep would be new ones. */
static void test_proctree__processes_found_while_scanning_proc_existed_before(void **state)
{
	char path[128];
	struct ctx_exp_metric metric = {.name = "cpu-clock", .unit = "ns", .file = "profile", .period = 1};
	struct ctx_exp_options options = {
		.path = path, .comment = "", .metrics = &metric, .n_metrics = 1, .start_ns = 1};
	struct ctx_exp_writer *writer;
	struct ctx_proctree *tree;
	struct bytes bytes;
	uint32_t process, thread;

	(void)state;
	snprintf(path, sizeof(path), "%s/met.er", dir);
	assert_int_equal(ctx_exp_create(&options, &writer, NULL), CTX_OK);
	assert_int_equal(ctx_mapped_files_create(&mapped_files, NULL), CTX_OK);
	assert_int_equal(ctx_proctree_create(writer, mapped_files, &tree, NULL), CTX_OK);
	ctx_proctree_looks(tree, 1, UINT64_MAX);
	assert_int_equal(
		ctx_proctree_find(tree, &(struct ctx_proctree_task){P, P, 40}, &process, &thread, NULL),
		CTX_OK);
	/* A child that is seen to begin begins then. */
	make_task(&bytes, PERF_RECORD_FORK, (uint32_t[]){P + 1, P, P + 1, P}, 50);
	apply(tree, &bytes);
	ctx_proctree_looks(tree, 1, 60);
	assert_int_equal(ctx_proctree_find(tree, &(struct ctx_proctree_task){P + 2, P + 2, 60}, &process,
					   &thread, NULL),
			 CTX_OK);
	assert_int_equal(ctx_proctree_find(tree, &(struct ctx_proctree_task){P + 3, P + 3, 61}, &process,
					   &thread, NULL),
			 CTX_OK);
	ctx_proctree_destroy(tree);
	assert_int_equal(ctx_exp_close(writer, 100, NULL), CTX_OK);
	ctx_mapped_files_destroy(mapped_files);
	assert_int_equal(start_of_thread(path, P), 0);
	assert_int_equal(start_of_thread(path, P + 1), 49);
	assert_int_equal(start_of_thread(path, P + 2), 0);
	assert_int_equal(start_of_thread(path, P + 3), 60);
}

/* --- /proc, options, small things --- */

static void test_procfs__finds_the_executable_mappings(void **state)
{
	char text[] =
		"00400000-00401000 r--p 00000000 fd:01 12   /bin/a\n"
		"00401000-00403000 r-xp 00001000 fd:01 12                         /bin/with space (deleted)\n"
		"garbage\n"
		"7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
		"7ffd1000-7ffd3000 r-xp 00000000 00:00 0  [vdso]";
	char *at = text;
	struct ctx_procfs_map map;

	(void)state;
	assert_true(ctx_procfs_next_map(&at, &map));
	assert_int_equal(map.address, 0x401000);
	assert_int_equal(map.size, 0x2000);
	assert_int_equal(map.file_offset, 0x1000);
	assert_int_equal(map.protection, 5);
	assert_string_equal(map.path, "/bin/with space (deleted)");
	assert_true(ctx_procfs_next_map(&at, &map));
	assert_string_equal(map.path, "//anon");
	assert_int_equal(map.protection, 7);
	assert_true(ctx_procfs_next_map(&at, &map));
	assert_string_equal(map.path, "[vdso]");
	assert_false(ctx_procfs_next_map(&at, &map));
}

#define DEEP 14u
#define LONG_MAPS 20000u

/* Maps a file with a path of 3.5 KB again and again, more than 64 MiB of lines; the caller unmaps them. */
static void map_long_path(void **maps)
{
	int before CTX_AUTO_CLOSE = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[251];
	int file;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(chdir(dir), 0);
	for (unsigned i = 0; i < DEEP; i++) {
		assert_int_equal(mkdir(name, 0700), 0);
		assert_int_equal(chdir(name), 0);
	}
	file = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(file >= 0 && ftruncate(file, 4096) == 0);
	for (unsigned i = 0; i < LONG_MAPS; i++) {
		maps[i] = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
		assert_true(maps[i] != MAP_FAILED);
	}
	close(file);
	assert_int_equal(unlink("file"), 0);
	for (unsigned i = 0; i < DEEP; i++)
		assert_int_equal(chdir("..") == 0 ? rmdir(name) : -1, 0);
	assert_int_equal(fchdir(before), 0);
}

/* Of more lines than are read the first ones are taken, and it is said. */
static void test_procfs__more_maps_than_are_read_are_reported(void **state)
{
	static void *maps[LONG_MAPS];
	struct ctx_buf text = {0};
	struct ctx_exp_writer *writer;
	struct ctx_proctree *tree;
	char path[128];

	(void)state;
	map_long_path(maps);
	tree = begin_tree("maps.er", &writer);
	assert_int_equal(ctx_proctree_add_present(tree, getpid(), 2, NULL), CTX_OK);
	end_tree(tree, writer);
	snprintf(path, sizeof(path), "%s/maps.er/log.xml", dir);
	assert_int_equal(ctx_file_read(path, (size_t)1 << 20, &text, NULL), CTX_OK);
	ctx_buf_put_u8(&text, 0);
	assert_non_null(strstr((const char *)text.bytes, "has more than 64 MiB of lines in /proc/PID/maps"));
	ctx_buf_deinit(&text);
	for (unsigned i = 0; i < LONG_MAPS; i++)
		munmap(maps[i], 4096);
}

static void test_procfs__quotes_arguments_that_the_shell_would_split(void **state)
{
	static const char words[] = "./app\0two words\0it's\0\0-x=1";
	struct ctx_buf out = {0};

	(void)state;
	ctx_quote_arguments(words, sizeof(words), &out);
	assert_string_equal((char *)out.bytes, "./app 'two words' 'it'\\''s' '' -x=1");
	ctx_buf_deinit(&out);
}

static void test_procfs__knows_this_process(void **state)
{
	struct ctx_usage_info usage;
	struct ctx_ids tids = {0};
	char name[32];

	(void)state;
	assert_int_equal(ctx_procfs_usage(getpid(), &usage, NULL), CTX_OK);
	assert_true(usage.threads == 1 && usage.rss_bytes > 4096 && usage.vsize_bytes > usage.rss_bytes);
	assert_int_equal(ctx_procfs_tids(getpid(), &tids, NULL), CTX_OK);
	assert_int_equal(tids.n, 1);
	assert_int_equal(tids.items[0], getpid());
	assert_int_equal(ctx_procfs_comm(getpid(), 0, name, sizeof(name), NULL), CTX_OK);
	assert_string_equal(name, "test_collect");
	ctx_ids_deinit(&tids);
	assert_int_equal(ctx_procfs_tids(P, &tids, NULL), CTX_E_NOTFOUND);
}

static void test_session__reads_lists_of_cpus(void **state)
{
	struct ctx_ids cpus = {0};

	(void)state;
	assert_int_equal(ctx_cpus_parse("0-2,5,7-8\n", &cpus, NULL), CTX_OK);
	assert_int_equal(cpus.n, 6);
	assert_int_equal(cpus.items[3], 5);
	assert_int_equal(cpus.items[5], 8);
	assert_int_equal(ctx_cpus_parse("3-1", &cpus, NULL), CTX_E_FORMAT);
	assert_int_equal(ctx_cpus_parse("", &cpus, NULL), CTX_E_FORMAT);
	assert_int_equal(ctx_cpus_parse("0-", &cpus, NULL), CTX_E_FORMAT);
	assert_int_equal(ctx_cpus_parse("0-99999999", &cpus, NULL), CTX_E_FORMAT);
	ctx_ids_deinit(&cpus);
}

static enum ctx_status parse_args(struct ctx_rec_options *options, struct ctx_err *err, int argc,
				  const char **argv)
{
	return ctx_rec_options_parse(argc, (char **)argv, options, err);
}

#define ARGS(...)                                                                                            \
	(int)CTX_COUNT_OF(((const char *[]){"ctxrec", __VA_ARGS__})), (const char *[])                       \
	{                                                                                                    \
		"ctxrec", __VA_ARGS__, NULL                                                                  \
	}

/* The value of a property of a recording's header; NULL: it has none. */
static const char *property_of(const struct ctx_recmeta *meta, const char *key)
{
	for (size_t i = 0; i < meta->n; i++) {
		if (strcmp(meta->properties[i].key, key) == 0)
			return meta->properties[i].value;
	}
	return NULL;
}

static void test_machine_topology__sysfs_tells_cores_nodes_and_pmus(void **state)
{
	static const char *const wanted[] = {"S0-D0-C0: 0,2; S0-D0-C4: 1", "0: 0-2", "0: 0-1; 1: 2",
					     "cpu_atom: 2; cpu_core: 0-1"};
	static const struct {
		const char *name, *text;
	} files[] = {
		{"sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"},
		{"sys/devices/system/cpu/cpu0/topology/die_id", "-1\n"},
		{"sys/devices/system/cpu/cpu0/topology/core_id", "0\n"},
		{"sys/devices/system/cpu/cpu1/topology/physical_package_id", "0\n"},
		{"sys/devices/system/cpu/cpu1/topology/core_id", "4\n"},
		{"sys/devices/system/cpu/cpu2/topology/physical_package_id", "0\n"},
		{"sys/devices/system/cpu/cpu2/topology/core_id", "0\n"},
		{"sys/devices/system/cpu/cpu3/online", "0\n"}, /* offline: no topology */
		{"sys/devices/system/cpu/cpufreq/x", ""},
		{"sys/devices/system/node/node0/cpulist", "0-1\n"},
		{"sys/devices/system/node/node1/cpulist", "2\n"},
		{"sys/devices/system/node/node2/cpulist", "\n"},
		{"sys/devices/system/node/node3/cpulist", "what\n"},
		{"sys/bus/event_source/devices/cpu_core/cpus", "0-1\n"},
		{"sys/bus/event_source/devices/cpu_atom/cpus", "2\n"},
		{"sys/bus/event_source/devices/uncore_imc_0/cpumask", "0\n"},
	};
	struct ctx_topology topology;
	struct ctx_arena arena = {0};
	char path[128];

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(files); i++)
		put_file(files[i].name, files[i].text);
	snprintf(path, sizeof(path), "%s/sys", dir);
	assert_int_equal(ctx_machine_topology(path, &arena, &topology, NULL), CTX_OK);
	for (unsigned part = 0; part < CTX_TOPOLOGY_N; part++) {
		struct ctx_buf text = {0};

		assert_int_equal(ctx_topology_write(&topology, (enum ctx_topology_part)part, &text, NULL),
				 CTX_OK);
		ctx_buf_put_u8(&text, 0);
		assert_string_equal(text.bytes, wanted[part]);
		ctx_buf_deinit(&text);
	}
	ctx_topology_deinit(&topology);
	assert_int_equal(ctx_machine_topology("/nowhere", &arena, &topology, NULL), CTX_OK);
	assert_int_equal(topology.n, 0);
	ctx_topology_deinit(&topology);
	ctx_arena_deinit(&arena);
}

static void test_recargs__labels_are_properties_and_the_last_of_a_key_counts(void **state)
{
	static const struct ctx_session session;
	static const struct ctx_priority_attr priority;
	static const char *const wrong[] = {"service", "=web", "a b=1", "a!=b"};
	struct ctx_rec_options options;
	struct ctx_recmeta meta;
	struct ctx_err err;

	(void)state;
	assert_int_equal(parse_args(&options, NULL,
				    ARGS("--label", "service=web", "--label", "note=a = b", "--label",
					 "empty=", "--label", "service=api", "--", "./app")),
			 CTX_OK);
	assert_int_equal(ctx_recmeta_init(&meta, &options, &session, &priority, NULL), CTX_OK);
	assert_string_equal(property_of(&meta, "label.service"), "api");
	assert_string_equal(property_of(&meta, "label.note"), "a = b");
	assert_string_equal(property_of(&meta, "label.empty"), "");
	assert_string_equal(property_of(&meta, "target"), "command");
	ctx_recmeta_deinit(&meta);
	ctx_rec_options_deinit(&options);
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		assert_int_equal(parse_args(&options, &err, ARGS("--label", wrong[i], "--", "./app")),
				 CTX_E_ARG);
		assert_non_null(strstr(err.msg, "KEY=VALUE"));
		ctx_rec_options_deinit(&options);
	}
}

static void test_recargs__takes_options_up_to_the_command(void **state)
{
	struct ctx_rec_options options;

	(void)state;
	assert_int_equal(parse_args(&options, NULL,
				    ARGS("-F", "99", "-e", "cycles", "--event=faults", "-m", "16",
					 "--max-size", "2G", "-d", "1.5", "-O", "--", "./app", "-F", "x")),
			 CTX_OK);
	assert_int_equal(options.frequency_hz, 99);
	assert_string_equal((char *)options.events.bytes, "cycles,faults");
	assert_int_equal(options.ring_bytes, 16 * sysconf(_SC_PAGESIZE));
	assert_int_equal(options.max_bytes, (uint64_t)2 << 30);
	assert_int_equal(options.duration_ns, 1500000000);
	assert_true(options.overwrite);
	assert_string_equal(options.command[0], "./app");
	assert_string_equal(options.command[1], "-F");
	ctx_rec_options_deinit(&options);
	assert_int_equal(parse_args(&options, NULL, ARGS("-p", "1,22", "-p", "333")), CTX_OK);
	assert_int_equal(options.pids.n, 3);
	assert_int_equal(options.pids.items[2], 333);
	ctx_rec_options_deinit(&options);
}

static void refuse(const char *want, int argc, const char **argv)
{
	struct ctx_rec_options options;
	struct ctx_err err = {0};

	assert_int_equal(parse_args(&options, &err, argc, argv), CTX_E_ARG);
	if (strstr(err.msg, want) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.msg, want);
	ctx_rec_options_deinit(&options);
}

static void test_recargs__lists_name_what_is_recorded(void **state)
{
	struct ctx_rec_options options;

	(void)state;
	assert_int_equal(
		parse_args(&options, NULL, ARGS("--trace", "io,openmp,io", "--vm", "python", "./app")),
		CTX_OK);
	assert_true(options.trace.io && options.trace.omp && options.trace.vm.python);
	assert_false(options.trace.heap || options.trace.sync || options.trace.marks || options.trace.calls ||
		     options.trace.vm.java);
	ctx_rec_options_deinit(&options);
	assert_int_equal(parse_args(&options, NULL,
				    ARGS("--trace", "calls,marks", "--trace", "heap", "--trace", "sync",
					 "--vm", "java", "./app")),
			 CTX_OK);
	assert_true(options.trace.calls && options.trace.marks && options.trace.heap && options.trace.sync &&
		    options.trace.vm.java);
	assert_false(options.trace.io || options.trace.omp || options.trace.vm.python);
	ctx_rec_options_deinit(&options);
	assert_false(ctx_rec_vm_chooses(&options.trace.vm));
	assert_int_equal(parse_args(&options, NULL,
				    ARGS("--vm", "java", "--vm-of", "main=~.*Server", "--vm-of", "pid=7",
					 "--vm-limit", "3", "--vm-round-robin", "5s", "./app")),
			 CTX_OK);
	assert_int_equal(options.trace.vm.of.n, 2);
	assert_int_equal(options.trace.vm.limit, 3);
	assert_int_equal(options.trace.vm.turn_ns, 5000000000u);
	assert_true(ctx_rec_vm_chooses(&options.trace.vm));
	ctx_rec_options_deinit(&options);
	assert_int_equal(parse_args(&options, NULL, ARGS("--openmp=off", "./app")), CTX_OK);
	assert_true(!options.trace.omp && options.trace.omp_mode == CTX_REC_OMP_OFF);
	ctx_rec_options_deinit(&options);
	assert_int_equal(parse_args(&options, NULL, ARGS("--openmp", "./app")), CTX_OK);
	assert_true(options.trace.omp && options.trace.omp_mode == CTX_REC_OMP_ON);
	ctx_rec_options_deinit(&options);
	assert_int_equal(parse_args(&options, NULL, ARGS("./app")), CTX_OK);
	assert_true(!options.trace.omp && options.trace.omp_mode == CTX_REC_OMP_AUTO);
	ctx_rec_options_deinit(&options);
	assert_int_equal(parse_args(&options, NULL, ARGS("--openmp=libomp", "./app")), CTX_OK);
	assert_true(options.trace.omp && options.trace.omp_mode == CTX_REC_OMP_LIBOMP);
	ctx_rec_options_deinit(&options);
	refuse("--openmp=libomp needs a command", ARGS("--openmp=libomp", "-p", "1"));
	refuse("--openmp", ARGS("--openmp=often", "./app"));
	refuse("--vm-limit needs --vm java", ARGS("--vm-limit", "2", "./app"));
	refuse("--vm-of needs --vm java", ARGS("--vm-of", "pid=2", "--vm", "python", "./app"));
	refuse("--vm-of: \"class=X\" is no KEY=TEXT", ARGS("--vm", "java", "--vm-of", "class=X", "./app"));
	refuse("--vm-round-robin: \"1ms\"", ARGS("--vm", "java", "--vm-round-robin", "1ms", "./app"));
	refuse("--vm-limit: \"0\"", ARGS("--vm", "java", "--vm-limit", "0", "./app"));
	refuse("\"locks\" cannot be traced", ARGS("--trace", "heap,locks,io", "./app"));
	refuse("\"hea\" cannot be traced", ARGS("--trace", "hea", "./app"));
	refuse("\"heaps\" cannot be traced", ARGS("--trace", "heaps", "./app"));
	refuse("\"\" cannot be traced", ARGS("--trace", "heap,", "./app"));
	refuse("\"\" cannot be traced", ARGS("--trace", "", "./app"));
	refuse("\"perl\" is no virtual machine", ARGS("--vm", "java,perl", "./app"));
}

static void test_recargs__a_length_of_time_is_a_number_with_a_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns; /* 0: refused */
	} cases[] = {{"1ns", 1},	 {"10us", 10000},
		     {"2.5ms", 2500000}, {"100s", UINT64_C(100000000000)},
		     {".5ms", 500000},	 {" 5us", 5000},
		     {"+5us", 5000},	 {"1000000s", UINT64_C(1000000000000000)},
		     {"1000001s", 0},	 {"0.5ns", 0},
		     {"0s", 0},		 {"-0.5us", 0},
		     {"-5us", 0},	 {"5", 0},
		     {"us", 0},		 {"", 0},
		     {"5 us", 0},	 {"5usx", 0},
		     {"5m", 0},		 {"infs", 0},
		     {"inf", 0},	 {"-infs", 0},
		     {"nans", 0},	 {"1e300s", 0}};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_rec_options options;

		if (cases[i].ns == 0) {
			refuse("is not a time with a unit", ARGS("--calls-min", cases[i].text, "true"));
			continue;
		}
		assert_int_equal(parse_args(&options, NULL, ARGS("--calls-min", cases[i].text, "true")),
				 CTX_OK);
		assert_int_equal(options.trace.calls_min_ns, cases[i].ns);
		ctx_rec_options_deinit(&options);
	}
}

static void test_recargs__reports_errors(void **state)
{
	(void)state;
	refuse("unknown option '--bogus'", ARGS("--bogus", "--", "ls"));
	refuse("'-o' needs a value", ARGS("-o"));
	refuse("perhaps --frequency", ARGS("--freqency", "9", "ls"));
	refuse("takes no value", ARGS("--quiet=yes", "ls"));
	refuse("--unwind 'dwarf' is not known (auto, fp, cfi, none)", ARGS("--unwind", "dwarf", "ls"));
	refuse("nothing to record", ARGS("-q"));
	refuse("-F", ARGS("-F", "0", "ls"));
	refuse("-c", ARGS("-c", "-5", "ls"));
	refuse("exclude", ARGS("-F", "9", "-c", "9", "ls"));
	refuse("exclude", ARGS("-p", "1", "ls"));
	refuse("exclude", ARGS("-a", "-p", "1"));
	refuse("-p", ARGS("-p", "1,,2"));
	refuse("-p", ARGS("-p", "x"));
	refuse("-d", ARGS("-d", "nan", "ls"));
	refuse("--memory", ARGS("--memory", "12q", "ls"));
	refuse("--max-size", ARGS("--max-size", "99999999999G", "ls"));
	refuse("-m", ARGS("-m", "2G", "ls"));
}

static void test_recargs__counts_default_names_up(void **state)
{
	char before[256], *name;

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(dir), 0);
	name = ctx_default_name("./bin/app");
	assert_string_equal(name, "app.1.er");
	free(name);
	put_file("app.9.er/x", "");
	put_file("app.10.er/x", "");
	put_file("app.x.er/x", "");
	name = ctx_default_name("app");
	assert_string_equal(name, "app.11.er");
	free(name);
	assert_int_equal(chdir(before), 0);
}

static void test_child__distinguishes_missing_from_not_executable(void **state)
{
	char path[128], found[PATH_MAX];

	(void)state;
	put_file("plain", "text");
	snprintf(path, sizeof(path), "%s/plain", dir);
	assert_int_equal(ctx_command_check("sh", NULL), CTX_OK);
	assert_int_equal(ctx_command_find("sh", found, NULL), CTX_OK);
	assert_int_equal(access(found, X_OK), 0);
	assert_string_equal(strrchr(found, '/'), "/sh");
	assert_int_equal(ctx_command_check("no-such-command-anywhere", NULL), CTX_E_NOTFOUND);
	assert_int_equal(ctx_command_check(path, NULL), CTX_E_PERM);
	assert_int_equal(ctx_command_check(dir, NULL), CTX_E_PERM);
	assert_int_equal(ctx_exit_code(9), 137);
	assert_int_equal(ctx_exit_code(3 << 8), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfevent__knows_every_way_to_name_an_event),
		cmocka_unit_test(test_perfevent__refuses_unknown_events_by_name),
		cmocka_unit_test(test_perfevent__some_events_have_addresses_of_data),
		cmocka_unit_test(test_perfevent__separates_a_list_outside_of_slashes),
		cmocka_unit_test(test_perfevent__clocks_tick_at_fixed_intervals_and_hits_are_all_taken),
		cmocka_unit_test(test_perfevent__each_event_has_its_own_rate_between_slashes),
		cmocka_unit_test(test_perfevent__absurd_rates_are_refused_with_a_hint),
		cmocka_unit_test(test_perfrecord__parses_samples_with_and_without_period),
		cmocka_unit_test(test_perfrecord__parses_side_band_records),
		cmocka_unit_test(test_perfrecord__survives_records_that_lie),
		cmocka_unit_test(test_merge__returns_all_records_in_time_order_across_wraps),
		cmocka_unit_test(test_merge__records_of_any_size_are_read_wherever_they_begin),
		cmocka_unit_test(test_merge__takes_young_records_too_when_a_ring_is_over_half_full),
		cmocka_unit_test(test_merge__drops_a_ring_whose_header_cannot_be_right),
		cmocka_unit_test(test_callchain__pcs_are_exact_and_callers_are_inside_the_call),
		cmocka_unit_test(test_callchain__marks_truncated_chains_and_invalid_frame_pointers),
		cmocka_unit_test(test_callchain__without_a_chain_uses_the_ip_and_skips_guests),
		cmocka_unit_test(test_mapped_files__a_path_counts_only_if_it_leads_to_what_was_mapped),
		cmocka_unit_test(test_credentials__are_those_of_the_file_system),
		cmocka_unit_test(test_proctree__follows_fork_exec_threads_and_exit),
		cmocka_unit_test(test_proctree__makes_up_for_records_that_were_lost),
		cmocka_unit_test(test_proctree__processes_found_while_scanning_proc_existed_before),
		cmocka_unit_test(test_procfs__finds_the_executable_mappings),
		cmocka_unit_test(test_procfs__more_maps_than_are_read_are_reported),
		cmocka_unit_test(test_procfs__quotes_arguments_that_the_shell_would_split),
		cmocka_unit_test(test_procfs__knows_this_process),
		cmocka_unit_test(test_session__reads_lists_of_cpus),
		cmocka_unit_test(test_recargs__lists_name_what_is_recorded),
		cmocka_unit_test(test_recargs__a_length_of_time_is_a_number_with_a_unit),
		cmocka_unit_test(test_recargs__takes_options_up_to_the_command),
		cmocka_unit_test(test_machine_topology__sysfs_tells_cores_nodes_and_pmus),
		cmocka_unit_test(test_recargs__labels_are_properties_and_the_last_of_a_key_counts),
		cmocka_unit_test(test_recargs__reports_errors),
		cmocka_unit_test(test_recargs__counts_default_names_up),
		cmocka_unit_test(test_child__distinguishes_missing_from_not_executable),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
