/*
 * Experiments of gprofng, whole: what is read from one, and from one that is damaged in every way.
 */
#include "formats/gprofng/gprofng.h"
#include "tests/unit/gprofng_fixture.h"

#include <dirent.h>

static char directory[64];
static const uint64_t deep[] = {0x1010, 0x1120, 0x1230, 0x2340};
static const uint64_t other[] = {0x1555, 0x1230, 0x2340};

static int set_up(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/test_gprofng.%d.er", (int)getpid());
	assert_int_equal(ctx_dir_remove(directory, NULL), CTX_OK);
	return mkdir(directory, 0700);
}

static int tear_down(void **state)
{
	(void)state;
	return ctx_dir_remove(directory, NULL) == CTX_OK ? 0 : -1;
}

/* Samples name their stacks by number: twice the same number are the same frames. */
static void ask_for_frames(struct ctx_event_source *source, struct ctx_event *event)
{
	struct ctx_event_stack *stack = &event->sample.stack, again;

	assert_null(stack->frames);
	assert_int_equal(source->stack_frames(source, event->process, stack->id, &again, NULL), CTX_OK);
	assert_int_equal(source->stack_frames(source, event->process, stack->id, stack, NULL), CTX_OK);
	assert_int_equal(stack->n_frames, again.n_frames);
	assert_int_equal(source->stack_frames(source, event->process, 1000000, &again, NULL), CTX_E_INTERNAL);
}

static enum ctx_status read_all(const char *path, struct gp_reading *reading, struct ctx_err *err)
{
	struct source_check check = {0};
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status = ctx_gprofng_open(path, &source, err);

	*reading = (struct gp_reading){0};
	if (status != CTX_OK)
		return status;
	reading->closed = source->info.closed;
	while ((status = source->next(source, &event, err)) == CTX_OK) {
		source_check_event(&check, &source->info, &event);
		if (event.kind == CTX_EV_SAMPLE)
			ask_for_frames(source, &event);
		gp_note(reading, &event);
	}
	assert_int_equal(check.late, 0);
	assert_true(source->progress(source) <= source->info.bytes);
	source_check_deinit(&check);
	source->close(source);
	ctx_buf_put_u8(&reading->events, 0);
	ctx_buf_put_u8(&reading->trouble, 0);
	return status;
}

static const char *events_of(const struct gp_reading *reading)
{
	return (const char *)reading->events.bytes;
}

static const char *trouble_of(const struct gp_reading *reading)
{
	return (const char *)reading->trouble.bytes;
}

static void write_stacks(const char *where, bool big)
{
	struct ctx_buf frames = {0};

	/* The second is stored by its leaf and the number of what it shares with the first. */
	gp_frame(&frames, big, gp_uid(other, 3, GP_R), gp_uid(other, 3, 1), other, 1, gp_uid(deep + 2, 2, 1));
	gp_frame(&frames, big, gp_uid(deep, 4, GP_R), gp_uid(deep, 4, 1), deep, 4, 0);
	gp_end_block(&frames, big, 0);
	gp_write_buf(where, "data.frameinfo", &frames);
}

static void write_map(const char *where)
{
	static const char map[] =
		"<event kind=\"map\" object=\"segment\" tstamp=\"0.000500000\" vaddr=\"0x1000\" "
		"size=\"4096\" "
		"pagesz=\"4096\" foffset=\"+0x00001000\" modes=\"0x005\" chksum=\"0x0\" "
		"name=\"/bin/a&amp;b\"/>\n"
		"<event kind=\"map\" object=\"segment\" tstamp=\"0.000500000\" vaddr=\"0x9000\" "
		"size=\"4096\" "
		"foffset=\"+0x0\" modes=\"0x00B\" name=\"/tmp/x.er/log.xml\"/>\n"
		"<event kind=\"map\" object=\"dynfunc\" name=\"[vdso]\" vaddr=\"0x5010\" size=\"16\" "
		"funcname=\"__vdso_time\"/>\n"
		"<event kind=\"map\" object=\"function\" tstamp=\"0.000600000\" vaddr=\"0x5000\" "
		"size=\"256\" "
		"name=\"[vdso]\"/>\n"
		"<event kind=\"unmap\" tstamp=\"0.002000000\" vaddr=\"0x1000\"/>\n"
		"<event kind=\"map\" object=\"segment\" tstamp=\"0.004000000\" vaddr=\"0x1000\" "
		"size=\"8192\" "
		"foffset=\"+0x0\" modes=\"0x005\" name=\"/usr/lib/x86_64-linux-gnu/late\"/>\n";

	gp_write(where, "map.xml", map, sizeof(map) - 1);
}

