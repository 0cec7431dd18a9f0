/* Indicators: specifications, places, load objects, debug registers, definitions of uprobes, lines of the header. */
#include "base/mem.h"
#include "collect/breakpoints.h"
#include "collect/entry_counters.h"
#include "collect/indicator_list.h"
#include "collect/indicator_places.h"
#include "collect/indicator_spec.h"
#include "collect/indicator_watch.h"
#include "collect/load_objects.h"
#include "collect/once.h"
#include "collect/uprobes.h"
#include "model/indicator.h"
#include "runtime/count_layout.h"
#include "runtime/once_layout.h"

#include <limits.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct ctx_indicator_spec parse(const char *text)
{
	struct ctx_indicator_spec spec;
	struct ctx_err err = {0};

	if (ctx_indicator_spec_parse(text, &spec, &err) != CTX_OK)
		fail_msg("%s: %s", text, err.msg);
	assert_string_equal(spec.text, text);
	return spec;
}

static void test_indicators__a_specification_is_a_place_with_options_behind_it(void **state)
{
	struct ctx_indicator_spec spec = parse("parse_line");

	(void)state;
	assert_int_equal(spec.what, CTX_INDICATOR_FUNCTION);
	assert_string_equal(spec.name, "parse_line");
	assert_string_equal(spec.object, "");
	spec = parse("parse_line%return");
	assert_int_equal(spec.what, CTX_INDICATOR_RETURN);
	assert_string_equal(spec.name, "parse_line");
	spec = parse("file.c:120");
	assert_int_equal(spec.what, CTX_INDICATOR_LINE);
	assert_string_equal(spec.name, "file.c");
	assert_int_equal(spec.line, 120);
	spec = parse("libz.so:inflate+0x40");
	assert_int_equal(spec.what, CTX_INDICATOR_FUNCTION);
	assert_string_equal(spec.object, "libz.so");
	assert_string_equal(spec.name, "inflate");
	assert_int_equal(spec.offset, 0x40);
	spec = parse("global_counter:rw");
	assert_int_equal(spec.what, CTX_INDICATOR_DATA);
	assert_true(spec.reads);
	assert_string_equal(spec.name, "global_counter");
	spec = parse("table+64,len=8:w");
	assert_int_equal(spec.what, CTX_INDICATOR_DATA);
	assert_false(spec.reads);
	assert_string_equal(spec.name, "table");
	assert_int_equal(spec.offset, 64);
	assert_int_equal(spec.length_bytes, 8);
	spec = parse("malloc:threshold=1000");
	assert_int_equal(spec.threshold, 1000);
	assert_string_equal(spec.name, "malloc");
	spec = parse("range:first_fn..last_fn");
	assert_int_equal(spec.what, CTX_INDICATOR_RANGE);
	assert_string_equal(spec.name, "first_fn");
	assert_string_equal(spec.last, "last_fn");
	spec = parse("range:libz.so:a..b");
	assert_string_equal(spec.object, "libz.so");
	spec = parse("object:libcrypto.so:threshold=7");
	assert_int_equal(spec.what, CTX_INDICATOR_OBJECT);
	assert_string_equal(spec.object, "libcrypto.so");
	assert_int_equal(spec.threshold, 7);
	spec = parse("f:start=100:process");
	assert_int_equal(spec.window, CTX_INDICATOR_START);
	assert_int_equal(spec.from, 100);
	assert_true(spec.of_process);
	spec = parse("f%return:stop");
	assert_int_equal(spec.window, CTX_INDICATOR_STOP);
	assert_int_equal(spec.what, CTX_INDICATOR_RETURN);
	spec = parse("f:slower-than=2.5ms");
	assert_int_equal(spec.slower_than_ns, 2500000);
	spec = parse("*");
	assert_string_equal(spec.name, "*");
	assert_false(spec.once);
	assert_false(spec.callers);
	spec = parse("f:callers:threshold=9");
	assert_true(spec.callers);
	assert_int_equal(spec.threshold, 9);
	assert_string_equal(spec.name, "f");
	spec = parse("libz.so:inf*:once");
	assert_true(spec.once);
	assert_string_equal(spec.object, "libz.so");
	assert_string_equal(spec.name, "inf*");
	spec = parse("object:libz.so:once");
	assert_true(spec.once);
	assert_int_equal(spec.what, CTX_INDICATOR_OBJECT);
}

