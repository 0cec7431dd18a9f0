/* The reader of uftrace's directories, on directories that are made here. */
#include "base/fileio.h"
#include "formats/uftrace/uf_record.h"
#include "formats/uftrace/uftrace.h"
#include "tests/unit/call_text.h"
#include "tests/unit/source_memory.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/ctx-uftrace-XXXXXX";

static void put_file(const char *name, const void *bytes, size_t n)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void put_text(const char *name, const char *text)
{
	put_file(name, text, strlen(text));
}

/* An empty directory of version 4: one session of pid 7, functions a to d 0x100 bytes apart from 0x1000 on. */
static void begin(void)
{
	uint8_t info[40] = "Ftrace!";

	assert_int_equal(ctx_dir_remove(directory, NULL), CTX_OK);
	assert_int_equal(mkdir(directory, 0700), 0);
	info[8] = 4;
	info[12] = 40;
	info[14] = 1;
	info[15] = 2;
	put_file("info", info, sizeof(info));
	put_text("task.txt", "SESS timestamp=1.000000000 pid=7 sid=0123456789abcdef exename=\"/bin/app\"\n"
			     "TASK timestamp=1.000000000 tid=7 pid=7\n");
	put_text("sid-0123456789abcdef.map", "100000-200000 r-xp 00000000 00:00 0   /bin/app\n");
	put_text("app.sym",
		 "# path name: /bin/app\n0000000000001000 T a\n0000000000001100 T b\n0000000000001200 T c\n"
		 "0000000000001300 T d\n0000000000001400 ? __sym_end\n");
}

#define A 0x101010u
#define B 0x101110u
#define C 0x101210u
#define D 0x101310u
#define SECOND 1000000000u

static void put_record(struct ctx_buf *out, uint64_t time_ns, enum ctx_uf_type type, unsigned depth,
		       uint64_t address)
{
	ctx_buf_put_u64(out, time_ns);
	ctx_buf_put_u64(out, (uint64_t)type | 5u << 3 | (uint64_t)depth << 6 | address << 16);
}

static void enter(struct ctx_buf *out, unsigned ns, unsigned depth, uint64_t address)
{
	put_record(out, SECOND + ns, CTX_UF_ENTRY, depth, address);
}

static void leave(struct ctx_buf *out, unsigned ns, unsigned depth, uint64_t address)
{
	put_record(out, SECOND + ns, CTX_UF_EXIT, depth, address);
}

static void put_thread(int tid, struct ctx_buf *records)
{
	char name[32];

	snprintf(name, sizeof(name), "%d.dat", tid);
	put_file(name, records->bytes, records->n);
	ctx_buf_deinit(records);
}

