/*
 * The whole source: recordings that are made here, in every form that perf has, whole and damaged.
 */
#include "tests/unit/failing_malloc.h"
#include "tests/unit/perfdata_usual.h"

#include <fcntl.h>

/* A sanitizer makes every reading ten times as long: not every bit then. */
#ifdef CTX_SANITIZED
#define FLIP_STEP 11u
#else
#define FLIP_STEP 1u
#endif

static const enum pd_kind kinds[] = {PD_FILE, PD_PIPE, PD_COMPRESSED, PD_COMPRESSED2};

/* ---- what is in it ---- */

/* Worked out by hand from perfdata_usual.h: order of time over both rings, what has no sample is not told, frames above
 * the leaf are return addresses - 1, ends come late. */
static const char usual_events[] =
	"0 process 0 pid 100 of -1 sh []\n"
	"0 map 0 400000+4000 /bin/sh@0 id= f=\n"
	"0 thread 0 tid 100 of 0 sh\n"
	"0 sample 0/0 metric 0 weight 1000 cpu 0: 4013e8 402000\n"
	"10 sample 0/0 metric 1 weight 5000 cpu -1: 4013f2 402000\n"
	"20 process 1 pid 200 of 0 sh [_f1]\n"
	"50 map 1 400000+4000 /bin/sh@0 id= f=\n"
	"20 thread 1 tid 200 of 1 sh\n"
	"50 sample 1/1 metric 0 weight 1000 cpu 0: 40141a 402000\n"
	"900 process 2 pid 200 of 1 app [_f1_x1]\n"
	"960 map 2 400000+8000 /bin/app@0 id=101112131415161718191a1b1c1d1e1f20212223 f=\n"
	"960 unmap 2 500000+1000\n"
	"950 thread 2 tid 201 of 2 app\n"
	"960 sample 2/2 metric 0 weight 1001 cpu 1: 4017a8 402000\n"
	"970 name of 2: worker\n"
	"900 thread 3 tid 200 of 2 app\n"
	"1000 sample 2/3 metric 0 weight 1000 cpu 0: 4017d0 402000\n"
	"1010 sample 2/2 metric 0 weight 1001 cpu 1: 4017da 402000\n"
	"1030 sample 2/2 metric 0 weight 1001 cpu 1: 4017ee 402000\n"
	"1100 throttle 1\n"
	"1200 sample 2/3 metric 1 weight 5000 cpu -1: 401898 402000\n"
	"2010 map -1 ffffffffc0000000+100 [bpf]@b00000000 id= f=bpf_prog_1\n"
	"2100 sample 2/3 metric 0 weight 1000 cpu 0: 401c1c 402000\n"
	"2150 sample 2/3 metric 1 weight 5000 cpu -1: 401c4e 402000\n"
	"2300 sample 2/3 metric 0 weight 1000 cpu 0: 401ce4 402000\n"
	"900 end of thread 1\n"
	"900 end of process 1\n"
	"1030 end of thread 2\n"
	"2300 lost 7\n";

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
		for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
			for (size_t k = 0; k < CTX_COUNT_OF(pieces); k++)
				check_usual(&recording,
					    &(struct pd_form){.kind = kinds[i], .packed_from = pieces[k]});
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

static void test_perfdata__what_is_wrong_in_a_directory_is_told(void **state)
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
			pd_read_form(&recording, &(struct pd_form){.kind = kinds[kind]}, &reading);
			assert_int_equal(reading.samples, 2);
			assert_string_equal(pd_lines(&reading.damage), "");
			assert_string_equal(pd_lines(&reading.warnings), "records not used: 1 AUXTRACE\n");
			pd_reading_deinit(&reading);
			pd_recording_deinit(&recording);
		}
	}
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

static void test_perfdata__times_outside_of_what_the_header_tells_are_moved_and_counted(void **state)
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

static void test_perfdata__a_loss_that_is_told_twice_counts_once(void **state)
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
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

static void test_perfdata__two_events_of_one_name_are_told_apart(void **state)
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

