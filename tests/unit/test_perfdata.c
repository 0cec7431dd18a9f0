/*
 * The whole source: recordings that are made here, in every form that perf has, whole and damaged.
 */
#include "tests/unit/perfdata_usual.h"
#include "tests/unit/source_memory.h"

#include <fcntl.h>
#include <time.h>

/* ---- what is in it ---- */

static void test_perfdata__events_of_a_usual_recording_are_these(void **state)
{
	struct pd_recording recording;
	struct pd_reading reading;

	(void)state;
	usual(&recording, false);
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.status, CTX_OK);
	assert_string_equal(pd_lines(&reading.events), usual_events);
	assert_string_equal(pd_lines(&reading.head), "duration 2301\n"
						     "metric cpu-clock:u (ns)\n"
						     "metric instructions (events)\n");
	assert_string_equal(pd_lines(&reading.warnings), "records not used: 1 SWITCH\n");
	assert_string_equal(pd_lines(&reading.damage), "");
	assert_string_equal(reading.properties, "host=target1\nkernel=6.1.0\n");
	assert_string_equal(reading.format, "perf.data");
	assert_true(reading.closed);
	assert_int_equal(reading.samples, USUAL_SAMPLES);
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

static void check_usual(const struct pd_recording *recording, const struct pd_form *form)
{
	struct pd_reading reading;

	pd_read_form(recording, form, &reading);
	assert_int_equal(reading.status, CTX_OK);
	assert_string_equal(pd_lines(&reading.damage), "");
	assert_int_equal(reading.late, 0);
	assert_string_equal(pd_lines(&reading.events), usual_events);
	assert_string_equal(pd_lines(&reading.head), "duration 2301\n"
						     "metric cpu-clock:u (ns)\n"
						     "metric instructions (events)\n");
	assert_string_equal(reading.properties, "host=target1\nkernel=6.1.0\n");
	assert_string_equal(reading.format, form->kind == PD_PIPE ? "perf.data (pipe)" : "perf.data");
	pd_reading_deinit(&reading);
}

static void test_perfdata__every_form_in_either_byte_order_gives_the_same_events(void **state)
{
	static const size_t pieces[] = {1, 7, 40, 100, 333, 2048};

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct pd_recording recording;

		usual(&recording, swap != 0);
		for (size_t i = 0; i < CTX_COUNT_OF(usual_kinds); i++) {
			for (size_t k = 0; k < CTX_COUNT_OF(pieces); k++)
				check_usual(&recording, &(struct pd_form){.kind = usual_kinds[i],
									  .packed_from = pieces[k]});
		}
		pd_recording_deinit(&recording);
	}
}

/* The records of one ring, as data.0 of a directory has them: nothing but records. */
static void make_ring(struct pd_recording *ring, bool swap, void (*put)(struct pd_recording *, int))
{
	*ring = (struct pd_recording){.swap = swap};
	usual_head(ring);
	for (int round = 0; round < 3; round++) {
		put(ring, round);
		pd_round(ring);
	}
}

static void make_directory(const char *path, bool swap, bool packed)
{
	struct pd_recording main_file = {.swap = swap}, rings[2];
	struct ctx_buf bytes = {0};

	usual_head(&main_file);
	usual_before(&main_file);
	pd_write(&main_file, &(struct pd_form){.kind = PD_FILE}, &bytes);
	pd_store(path, "data", &bytes);
	make_ring(&rings[0], swap, usual_ring_0);
	make_ring(&rings[1], swap, usual_ring_1);
	for (int i = 0; i < 2; i++) {
		struct pd_form form = {.kind = PD_COMPRESSED, .packed_from = 55};

		ctx_buf_clear(&bytes);
		if (packed)
			pd_pack(&rings[i], &form, &bytes);
		else
			ctx_buf_put(&bytes, rings[i].bytes.bytes, rings[i].bytes.n);
		pd_store(path, i == 0 ? "data.0" : "data.1", &bytes);
		pd_recording_deinit(&rings[i]);
	}
	ctx_buf_deinit(&bytes);
	pd_recording_deinit(&main_file);
}