static void expect(const char *expected)
{
	struct ctx_event_source *source;
	struct ctx_err err = {0};
	char *found;

	if (ctx_uftrace_open(directory, &source, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	found = call_text_of(source);
	assert_string_equal(found, expected);
	free(found);
}

#define FIRST "process 0 pid 7 /bin/app\nthread 0 of 0 tid 7 app\n"

static void test_uftrace__entries_and_exits_are_calls(void **state)
{
	struct ctx_buf records = {0};

	(void)state;
	begin();
	enter(&records, 10, 0, A);
	enter(&records, 20, 1, B);
	leave(&records, 30, 1, B);
	enter(&records, 40, 1, 0x190000);
	leave(&records, 50, 1, 0x190000);
	leave(&records, 60, 0, A);
	put_thread(7, &records);
	expect(FIRST "10 0 +a\n20 0 +b\n30 0 1\n40 0 +190000\n50 0 1\n60 0 0\n60 exit 0\n60 end 0\n");
}

static void test_uftrace__calls_without_an_end_are_left(void **state)
{
	struct ctx_buf records = {0};

	(void)state;
	begin();
	enter(&records, 10, 0, A);
	enter(&records, 20, 1, B);
	enter(&records, 30, 2, C);
	enter(&records, 40, 1, D); /* B and C were left */
	enter(&records, 50, 2, C);
	leave(&records, 60, 0, A); /* so were C and D */
	enter(&records, 70, 0, A);
	put_thread(7, &records);
	expect(FIRST "10 0 +a\n20 0 +b\n30 0 +c\n40 0 1 x +d\n50 0 +c\n60 0 1 x\n60 0 0\n70 0 +a\n70 exit "
		     "0\n70 end 0\n"
		     "! 4 calls without a begin or an end are mended\n! 1 calls were open when their thread "
		     "or program ended\n");
}

static void test_uftrace__calls_that_began_before_have_the_functions_of_their_exits(void **state)
{
	struct ctx_buf records = {0};

	(void)state;
	begin();
	enter(&records, 10, 3, D);
	leave(&records, 20, 3, D);
	leave(&records, 30, 2, C);
	leave(&records, 40, 1, B); /* the one at depth 0 never ends */
	put_thread(7, &records);
	expect(FIRST
	       "10 0 +<Unknown>\n10 0 +b\n10 0 +c\n10 0 +d\n20 0 3\n30 0 2\n40 0 1\n40 exit 0\n40 end 0\n"
	       "! 3 calls without a begin or an end are mended; some functions are unknown\n"
	       "! 1 calls were open when their thread or program ended\n");
}

static void test_uftrace__calls_go_on_over_lost_records_where_exits_agree(void **state)
{
	struct ctx_buf records = {0};

	(void)state;
	begin();
	enter(&records, 10, 0, A);
	enter(&records, 20, 1, B);
	put_record(&records, 0, CTX_UF_LOST, 0, 5);
	leave(&records, 30, 1, C);
	leave(&records, 40, 0, A);
	put_thread(7, &records);
	expect(FIRST "10 0 +a\n20 0 +b\nlost 5 at 20\n30 0 1 x +c\n30 0 1\n40 0 0\n40 exit 0\n40 end 0\n"
		     "! 2 calls without a begin or an end are mended\n");
}

static void test_uftrace__records_that_were_lost_first_are_located_at_the_begin(void **state)
{
	struct ctx_buf records = {0};

	(void)state;
	begin();
	put_record(&records, 0, CTX_UF_LOST, 0, 3);
	enter(&records, 30, 0, C);
	leave(&records, 20, 0, C); /* before its entry */
	put_thread(7, &records);
	expect(FIRST "lost 3 at 0\n30 0 +c\n30 0 0\n30 exit 0\n30 end 0\n! 1 records have a time before the "
		     "one before them\n");
}

static void test_uftrace__a_forked_process_goes_on_in_its_parents_calls_and_exec_ends_them(void **state)
{
	struct ctx_buf parent = {0}, child = {0};

	(void)state;
	begin();
	put_text("task.txt", "SESS timestamp=1.000000000 pid=7 sid=0123456789abcdef exename=\"/bin/app\"\n"
			     "TASK timestamp=1.000000000 tid=7 pid=7\n"
			     "FORK timestamp=1.000000030 pid=8 ppid=7\n"
			     "SESS timestamp=1.000000060 pid=8 sid=fedcba9876543210 exename=\"/bin/other\"\n"
			     "TASK timestamp=1.000000060 tid=8 pid=8\n");
	put_text("sid-fedcba9876543210.map", "500000-600000 r-xp 00000000 00:00 0   /bin/other\n");
	put_text("other.sym", "0000000000001000 100 T other_main\n");
	enter(&parent, 10, 0, A);
	enter(&parent, 20, 1, B);
	leave(&parent, 40, 1, B);
	leave(&parent, 90, 0, A);
	leave(&child, 35, 1, B);
	enter(&child, 50, 1, C);
	enter(&child, 70, 0, 0x501004);
	leave(&child, 80, 0, 0x501004);
	put_thread(7, &parent);
	put_thread(8, &child);
	expect(FIRST "10 0 +a\n20 0 +b\nprocess 1 pid 8 /bin/app\nthread 1 of 1 tid 8 app\n"
		     "35 1 +a\n35 1 +b\n35 1 1\n40 0 1\n50 1 +c\nprocess 2 pid 8 /bin/other\nthread 2 of 2 "
		     "tid 8 other\n"
		     "60 exit 1\n60 end 1\n70 2 +other_main\n80 2 0\n80 exit 2\n80 end 2\n90 0 0\n90 exit "
		     "0\n90 end 0\n"
		     "! 2 calls were open when their thread or program ended\n");
}

static void test_uftrace__a_tid_that_is_announced_again_is_another_thread(void **state)
{
	struct ctx_buf first = {0}, second = {0};

	(void)state;
	begin();
	put_text("task.txt",
		 "SESS timestamp=1.000000000 pid=7 sid=0123456789abcdef exename=\"/bin/app\"\n"
		 "TASK timestamp=1.000000000 tid=7 pid=7\nTASK timestamp=1.000000010 tid=9 pid=7\n"
		 "TASK timestamp=1.000000030 tid=9 pid=7\n");
	enter(&first, 0, 0, A);
	leave(&first, 60, 0, A);
	enter(&second, 20, 0, B);
	enter(&second, 40, 0, C);
	leave(&second, 50, 0, C);
	put_thread(7, &first);
	put_thread(9, &second);
	expect(FIRST "0 0 +a\nthread 1 of 0 tid 9 app\n20 1 +b\nthread 2 of 0 tid 9 app\n30 exit 1\n40 2 "
		     "+c\n50 2 0\n"
		     "50 exit 2\n60 0 0\n60 exit 0\n60 end 0\n! 1 calls were open when their thread or "
		     "program ended\n");
}

static void test_uftrace__a_thread_that_is_not_announced_is_a_process_of_its_own(void **state)
{
	struct ctx_buf first = {0}, second = {0};

	(void)state;
	begin();
	enter(&first, 10, 0, A);
	leave(&first, 20, 0, A);
	enter(&second, 12, 0, B);
	leave(&second, 14, 0, B);
	put_thread(7, &first);
	put_thread(12, &second);
	expect("! task.txt does not have thread 12: its process is unknown\n" FIRST
	       "10 0 +a\nprocess 1 pid 12 /bin/app\n"
	       "thread 1 of 1 tid 12 app\n12 1 +b\n14 1 0\n14 exit 1\n14 end 1\n20 0 0\n20 exit 0\n20 end "
	       "0\n");
}

static void put_perf(struct ctx_buf *out, unsigned type, unsigned misc, unsigned ns)
{
	size_t at = out->n;

	ctx_buf_put_u32(out, type);
	ctx_buf_put_u16(out, (uint16_t)misc);
	ctx_buf_put_u16(out, 0);
	if (type == PERF_RECORD_COMM) {
		ctx_buf_put_u64(out, 7 | (uint64_t)7 << 32);
		ctx_buf_put(out, "worker\0", 8);
	} else if (type == PERF_RECORD_EXIT) {
		ctx_buf_put_u64(out, 7 | (uint64_t)7 << 32);
		ctx_buf_put_u64(out, 7 | (uint64_t)7 << 32);
		ctx_buf_put_u64(out, SECOND + ns);
	}
	ctx_buf_put_u64(out, 7 | (uint64_t)7 << 32);
	ctx_buf_put_u64(out, SECOND + ns);
	out->bytes[at + 6] = (uint8_t)(out->n - at);
}

static void test_uftrace__switches_are_states_and_the_end_of_a_thread_is_its_own(void **state)
{
	struct ctx_buf records = {0}, perf = {0};

	(void)state;
	begin();
	enter(&records, 10, 0, A);
	leave(&records, 60, 0, A);
	put_thread(7, &records);
	put_perf(&perf, PERF_RECORD_COMM, 0, 5);
	put_perf(&perf, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 20);
	put_perf(&perf, PERF_RECORD_SWITCH, 0, 30);
	put_perf(&perf, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
		 40);
	put_perf(&perf, PERF_RECORD_SWITCH, 0, 50);
	put_perf(&perf, PERF_RECORD_EXIT, 0, 70);
	ctx_buf_put(&perf, "cut", 3);
	put_file("perf-cpu0.dat", perf.bytes, perf.n);
	ctx_buf_deinit(&perf);
	expect("!! perf-cpu0.dat: offset 184: cut, or no record\n" FIRST
	       "5 0 is worker\n10 0 +a\n20 0 blocked\n30 0 runs\n"
	       "40 0 preempted\n50 0 runs\n60 0 0\n70 exit 0\n70 end 0\n");
}

static void test_uftrace__a_library_has_its_functions_from_when_it_is_opened(void **state)
{
	struct ctx_buf records = {0};

	(void)state;
	begin();
	put_text(
		"task.txt",
		"SESS timestamp=1.000000000 pid=7 sid=0123456789abcdef exename=\"/bin/app\"\n"
		"DLOP timestamp=1.000000020 tid=7 sid=0123456789abcdef base=900000 libname=\"/lib/libx.so\"\n"
		"what is this\n");
	put_text("libx.so.sym",
		 "# path name: /elsewhere/libx.so\n0000000000000500 T wrong\n0000000000000600 ? __sym_end\n");
	put_text("libx.so-0454.sym", "0000000000000500 T right\n0000000000000600 ? __sym_end\n");
	enter(&records, 10, 0, 0x900510);
	leave(&records, 15, 0, 0x900510);
	enter(&records, 30, 0, 0x900510);
	leave(&records, 40, 0, 0x900510);
	put_thread(7, &records);
	expect("!! task.txt: line 3: cannot be understood\n" FIRST
	       "10 0 +900510\n15 0 0\n30 0 +right\n40 0 0\n40 exit 0\n"
	       "40 end 0\n");
}

/* Arguments: of any bytes, and any number of words. */

static void put_arguments(struct ctx_buf *records, unsigned n, bool looks_like_text)
{
	records->bytes[records->n - 8] |= 4; /* more */
	for (unsigned i = 0; i < n * 8; i++)
		ctx_buf_put_u8(records, looks_like_text ? (uint8_t)('a' + rand() % 26)
					: i % 8 < 2	? (uint8_t)rand()
							: 0);
}

static void test_uf_records__arguments_end_where_the_next_record_begins(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed < 40; seed++) {
		struct ctx_buf bytes = {0};
		struct ctx_uf_record expected[400], found;
		struct ctx_uf_records records = {0};
		unsigned depth = 0, n = 0, ns = 0;
		char path[256];

		srand(seed);
		begin();
		while (n < 400) {
			bool enters = depth == 0 || (depth < 30 && rand() % 2 == 0);
			struct ctx_uf_record record = {.time_ns = (uint64_t)70000 * SECOND + ns,
						       .address = enters ? A + (unsigned)rand() % 999 : A,
						       .depth = (uint16_t)(enters ? depth : depth - 1),
						       .type = enters ? CTX_UF_ENTRY : CTX_UF_EXIT};

			put_record(&bytes, record.time_ns, (enum ctx_uf_type)record.type, record.depth,
				   record.address);
			if (rand() % 2 == 0)
				put_arguments(&bytes, 1 + (unsigned)rand() % 20, rand() % 2 == 0);
			expected[n++] = record;
			depth = enters ? depth + 1 : depth - 1;
			ns += (unsigned)rand() % 1000;
		}
		put_file("7.dat", bytes.bytes, bytes.n);
		ctx_buf_deinit(&bytes);
		snprintf(path, sizeof(path), "%s/7.dat", directory);
		records.stream.path = strdup(path);
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(ctx_uf_records_next(&records, &found, NULL), CTX_OK);
			if (found.time_ns != expected[i].time_ns || found.address != expected[i].address ||
			    found.depth != expected[i].depth || found.type != expected[i].type)
				fail_msg("seed %u: record %u", seed, i);
		}
		assert_int_equal(ctx_uf_records_next(&records, &found, NULL), CTX_END);
		assert_int_equal(records.n_skipped + records.n_cut, 0);
		ctx_uf_records_deinit(&records);
	}
}