/* Rings that are read one after the other while they go on: nothing is older than the newest of two rounds before. */
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
		struct pd_form form = {.kind = kinds[seed % 4], .packed_from = 1 + seed * 30};
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

static void test_perfdata__what_is_no_perf_data_is_refused(void **state)
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
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		struct pd_recording recording = {0};
		struct pd_reading reading;

		pd_round(&recording);
		pd_read_form(&recording, &(struct pd_form){.kind = kinds[i]}, &reading);
		assert_int_equal(reading.status, CTX_E_FORMAT);
		assert_non_null(strstr(reading.err.msg, "no event"));
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata__an_empty_recording_is_a_profile_without_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		for (int open = 0; open < 2; open++) {
			struct pd_recording recording = {0};
			struct pd_reading reading;

			pd_add_attr(&recording, PD_USUAL_TYPE, 10);
			pd_read_form(&recording, &(struct pd_form){.kind = kinds[i], .open = open != 0},
				     &reading);
			assert_int_equal(reading.status, CTX_OK);
			assert_string_equal(pd_lines(&reading.events), "");
			assert_string_equal(pd_lines(&reading.head), "duration 1\nmetric cpu-clock (ns)\n");
			pd_reading_deinit(&reading);
			pd_recording_deinit(&recording);
		}
	}
}

/* ---- attributes of other versions ---- */

static void test_perfdata__attributes_of_every_size_are_read(void **state)
{
	static const uint32_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 200, 1024};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		for (int pipe = 0; pipe < 2; pipe++) {
			struct pd_recording recording = {.swap = i % 2 != 0};
			struct pd_place place = usual_place(1, 1, 0, 0);
			struct pd_reading reading;

			pd_add_attr(&recording, PD_USUAL_TYPE, 10)->size = sizes[i];
			recording.attrs[0].flags |= UINT64_C(1) << 60; /* of the future */
			usual_sample(&recording, 0, &place);
			pd_read_form(&recording, &(struct pd_form){.kind = pipe ? PD_PIPE : PD_FILE},
				     &reading);
			assert_int_equal(reading.status, CTX_OK);
			assert_int_equal(reading.samples, 1);
			assert_string_equal(pd_lines(&reading.damage), "");
			pd_reading_deinit(&reading);
			pd_recording_deinit(&recording);
		}
	}
}