static void test_perfdata__a_directory_gives_the_same_events_as_one_file(void **state)
{
	(void)state;
	for (int variant = 0; variant < 4; variant++) {
		char *path = pd_directory();
		struct pd_reading reading;

		make_directory(path, variant % 2 != 0, variant / 2 != 0);
		assert_true(ctx_perfdata_is(path));
		pd_read(path, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_string_equal(pd_lines(&reading.damage), "");
		assert_string_equal(pd_lines(&reading.events), usual_events);
		assert_string_equal(reading.format, "perf.data (directory)");
		pd_reading_deinit(&reading);
		pd_directory_remove(path);
	}
}

static void test_perfdata__damage_in_a_directory_is_reported(void **state)
{
	char *path = pd_directory(), *name = ctx_path_join(path, "data.1");
	struct pd_reading reading;

	(void)state;
	assert_false(ctx_perfdata_is(path));
	pd_read(path, &reading);
	assert_int_equal(reading.status, CTX_E_NOTFOUND);
	pd_reading_deinit(&reading);
	make_directory(path, false, false);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(mkfifo(name, 0600), 0); /* must not be waited for */
	pd_read(path, &reading);
	assert_int_equal(reading.status, CTX_OK);
	assert_non_null(strstr(pd_lines(&reading.damage), "data.1"));
	assert_int_equal(reading.samples, 6);
	pd_reading_deinit(&reading);
	free(name);
	pd_directory_remove(path);
}

static void test_perfdata__data_behind_an_auxtrace_record_is_passed_over(void **state)
{
	static const size_t sizes[] = {0, 8, 104, 65536, 3 << 20};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		for (int kind = 0; kind < 3; kind++) {
			struct pd_recording recording = {.swap = i % 2 != 0};
			struct pd_place place = usual_place(1, 1, 5, 0);
			struct pd_reading reading;

			usual_head(&recording);
			usual_sample(&recording, 0, &place);
			pd_auxtrace(&recording, sizes[i]);
			place.time++;
			usual_sample(&recording, 0, &place);
			pd_read_form(&recording, &(struct pd_form){.kind = usual_kinds[kind]}, &reading);
			assert_int_equal(reading.samples, 2);
			assert_string_equal(pd_lines(&reading.damage), "");
			assert_string_equal(pd_lines(&reading.warnings), "records not used: 1 AUXTRACE\n");
			pd_reading_deinit(&reading);
			pd_recording_deinit(&recording);
		}
	}
}

static void test_perfdata__a_trace_without_samples_says_how_to_make_them(void **state)
{
	struct pd_recording recording = {0};
	struct pd_reading reading;

	(void)state;
	usual_head(&recording);
	pd_auxtrace(&recording, 104);
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.samples, 0);
	assert_non_null(strstr(pd_lines(&reading.warnings), "perf inject --itrace=i100us"));
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

/* ---- ids, times, losses ---- */

static void test_perfdata__samples_of_unknown_ids_are_counted_and_left_out(void **state)
{
	struct pd_recording recording;
	struct pd_place place = usual_place(200, 200, 2290, 0);
	struct pd_reading reading;

	(void)state;
	usual(&recording, false);
	place.id = 999;
	usual_sample(&recording, 0, &place);
	usual_sample(&recording, 1, &place);
	place.id = 11; /* the second of the first event */
	usual_sample(&recording, 0, &place);
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.status, CTX_OK);
	assert_int_equal(reading.samples, USUAL_SAMPLES + 1);
	assert_non_null(strstr(pd_lines(&reading.warnings),
			       "2 samples are of events that the file does not describe"));
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

static void test_perfdata__times_outside_the_range_of_the_header_are_moved_and_counted(void **state)
{
	struct pd_recording recording = {0};
	struct pd_reading reading;

	(void)state;
	pd_add_attr(&recording, PD_USUAL_TYPE, 10);
	pd_add_sample_times(&recording, USUAL_BEGIN + 100, USUAL_BEGIN + 200);
	for (uint64_t t = 50; t <= 250; t += 50) {
		struct pd_place place = usual_place(1, 1, t, 0);

		usual_sample(&recording, 0, &place);
	}
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.samples, 5);
	assert_int_equal(reading.late, 0);
	assert_string_equal(pd_lines(&reading.head), "duration 101\nmetric cpu-clock (ns)\n");
	assert_non_null(strstr(pd_lines(&reading.warnings), "2 samples were outside of the time"));
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