static void test_indicators__two_colons_are_part_of_a_name(void **state)
{
	struct ctx_indicator_spec spec = parse("a::b::run");

	(void)state;
	assert_int_equal(spec.what, CTX_INDICATOR_FUNCTION);
	assert_string_equal(spec.name, "a::b::run");
	spec = parse("libx.so:a::run%return:threshold=5");
	assert_string_equal(spec.object, "libx.so");
	assert_string_equal(spec.name, "a::run");
	assert_int_equal(spec.what, CTX_INDICATOR_RETURN);
	spec = parse("a::state:rw");
	assert_string_equal(spec.name, "a::state");
	assert_int_equal(spec.what, CTX_INDICATOR_DATA);
}

static void test_indicators__what_cannot_be_meant_is_refused(void **state)
{
	static const char *const wrong[] = {"",
					    ":",
					    "f:",
					    "f+4:once",
					    "f:once:callers",
					    "f+4:callers",
					    "f%return:callers",
					    "a.c:1:callers",
					    "v:w:once",
					    "a.c:1:once",
					    "f%return:once",
					    "f:threshold=2:once",
					    "f:start:once",
					    ":f",
					    "f:r",
					    "f:w:rw",
					    "f:threshold=0",
					    "f:threshold=x",
					    "f:threshold=99999999999999999999",
					    "f:start=0",
					    "f:start=x",
					    "f:process",
					    "f:slower-than=2",
					    "f:slower-than=ms",
					    "f:slower-than= 2ms",
					    "f:slower-than=+2ms",
					    "f:slower-than=.5ms",
					    "f:slower-than=-2ms",
					    "f:slower-than=infs",
					    "f:slower-than=0.5ns",
					    "f:slower-than=1000001s",
					    "f:slower-than=1ms:threshold=2",
					    "f%return:slower-than=1ms",
					    "f:slower-than=1ms:stop",
					    "v%return:w",
					    "f%return+4",
					    "f*+4",
					    "file.c:0",
					    "range:a",
					    "range:a..",
					    "range:..b",
					    "object:",
					    "a:b:c",
					    "t,len=0:w",
					    "t,len=5000:w",
					    "t,size=8:w",
					    "a\"b",
					    "a;b",
					    "a\nb",
					    "%return"};
	struct ctx_indicator_spec spec;
	char longest[2 * CTX_INDICATOR_TEXT_MAX];
	struct ctx_err err;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		err = (struct ctx_err){0};
		if (ctx_indicator_spec_parse(wrong[i], &spec, &err) != CTX_E_ARG)
			fail_msg("\"%s\" is accepted", wrong[i]);
		assert_true(err.msg[0] != '\0');
	}
	memset(longest, 'a', sizeof(longest));
	longest[CTX_INDICATOR_TEXT_MAX] = '\0';
	assert_int_equal(ctx_indicator_spec_parse(longest, &spec, NULL), CTX_E_ARG);
	longest[CTX_INDICATOR_TEXT_MAX - 1] = '\0';
	assert_int_equal(ctx_indicator_spec_parse(longest, &spec, NULL), CTX_OK);
}

