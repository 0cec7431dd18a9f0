/*
 * Features are made here, field by field, in either byte order. Every one goes through the same
 * mill: read whole, cut off at every byte, repeated, and with each allocation failing once.
 */
#include "base/mem.h"
#include "tests/unit/pd_facts_fixture.h"

/* The name of the event with this id, of no matter which place. */
static const char *event_name_of_id(const struct ctx_pd_facts *facts, uint64_t id)
{
	size_t n;

	return ctx_pd_facts_event_name(facts, &(struct ctx_pd_event_key){.id = id, .n = SIZE_MAX}, &n);
}

#define FIRST_EVENT_BYTES (8 + ATTR_BYTES + 4 + 68 + 16) /* of make_events, with what is before it */

/* ---- one example of every feature ---- */

static void make_build_ids(struct maker *maker)
{
	put_build_id_record(maker, MISC_KERNEL, 0x10, "[kernel.kallsyms]");
	put_build_id_record(maker, MISC_USER | MISC_SIZE, 0xe0, "/usr/bin/xz");
}

static void check_build_ids(const struct ctx_pd_facts *facts)
{
	assert_string_equal(ctx_pd_facts_build_id(facts, "[kernel.kallsyms]"),
			    "101112131415161718191a1b1c1d1e1f20212223");
	assert_string_equal(ctx_pd_facts_build_id(facts, "/usr/bin/xz"),
			    "e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3");
	assert_string_equal(ctx_pd_facts_build_id(facts, "/usr/bin/x"), "");
	assert_int_equal(facts->build_ids.n, 2);
	assert_true(facts->build_ids.items[0].kernel);
	assert_false(facts->build_ids.items[1].kernel);
	assert_int_equal(facts->build_ids.items[0].pid, -1);
	assert_string_equal(facts->build_ids.items[1].path, "/usr/bin/xz");
}

static void make_host(struct maker *maker)
{
	put_text(maker, "target1");
}

static void check_host(const struct ctx_pd_facts *facts)
{
	assert_string_equal(facts->machine.hostname, "target1");
}

static void make_release(struct maker *maker)
{
	put_text(maker, "6.1.0-18-amd64");
}

static void check_release(const struct ctx_pd_facts *facts)
{
	assert_string_equal(facts->machine.os_release, "6.1.0-18-amd64");
}

static void make_version(struct maker *maker)
{
	put_text(maker, "6.1.187");
}

static void check_version(const struct ctx_pd_facts *facts)
{
	assert_string_equal(facts->version, "6.1.187");
}

static void make_arch(struct maker *maker)
{
	put_text(maker, "s390x");
}

static void check_arch(const struct ctx_pd_facts *facts)
{
	assert_string_equal(facts->machine.arch, "s390x");
}

static void make_processors(struct maker *maker)
{
	put32(maker, 4);
	put32(maker, 3);
}

static void check_processors(const struct ctx_pd_facts *facts)
{
	assert_int_equal(facts->machine.cpus_available, 4);
	assert_int_equal(facts->machine.cpus_online, 3);
}

static void make_cpu_desc(struct maker *maker)
{
	put_text(maker, "A processor, fast");
}

static void check_cpu_desc(const struct ctx_pd_facts *facts)
{
	assert_string_equal(facts->machine.cpu_desc, "A processor, fast");
}

static void make_cpuid(struct maker *maker)
{
	put_text(maker, "GenuineIntel,6,85,7");
}

static void check_cpuid(const struct ctx_pd_facts *facts)
{
	assert_string_equal(facts->machine.cpuid, "GenuineIntel,6,85,7");
}

static void make_memory(struct maker *maker)
{
	put64(maker, 24684096);
}

static void check_memory(const struct ctx_pd_facts *facts)
{
	assert_int_equal(facts->machine.memory_kb, 24684096);
}

static void make_command(struct maker *maker)
{
	put32(maker, 4);
	put_text(maker, "/usr/bin/perf");
	put_text(maker, "");
	put_text(maker, "it's");
	put_text(maker, "a-longer-word-that-fills-the-sixty-four-bytes-and-more-so-that-it-is-padded-twice");
}