static void test_perfdata__samples_without_time_are_all_at_the_beginning(void **state)
{
	struct pd_recording recording = {0};
	struct pd_reading reading;

	(void)state;
	pd_add_attr(&recording, PERF_SAMPLE_IP | PERF_SAMPLE_TID, 10);
	for (uint64_t i = 0; i < 3; i++) {
		struct pd_place place = usual_place(1, 1, i, 0);

		usual_sample(&recording, 0, &place);
		pd_round(&recording);
	}
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.samples, 3);
	assert_string_equal(pd_lines(&reading.head), "duration 1\nmetric cpu-clock (ns)\n");
	assert_non_null(strstr(pd_lines(&reading.warnings), "3 samples have no time"));
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

/* A recording without a host's name, with one clock, one sample, and these maps in front of it. */
static void read_maps(const struct pd_map *maps, size_t n, int32_t pid, struct pd_reading *reading)
{
	struct pd_recording recording = {0};
	struct pd_place place = usual_place(pid, pid, 5, 0);

	pd_add_attr(&recording, PD_USUAL_TYPE, 10);
	for (size_t i = 0; i < n; i++)
		pd_mmap(&recording, &place, &maps[i]);
	usual_sample(&recording, 0, &place);
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, reading);
	assert_int_equal(reading->status, CTX_OK);
	pd_recording_deinit(&recording);
}

static size_t count_lines_with(const char *lines, const char *text)
{
	size_t n = 0;

	for (const char *at = lines; (at = strstr(at, text)) != NULL; at++)
		n++;
	return n;
}

static void test_perfdata__maps_of_guests_are_ignored(void **state)
{
	static const struct pd_map maps[] = {
		{.address = 0x400000, .size = 0x1000, .path = "/bin/app"},
		{.address = 0x400000,
		 .size = 0x1000,
		 .path = "[guest.kernel.kallsyms]_text",
		 .mode = PERF_RECORD_MISC_GUEST_KERNEL},
		{.address = 0x400000,
		 .size = 0x1000,
		 .path = "/guest/bin",
		 .mode = PERF_RECORD_MISC_GUEST_USER},
	};
	struct pd_reading reading;

	(void)state;
	read_maps(maps, CTX_COUNT_OF(maps), 300, &reading);
	assert_int_equal(count_lines_with(pd_lines(&reading.events), " map "), 1);
	assert_non_null(strstr(pd_lines(&reading.events), "/bin/app"));
	assert_null(strstr(pd_lines(&reading.events), "guest"));
	pd_reading_deinit(&reading);
}

static void test_perfdata__anonymous_code_is_named_by_the_perf_map(void **state)
{
	static const struct pd_map maps[] = {
		{.address = 0x1000, .size = 0x1000, .path = "//anon"},
		{.address = 0x2000, .size = 0x1000, .path = "/dev/zero (deleted)"},
		{.address = 0x3000, .size = 0x1000, .path = "/anon_hugepage (deleted)"},
		{.address = 0x4000, .size = 0x1000, .path = "[anon:code]"},
		{.address = 0x5000, .size = 0x1000, .path = "/SYSV00000000 (deleted)"},
		{.address = 0x6000, .size = 0x1000, .path = "[heap]"},
		{.address = 0x7000, .size = 0x1000, .path = "[stack]"},
		{.address = 0x8000, .size = 0x1000, .path = "/usr/lib/heap"},
	};
	char path[64], line[128];
	struct pd_reading reading;
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "wxe");
	assert_non_null(file);
	fclose(file);
	read_maps(maps, CTX_COUNT_OF(maps), getpid(), &reading);
	unlink(path);
	assert_int_equal(count_lines_with(pd_lines(&reading.events), path), 7);
	for (unsigned i = 1; i < CTX_COUNT_OF(maps); i++) {
		snprintf(line, sizeof(line), "%u000+1000 %s@%u000 ", i, path, i);
		assert_non_null(strstr(pd_lines(&reading.events), line));
	}
	assert_non_null(strstr(pd_lines(&reading.events), "8000+1000 /usr/lib/heap@0 "));
	pd_reading_deinit(&reading);
}