static void test_uftrace__bytes_that_are_no_records_are_skipped_and_said(void **state)
{
	struct ctx_buf records = {0};

	(void)state;
	begin();
	enter(&records, 10, 0, A);
	ctx_buf_put(&records, "0123456789abcdef01234567", 24);
	enter(&records, 20, 1, B);
	leave(&records, 30, 1, B);
	leave(&records, 40, 0, A);
	ctx_buf_put(&records, "cut", 3);
	put_thread(7, &records);
	expect("!! 7.dat: offset 16: 24 bytes are no records\n!! 7.dat: offset 88: cut: the last record "
	       "lacks its end\n" FIRST "10 0 +a\n20 0 +b\n30 0 1\n40 0 0\n40 exit 0\n40 end 0\n");
}

static void test_uftrace__events_of_the_program_are_marks_and_others_are_counted(void **state)
{
	struct ctx_buf records = {0};

	(void)state;
	begin();
	enter(&records, 10, 0, A);
	put_record(&records, SECOND + 20, CTX_UF_EVENT, 0, 1000001);
	put_record(&records, SECOND + 25, CTX_UF_EVENT, 0, 100002);
	records.bytes[records.n - 8] |= 4;
	ctx_buf_put_u16(&records, 16);
	ctx_buf_put(&records, "sixteen bytes...\0\0\0\0\0", 22);
	leave(&records, 30, 0, A);
	put_thread(7, &records);
	expect(FIRST "10 0 +a\n20 0 mark mark event 1000001 0\n30 0 0\n30 exit 0\n30 end 0\n"
		     "! 1 records of counters and of memory are not read\n");
}