static void test_indicators__places_are_lines_of_the_helper(void **state)
{
	struct ctx_indicator_places places = {0};

	(void)state;
	assert_int_equal(ctx_indicator_places_parse(&places, "/bin/app",
						    "entry\t1139\t401139\t0\tparse line(int)\n"
						    "inlined\t1200\t401200\t0\t\n"
						    "data\t0\t404010\t8\tcounter\n"
						    "patchable\t1300\t401300\t0\tf\n",
						    NULL),
			 CTX_OK);
	assert_int_equal(places.n, 4);
	assert_false(places.items[0].has_room);
	assert_int_equal(places.items[3].at, CTX_INDICATOR_AT_ENTRY);
	assert_true(places.items[3].has_room);
	assert_int_equal(places.items[3].address, 0x401300);
	assert_int_equal(places.items[0].at, CTX_INDICATOR_AT_ENTRY);
	assert_int_equal(places.items[0].offset, 0x1139);
	assert_int_equal(places.items[0].address, 0x401139);
	assert_string_equal(places.items[0].name, "parse line(int)");
	assert_string_equal(places.items[0].path, "/bin/app");
	assert_int_equal(places.items[1].at, CTX_INDICATOR_AT_INLINED);
	assert_string_equal(places.items[1].name, "");
	assert_int_equal(places.items[2].length_bytes, 8);
	ctx_indicator_places_deinit(&places);
}

static void test_indicators__damaged_lines_of_the_helper_are_refused(void **state)
{
	static const char *const wrong[] = {
		"entry",
		"entry\t1\n",
		"entry\t1\t2\t0\tname",
		"exit\t1\t2\t0\tname\n",
		"entry\tx\t2\t0\tname\n",
		"entry\t1\t2\t0name\n",
		"entry\t1\t2\t8\tname\n",
		"data\t1\t2\t0\tname\n",
		"patchable\t1\t2\t8\tname\n",
		"patchables\t1\t2\t0\tname\n",
		"entry\t1\t2\n\t0\tname\n",
		"\n",
		"entry\t11112222333344445\t2\t0\tname\n",
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		struct ctx_indicator_places places = {0};

		if (ctx_indicator_places_parse(&places, "/bin/app", wrong[i], NULL) != CTX_E_FORMAT)
			fail_msg("\"%s\" is accepted", wrong[i]);
		ctx_indicator_places_deinit(&places);
	}
}

static int keep_first(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_addr;
	return 1;
}