/* A jitdump of one function, and of a record that ends too early. */
static void store_jitdump(const char *directory)
{
	struct ctx_buf bytes = {0};

	pd_u32(&bytes, false, 0x4a695444);
	pd_u32(&bytes, false, 1);
	pd_u32(&bytes, false, 40); /* of the header */
	pd_zeros(&bytes, 8);
	pd_u32(&bytes, false, 300);
	pd_zeros(&bytes, 16);
	pd_u32(&bytes, false, 0);
	pd_u32(&bytes, false, 16 + 40 + 4 + 1);
	pd_u64(&bytes, false, USUAL_BEGIN);
	pd_u32(&bytes, false, 300);
	pd_u32(&bytes, false, 300);
	pd_u64(&bytes, false, 0x9000);
	pd_u64(&bytes, false, 0x9000);
	pd_u64(&bytes, false, 1); /* bytes of code */
	pd_u64(&bytes, false, 0);
	ctx_buf_put(&bytes, "jit", 4);
	pd_zeros(&bytes, 1);
	pd_zeros(&bytes, 9);
	pd_store(directory, "jit-300.dump", &bytes);
	ctx_buf_deinit(&bytes);
}

/* The dump is mapped three times: before the sample, and in another process. */
static void check_jitdump(const char *path, bool monotonic, const char *warning, size_t n_functions)
{
	struct pd_map map = {.address = 0x7000, .size = 0x1000, .path = path};
	struct pd_recording recording = {0};
	struct pd_reading reading;
	struct pd_attr *attr = pd_add_attr(&recording, PD_USUAL_TYPE, 10);

	if (monotonic) {
		attr->flags |= PD_FLAG_USE_CLOCKID;
		attr->clockid = CLOCK_MONOTONIC;
	}
	for (int i = 0; i < 3; i++) {
		struct pd_place place = usual_place(i < 2 ? 300 : 301, i < 2 ? 300 : 301, 5, 0);

		pd_mmap(&recording, &place, &map);
		usual_sample(&recording, 0, &place);
	}
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.status, CTX_OK);
	assert_int_equal(count_lines_with(pd_lines(&reading.warnings), path), 1);
	assert_non_null(strstr(pd_lines(&reading.warnings), warning));
	assert_int_equal(count_lines_with(pd_lines(&reading.events), "f=jit\n"), n_functions);
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

static void test_perfdata__damage_of_a_jitdump_is_reported_once(void **state)
{
	char *directory = pd_directory(), *path = ctx_path_join(directory, "jit-300.dump");

	(void)state;
	assert_non_null(path);
	check_jitdump(path, true, "jit-300.dump", 0); /* there is none */
	store_jitdump(directory);
	check_jitdump(path, false, "another clock", 0);
	check_jitdump(path, true, "1 of its records cannot be used", 1);
	free(path);
	pd_directory_remove(directory);
}

static void test_perfdata__an_out_of_range_period_is_damage(void **state)
{
	static const uint64_t periods[] = {1, UINT64_MAX, UINT64_C(1) << 56, (UINT64_C(1) << 56) + 1, 2};
	struct pd_recording recording = {0};
	struct pd_place place = usual_place(300, 300, 5, 0);
	struct pd_reading reading;

	(void)state;
	pd_add_attr(&recording, PD_USUAL_TYPE, 10);
	for (size_t i = 0; i < CTX_COUNT_OF(periods); i++)
		pd_sample(&recording, &(struct pd_sample){.place = place, .ip = 1, .period = periods[i]});
	/* More than 64 bits hold are damage too, whatever each of them is. */
	for (int i = 0; i < 256; i++)
		pd_sample(&recording,
			  &(struct pd_sample){.place = place, .ip = 1, .period = UINT64_C(1) << 56});
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.status, CTX_OK);
	assert_int_equal(count_lines_with(pd_lines(&reading.damage), "impossible period"), 2 + 2);
	assert_int_equal(reading.samples, CTX_COUNT_OF(periods) - 2 + 256 - 2);
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

/*
 * perf record -e '{a,b}:S': the leader is sampled, and its samples have the counters of all. The
 * fixture's are 80, 81.
 */