static void check_command(const struct ctx_pd_facts *facts)
{
	assert_string_equal(
		facts->command,
		"/usr/bin/perf '' 'it'\\''s' "
		"a-longer-word-that-fills-the-sixty-four-bytes-and-more-so-that-it-is-padded-twice");
}

static void make_events(struct maker *maker)
{
	put32(maker, 2);
	put32(maker, ATTR_BYTES);
	put_attr(maker, 1, 0, 4);
	put32(maker, 2);
	put_text(maker, "cpu-clock");
	put64(maker, 66);
	put64(maker, UINT64_C(0x1122334455667788));
	put_attr(maker, 2, 0x1234567890, -1);
	put32(maker, 0);
	put_text(maker, "sched:sched_switch");
}

/* Repeated, they are there again. */
static void check_events(const struct ctx_pd_facts *facts)
{
	assert_int_equal(facts->events.n % 2, 0);
	assert_string_equal(facts->events.items[0].name, "cpu-clock");
	assert_int_equal(facts->events.items[0].type, 1);
	assert_int_equal(facts->events.items[0].config, 0);
	assert_int_equal(facts->events.items[0].n_ids, 2);
	assert_int_equal(facts->events.items[0].ids[1], UINT64_C(0x1122334455667788));
	assert_string_equal(facts->events.items[1].name, "sched:sched_switch");
	assert_int_equal(facts->events.items[1].type, 2);
	assert_int_equal(facts->events.items[1].config, 0x1234567890);
	assert_int_equal(facts->events.items[1].n_ids, 0);
	assert_string_equal(event_name_of_id(facts, 66), "cpu-clock");
	assert_string_equal(event_name_of_id(facts, UINT64_C(0x1122334455667788)), "cpu-clock");
	assert_null(event_name_of_id(facts, 0));
	assert_true(facts->clock.has_clockid);
	assert_int_equal(facts->clock.clockid, CLOCK_MONOTONIC_RAW);
}

/* The number of processors comes first, as in every file. */
static void make_topology(struct maker *maker)
{
	put32(maker, 1);
	put_text(maker, "0-3");
	put32(maker, 2);
	put_text(maker, "0-1");
	put_text(maker, "2-3");
	for (uint32_t i = 0; i < 4; i++) {
		put32(maker, i / 2);
		put32(maker, 0);
	}
	put32(maker, 3);
	put_text(maker, "0");
	put_text(maker, "1");
	put_text(maker, "2-3");
	for (uint32_t i = 0; i < 4; i++)
		put32(maker, i);
}

static void check_topology(const struct ctx_pd_facts *facts)
{
	assert_int_equal(facts->machine.sockets, 1);
	assert_int_equal(facts->machine.cores, 2);
	assert_int_equal(facts->machine.dies, 3);
}

static void make_numa(struct maker *maker)
{
	put32(maker, 2);
	for (uint32_t i = 0; i < 2; i++) {
		put32(maker, i);
		put64(maker, 1000);
		put64(maker, 500);
		put_text(maker, i == 0 ? "0-1" : "2-3");
	}
}

static void check_numa(const struct ctx_pd_facts *facts)
{
	assert_int_equal(facts->machine.numa_nodes, 2);
	assert_int_equal(facts->machine.topology.n, 4);
	assert_int_equal(facts->machine.topology.cpus[1].node, 0);
	assert_int_equal(facts->machine.topology.cpus[2].node, 1);
}

static void make_hybrid(struct maker *maker)
{
	put32(maker, 2);
	put_text(maker, "cpu_core");
	put_text(maker, "0-1\n");
	put_text(maker, "cpu_atom");
	put_text(maker, "3");
}

static void check_hybrid(const struct ctx_pd_facts *facts)
{
	const struct ctx_topology *topology = &facts->machine.topology;

	assert_string_equal(topology->cpus[1].pmu, "cpu_core");
	assert_null(topology->cpus[2].pmu);
	assert_string_equal(topology->cpus[3].pmu, "cpu_atom");
}

static void make_times(struct maker *maker)
{
	put64(maker, UINT64_C(757886710327));
	put64(maker, UINT64_C(777712750548));
}