/* Two threads in blocks of their own, the later one's first. */
static void write_clock(const char *where, bool big, int64_t run_ns)
{
	struct ctx_buf profile = {0};

	gp_clock(&profile, big, 101, run_ns + 2000000, gp_uid(other, 3, GP_R));
	gp_clock(&profile, big, 101, run_ns + 4000000, gp_uid(deep, 4, GP_R));
	gp_end_block(&profile, big, 65535);
	gp_clock(&profile, big, 100, run_ns + 1000000, gp_uid(deep, 4, GP_R));
	gp_clock(&profile, big, 100, run_ns + 3000000, gp_uid(deep, 4, GP_R));
	gp_end_block(&profile, big, 0);
	gp_write_buf(where, "profile", &profile);
}

static void write_overview(const char *where, bool big, int64_t run_ns)
{
	struct ctx_buf record = {0};

	gp_u32(&record, big, 100);
	gp_u32(&record, big, 1);
	gp_u64(&record, big, (uint64_t)(run_ns + 2500000) / 1000000000);
	gp_u64(&record, big, (uint64_t)(run_ns + 2500000) % 1000000000);
	while (record.n < 72)
		ctx_buf_put_u8(&record, 0);
	gp_u64(&record, big, 1);
	gp_u64(&record, big, 5);
	while (record.n < 504)
		ctx_buf_put_u8(&record, 0);
	gp_write_buf(where, "overview", &record);
}

static void write_experiment(const char *where, const char *arch, int pid, int64_t offset_ns, const char *end)
{
	bool big = strncmp(arch, "sparc", 5) == 0;
	struct ctx_buf log = {0};

	gp_log_head(&log, arch, pid, pid == 100 ? 1 : 100, pid == 100 ? "./a &lt;b&gt;" : "(fork)",
		    offset_ns);
	ctx_buf_put_text(&log, end);
	for (int i = 0; i < 100; i++)
		ctx_buf_put_u8(&log, 0);
	gp_write_buf(where, "log.xml", &log);
	write_map(where);
	write_stacks(where, big);
	write_clock(where, big, GP_RUN_NS + offset_ns);
	write_overview(where, big, GP_RUN_NS + offset_ns);
}

static const char closed_log[] = "<event kind=\"cwarn\" id=\"207\">10007 -> 0</event>\n"
				 "<event kind=\"exit\" tstamp=\"0.006000000\"/>\n";

static const char expected[] = "0 process 0 pid 100 of -1 ./a <b> []\n"
			       "0 map 0 1000+1000 /bin/a&b@1000  \n"
			       "0 map 0 5000+100 [vdso]@5000 [vdso] \n"
			       "0 map 0 5010+10 [vdso]@5010 __vdso_time \n"
			       "0 thread 0 tid 100 of 0 \n"
			       "1000000 sample 0 metric 0 weight 10007000 cpu 0: 1010 1120 1230 2340\n"
			       "2000000 unmap 0 1000+1000\n"
			       "2000000 map 0 1000+2000 /usr/lib/x86_64-linux-gnu/late@0  \n"
			       "2000000 thread 1 tid 101 of 0 \n"
			       "2000000 sample 1 metric 0 weight 10007000 cpu 1: 1555 1230 2340\n"
			       "2500000 usage 0 user 1000000005\n"
			       "3000000 sample 0 metric 0 weight 10007000 cpu 0: 1010 1120 1230 2340\n"
			       "4000000 sample 1 metric 0 weight 10007000 cpu 1: 1010 1120 1230 2340\n"
			       "6000000 end of 0\n";

static void test_gprofng__emits_all_events_in_order_of_time(void **state)
{
	static const char *const archs[] = {"x86_64", "sparcv9"};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(archs); i++) {
		struct gp_reading reading;

		write_experiment(directory, archs[i], 100, 0, closed_log);
		assert_true(ctx_gprofng_is_experiment(directory));
		assert_int_equal(read_all(directory, &reading, NULL), CTX_END);
		assert_string_equal(events_of(&reading), expected);
		assert_true(reading.closed);
		assert_non_null(strstr(trouble_of(&reading), "(10007 -> 0)"));
		gp_reading_deinit(&reading);
	}
}

static void test_gprofng__one_that_was_not_closed_has_all_its_records(void **state)
{
	struct gp_reading reading;

	(void)state;
	write_experiment(directory, "x86_64", 100, 0, "");
	assert_int_equal(read_all(directory, &reading, NULL), CTX_END);
	assert_false(reading.closed);
	assert_int_equal(reading.samples, 4);
	gp_reading_deinit(&reading);
}