static void test_perfdata__counters_of_a_group_are_samples_of_its_members(void **state)
{
	struct pd_recording recording = {0};
	struct pd_place place = usual_place(300, 300, 5, 81);
	struct pd_reading reading;

	(void)state;
	for (uint64_t id = 81; id <= 82; id++)
		pd_add_attr(&recording, PD_USUAL_TYPE | PERF_SAMPLE_READ, id)->read_format =
			PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	for (uint64_t n = 1; n <= 3; n++) /* the third counter has no event */
		pd_sample(&recording,
			  &(struct pd_sample){.place = place, .ip = 0x401000, .period = 1, .n_values = n});
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.status, CTX_OK);
	assert_int_equal(reading.samples, 2); /* what has not grown since is none */
	assert_int_equal(count_lines_with(pd_lines(&reading.events), "metric 0 weight 80"), 1);
	assert_int_equal(count_lines_with(pd_lines(&reading.events), "metric 1 weight 81"), 1);
	assert_non_null(strstr(pd_lines(&reading.warnings), "1 samples are of events"));
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

static void test_perfdata__a_loss_reported_twice_counts_once(void **state)
{
	struct pd_recording recording;
	struct pd_place place = usual_place(200, 200, 2290, 0);
	struct pd_reading reading;

	(void)state;
	usual(&recording, false); /* with 7 lost */
	pd_lost_samples(&recording, &place, 0, 4);
	pd_lost_samples(&recording, &place, 0, 5);
	pd_lost_samples(&recording, &place, CTX_PD_MISC_LOST_SAMPLES_BPF, 100);
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.lost, 9);
	assert_int_equal(reading.gaps, 1);
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

static void test_perfdata__two_events_of_one_name_are_distinguished(void **state)
{
	struct pd_recording recording = {0};
	struct pd_place place = usual_place(1, 1, 0, 0);
	struct pd_reading reading;

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		pd_add_attr(&recording, PD_USUAL_TYPE, 10 + i);
	usual_sample(&recording, 2, &place);
	pd_read_form(&recording, &(struct pd_form){.kind = PD_PIPE}, &reading);
	assert_string_equal(
		pd_lines(&reading.head),
		"duration 1\nmetric cpu-clock (ns)\nmetric cpu-clock#2 (ns)\nmetric cpu-clock#3 (ns)\n");
	assert_non_null(strstr(pd_lines(&reading.events), "metric 2 "));
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

/* ---- any order that the rings may have ---- */

struct drawn {
	uint64_t time;
	uint32_t cpu;
};

static int by_time(const void *a, const void *b)
{
	const struct drawn *left = a, *right = b;

	return (left->time > right->time) - (left->time < right->time);
}

/*
 * Rings that are read one after the other while they go on: nothing is older than the newest of two
 * rounds before.
 */
static size_t draw_rings(struct pd_recording *recording, uint64_t seed, uint32_t n_cpus, struct drawn *drawn,
			 size_t n_max)
{
	uint64_t now[8], base = 1;
	size_t n = 0;

	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		now[cpu] = base;
	for (int round = 0; round < 12; round++) {
		for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
			uint64_t limit = base + 1000 * cpu / n_cpus + 500;

			while (n < n_max) {
				now[cpu] += 1 + pd_random(&seed, 200);
				if (now[cpu] > limit)
					break;
				/* All times differ: the order is known then. */
				drawn[n] = (struct drawn){now[cpu] * 8 + cpu, cpu};
				usual_sample(recording, 0,
					     &(struct pd_place){
						     .pid = 1, .tid = 1, .time = drawn[n].time, .cpu = cpu});
				n++;
			}
		}
		pd_round(recording);
		base += 1000;
	}
	return n;
}

static void check_drawn(const struct pd_reading *reading, const struct drawn *drawn, size_t n)
{
	const char *at = pd_lines(&reading->events);

	assert_int_equal(reading->samples, n);
	assert_int_equal(reading->late, 0);
	for (size_t i = 0; i < n; i++) {
		char want[100];

		at = strstr(at, " sample 0/0");
		assert_non_null(at);
		while (at > pd_lines(&reading->events) && at[-1] != '\n')
			at--;
		snprintf(want, sizeof(want), "%llu sample 0/0 metric 0 weight %u cpu %u:",
			 (unsigned long long)(drawn[i].time - drawn[0].time), 1000 + drawn[i].cpu,
			 drawn[i].cpu);
		assert_memory_equal(at, want, strlen(want));
		at = strchr(at, '\n');
		assert_non_null(at);
	}
}