static void check_times(const struct ctx_pd_facts *facts)
{
	assert_int_equal(facts->clock.first_sample_ns, UINT64_C(757886710327));
	assert_int_equal(facts->clock.last_sample_ns, UINT64_C(777712750548));
}

static void make_resolution(struct maker *maker)
{
	put64(maker, 1);
}

/* It has the resolution but not the clock. */
static void check_resolution(const struct ctx_pd_facts *facts)
{
	assert_int_equal(facts->seen[0] >> CTX_PD_FEATURE_CLOCKID & 1, 1);
}

static void make_directory(struct maker *maker)
{
	put64(maker, 1);
}

static void check_directory(const struct ctx_pd_facts *facts)
{
	assert_int_equal(facts->dir_version, 1);
}

static void make_compression(struct maker *maker)
{
	put32(maker, 0);
	put32(maker, 1);
	put32(maker, 3);
	put32(maker, 5);
	put32(maker, 528384);
}

static void check_compression(const struct ctx_pd_facts *facts)
{
	assert_true(facts->compression.on);
	assert_int_equal(facts->compression.type, 1);
	assert_int_equal(facts->compression.level, 3);
	assert_int_equal(facts->compression.ratio, 5);
	assert_int_equal(facts->compression.mmap_bytes, 528384);
}

static void make_clock(struct maker *maker)
{
	put32(maker, 1);
	put32(maker, CLOCK_MONOTONIC_RAW);
	put64(maker, UINT64_C(1795244643243823000));
	put64(maker, UINT64_C(11894936115446));
}

static void check_clock(const struct ctx_pd_facts *facts)
{
	assert_true(facts->clock.has_clockid);
	assert_true(facts->clock.has_clock_data);
	assert_int_equal(facts->clock.clockid, CLOCK_MONOTONIC_RAW);
	assert_int_equal(facts->clock.wall_clock_ns, UINT64_C(1795244643243823000));
	assert_int_equal(facts->clock.clock_ns, UINT64_C(11894936115446));
}

static const struct example {
	uint32_t feature;
	void (*make)(struct maker *maker);
	void (*check)(const struct ctx_pd_facts *facts);
	uint32_t
		shorter; /* so many of its beginnings are whole features of an older perf or with fewer records */
} examples[] = {
	{CTX_PD_FEATURE_BUILD_ID, make_build_ids, check_build_ids, 2},
	{CTX_PD_FEATURE_HOSTNAME, make_host, check_host, 0},
	{CTX_PD_FEATURE_OSRELEASE, make_release, check_release, 0},
	{CTX_PD_FEATURE_VERSION, make_version, check_version, 0},
	{CTX_PD_FEATURE_ARCH, make_arch, check_arch, 0},
	{CTX_PD_FEATURE_NRCPUS, make_processors, check_processors, 0},
	{CTX_PD_FEATURE_CPUDESC, make_cpu_desc, check_cpu_desc, 0},
	{CTX_PD_FEATURE_CPUID, make_cpuid, check_cpuid, 0},
	{CTX_PD_FEATURE_TOTAL_MEM, make_memory, check_memory, 0},
	{CTX_PD_FEATURE_CMDLINE, make_command, check_command, 0},
	{CTX_PD_FEATURE_EVENT_DESC, make_events, check_events, 0},
	{CTX_PD_FEATURE_CPU_TOPOLOGY, make_topology, check_topology, 2},
	{CTX_PD_FEATURE_NUMA_TOPOLOGY, make_numa, check_numa, 0},
	{CTX_PD_FEATURE_HYBRID_TOPOLOGY, make_hybrid, check_hybrid, 0},
	{CTX_PD_FEATURE_SAMPLE_TIME, make_times, check_times, 0},
	{CTX_PD_FEATURE_CLOCKID, make_resolution, check_resolution, 0},
	{CTX_PD_FEATURE_DIR_FORMAT, make_directory, check_directory, 0},
	{CTX_PD_FEATURE_COMPRESSED, make_compression, check_compression, 0},
	{CTX_PD_FEATURE_CLOCK_DATA, make_clock, check_clock, 0},
};