static void test_indicators__the_load_objects_of_a_process_are_where_its_loader_put_them(void **state)
{
	struct ctx_load_objects objects = {0};
	char program[PATH_MAX] = "";
	uint64_t loaded = 1, bias = 0;

	(void)state;
	assert_true(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	assert_int_equal(dl_iterate_phdr(keep_first, &loaded), 1);
	assert_int_equal(ctx_load_objects_of_process(&objects, getpid(), NULL), CTX_OK);
	assert_true(objects.n > 1);
	assert_string_equal(objects.paths[0], program);
	for (size_t i = 0; i < objects.n; i++) {
		assert_int_equal(objects.paths[i][0], '/');
		assert_int_equal(ctx_breakpoint_bias(getpid(), objects.paths[i], &bias, NULL), CTX_OK);
		if (i == 0)
			assert_int_equal(bias, loaded);
	}
	ctx_load_objects_deinit(&objects);
	assert_int_equal(ctx_breakpoint_bias(getpid(), "/no/such/file", &bias, NULL), CTX_E_NOTFOUND);
	assert_int_equal(ctx_load_objects_of_process(&objects, INT32_MAX, NULL), CTX_E_NOTFOUND);
	assert_int_equal(objects.n, 0);
}

static void test_indicators__the_list_of_a_loader_gives_paths_once(void **state)
{
	struct ctx_load_objects objects = {0};

	(void)state;
	assert_int_equal(ctx_load_objects_parse(&objects,
						"\tlinux-vdso.so.1 (0x00007ffc)\n"
						"\tlibm.so.6 => /lib/x86 64/libm.so.6 (0x00007f)\n"
						"\tlibnone.so => not found\n"
						"\t/lib64/ld-linux-x86-64.so.2 (0x00007f1)\n"
						"\tlibm.so.6 => /lib/x86 64/libm.so.6 (0x00007f)\n"
						"nonsense / (\n(\n/",
						NULL),
			 CTX_OK);
	assert_int_equal(objects.n, 3);
	assert_string_equal(objects.paths[0], "/lib/x86 64/libm.so.6");
	assert_string_equal(objects.paths[1], "/lib64/ld-linux-x86-64.so.2");
	assert_string_equal(objects.paths[2], "/");
	ctx_load_objects_deinit(&objects);
	assert_true(ctx_load_object_is("/usr/lib/libz.so.1.2", "libz.so"));
	assert_true(ctx_load_object_is("/usr/lib/libz.so.1.2", "libz.so.1.2"));
	assert_true(ctx_load_object_is("/usr/bin/app", "app"));
	assert_true(ctx_load_object_is("/usr/bin/app", "/usr/bin/app"));
	assert_false(ctx_load_object_is("/usr/lib/libzz.so.1", "libz.so"));
	assert_false(ctx_load_object_is("/usr/bin/app.1", "app"));
}

/* The slow version: every byte is covered by one part, and no part could be larger. */
static void test_indicators__debug_registers_cover_each_byte_once(void **state)
{
	(void)state;
	for (uint64_t address = 64; address < 80; address++) {
		for (uint64_t length = 1; length < 40; length++) {
			struct ctx_breakpoint_part parts[40];
			size_t n = ctx_breakpoint_divide(address, length, parts, CTX_COUNT_OF(parts));
			uint64_t next = address;

			for (size_t i = 0; i < n; i++) {
				uint32_t size = parts[i].length_bytes;

				assert_int_equal(parts[i].address, next);
				assert_true(size == 1 || size == 2 || size == 4 || size == 8);
				assert_int_equal(parts[i].address % size, 0);
				assert_true(size == 8 || next % (2 * size) != 0 ||
					    next + 2 * size > address + length);
				next += size;
			}
			assert_int_equal(next, address + length);
			assert_int_equal(ctx_breakpoint_divide(address, length, NULL, 0), n);
		}
	}
}

static bool is_odd(int64_t pid)
{
	return pid % 2 != 0;
}

static void test_indicators__definitions_of_ended_recorders_are_removed(void **state)
{
	struct ctx_buf out = {0};

	(void)state;
	ctx_uprobes_list_stale("p:ctxrec_10/i0 /bin/app:0x1139\n"
			       "p:ctxrec_10/i0 /bin/app:0x1200\n"
			       "r:ctxrec_10/i1 /bin/app:0x1139\n"
			       "p:ctxrec_11/i0 /bin/app:0x1139\n"
			       "p:probe_app/main /bin/app:0x1139\n"
			       "p:ctxrec_x/i0 /bin/app:0x1139\n"
			       "p:ctxrec_13/i0",
			       is_odd, &out);
	ctx_buf_put_u8(&out, 0);
	assert_false(out.failed);
	assert_string_equal((const char *)out.bytes, "-:ctxrec_10/i0\n-:ctxrec_10/i1\n");
	ctx_buf_deinit(&out);
}

static void test_indicators__lines_of_the_header_are_read_as_they_were_put(void **state)
{
	const struct ctx_indicator_info infos[] = {
		{"leaf:threshold=10", CTX_INDICATOR_KIND_EXECUTE, "uprobe", "leaf(int)", "/tmp/a; b=c/app",
		 0x1139, 3, 2, 10, 1, 2, 5000, 3, 0, true, 12345},
		{"v:w", CTX_INDICATOR_KIND_WRITE, "hardware breakpoint", "v", "/bin/app", 0, 1, 0, 0, 3,
		 CTX_NONE, 0, CTX_NONE, CTX_NONE, false, 0}};
	struct ctx_indicator_list list = {0};
	struct ctx_buf texts[2] = {{0}, {0}};
	struct ctx_property properties[5] = {{"host", "h"},
					     {"indicator 1", NULL},
					     {"indicator 2", NULL},
					     {"indicator 1 count", "12345"},
					     {"indicator 7", "x; kind=execute; metric=1"}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		ctx_indicator_put(&infos[i], &texts[i]);
		ctx_buf_put_u8(&texts[i], 0);
		properties[i + 1].value = (const char *)texts[i].bytes;
	}
	assert_int_equal(ctx_indicator_list_read(&list, properties, 5, 4, NULL), CTX_OK);
	assert_int_equal(list.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct ctx_indicator_info *got = &list.items[i], *put = &infos[i];

		assert_string_equal(got->name, put->name);
		assert_int_equal(got->kind, put->kind);
		assert_string_equal(got->mechanism, put->mechanism);
		assert_string_equal(got->function, put->function);
		assert_string_equal(got->object, put->object);
		assert_int_equal(got->offset, put->offset);
		assert_int_equal(got->places, put->places);
		assert_int_equal(got->inlined, put->inlined);
		assert_int_equal(got->threshold, put->threshold);
		assert_int_equal(got->metric, put->metric);
		assert_int_equal(got->raised, put->raised);
		assert_int_equal(got->slower, put->slower);
		assert_int_equal(got->slower_than_ns, put->slower_than_ns);
		assert_int_equal(got->has_count, put->has_count);
		assert_int_equal(got->count, put->count);
		ctx_buf_deinit(&texts[i]);
	}
	ctx_indicator_list_deinit(&list);
}

static void test_indicators__damaged_lines_of_the_header_are_left_out(void **state)
{
	static const char *const wrong[] = {"",
					    "x",
					    "x; kind=none; metric=0",
					    "x; kind=execute",
					    "x; kind=execute; metric=1",
					    "x; kind=execute; metric=-1",
					    "x; kind=execute; metric=0; places=1; inlined=2",
					    "x; kind=execute; metric=0; raised=5",
					    "x; kind=execute; metric=0; threshold=1x"};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		struct ctx_indicator_list list = {0};
		const struct ctx_property properties[] = {{"indicator 1", wrong[i]},
							  {"indicator 1 count", "1"},
							  {"indicator 99999999999999999999 count", "1"}};

		assert_int_equal(ctx_indicator_list_read(&list, properties, 3, 1, NULL), CTX_OK);
		if (list.n != 0)
			fail_msg("\"%s\" is read", wrong[i]);
		ctx_indicator_list_deinit(&list);
	}
}