static void expect_refused(const char *message, enum ctx_status status)
{
	struct ctx_event_source *source;
	struct ctx_err err = {0};

	assert_int_equal(ctx_uftrace_open(directory, &source, &err), status);
	if (strstr(err.msg, message) == NULL)
		fail_msg("%s", err.msg);
}

static void test_uftrace__what_is_not_read_is_refused_with_a_place(void **state)
{
	static const uint8_t big[40] = "Ftrace!\0\4\0\0\0\50\0\2\2",
			     narrow[40] = "Ftrace!\0\4\0\0\0\50\0\1\1",
			     newer[40] = "Ftrace!\0\5\0\0\0\50\0\1\2";

	(void)state;
	begin();
	assert_true(ctx_uftrace_is(directory));
	expect_refused("contains no records of calls", CTX_E_FORMAT);
	put_file("info", big, sizeof(big));
	expect_refused("info: offset 14: recorded on a big-endian machine", CTX_E_FORMAT);
	put_file("info", narrow, sizeof(narrow));
	expect_refused("info: offset 15: recorded from a program of 32 bits", CTX_E_FORMAT);
	put_file("info", newer, sizeof(newer));
	expect_refused("info: offset 8: version 5; 3 and 4 are read", CTX_E_VERSION);
	put_file("info", big, 20);
	expect_refused("info: cut: 20 bytes of a header of 40", CTX_E_FORMAT);
	put_text("info", "Hello");
	expect_refused("info: offset 0: does not begin with", CTX_E_FORMAT);
	assert_false(ctx_uftrace_is(directory));
}