static void add_example(struct ctx_pd_facts *facts, uint32_t number, bool swap)
{
	struct maker maker = {.swap = swap};

	examples[number].make(&maker);
	add(facts, examples[number].feature, &maker);
	ctx_buf_deinit(&maker.buf);
}

static void add_all(struct ctx_pd_facts *facts, bool swap)
{
	for (uint32_t i = 0; i < CTX_COUNT_OF(examples); i++)
		add_example(facts, i, swap);
}

static void test_perfdata_facts__every_feature_is_read_in_either_byte_order(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct ctx_pd_facts facts = {0};
		uint64_t seen = 0;

		add_all(&facts, swap != 0);
		for (uint32_t i = 0; i < CTX_COUNT_OF(examples); i++) {
			examples[i].check(&facts);
			seen |= UINT64_C(1) << examples[i].feature;
		}
		assert_int_equal(facts.seen[0], seen);
		assert_int_equal(facts.damage.n, 0);
		ctx_pd_facts_deinit(&facts);
		assert_int_equal(facts.seen[0], 0);
	}
}

/* Damage is one line, and what was known before is still known. */
static void test_perfdata_facts__a_feature_that_is_cut_off_anywhere_is_one_line(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < CTX_COUNT_OF(examples) * 2; i++) {
		const struct example *example = &examples[i / 2];
		struct maker maker = {.swap = i % 2 != 0}, processors = {.swap = maker.swap};
		uint32_t shorter = 0;

		example->make(&maker);
		make_processors(&processors);
		for (size_t n = 0; n < maker.buf.n; n++) {
			struct ctx_pd_facts facts = {0};
			bool topology = example->feature == CTX_PD_FEATURE_CPU_TOPOLOGY;

			add(&facts, CTX_PD_FEATURE_NRCPUS, &processors);
			assert_int_equal(add_copy(&facts, example->feature, &maker, n), CTX_OK);
			assert_true(facts.damage.n <= 1);
			shorter += facts.damage.n == 0;
			if (facts.damage.n != 0)
				assert_int_equal(strncmp(facts.damage.lines[0], "header: ", 8), 0);
			ctx_pd_facts_deinit(&facts);

			add(&facts, CTX_PD_FEATURE_NRCPUS, &processors);
			add(&facts, example->feature, &maker);
			assert_int_equal(add_copy(&facts, example->feature, &maker, n), CTX_OK);
			if (example->feature == CTX_PD_FEATURE_EVENT_DESC)
				assert_int_equal(facts.events.n, n < FIRST_EVENT_BYTES ? 2 : 3);
			else if (!topology || facts.damage.n != 0)
				example->check(&facts);
			ctx_pd_facts_deinit(&facts);
		}
		assert_int_equal(shorter, example->shorter);
		ctx_buf_deinit(&maker.buf);
		ctx_buf_deinit(&processors.buf);
	}
}

static void test_perfdata_facts__a_duplicate_feature_replaces_or_is_added(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};

	(void)state;
	add_all(&facts, false);
	add_all(&facts, true);
	for (uint32_t i = 0; i < CTX_COUNT_OF(examples); i++)
		examples[i].check(&facts); /* equal build ids are one */
	assert_int_equal(facts.events.n, 4);
	put_text(&maker, "target2");
	add(&facts, CTX_PD_FEATURE_HOSTNAME, &maker);
	assert_string_equal(facts.machine.hostname, "target2");
	assert_int_equal(facts.damage.n, 0);
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

static void test_perfdata_facts__unknown_features_are_not_damage(void **state)
{
	static const uint32_t unknown[] = {0, 1, 15, 18, 19, 20, 63, 64, 200, 255, 256, 4000, UINT32_MAX};
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};
	uint32_t seen = 0;

	(void)state;
	put_text(&maker, "what a later perf writes");
	for (uint32_t i = 0; i < CTX_COUNT_OF(unknown); i++)
		add(&facts, unknown[i], &maker);
	assert_int_equal(facts.damage.n, 0);
	for (uint32_t i = 0; i < CTX_COUNT_OF(facts.seen); i++)
		seen += (uint32_t)__builtin_popcountll(facts.seen[i]);
	assert_int_equal(seen, 10);
	assert_int_equal(facts.seen[3] >> 63, 1);
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