static void test_indicators__a_listing_is_what_ctxan_prints(void **state)
{
	static const char *const wrong[] = {"app\texecute\t1\t0\t0\tcount\tf\n",
					    "/app\texecute\t1\t0\t0\tcount\n",
					    "/app\tread\t1\t0\t0\tcount\tf\n",
					    "/app\texecute\tx\t0\t0\tcount\tf\n",
					    "/app\texecute\t-\t0\t0\tcount\t\n",
					    "/app\texecute\t1\t0\t0\tcount\tf\tg\n",
					    "\n"};
	struct ctx_indicator_listing listing = {0};

	(void)state;
	assert_int_equal(ctx_indicator_listing_parse(&listing,
						     "/bin/app\texecute\t1139\t32\t1000\tcount raise\ta;b\n"
						     "/bin/app\texecute\t-\t32\t0\tcount start\tleaf\n"
						     "/lib/c.so\taccess\t4040\t8\t0\tcount\tcounter\n"
						     "/lib/c.so\texecute\tff\t0\t0\tstop\t",
						     NULL),
			 CTX_OK);
	assert_int_equal(listing.n, 4);
	assert_string_equal(listing.items[0].path, "/bin/app");
	assert_int_equal(listing.items[0].spec.what, CTX_INDICATOR_ADDRESS);
	assert_int_equal(listing.items[0].spec.offset, 0x1139);
	assert_int_equal(listing.items[0].spec.threshold, 1000);
	assert_string_equal(listing.items[0].spec.text, "a_b:threshold=1000");
	assert_int_equal(listing.items[1].spec.what, CTX_INDICATOR_FUNCTION);
	assert_string_equal(listing.items[1].spec.name, "leaf");
	assert_int_equal(listing.items[1].spec.window, CTX_INDICATOR_START);
	assert_string_equal(listing.items[1].spec.text, "leaf:start");
	assert_int_equal(listing.items[2].spec.what, CTX_INDICATOR_DATA);
	assert_true(listing.items[2].spec.reads);
	assert_true(listing.items[2].spec.has_address);
	assert_int_equal(listing.items[2].spec.length_bytes, 8);
	assert_int_equal(listing.items[3].spec.window, CTX_INDICATOR_STOP);
	assert_string_equal(listing.items[3].spec.text, "0xff:stop");
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		if (ctx_indicator_listing_parse(&listing, wrong[i], NULL) != CTX_E_FORMAT)
			fail_msg("\"%s\" is accepted", wrong[i]);
	}
	ctx_indicator_listing_deinit(&listing);
}