static void test_gprofng__descendants_are_on_the_root_processes_clock(void **state)
{
	char inside[100];
	struct gp_reading reading;

	(void)state;
	snprintf(inside, sizeof(inside), "%s/_f1.er", directory);
	assert_int_equal(mkdir(inside, 0700), 0);
	write_experiment(directory, "x86_64", 100, 0, closed_log);
	write_experiment(inside, "x86_64", 200, 1000000000, closed_log);
	assert_int_equal(read_all(directory, &reading, NULL), CTX_END);
	assert_int_equal(reading.samples, 8);
	assert_non_null(strstr(events_of(&reading), "\n1000000000 process 1 pid 200 of 0 (fork) [_f1]\n"));
	assert_non_null(strstr(events_of(&reading), "\n1003000000 sample 2 "));
	gp_reading_deinit(&reading);
}

static void test_gprofng__copies_in_the_archives_go_with_their_maps(void **state)
{
	char inside[100];
	struct gp_reading reading;

	(void)state;
	write_experiment(directory, "x86_64", 100, 0, closed_log);
	snprintf(inside, sizeof(inside), "%s/archives", directory);
	assert_int_equal(mkdir(inside, 0700), 0);
	gp_write(inside, "late_dnWuQRcLhw9", "x", 1);
	gp_write(inside, "a&b_dnWuQRcLhw9", "x", 1); /* of another directory */
	assert_int_equal(read_all(directory, &reading, NULL), CTX_END);
	assert_non_null(strstr(events_of(&reading), "/late@0  late_dnWuQRcLhw9\n"));
	assert_non_null(strstr(events_of(&reading), " /bin/a&b@1000  \n"));
	gp_reading_deinit(&reading);
}

static void test_gprofng__a_group_is_all_its_experiments(void **state)
{
	char group[100], fingerprint[17], again[17];
	struct gp_reading reading;
	struct ctx_buf text = {0};

	(void)state;
	write_experiment(directory, "x86_64", 100, 0, closed_log);
	snprintf(group, sizeof(group), "%s.erg", directory);
	ctx_buf_printf(&text, "#analyzer experiment group\n%s\n%s\nmissing.er\n", directory, directory);
	gp_write_buf("/tmp", ctx_path_base(group), &text);
	assert_true(ctx_gprofng_is_group(group));
	assert_false(ctx_gprofng_is_experiment(group));
	assert_int_equal(read_all(group, &reading, NULL), CTX_END);
	assert_int_equal(reading.samples, 8);
	assert_non_null(strstr(trouble_of(&reading), "missing.er"));
	gp_reading_deinit(&reading);
	assert_int_equal(ctx_gprofng_fingerprint(group, fingerprint, NULL), CTX_OK);
	gp_write(directory, "notes", "n", 1);
	assert_int_equal(ctx_gprofng_fingerprint(group, again, NULL), CTX_OK);
	assert_string_not_equal(fingerprint, again);
	unlink(group);
}

static void test_gprofng__the_fingerprint_does_not_see_the_database(void **state)
{
	char fingerprint[17], again[17];

	(void)state;
	write_experiment(directory, "x86_64", 100, 0, closed_log);
	assert_int_equal(ctx_gprofng_fingerprint(directory, fingerprint, NULL), CTX_OK);
	gp_write(directory, "ctxan.db", "x", 1);
	assert_int_equal(ctx_gprofng_fingerprint(directory, again, NULL), CTX_OK);
	assert_string_equal(fingerprint, again);
}

static void test_gprofng__other_files_are_refused(void **state)
{
	static const struct {
		const char *log;
		enum ctx_status status;
		const char *message;
	} cases[] = {
		{"", CTX_E_FORMAT, "nothing in it"},
		{"garbage <x", CTX_E_FORMAT, "nothing in it"},
		{"<experiment version=\"12.4\">", CTX_E_FORMAT, "not record that the target was started"},
		{"<experiment version=\"9.2\">", CTX_E_VERSION, "9.2"},
		{"<other version=\"12.4\">", CTX_E_FORMAT, "<experiment>"},
		{"<experiment version=\"x\">", CTX_E_FORMAT, "not a number"},
		{"<!DOCTYPE a [<!ENTITY x \"y\">]>", CTX_E_FORMAT, ""},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct gp_reading reading;
		struct ctx_err err = {0};

		gp_write(directory, "log.xml", cases[i].log, strlen(cases[i].log));
		assert_int_equal(read_all(directory, &reading, &err), cases[i].status);
		assert_non_null(strstr(err.msg, cases[i].message));
	}
}

static void test_gprofng__our_own_experiments_are_not_recognised(void **state)
{
	static const char ours[] = "<experiment version=\"1\"/>\n";

	(void)state;
	gp_write(directory, "log.xml", ours, sizeof(ours) - 1);
	assert_false(ctx_gprofng_is_experiment(directory));
	assert_false(ctx_gprofng_is_experiment("/nowhere"));
	assert_false(ctx_gprofng_is_group("/nowhere"));
}