/* ---- values that must not be trusted ---- */

static void expect_damage(uint32_t feature, struct maker *maker, const char *reason)
{
	struct ctx_pd_facts facts = {0};

	add(&facts, feature, maker);
	assert_int_equal(facts.damage.n, 1);
	if (strstr(facts.damage.lines[0], reason) == NULL)
		fail_msg("'%s' is not in '%s'", reason, facts.damage.lines[0]);
	/* One chunk of the arena, or each string for itself. */
	assert_true(facts.arena.total_bytes < 100000);
	assert_true(facts.events.cap < 100);
	assert_int_equal(facts.events.of_id.cap, 0);
	ctx_pd_facts_deinit(&facts);
	ctx_buf_clear(&maker->buf);
}

static void test_perfdata_facts__counts_of_billions_cost_nothing(void **state)
{
	struct maker maker = {0};

	(void)state;
	put32(&maker, 1);
	put32(&maker, ATTR_BYTES);
	put_attr(&maker, 1, 0, -1);
	put32(&maker, UINT32_MAX);
	put_text(&maker, "cpu-clock");
	put64(&maker, 66);
	expect_damage(CTX_PD_FEATURE_EVENT_DESC, &maker, "names of events: cut short");
	put32(&maker, 1);
	put32(&maker, ATTR_BYTES);
	put_attr(&maker, 1, 0, -1);
	put32(&maker, 0x20000001); /* times 8 it is 8 in 32 bits */
	put_text(&maker, "cpu-clock");
	put64(&maker, 66);
	expect_damage(CTX_PD_FEATURE_EVENT_DESC, &maker, "names of events: cut short");
	put32(&maker, UINT32_MAX);
	put32(&maker, ATTR_BYTES);
	expect_damage(CTX_PD_FEATURE_EVENT_DESC, &maker, "cut short");
	put32(&maker, 1);
	put32(&maker, UINT32_MAX);
	put_zeros(&maker, 200);
	expect_damage(CTX_PD_FEATURE_EVENT_DESC, &maker, "cut short");
	put32(&maker, UINT32_MAX);
	put32(&maker, 0);
	put_zeros(&maker, 200);
	expect_damage(CTX_PD_FEATURE_EVENT_DESC, &maker, "attributes of 0 bytes");
	put32(&maker, UINT32_MAX);
	put_text(&maker, "perf");
	expect_damage(CTX_PD_FEATURE_CMDLINE, &maker, "command line: cut short");
	put32(&maker, UINT32_MAX);
	expect_damage(CTX_PD_FEATURE_NUMA_TOPOLOGY, &maker, "NUMA nodes: cut short");
	put32(&maker, UINT32_MAX);
	expect_damage(CTX_PD_FEATURE_CPU_TOPOLOGY, &maker, "sockets and cores: cut short");
	put32(&maker, UINT32_MAX);
	expect_damage(CTX_PD_FEATURE_HOSTNAME, &maker, "name of the host: cut short");
	ctx_buf_deinit(&maker.buf);
}

static void test_perfdata_facts__nonsensical_values_are_damage(void **state)
{
	struct maker maker = {0};

	(void)state;
	put32(&maker, 4);
	ctx_buf_put_text(&maker.buf, "host");
	expect_damage(CTX_PD_FEATURE_HOSTNAME, &maker, "without an end");
	put32(&maker, 0);
	expect_damage(CTX_PD_FEATURE_HOSTNAME, &maker, "without an end");
	put64(&maker, 2);
	put64(&maker, 1);
	expect_damage(CTX_PD_FEATURE_SAMPLE_TIME, &maker, "the last sample is before the first");
	put32(&maker, 2);
	put_zeros(&maker, 20);
	expect_damage(CTX_PD_FEATURE_CLOCK_DATA, &maker, "version 2 is not known");
	put32(&maker, 0);
	put16(&maker, 0);
	put16(&maker, 7); /* would begin inside its own header */
	put_zeros(&maker, 100);
	expect_damage(CTX_PD_FEATURE_BUILD_ID, &maker, "build ids: cut short");
	ctx_buf_deinit(&maker.buf);
}