#define EVENTS 6u
#define HITS 4000u

/* By looking back at all that came before. */
static bool slow_window(const struct ctx_indicator_hit *hits, size_t n, bool of_process, uint32_t id,
			uint64_t from)
{
	uint64_t starts = 0;
	bool is_open = false;

	for (size_t i = 0; i < n; i++) {
		if ((of_process ? hits[i].pid : hits[i].tid) != id)
			continue;
		if (hits[i].event == (of_process ? 3 : 1) && ++starts >= from)
			is_open = true;
		if (hits[i].event == (of_process ? 4 : 2))
			is_open = false;
	}
	return is_open;
}

static void test_indicators__windows_are_those_of_looking_back(void **state)
{
	const struct ctx_indicator_rule rules[EVENTS] = {
		{0},
		{.role = CTX_INDICATOR_STARTS, .from = 3},
		{.role = CTX_INDICATOR_STOPS},
		{.role = CTX_INDICATOR_STARTS, .from = 1, .of_process = true},
		{.role = CTX_INDICATOR_STOPS, .of_process = true},
		{0}};
	static struct ctx_indicator_hit hits[HITS];
	struct ctx_indicator_watch *watch = NULL;
	uint32_t chance = 12345;

	(void)state;
	assert_int_equal(ctx_indicator_watch_create(rules, EVENTS - 1, &watch, NULL), CTX_OK);
	for (size_t i = 0; i < HITS; i++) {
		struct ctx_indicator_verdict verdict;
		struct ctx_indicator_hit *hit = &hits[i];
		bool stops, wanted;

		chance = chance * 1103515245 + 12345;
		*hit = (struct ctx_indicator_hit){
			.event = (chance >> 16) % EVENTS, .tid = 10 + (chance >> 20) % 5, .time_ns = i};
		hit->pid = 10 + hit->tid % 2;
		/* What the process opens is rare, so that threads are seen alone. */
		if (hit->event == 3 && (chance >> 24) % 8 != 0)
			hit->event = 0;
		stops = hit->event == 2 || hit->event == 4;
		/* A start counts for itself, a stop is the last inside. */
		wanted = slow_window(hits, i + !stops, false, hit->tid, 3) ||
			 slow_window(hits, i + !stops, true, hit->pid, 1);
		assert_int_equal(ctx_indicator_watch_take(watch, hit, &verdict, NULL), CTX_OK);
		assert_int_equal(verdict.keeps, wanted);
	}
	ctx_indicator_watch_destroy(watch);
}

static bool take(struct ctx_indicator_watch *watch, uint32_t event, uint64_t time_ns, uint64_t sp)
{
	const struct ctx_indicator_hit hit = {
		.event = event, .pid = 1, .tid = 1, .time_ns = time_ns, .sp = sp};
	struct ctx_indicator_verdict verdict;

	assert_int_equal(ctx_indicator_watch_take(watch, &hit, &verdict, NULL), CTX_OK);
	return verdict.keeps;
}