static void test_perfdata__an_event_whose_attribute_cannot_be_is_told_and_the_others_used(void **state)
{
	static const uint32_t sizes[] = {1, 63, 129, 65536, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		struct pd_recording recording;
		struct pd_reading reading;

		usual(&recording, false);
		recording.attrs[1].size = sizes[i];
		pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_non_null(strstr(pd_lines(&reading.damage), "an event attribute of"));
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

/* ---- cut, killed, flipped ---- */

static void test_perfdata__a_recording_of_a_killed_perf_is_used_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		struct pd_recording recording;
		struct pd_reading reading;

		usual(&recording, false);
		pd_read_form(&recording, &(struct pd_form){.kind = kinds[i], .open = true}, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_string_equal(pd_lines(&reading.damage), "");
		assert_string_equal(pd_lines(&reading.events), usual_events);
		assert_int_equal(reading.closed, kinds[i] == PD_PIPE);
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

/* Whole samples in the first `n` bytes of the records, and whether these end between two records. */
static size_t samples_within(const struct pd_recording *recording, size_t n, bool *between)
{
	size_t samples = 0;

	*between = n == 0;
	for (size_t i = 0; i < recording->n; i++) {
		size_t end = pd_end_of(recording, i);

		samples += end <= n && pd_type_at(recording, recording->starts[i]) == PERF_RECORD_SAMPLE;
		*between = *between || end == n;
	}
	return samples;
}

static void test_perfdata__a_file_cut_anywhere_has_all_samples_before_the_cut(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < 2; kind++) {
		struct pd_recording recording;
		struct ctx_buf bytes = {0};
		size_t begin;

		usual(&recording, kind == 1);
		pd_write(&recording, &(struct pd_form){.kind = kinds[kind], .open = true}, &bytes);
		begin = bytes.n - recording.bytes.n;
		for (size_t n = begin; n < bytes.n; n++) {
			struct ctx_buf cut = {.bytes = bytes.bytes, .n = n};
			struct pd_reading reading;
			bool between;
			size_t want = samples_within(&recording, n - begin, &between);

			pd_read_bytes(&cut, &reading);
			assert_int_equal(reading.status, CTX_OK);
			assert_int_equal(reading.samples, want);
			assert_int_equal(reading.n_damage, between ? 0 : 1);
			pd_reading_deinit(&reading);
		}
		ctx_buf_deinit(&bytes);
		pd_recording_deinit(&recording);
	}
}

/* A closed file that is cut says so, wherever: in its head it cannot be opened, behind it there is damage. */
static void test_perfdata__a_closed_file_that_is_cut_says_so(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < CTX_COUNT_OF(kinds); kind++) {
		struct pd_recording recording;
		struct ctx_buf bytes = {0};

		if (kinds[kind] == PD_PIPE)
			continue; /* nothing tells where it should have ended */
		usual(&recording, false);
		pd_write(&recording, &(struct pd_form){.kind = kinds[kind]}, &bytes);
		for (size_t n = 0; n < bytes.n; n++) {
			struct ctx_buf cut = {.bytes = bytes.bytes, .n = n};
			struct pd_reading reading;

			pd_read_bytes(&cut, &reading);
			assert_true(reading.status == CTX_E_FORMAT ||
				    (reading.status == CTX_OK && reading.n_damage > 0));
			assert_true(reading.samples <= USUAL_SAMPLES);
			pd_reading_deinit(&reading);
		}
		ctx_buf_deinit(&bytes);
		pd_recording_deinit(&recording);
	}
}

/*
 * Can nobody tell that the byte was changed? A record of another type is another record; and a record that is no sample
 * may be as long as it likes, even if it ends just where another one does.
 */
static bool is_credible(const struct pd_recording *recording, size_t at)
{
	for (size_t i = 0; i < recording->n; i++) {
		size_t start = recording->starts[i];

		if (at - start < 4 ||
		    (at - start - 6 < 2 && pd_type_at(recording, start) != PERF_RECORD_SAMPLE))
			return true;
	}
	return false;
}

static void test_perfdata__a_flipped_bit_crashes_nothing_and_loses_nothing_in_silence(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < CTX_COUNT_OF(kinds); kind++) {
		struct pd_recording recording;
		struct ctx_buf bytes = {0};
		struct pd_memory_file file;
		size_t begin;

		usual(&recording, false);
		pd_write(&recording, &(struct pd_form){.kind = kinds[kind], .open = true}, &bytes);
		begin = bytes.n - recording.bytes.n;
		file = pd_memory_open(&bytes);
		for (size_t bit = 0; bit < bytes.n * 8; bit += FLIP_STEP) {
			uint8_t *byte = &bytes.bytes[bit / 8];
			struct pd_reading reading;
			bool in_records = kind < 2 && bit / 8 >= begin;

			*byte ^= (uint8_t)(1u << bit % 8);
			pd_memory_set(&file, bytes.bytes, bytes.n);
			pd_read(file.path, &reading);
			*byte ^= (uint8_t)(1u << bit % 8);
			if (kind < 2)
				assert_true(reading.samples <= USUAL_SAMPLES);
			if (in_records && reading.samples < USUAL_SAMPLES && reading.n_damage == 0 &&
			    !is_credible(&recording, bit / 8 - begin))
				assert_true(strstr(pd_lines(&reading.warnings), "not counted") != NULL ||
					    strstr(pd_lines(&reading.warnings), "longer") != NULL);
			pd_reading_deinit(&reading);
		}
		pd_memory_close(&file);
		ctx_buf_deinit(&bytes);
		pd_recording_deinit(&recording);
	}
}