static void test_perfdata_facts__the_damage_of_a_whole_file_is_a_few_lines(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};

	(void)state;
	for (int i = 0; i < 1000; i++)
		add(&facts, CTX_PD_FEATURE_HOSTNAME, &maker);
	assert_int_equal(facts.damage.n, 65);
	assert_string_equal(facts.damage.lines[63],
			    "header: name of the host: cut short, or a text without an end");
	assert_string_equal(facts.damage.lines[64], "header: more could not be read");
	ctx_pd_facts_deinit(&facts);
}

/* ---- clock and topology ---- */

static void test_perfdata_facts__clock_data_outrank_the_clock_of_an_event(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct maker maker = {.swap = i % 2 != 0};
		struct ctx_pd_facts facts = {0};

		put32(&maker, 1);
		put32(&maker, ATTR_BYTES);
		put_attr(&maker, 1, 0, CLOCK_TAI);
		put32(&maker, 0);
		put_text(&maker, "cpu-clock");
		if (i / 2 != 0)
			add_example(&facts, CTX_COUNT_OF(examples) - 1, maker.swap);
		add(&facts, CTX_PD_FEATURE_EVENT_DESC, &maker);
		assert_true(facts.clock.has_clockid);
		assert_int_equal(facts.clock.clockid, i / 2 != 0 ? CLOCK_MONOTONIC_RAW : CLOCK_TAI);
		add_example(&facts, CTX_COUNT_OF(examples) - 1, maker.swap);
		check_clock(&facts);
		ctx_buf_deinit(&maker.buf);
		ctx_pd_facts_deinit(&facts);
	}
}

static void test_perfdata_facts__topology_without_the_number_of_processors_has_no_dies(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};

	(void)state;
	make_topology(&maker);
	add(&facts, CTX_PD_FEATURE_CPU_TOPOLOGY, &maker);
	assert_int_equal(facts.machine.sockets, 1);
	assert_int_equal(facts.machine.cores, 2);
	assert_int_equal(facts.machine.dies, 0);
	assert_int_equal(facts.damage.n, 0);
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

static void test_perfdata_facts__more_processors_than_the_topology_has_room_for_are_damage(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};

	(void)state;
	put32(&maker, UINT32_MAX);
	put32(&maker, 1);
	add(&facts, CTX_PD_FEATURE_NRCPUS, &maker);
	ctx_buf_clear(&maker.buf);
	make_topology(&maker);
	add(&facts, CTX_PD_FEATURE_CPU_TOPOLOGY, &maker);
	assert_int_equal(facts.damage.n, 1);
	assert_int_equal(facts.machine.sockets, 0);
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

static void test_perfdata_facts__a_processor_of_two_nodes_or_pmus_is_damage(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		ctx_buf_clear(&maker.buf);
		put32(&maker, 2);
		for (uint32_t k = 0; k < 2; k++) {
			if (i == 0) {
				put32(&maker, k);
				put_zeros(&maker, 16);
			} else {
				put_text(&maker, k == 0 ? "cpu_core" : "cpu_atom");
			}
			put_text(&maker, "0-65535");
		}
		add(&facts, i == 0 ? CTX_PD_FEATURE_NUMA_TOPOLOGY : CTX_PD_FEATURE_HYBRID_TOPOLOGY, &maker);
	}
	assert_int_equal(facts.damage.n, 2);
	assert_string_equal(facts.damage.lines[0], "header: NUMA nodes: a processor that is listed twice");
	assert_string_equal(facts.damage.lines[1],
			    "header: processors of each PMU: a processor that is listed twice");
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

/* ---- the report header ---- */