/* Two patterns have a place in common, which is the first one's; a target executes one site of each. */
static void test_indicators__a_site_of_coverage_belongs_to_one_indicator(void **state)
{
	static const char path[] = "/proc/self/exe", missing[] = "/proc/self/maps";
	struct ctx_indicator_place all[3], some[2], other[1];
	const struct ctx_indicator_places places[] = {
		{.items = all, .n = 3}, {.items = some, .n = 2}, {.items = other, .n = 1}};
	struct ctx_rt_once_header *shared;
	struct ctx_once *once = NULL;
	size_t at = 0;
	int fd = -1;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		all[i] = (struct ctx_indicator_place){.address = 0x3000 - 0x1000 * i, .path = path};
	some[0] = all[1];
	some[1] = (struct ctx_indicator_place){.address = 0x2500, .path = path};
	other[0] = (struct ctx_indicator_place){.address = 1, .path = missing};
	assert_int_equal(ctx_once_create(&once, NULL), CTX_OK);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			ctx_once_add(once, &places[i], &(struct ctx_once_metrics){2 * i, 2 * i + 1}, NULL),
			CTX_OK);
	assert_int_equal(ctx_once_share(once, &fd, NULL), CTX_OK);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(shared != MAP_FAILED);
	assert_int_equal(shared->n_objects, 2);
	assert_int_equal(shared->n_sites, 5);
	assert_int_equal(ctx_rt_once_objects(shared)[0].n, 4);
	assert_int_equal(ctx_rt_once_objects(shared)[1].first, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(ctx_rt_once_sites(shared)[i].address,
				 ((uint64_t[]){0x1000, 0x2000, 0x2500, 0x3000})[i]);
	assert_int_equal(ctx_once_count(once, 0), 0);
	ctx_rt_once_sites(shared)[1].is_taken = 1;
	ctx_rt_once_sites(shared)[2].is_taken = 1;
	assert_int_equal(ctx_once_count(once, 0), 1);
	assert_int_equal(ctx_once_count(once, 2), 1);
	ctx_rt_once_objects(shared)[0].armed_ns = 1;
	ctx_rt_once_objects(shared)[0].refused = 3;
	assert_string_equal(ctx_once_next_missing(once, &at), missing);
	assert_null(ctx_once_next_missing(once, &at));
	assert_int_equal(ctx_once_refused(once), 3);
	/* A target writes what it likes. */
	memset(shared, 0xff, sizeof(*shared));
	assert_int_equal(ctx_once_count(once, 2), 1);
	munmap(shared, 4096);
	ctx_once_destroy(once);
}