/* Eight bytes anywhere become what no size or place can be. */
static void test_perfdata__impossible_numbers_anywhere_crash_nothing(void **state)
{
	static const uint64_t numbers[] = {0, 4, UINT64_C(0xffffffff), UINT64_C(1) << 32, UINT64_MAX};

	(void)state;
	for (size_t kind = 0; kind < 2; kind++) {
		struct pd_recording recording;
		struct ctx_buf bytes = {0};
		struct pd_memory_file file;

		usual(&recording, false);
		pd_write(&recording, &(struct pd_form){.kind = kinds[kind]}, &bytes);
		file = pd_memory_open(&bytes);
		for (size_t at = 8; at + 8 <= bytes.n; at += 4) {
			for (size_t i = 0; i < CTX_COUNT_OF(numbers); i++) {
				struct pd_reading reading;
				uint64_t before;

				memcpy(&before, bytes.bytes + at, 8);
				memcpy(bytes.bytes + at, &numbers[i], 8);
				pd_memory_set(&file, bytes.bytes, bytes.n);
				pd_read(file.path, &reading);
				assert_true(reading.status == CTX_OK || reading.status == CTX_E_FORMAT);
				assert_true(reading.samples <= USUAL_SAMPLES);
				pd_reading_deinit(&reading);
				memcpy(bytes.bytes + at, &before, 8);
			}
		}
		pd_memory_close(&file);
		ctx_buf_deinit(&bytes);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata__reading_goes_on_behind_a_record_that_cannot_be(void **state)
{
	static const uint16_t sizes[] = {0, 4, 7, 9, 100, 0xffff};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		struct pd_recording recording = {0};
		struct pd_reading reading;

		pd_add_attr(&recording, PD_USUAL_TYPE, 10);
		for (uint64_t t = 0; t < 2000; t++) {
			struct pd_place place = usual_place(1, 1, t, 0);

			usual_sample(&recording, 0, &place);
		}
		memcpy(recording.bytes.bytes + recording.starts[500] + 6, &sizes[i], 2);
		pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_true(reading.n_damage > 0);
		/* A size of 64 kB takes as much with it, the others one record or two. */
		assert_in_range(reading.samples,
				sizes[i] == 0xffff ? 2000 - 65536 / recording.starts[1] - 3 : 1997, 1999);
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata__damaged_features_are_told(void **state)
{
	struct pd_recording recording;
	struct pd_reading reading;

	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		usual(&recording, false);
		memset(recording.features[0].bytes.bytes, 0xff, 4); /* the length of the host's name */
		pd_read_form(&recording, &(struct pd_form){.kind = pipe ? PD_PIPE : PD_FILE}, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_string_equal(pd_lines(&reading.events), usual_events);
		assert_non_null(strstr(pd_lines(&reading.damage), "name of the host"));
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata__a_packed_record_that_is_damaged_is_told_and_the_rest_stays_sane(void **state)
{
	struct pd_recording recording;
	struct ctx_buf bytes = {0};
	size_t at;

	(void)state;
	usual(&recording, false);
	pd_write(&recording, &(struct pd_form){.kind = PD_COMPRESSED, .open = true}, &bytes);
	at = 104 + 3 * 8 + 2 * (PD_ATTR_BYTES + 16) + 8; /* in the first one: the magic number of zstd */
	bytes.bytes[at] ^= 0xff;
	{
		struct pd_reading reading;

		pd_read_bytes(&bytes, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_int_equal(reading.samples, 0);
		assert_non_null(strstr(pd_lines(&reading.damage), "cannot be unpacked"));
		pd_reading_deinit(&reading);
	}
	ctx_buf_deinit(&bytes);
	pd_recording_deinit(&recording);
}

static void test_perfdata__processes_that_begot_each_other_do_not_hang_it(void **state)
{
	(void)state;
	for (int32_t n = 1; n < 6; n++) {
		struct pd_recording recording = {0};
		struct pd_place place = usual_place(100, 100, 5, 0);
		struct pd_reading reading;

		pd_add_attr(&recording, PD_USUAL_TYPE, 10);
		for (int32_t i = 0; i < n; i++)
			pd_task(&recording, PERF_RECORD_FORK, CTX_PD_MISC_FORK_EXEC,
				&(struct pd_place){.pid = 100 + i, .tid = 100 + i}, 100 + (i + 1) % n);
		usual_sample(&recording, 0, &place);
		pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
		assert_int_equal(reading.samples, 1);
		assert_int_equal(reading.n_processes, n);
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

/* ---- memory that runs out ---- */

static void check_without_memory(const char *path)
{
	enum ctx_status status = CTX_E_NOMEM;
	long n;

	for (n = 0; status != CTX_OK; n++) {
		struct ctx_event_source *source = NULL;
		struct ctx_event event;
		struct ctx_err err = {0};

		fail_after = n;
		status = ctx_perfdata_open(path, &source, &err);
		if (status == CTX_OK) {
			while ((status = source->next(source, &event, &err)) == CTX_OK)
				;
			source->close(source);
			status = status == CTX_END ? CTX_OK : status;
		}
		if (fail_after >= 0)
			break; /* it needed no more than that */
		assert_true(status == CTX_E_NOMEM);
		assert_int_equal(err.status, CTX_E_NOMEM);
	}
	fail_after = -1;
	assert_int_equal(status, CTX_OK);
	assert_true(n > 20);
}

static void test_perfdata__memory_that_is_short_fails_and_leaks_nothing(void **state)
{
	char *path = pd_directory();

	(void)state;
	for (size_t kind = 0; kind < CTX_COUNT_OF(kinds); kind++) {
		struct pd_recording recording;
		struct ctx_buf bytes = {0};
		struct pd_memory_file file;

		usual(&recording, false);
		pd_write(&recording, &(struct pd_form){.kind = kinds[kind]}, &bytes);
		file = pd_memory_open(&bytes);
		check_without_memory(file.path);
		pd_memory_close(&file);
		ctx_buf_deinit(&bytes);
		pd_recording_deinit(&recording);
	}
	make_directory(path, false, false);
	check_without_memory(path);
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
		cmocka_unit_test(test_perfdata__what_is_wrong_in_a_directory_is_told),
		cmocka_unit_test(test_perfdata__data_behind_an_auxtrace_record_is_passed_over),
		cmocka_unit_test(test_perfdata__samples_of_unknown_ids_are_counted_and_left_out),
		cmocka_unit_test(test_perfdata__times_outside_of_what_the_header_tells_are_moved_and_counted),
		cmocka_unit_test(test_perfdata__samples_without_time_are_all_at_the_beginning),
		cmocka_unit_test(test_perfdata__a_loss_that_is_told_twice_counts_once),
		cmocka_unit_test(test_perfdata__two_events_of_one_name_are_told_apart),
		cmocka_unit_test(test_perfdata__rings_come_out_in_order_of_time),
		cmocka_unit_test(test_perfdata__what_is_no_perf_data_is_refused),
		cmocka_unit_test(test_perfdata__a_recording_without_events_is_refused),
		cmocka_unit_test(test_perfdata__an_empty_recording_is_a_profile_without_samples),
		cmocka_unit_test(test_perfdata__attributes_of_every_size_are_read),
		cmocka_unit_test(
			test_perfdata__an_event_whose_attribute_cannot_be_is_told_and_the_others_used),
		cmocka_unit_test(test_perfdata__a_recording_of_a_killed_perf_is_used_whole),
		cmocka_unit_test(test_perfdata__a_file_cut_anywhere_has_all_samples_before_the_cut),
		cmocka_unit_test(test_perfdata__a_closed_file_that_is_cut_says_so),
		cmocka_unit_test(test_perfdata__a_flipped_bit_crashes_nothing_and_loses_nothing_in_silence),
		cmocka_unit_test(test_perfdata__impossible_numbers_anywhere_crash_nothing),
		cmocka_unit_test(test_perfdata__reading_goes_on_behind_a_record_that_cannot_be),
		cmocka_unit_test(test_perfdata__damaged_features_are_told),
		cmocka_unit_test(
			test_perfdata__a_packed_record_that_is_damaged_is_told_and_the_rest_stays_sane),
		cmocka_unit_test(test_perfdata__processes_that_begot_each_other_do_not_hang_it),
		cmocka_unit_test(test_perfdata__memory_that_is_short_fails_and_leaks_nothing),
		cmocka_unit_test(test_perfdata__a_fingerprint_changes_with_any_part_of_a_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