static void expect_properties(struct ctx_pd_facts *facts, uint64_t start_ns,
			      const struct ctx_property *expected, size_t n)
{
	struct ctx_property *properties;
	size_t found;

	assert_int_equal(ctx_pd_facts_properties(facts, start_ns, &properties, &found, NULL), CTX_OK);
	assert_int_equal(found, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(properties[i].key, expected[i].key);
		assert_string_equal(properties[i].value, expected[i].value);
	}
	free(properties);
}

static void test_perfdata_facts__properties_are_in_order_with_the_keys_of_an_experiment(void **state)
{
	static const struct ctx_property expected[] = {
		{"collector", "perf 6.1.187"},
		{"command",
		 "/usr/bin/perf '' 'it'\\''s' "
		 "a-longer-word-that-fills-the-sixty-four-bytes-and-more-so-that-it-is-padded-twice"},
		{"host", "target1"},
		{"kernel", "6.1.0-18-amd64"},
		{"arch", "s390x"},
		{"processors", "A processor, fast, 3 online of 4, 1 socket, 2 cores, 3 dies, 2 NUMA nodes"},
		{"cores", "S0-D0-C0: 0; S0-D1-C0: 1; S0-D2-C1: 2; S0-D3-C1: 3"},
		{"sockets", "0: 0-3"},
		{"nodes", "0: 0-1; 1: 2-3"},
		{"pmus", "cpu_atom: 3; cpu_core: 0-1"},
		{"memory", "23.5 GiB"},
		{"start", "2026-11-21 07:04:05 UTC"},
		{"clock", "CLOCK_MONOTONIC_RAW"},
	};
	struct ctx_pd_facts facts = {0};

	(void)state;
	add_all(&facts, true);
	/* 1795244643.24 of the wall clock was 11894.94 of the file's. */
	expect_properties(&facts, UINT64_C(11896800000000), expected, CTX_COUNT_OF(expected));
	ctx_pd_facts_deinit(&facts);
	expect_properties(&facts, 0, NULL, 0);
	ctx_pd_facts_deinit(&facts);
}

static void test_perfdata_facts__missing_facts_have_no_line(void **state)
{
	struct ctx_pd_facts facts = {.machine.hostname = "",
				     .machine.cpu_desc = "",
				     .machine.cpuid = "A,1",
				     .machine.dies = 1,
				     .machine.sockets = 1,
				     .machine.memory_kb = 1537};

	(void)state;
	expect_properties(&facts, 0,
			  (struct ctx_property[]){{"processors", "A,1, 1 socket"}, {"memory", "1.5 MiB"}}, 2);
	ctx_pd_facts_deinit(&facts);
	facts = (struct ctx_pd_facts){.machine.cpus_online = 2, .machine.cpus_available = 2};
	expect_properties(&facts, 0, (struct ctx_property[]){{"processors", "2 online of 2"}}, 1);
	ctx_pd_facts_deinit(&facts);
	facts = (struct ctx_pd_facts){.clock.has_clockid = true, .clock.clockid = 12345};
	expect_properties(&facts, 0, (struct ctx_property[]){{"clock", "clock 12345"}}, 1);
	ctx_pd_facts_deinit(&facts);
	facts = (struct ctx_pd_facts){.machine.memory_kb = UINT64_MAX};
	expect_properties(&facts, 0, (struct ctx_property[]){{"memory", "17592186044415.9 GiB"}}, 1);
	ctx_pd_facts_deinit(&facts);
}

static void expect_start(uint64_t wall_clock_ns, uint64_t clock_ns, uint64_t start_ns, const char *expected)
{
	struct ctx_pd_facts facts = {.clock.has_clock_data = true,
				     .clock.wall_clock_ns = wall_clock_ns,
				     .clock.clock_ns = clock_ns};

	expect_properties(&facts, start_ns, &(struct ctx_property){"start", expected}, expected != NULL);
	ctx_pd_facts_deinit(&facts);
}