/* Two indicators have an entry in common: two sites, one behind the other. */
static void test_indicators__entries_are_sites_of_the_targets_memory(void **state)
{
	const struct ctx_indicator_place places[] = {{.address = 0x2000, .path = "/proc/self/exe"},
						     {.address = 0x1000, .path = "/proc/self/exe"},
						     {.address = 0x1000, .path = "/proc/self/exe"},
						     {.address = 0x500, .path = "/proc/self/maps"}};
	const struct ctx_entry_metrics metrics[] = {
		{1, CTX_NONE, 0}, {1, CTX_NONE, 0}, {2, 3, 100}, {1, CTX_NONE, 0}};
	struct ctx_entry_counters *counters = NULL;
	struct ctx_rt_count_header *shared;
	char text[512] = "";
	size_t at = 0;
	int fd = -1;

	(void)state;
	assert_int_equal(ctx_entry_counters_create(&counters, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(places); i++)
		assert_int_equal(ctx_entry_counters_add(counters, &places[i], &metrics[i], NULL), CTX_OK);
	assert_int_equal(ctx_entry_counters_share(counters, &fd, NULL), CTX_OK);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(shared != MAP_FAILED);
	assert_int_equal(shared->n_objects, 2);
	assert_int_equal(shared->n_sites, 4);
	assert_true(shared->n_blocks >= 64);
	assert_int_equal(ctx_rt_count_objects(shared)[0].n, 3);
	assert_int_equal(ctx_rt_count_objects(shared)[1].first, 3);
	for (uint32_t i = 0; i < 4; i++) {
		const struct ctx_rt_count_site *site = &ctx_rt_count_sites(shared)[i];

		assert_int_equal(site->address, ((uint64_t[]){0x1000, 0x1000, 0x2000, 0x500})[i]);
		assert_int_equal(site->threshold, i == 1 ? 100 : 0);
		assert_int_equal(site->object, i == 3);
		assert_int_equal(ctx_entry_counters_raised(counters, i), i == 1 ? 3 : CTX_NONE);
	}
	assert_int_equal(ctx_entry_counters_raised(counters, 4), CTX_NONE);
	assert_int_equal(ctx_entry_counters_count(counters, 1), 0);
	ctx_rt_count_objects(shared)[0].patched = 2;
	ctx_rt_count_objects(shared)[0].refused = 1;
	assert_true(ctx_entry_counters_next_warning(counters, &at, text, sizeof(text)));
	assert_non_null(strstr(text, "1 functions of /proc/self/exe"));
	assert_true(ctx_entry_counters_next_warning(counters, &at, text, sizeof(text)));
	assert_non_null(strstr(text, "no process has loaded /proc/self/maps"));
	assert_false(ctx_entry_counters_next_warning(counters, &at, text, sizeof(text)));
	/* A target writes what it likes. */
	memset(shared, 0xff, sizeof(*shared));
	assert_int_equal(ctx_entry_counters_take(counters, &(struct ctx_entry_target){0}, 0, NULL), CTX_OK);
	munmap(shared, 4096);
	ctx_entry_counters_destroy(counters);
}

static void test_indicators__a_return_belongs_to_the_entry_with_its_stack_pointer(void **state)
{
	const struct ctx_indicator_rule rules[] = {{.role = CTX_INDICATOR_ENTERS},
						   {.role = CTX_INDICATOR_RETURNS, .slow_ns = 100}};
	struct ctx_indicator_watch *watch = NULL;

	(void)state;
	assert_int_equal(ctx_indicator_watch_create(rules, 2, &watch, NULL), CTX_OK);
	assert_false(take(watch, 1, 5, 1008)); /* its entry was not seen */
	assert_true(take(watch, 0, 10, 1000));
	assert_true(take(watch, 0, 20, 900)); /* recursion */
	assert_false(take(watch, 1, 119, 908));
	assert_true(take(watch, 1, 120, 1008));
	assert_true(take(watch, 0, 200, 1000));
	assert_true(take(watch, 0, 210, 900)); /* left by longjmp */
	assert_true(take(watch, 0, 290, 950));
	assert_false(take(watch, 1, 389, 958));
	assert_true(take(watch, 1, 390, 1008));
	/* A thread of the same number is another one. */
	assert_true(take(watch, 0, 400, 1000));
	ctx_indicator_watch_end_thread(watch, 1);
	assert_false(take(watch, 1, 900, 1008));
	ctx_indicator_watch_destroy(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_indicators__a_specification_is_a_place_with_options_behind_it),
		cmocka_unit_test(test_indicators__two_colons_are_part_of_a_name),
		cmocka_unit_test(test_indicators__what_cannot_be_meant_is_refused),
		cmocka_unit_test(test_indicators__places_are_lines_of_the_helper),
		cmocka_unit_test(test_indicators__damaged_lines_of_the_helper_are_refused),
		cmocka_unit_test(
			test_indicators__the_load_objects_of_a_process_are_where_its_loader_put_them),
		cmocka_unit_test(test_indicators__the_list_of_a_loader_gives_paths_once),
		cmocka_unit_test(test_indicators__debug_registers_cover_each_byte_once),
		cmocka_unit_test(test_indicators__definitions_of_ended_recorders_are_removed),
		cmocka_unit_test(test_indicators__lines_of_the_header_are_read_as_they_were_put),
		cmocka_unit_test(test_indicators__damaged_lines_of_the_header_are_left_out),
		cmocka_unit_test(test_indicators__a_listing_is_what_ctxan_prints),
		cmocka_unit_test(test_indicators__windows_are_those_of_looking_back),
		cmocka_unit_test(test_indicators__a_site_of_coverage_belongs_to_one_indicator),
		cmocka_unit_test(test_indicators__entries_are_sites_of_the_targets_memory),
		cmocka_unit_test(test_indicators__a_return_belongs_to_the_entry_with_its_stack_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