static void test_perfdata__rings_come_out_in_order_of_time(void **state)
{
	static struct drawn drawn[1000];

	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct pd_recording recording = {.swap = seed % 2 != 0};
		struct pd_form form = {.kind = usual_kinds[seed % 4], .packed_from = 1 + seed * 30};
		struct pd_reading reading;
		size_t n;

		pd_add_attr(&recording, PD_USUAL_TYPE, 10);
		n = draw_rings(&recording, seed, 1 + (uint32_t)seed % 8, drawn, CTX_COUNT_OF(drawn));
		assert_true(n > 10);
		qsort(drawn, n, sizeof(*drawn), by_time);
		pd_read_form(&recording, &form, &reading);
		assert_string_equal(pd_lines(&reading.damage), "");
		check_drawn(&reading, drawn, n);
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

/* ---- what is no perf.data ---- */

static enum ctx_status status_of(const void *bytes, size_t n, bool *is)
{
	struct ctx_buf buf = {0};
	struct pd_memory_file file;
	struct pd_reading reading;
	enum ctx_status status;

	ctx_buf_put(&buf, bytes, n);
	file = pd_memory_open(&buf);
	*is = ctx_perfdata_is(file.path);
	pd_read(file.path, &reading);
	status = reading.status;
	if (status != CTX_OK)
		assert_true(reading.err.msg[0] != '\0');
	pd_memory_close(&file);
	pd_reading_deinit(&reading);
	ctx_buf_deinit(&buf);
	return status;
}

static void test_perfdata__other_files_are_refused(void **state)
{
	char zeros[200] = {0}, old[200] = "PERFFILE";
	struct pd_reading reading;
	bool is;

	(void)state;
	assert_int_equal(status_of(zeros, sizeof(zeros), &is), CTX_E_FORMAT);
	assert_false(is);
	assert_int_equal(status_of("PERFILE2", 8, &is), CTX_E_FORMAT);
	assert_true(is);
	assert_int_equal(status_of("PERFIL", 6, &is), CTX_E_FORMAT);
	assert_false(is);
	assert_int_equal(status_of(old, sizeof(old), &is), CTX_E_VERSION);
	assert_true(is);
	assert_int_equal(status_of(old, 8, &is), CTX_E_VERSION);
	pd_read("/no/such/file", &reading);
	assert_int_equal(reading.status, CTX_E_NOTFOUND);
	assert_false(ctx_perfdata_is("/no/such/file"));
	pd_reading_deinit(&reading);
	pd_read("/dev/null", &reading);
	assert_int_equal(reading.status, CTX_E_IO);
	pd_reading_deinit(&reading);
}

static void test_perfdata__a_recording_without_events_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(usual_kinds); i++) {
		struct pd_recording recording = {0};
		struct pd_reading reading;

		pd_round(&recording);
		pd_read_form(&recording, &(struct pd_form){.kind = usual_kinds[i]}, &reading);
		assert_int_equal(reading.status, CTX_E_FORMAT);
		assert_non_null(strstr(reading.err.msg, "no event"));
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata__an_empty_recording_is_a_profile_without_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(usual_kinds); i++) {
		for (int open = 0; open < 2; open++) {
			struct pd_recording recording = {0};
			struct pd_reading reading;

			pd_add_attr(&recording, PD_USUAL_TYPE, 10);
			pd_read_form(&recording, &(struct pd_form){.kind = usual_kinds[i], .open = open != 0},
				     &reading);
			assert_int_equal(reading.status, CTX_OK);
			assert_string_equal(pd_lines(&reading.events), "");
			assert_string_equal(pd_lines(&reading.head), "duration 1\nmetric cpu-clock (ns)\n");
			pd_reading_deinit(&reading);
			pd_recording_deinit(&recording);
		}
	}
}

/* ---- memory that runs out ---- */