static void test_perfdata_facts__the_start_is_before_or_after_the_moment_of_the_clock_data(void **state)
{
	const uint64_t second = 1000000000;

	(void)state;
	expect_start(100 * second, 50 * second, 50 * second, "1970-01-01 00:01:40 UTC");
	expect_start(100 * second, 50 * second, 30 * second, "1970-01-01 00:01:20 UTC");
	expect_start(100 * second, 50 * second, 86400 * second, "1970-01-02 00:00:50 UTC");
	expect_start(100 * second, 200 * second, 100 * second, "1970-01-01 00:00:00 UTC");
	expect_start(100 * second, 200 * second, 100 * second - 1, NULL); /* before 1970 */
	expect_start(UINT64_MAX, 0, 1, NULL);
	expect_start(UINT64_MAX, 1, 0, "2554-07-21 23:34:33 UTC");
	expect_start(0, UINT64_MAX, 0, NULL);
}

/* ---- memory ---- */

static enum ctx_status read_all(struct ctx_pd_facts *facts, const struct maker *makers)
{
	struct ctx_property *properties;
	enum ctx_status status;
	size_t n;

	for (uint32_t i = 0; i < CTX_COUNT_OF(examples) * 2; i++) {
		/* First cut off, so that lines of damage fail too. */
		const struct maker *maker = &makers[i / 2];

		status = add_copy(facts, examples[i / 2].feature, maker, i % 2 != 0 ? maker->buf.n : 3);
		if (status != CTX_OK)
			return status;
	}
	status = ctx_pd_facts_properties(facts, 0, &properties, &n, NULL);
	if (status == CTX_OK)
		free(properties);
	return status;
}

static void test_perfdata_facts__a_failing_allocation_is_a_status(void **state)
{
	struct maker makers[CTX_COUNT_OF(examples)] = {0};
	enum ctx_status status = CTX_E_NOMEM;
	uint32_t failures = 0;

	(void)state;
	for (uint32_t i = 0; i < CTX_COUNT_OF(examples); i++)
		examples[i].make(&makers[i]);
	for (long n = 0; status != CTX_OK; n++) {
		struct ctx_pd_facts facts = {0};

		assert_true(n < 10000);
		fail_after = n;
		status = read_all(&facts, makers);
		fail_after = -1;
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
		failures += status == CTX_E_NOMEM;
		/* What is half there can be asked, and read into once more. */
		assert_string_equal(ctx_pd_facts_build_id(&facts, "/none"), "");
		(void)event_name_of_id(&facts, 66);
		assert_int_equal(read_all(&facts, makers), CTX_OK);
		check_build_ids(&facts);
		check_command(&facts);
		assert_string_equal(event_name_of_id(&facts, 66), "cpu-clock");
		ctx_pd_facts_deinit(&facts);
	}
	assert_true(failures > 15);
	for (uint32_t i = 0; i < CTX_COUNT_OF(examples); i++)
		ctx_buf_deinit(&makers[i].buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_facts__every_feature_is_read_in_either_byte_order),
		cmocka_unit_test(test_perfdata_facts__a_feature_that_is_cut_off_anywhere_is_one_line),
		cmocka_unit_test(test_perfdata_facts__a_duplicate_feature_replaces_or_is_added),
		cmocka_unit_test(test_perfdata_facts__unknown_features_are_not_damage),
		cmocka_unit_test(test_perfdata_facts__counts_of_billions_cost_nothing),
		cmocka_unit_test(test_perfdata_facts__nonsensical_values_are_damage),
		cmocka_unit_test(test_perfdata_facts__the_damage_of_a_whole_file_is_a_few_lines),
		cmocka_unit_test(test_perfdata_facts__clock_data_outrank_the_clock_of_an_event),
		cmocka_unit_test(test_perfdata_facts__a_processor_of_two_nodes_or_pmus_is_damage),
		cmocka_unit_test(test_perfdata_facts__topology_without_the_number_of_processors_has_no_dies),
		cmocka_unit_test(
			test_perfdata_facts__more_processors_than_the_topology_has_room_for_are_damage),
		cmocka_unit_test(test_perfdata_facts__properties_are_in_order_with_the_keys_of_an_experiment),
		cmocka_unit_test(test_perfdata_facts__missing_facts_have_no_line),
		cmocka_unit_test(
			test_perfdata_facts__the_start_is_before_or_after_the_moment_of_the_clock_data),
		cmocka_unit_test(test_perfdata_facts__a_failing_allocation_is_a_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