static const char *const files[] = {"log.xml", "map.xml", "profile", "data.frameinfo", "overview"};

/* Reads it; the damage must have a message. */
static void read_damaged(void)
{
	struct gp_reading reading;
	struct ctx_err err = {0};
	enum ctx_status status = read_all(directory, &reading, &err);

	if (status != CTX_END && status != CTX_E_FORMAT && status != CTX_E_VERSION)
		fail_msg("%d: %s", (int)status, err.msg);
	if (status != CTX_END)
		assert_true(err.msg[0] != '\0');
	gp_reading_deinit(&reading);
}

static void damage_one(const char *name, const struct ctx_buf *whole)
{
	struct ctx_buf changed = {0};
	unsigned seed = 1;

	ctx_buf_put(&changed, whole->bytes, whole->n);
	for (size_t n = 0; n < whole->n; n += n < 400 ? 7 : whole->n / 60 + 1) {
		gp_write(directory, name, whole->bytes, n);
		read_damaged();
	}
	for (int i = 0; i < 300; i++) {
		size_t at = (size_t)rand_r(&seed) % (whole->n < 2200 ? whole->n : 2200);
		uint8_t bit = (uint8_t)(1u << (rand_r(&seed) % 8));

		changed.bytes[at] ^= bit;
		gp_write(directory, name, changed.bytes, changed.n);
		read_damaged();
		if (i % 3 != 0)
			changed.bytes[at] ^= bit;
	}
	for (size_t i = 0; i < changed.n; i++)
		changed.bytes[i] = (uint8_t)rand_r(&seed);
	gp_write(directory, name, changed.bytes, changed.n);
	read_damaged();
	ctx_buf_deinit(&changed);
}

static void test_gprofng__every_file_may_be_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(files); i++) {
		char *path CTX_AUTO_FREE = ctx_path_join(directory, files[i]);
		struct ctx_buf whole = {0};

		write_experiment(directory, "x86_64", 100, 0, closed_log);
		assert_int_equal(ctx_file_read(path, 1 << 20, &whole, NULL), CTX_OK);
		damage_one(files[i], &whole);
		assert_int_equal(unlink(path), 0);
		if (i != 0)
			read_damaged();
		assert_int_equal(mkdir(path, 0700), 0);
		if (i != 0)
			read_damaged();
		assert_int_equal(rmdir(path), 0);
		ctx_buf_deinit(&whole);
	}
}

static void test_gprofng__a_missing_file_costs_itself(void **state)
{
	struct gp_reading reading;

	(void)state;
	write_experiment(directory, "x86_64", 100, 0, closed_log);
	for (size_t i = 1; i < CTX_COUNT_OF(files); i++) {
		char *path CTX_AUTO_FREE = ctx_path_join(directory, files[i]);

		if (strcmp(files[i], "profile") == 0)
			continue;
		assert_int_equal(unlink(path), 0);
		assert_int_equal(read_all(directory, &reading, NULL), CTX_END);
		assert_int_equal(reading.samples, 4);
		assert_int_equal(reading.weight, 4 * 10007000);
		assert_non_null(strstr(trouble_of(&reading), files[i]));
		gp_reading_deinit(&reading);
	}
}

static void test_gprofng__a_record_with_an_impossible_time_is_left_out(void **state)
{
	struct ctx_buf profile = {0};
	struct gp_reading reading;

	(void)state;
	write_experiment(directory, "x86_64", 100, 0, closed_log);
	gp_clock(&profile, false, 100, 5, gp_uid(deep, 4, GP_R));
	gp_clock(&profile, false, 100, INT64_MAX, gp_uid(deep, 4, GP_R));
	gp_clock(&profile, false, 100, GP_RUN_NS + 3000000, 12345);
	gp_end_block(&profile, false, 0);
	gp_write_buf(directory, "profile", &profile);
	assert_int_equal(read_all(directory, &reading, NULL), CTX_END);
	assert_int_equal(reading.samples, 1);
	assert_non_null(strstr(trouble_of(&reading), "2 records with a time that cannot be"));
	assert_non_null(strstr(trouble_of(&reading), "the call stacks of 1 samples are missing"));
	gp_reading_deinit(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_gprofng__emits_all_events_in_order_of_time, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_gprofng__one_that_was_not_closed_has_all_its_records,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gprofng__descendants_are_on_the_root_processes_clock,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gprofng__copies_in_the_archives_go_with_their_maps,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gprofng__a_group_is_all_its_experiments, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_gprofng__the_fingerprint_does_not_see_the_database,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gprofng__other_files_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gprofng__our_own_experiments_are_not_recognised, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_gprofng__every_file_may_be_damaged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gprofng__a_missing_file_costs_itself, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gprofng__a_record_with_an_impossible_time_is_left_out,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