static void test_perfdata__out_of_memory_fails_without_leaks(void **state)
{
	char *path = pd_directory();

	(void)state;
	for (size_t kind = 0; kind < CTX_COUNT_OF(usual_kinds); kind++) {
		struct pd_recording recording;
		struct ctx_buf bytes = {0};
		struct pd_memory_file file;

		usual(&recording, false);
		pd_write(&recording, &(struct pd_form){.kind = usual_kinds[kind]}, &bytes);
		file = pd_memory_open(&bytes);
		assert_true(fail_each_allocation(ctx_perfdata_open, file.path) > 20);
		pd_memory_close(&file);
		ctx_buf_deinit(&bytes);
		pd_recording_deinit(&recording);
	}
	make_directory(path, false, false);
	assert_true(fail_each_allocation(ctx_perfdata_open, path) > 20);
	pd_directory_remove(path);
}

/* ---- fingerprints ---- */

static void test_perfdata__a_fingerprint_changes_with_any_part_of_a_recording(void **state)
{
	char *path = pd_directory(), before[17], again[17], changed[17], file[17];
	char *name = ctx_path_join(path, "data"), *last = ctx_path_join(path, "data.1");
	struct ctx_err err;
	struct stat info;

	(void)state;
	make_directory(path, false, false);
	assert_int_equal(ctx_perfdata_fingerprint(path, before, &err), CTX_OK);
	assert_int_equal(ctx_perfdata_fingerprint(path, again, &err), CTX_OK);
	assert_int_equal(ctx_perfdata_fingerprint(name, file, &err), CTX_OK);
	assert_int_equal(strlen(before), 16);
	assert_string_equal(before, again);
	assert_string_not_equal(before, file);
	assert_int_equal(stat(last, &info), 0);
	assert_int_equal(truncate(last, info.st_size - 1), 0);
	assert_int_equal(ctx_perfdata_fingerprint(path, changed, &err), CTX_OK);
	assert_string_not_equal(before, changed);
	assert_int_equal(unlink(last), 0);
	assert_int_equal(ctx_perfdata_fingerprint(path, again, &err), CTX_OK);
	assert_string_not_equal(again, changed);
	assert_int_equal(ctx_perfdata_fingerprint("/no/such/file", again, &err), CTX_E_NOTFOUND);
	free(name);
	free(last);
	pd_directory_remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata__events_of_a_usual_recording_are_these),
		cmocka_unit_test(test_perfdata__every_form_in_either_byte_order_gives_the_same_events),
		cmocka_unit_test(test_perfdata__a_directory_gives_the_same_events_as_one_file),
		cmocka_unit_test(test_perfdata__damage_in_a_directory_is_reported),
		cmocka_unit_test(test_perfdata__data_behind_an_auxtrace_record_is_passed_over),
		cmocka_unit_test(test_perfdata__a_trace_without_samples_says_how_to_make_them),
		cmocka_unit_test(test_perfdata__samples_of_unknown_ids_are_counted_and_left_out),
		cmocka_unit_test(test_perfdata__times_outside_the_range_of_the_header_are_moved_and_counted),
		cmocka_unit_test(test_perfdata__samples_without_time_are_all_at_the_beginning),
		cmocka_unit_test(test_perfdata__maps_of_guests_are_ignored),
		cmocka_unit_test(test_perfdata__anonymous_code_is_named_by_the_perf_map),
		cmocka_unit_test(test_perfdata__damage_of_a_jitdump_is_reported_once),
		cmocka_unit_test(test_perfdata__an_out_of_range_period_is_damage),
		cmocka_unit_test(test_perfdata__counters_of_a_group_are_samples_of_its_members),
		cmocka_unit_test(test_perfdata__a_loss_reported_twice_counts_once),
		cmocka_unit_test(test_perfdata__two_events_of_one_name_are_distinguished),
		cmocka_unit_test(test_perfdata__rings_come_out_in_order_of_time),
		cmocka_unit_test(test_perfdata__other_files_are_refused),
		cmocka_unit_test(test_perfdata__a_recording_without_events_is_refused),
		cmocka_unit_test(test_perfdata__an_empty_recording_is_a_profile_without_samples),
		cmocka_unit_test(test_perfdata__out_of_memory_fails_without_leaks),
		cmocka_unit_test(test_perfdata__a_fingerprint_changes_with_any_part_of_a_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