static void test_uftrace__running_out_of_memory_is_reported(void **state)
{
	struct ctx_buf records = {0};

	(void)state;
	begin();
	enter(&records, 10, 3, D);
	leave(&records, 20, 3, D);
	leave(&records, 30, 2, C);
	put_thread(7, &records);
	assert_true(fail_each_allocation(ctx_uftrace_open, directory) > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uftrace__records_that_were_lost_first_are_located_at_the_begin),
		cmocka_unit_test(test_uftrace__entries_and_exits_are_calls),
		cmocka_unit_test(test_uftrace__calls_without_an_end_are_left),
		cmocka_unit_test(test_uftrace__calls_that_began_before_have_the_functions_of_their_exits),
		cmocka_unit_test(test_uftrace__calls_go_on_over_lost_records_where_exits_agree),
		cmocka_unit_test(
			test_uftrace__a_forked_process_goes_on_in_its_parents_calls_and_exec_ends_them),
		cmocka_unit_test(test_uftrace__a_tid_that_is_announced_again_is_another_thread),
		cmocka_unit_test(test_uftrace__a_thread_that_is_not_announced_is_a_process_of_its_own),
		cmocka_unit_test(test_uftrace__switches_are_states_and_the_end_of_a_thread_is_its_own),
		cmocka_unit_test(test_uftrace__a_library_has_its_functions_from_when_it_is_opened),
		cmocka_unit_test(test_uf_records__arguments_end_where_the_next_record_begins),
		cmocka_unit_test(test_uftrace__bytes_that_are_no_records_are_skipped_and_said),
		cmocka_unit_test(test_uftrace__events_of_the_program_are_marks_and_others_are_counted),
		cmocka_unit_test(test_uftrace__what_is_not_read_is_refused_with_a_place),
		cmocka_unit_test(test_uftrace__running_out_of_memory_is_reported),
	};
	int failed;

	if (mkdtemp(directory) == NULL)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return ctx_dir_remove(directory, NULL) != CTX_OK || failed;
}
