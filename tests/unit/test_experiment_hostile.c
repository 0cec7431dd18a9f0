/* Experiments that somebody made to take long, or much memory. */
#include "base/compress.h"
#include "experiment_place.h"
#include "formats/experiment/exp_block.h"
#include "formats/experiment/exp_heap_code.h"
#include "formats/experiment/exp_text.h"

#include "base/xxh.h"

#include <fcntl.h>
#include <sys/resource.h>

/* What a reading costs: damage by text, samples, the peak of memory. */
struct cost {
	uint32_t maps, samples, nodes, damage;
	char first_damage[256];
};

static struct cost read_whole(const char *path, const char *about)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	struct cost cost = {0};

	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		cost.maps += event.kind == CTX_EV_MAP;
		cost.samples += event.kind == CTX_EV_SAMPLE;
		if (event.kind == CTX_EV_STACKS)
			cost.nodes += event.stacks.n;
		if (event.kind != CTX_EV_DAMAGE || strstr(event.text, about) == NULL)
			continue;
		if (cost.damage++ == 0)
			snprintf(cost.first_damage, sizeof(cost.first_damage), "%s", event.text);
	}
	source->close(source);
	return cost;
}

static void make(const char *path)
{
	struct ctx_exp_options options = fixture_options(path);
	struct fixture_recording recording = {.seed = 3};

	options.overwrite = true;
	fixture_begin(&recording, &options);
	for (uint32_t i = 0; i < 30; i++) {
		recording.now_ns += 1000000;
		fixture_put_sample(&recording, 0, 0, 0, 5, 8);
	}
	assert_int_equal(recording.status, CTX_OK);
	fixture_close(&recording);
	fixture_contents_deinit(&recording.in);
}

static int open_in(const char *path, const char *name, int flags)
{
	char *file = ctx_path_join(path, name);
	int fd = open(file, flags | O_CLOEXEC, 0644);

	free(file);
	assert_true(fd >= 0);
	return fd;
}

static void test_experiment_hostile__holes_are_not_read(void **state)
{
	static const char *const NAMES[] = {"profile", "frameinfo", "log.xml", "map.xml"};
	struct place *place = *state;
	struct cost before, after;

	make(place->path);
	before = read_whole(place->path, "");
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
		int fd CTX_AUTO_CLOSE = open_in(place->path, NAMES[i], O_WRONLY);

		/* Less than ext4's largest file; at a gigabyte a second this would be read for hours. */
		if (ftruncate(fd, (off_t)2 << 40) != 0) {
			print_message("skipped: no file of 2 TB can be made here\n");
			return;
		}
	}
	after = read_whole(place->path, "");
	assert_int_equal(after.samples, before.samples);
	assert_int_equal(after.maps, before.maps);
	assert_int_equal(before.damage, 0);
	assert_true(after.damage != 0);
}

static void test_experiment_hostile__a_process_has_no_more_maps_than_the_kernel_allows(void **state)
{
	struct place *place = *state;
	struct ctx_buf text = {0};
	struct cost cost;
	int fd;

	make(place->path);
	for (uint32_t i = 0; i < 70000; i++)
		ctx_buf_printf(&text,
			       "<map tstamp=\"0.001000000\" process=\"0\" address=\"0x%x\" size=\"0x1000\" "
			       "offset=\"0x0\" protection=\"5\" build_id=\"\" path=\"/x\"/>\n",
			       0x10000000u + i * 0x1000u);
	assert_false(text.failed);
	fd = open_in(place->path, "map.xml", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, text.bytes, text.n), (ssize_t)text.n);
	close(fd);
	ctx_buf_deinit(&text);
	cost = read_whole(place->path, "more than 65536 maps of a process");
	assert_int_equal(cost.maps, 65536);
	assert_int_equal(cost.damage, 1);
	assert_int_equal(cost.samples, 30);
}

/* Appends a block of these bytes. */
static void put_block(int fd, struct ctx_exp_block_header header, const struct ctx_buf *raw)
{
	struct ctx_compressor compressor = {0};
	struct ctx_buf block = {0};
	const size_t head = CTX_EXP_BLOCK_HEADER_BYTES;

	assert_non_null(ctx_buf_reserve(&block, head));
	block.n = head;
	assert_int_equal(ctx_compress(&compressor, 1, (struct ctx_bytes){raw->bytes, raw->n}, &block, NULL),
			 CTX_OK);
	header.raw_bytes = (uint32_t)raw->n;
	header.frame_bytes = (uint32_t)(block.n - head);
	header.checksum = ctx_xxh3(block.bytes + head, block.n - head);
	ctx_exp_encode_block_header(&header, block.bytes);
	assert_int_equal(write(fd, block.bytes, block.n), (ssize_t)block.n);
	ctx_buf_deinit(&block);
	ctx_compressor_deinit(&compressor);
}

/* 20 million nodes of call stacks in 4 KB. */
static void test_experiment_hostile__call_stacks_that_no_recorder_packs_are_left_out(void **state)
{
	const uint32_t nodes = 2000000, first = 1000;
	struct place *place = *state;
	struct ctx_exp_packet packet = {.time_ns = 40000000, .cpu = 0, .weight = 1};
	struct ctx_buf raw = {0};
	struct cost cost;
	int frames, profile;

	make(place->path);
	frames = open_in(place->path, "frameinfo", O_WRONLY | O_APPEND);
	profile = open_in(place->path, "profile", O_WRONLY | O_APPEND);
	for (uint32_t i = 0; i < 10; i++) {
		ctx_buf_clear(&raw);
		ctx_buf_put_varint(&raw, first + i * nodes);
		ctx_buf_put_varint(&raw, 0);
		ctx_buf_put_varint(&raw, nodes);
		for (uint32_t k = 0; k < nodes; k++)
			ctx_buf_put_u8(&raw, 0);
		put_block(frames,
			  (struct ctx_exp_block_header){
				  .kind = CTX_EXP_BLOCK_FRAMES, .n_records = nodes, .epoch = 1},
			  &raw);
	}
	packet.stack = first + 10 * nodes - 1;
	ctx_buf_clear(&raw);
	ctx_exp_encode_packets(&packet, 1, &raw);
	put_block(profile,
		  (struct ctx_exp_block_header){.kind = CTX_EXP_BLOCK_PROFILE,
						.n_records = 1,
						.epoch = 1,
						.first_ns = packet.time_ns,
						.last_ns = packet.time_ns},
		  &raw);
	close(frames);
	close(profile);
	ctx_buf_deinit(&raw);
	cost = read_whole(place->path, "no recorder packs so many");
	assert_true(cost.nodes < 6000000);
	assert_int_equal(cost.damage, 8);
	assert_int_equal(cost.samples, 31);
}

static long peak_kib(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* A block of one allocation that is never freed; the last one in time. */
static void put_allocation(int fd)
{
	struct ctx_exp_packet packet = {.time_ns = 50000000, .cpu = -1, .operation = CTX_HEAP_ALLOCATE};
	struct ctx_exp_heap_addresses addresses = {.address = 0x20000};
	const struct ctx_exp_heap_block block = {.packets = &packet, .addresses = &addresses, .n = 1};
	struct ctx_exp_heap_coder *coder = NULL;
	struct ctx_exp_heap_parts parts;
	struct ctx_buf raw = {0};

	assert_int_equal(ctx_exp_heap_encode(&coder, &block, &raw, &parts, NULL), CTX_OK);
	put_block(fd,
		  (struct ctx_exp_block_header){.kind = CTX_EXP_BLOCK_HEAP,
						.n_records = 1,
						.epoch = 1,
						.first_ns = packet.time_ns,
						.last_ns = packet.time_ns},
		  &raw);
	ctx_exp_heap_coder_free(coder);
	ctx_buf_deinit(&raw);
}

/* A header that claims so many heap operations, without them. */
static void put_claim(struct ctx_buf *out, uint32_t n_records, uint64_t time_ns)
{
	const struct ctx_exp_block_header header = {.kind = CTX_EXP_BLOCK_HEAP,
						    .n_records = n_records,
						    .epoch = 1,
						    .first_ns = time_ns,
						    .last_ns = time_ns};
	uint8_t bytes[CTX_EXP_BLOCK_HEADER_BYTES];

	ctx_exp_encode_block_header(&header, bytes);
	ctx_buf_put(out, bytes, sizeof(bytes));
}

/* Claims and an allocation, in the file of samples. */
static void put_claims(const char *path, const struct ctx_buf *claims)
{
	int fd CTX_AUTO_CLOSE = open_in(path, "profile", O_WRONLY | O_APPEND);

	assert_false(claims->failed);
	assert_int_equal(write(fd, claims->bytes, claims->n), (ssize_t)claims->n);
	put_allocation(fd);
}

#define MUCH_KIB (256 * 1024)

static uint32_t count_operations(const char *path, uint32_t *ret_leaks)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	uint32_t n = 0;

	*ret_leaks = 0;
	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		n += event.kind == CTX_EV_TRACED;
		*ret_leaks += event.kind == CTX_EV_TRACED && event.traced.operation->leaked;
	}
	source->close(source);
	return n;
}

static void test_experiment_hostile__a_claim_of_heap_operations_takes_no_memory(void **state)
{
	struct place *place = *state;
	struct ctx_buf claims = {0};
	uint32_t leaks;
	long before;

	make(place->path);
	put_claim(&claims, UINT32_MAX, 45000000);
	put_claims(place->path, &claims);
	ctx_buf_deinit(&claims);
	before = peak_kib();
	assert_int_equal(count_operations(place->path, &leaks), 1);
	assert_int_equal(leaks, 1);
	assert_in_range(peak_kib() - before, 0, MUCH_KIB);
}

/* Eight thousand million heap operations, in 8 MiB of a packed file. */
static void test_experiment_hostile__heap_operations_that_no_recorder_packs_take_no_memory(void **state)
{
	struct place *place = *state;
	struct ctx_buf claims = {0};
	uint32_t leaks;
	long before;
	int dir;

	make(place->path);
	for (uint64_t i = 0; i < 131072; i++)
		put_claim(&claims, CTX_EXP_HEAP_MAX, 40000000 + i / 16);
	put_claims(place->path, &claims);
	ctx_buf_deinit(&claims);
	dir = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ctx_exp_pack_data(dir, "profile", 0600);
	assert_int_equal(faccessat(dir, "profile.zst", F_OK, 0), 0);
	close(dir);
	before = peak_kib();
	assert_int_equal(count_operations(place->path, &leaks), 1);
	assert_int_equal(leaks, 1);
	assert_in_range(peak_kib() - before, 0, MUCH_KIB);
}

/* Lines that are read without libxml2 mean the same. */
static void test_experiment_hostile__odd_lines_are_judged_as_xml(void **state)
{
	static const char LINES[] = "<event kind=\"warning\" tstamp=\"0\" text=\"a\\x41&amp;\xc3\xbc\"/>\n"
				    "<event kind=\"warning\" tstamp=\"0\" text=\"b\\x41\\\\\"/>\n"
				    "<event  kind='warning' tstamp=\"0\" text=\"c\" />\n"
				    "<event kind=\"warning\" tstamp=\"0\" text=\"d\" text=\"d\"/>\n"
				    "<event kind=\"warning\" tstamp=\"0\" text=\"e\"/>x\n"
				    "<event kind=\"warning\" tstamp=\"0\" text=\"f<\"/>\n"
				    "<event kind=\"warning\" tstamp=\"0\" text=\"g\n"
				    "<event kind=\"warning\" tstamp=\"0\" text=\"h\"></event>\n"
				    "<event kind=\"warning\"tstamp=\"0\" text=\"i\"/>\n";
	struct place *place = *state;
	struct ctx_event_source *source;
	struct ctx_event event;
	char found[256] = "";
	uint32_t damaged = 0;
	int fd;

	make(place->path);
	fd = open_in(place->path, "log.xml", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, LINES, sizeof(LINES) - 1), (ssize_t)sizeof(LINES) - 1);
	close(fd);
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		damaged += event.kind == CTX_EV_DAMAGE;
		if (event.kind == CTX_EV_WARNING)
			snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s|", event.text);
	}
	source->close(source);
	assert_string_equal(found, "aA&\xc3\xbc|bA\\\\|c|h|");
	assert_int_equal(damaged, 5);
}

static void test_experiment_hostile__maps_of_impossible_processes_are_damage(void **state)
{
	static const char LOG[] =
		"<event kind=\"process\" tstamp=\"0.01\" process=\"1\" pid=\"7\" parent=\"0\" "
		"lineage=\"_f1\"/>\n"
		"<event kind=\"process\" tstamp=\"0.02\" process=\"2\" pid=\"8\" parent=\"1\" "
		"lineage=\"_f1_f1\"/>\n";
	static const char MAPS[] = "<maps tstamp=\"0.01\" process=\"1\" of=\"0\"/>\n"  /* fine */
				   "<maps tstamp=\"0.02\" process=\"2\" of=\"2\"/>\n"  /* of itself */
				   "<maps tstamp=\"0.02\" process=\"1\" of=\"2\"/>\n"  /* in a circle */
				   "<maps tstamp=\"0.02\" process=\"2\" of=\"9\"/>\n"  /* unknown */
				   "<maps tstamp=\"0.02\" process=\"9\" of=\"2\"/>\n"  /* unknown */
				   "<maps tstamp=\"0.02\" process=\"2\"/>\n"	       /* of whom */
				   "<maps tstamp=\"0.00\" process=\"2\" of=\"1\"/>\n"; /* before it began */
	struct place *place = *state;
	struct ctx_event_source *source;
	struct ctx_event event;
	char found[64] = "", commands[64] = "";
	int fd;

	make(place->path);
	fd = open_in(place->path, "log.xml", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, LOG, sizeof(LOG) - 1), (ssize_t)sizeof(LOG) - 1);
	close(fd);
	fd = open_in(place->path, "map.xml", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, MAPS, sizeof(MAPS) - 1), (ssize_t)sizeof(MAPS) - 1);
	close(fd);
	assert_int_equal(read_whole(place->path, "").damage, 5);
	assert_int_equal(read_whole(place->path, "cannot have the maps of process").damage, 4);
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		if (event.kind == CTX_EV_FORK_MAPS)
			snprintf(found + strlen(found), sizeof(found) - strlen(found), "%llu: %u of %u|",
				 (unsigned long long)event.time_ns, event.process, event.maps_of);
		if (event.kind == CTX_EV_PROCESS_START)
			snprintf(commands + strlen(commands), sizeof(commands) - strlen(commands), "%s|",
				 event.process_start.command);
	}
	source->close(source);
	assert_string_equal(found, "10000000: 1 of 0|20000000: 2 of 1|");
	assert_string_equal(commands, "./app|./app|./app|"); /* the parent's */
}

static void test_experiment_hostile__impossible_lives_are_damage(void **state)
{
	static const char LOG[] =
		"<life tstamp=\"0.01\" ns=\"5\" process=\"7\" thread=\"9\" pid=\"17\" parent=\"0\" "
		"lineage=\"_f1\" "
		"name=\"a\" maps=\"0\"/>\n"
		"<life tstamp=\"0.02\" ns=\"5\" process=\"7\" thread=\"10\" pid=\"18\" name=\"again\"/>\n"
		"<life tstamp=\"0.02\" ns=\"5\" process=\"8\" thread=\"9\" pid=\"18\" name=\"again\"/>\n"
		"<life tstamp=\"0.02\" ns=\"18446744073709551615\" process=\"8\" thread=\"10\" pid=\"18\"/>\n"
		"<life tstamp=\"0.02\" process=\"8\" thread=\"10\" pid=\"18\"/>\n"
		"<life tstamp=\"0.02\" ns=\"5\" process=\"8\" pid=\"18\"/>\n"
		"<life tstamp=\"0.02\" ns=\"5\" thread=\"10\" pid=\"18\"/>\n"
		"<life tstamp=\"0.03\" ns=\"0\" process=\"8\" thread=\"10\" pid=\"18\" tid=\"19\" "
		"parent=\"7\" "
		"lineage=\"_f1_x1\" command=\"own\" maps=\"9\"/>\n";
	struct place *place = *state;
	struct ctx_event_source *source;
	struct ctx_event event;
	char found[200] = "";
	int fd;

	make(place->path);
	fd = open_in(place->path, "log.xml", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, LOG, sizeof(LOG) - 1), (ssize_t)sizeof(LOG) - 1);
	close(fd);
	assert_int_equal(read_whole(place->path, "").damage, 7);
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		size_t n = strlen(found);

		if (event.time_ns < 10000000)
			continue;
		if (event.kind == CTX_EV_PROCESS_START)
			snprintf(found + n, sizeof(found) - n, "%s ", event.process_start.command);
		else if (event.kind == CTX_EV_FORK_MAPS)
			snprintf(found + n, sizeof(found) - n, "maps ");
		else if (event.kind == CTX_EV_THREAD_START)
			snprintf(found + n, sizeof(found) - n, "thread %lld ",
				 (long long)event.thread_start.tid);
		else if (event.kind == CTX_EV_THREAD_EXIT || event.kind == CTX_EV_PROCESS_EXIT)
			snprintf(found + n, sizeof(found) - n, "end %llu ",
				 (unsigned long long)event.time_ns);
	}
	source->close(source);
	assert_string_equal(found, "./app thread 17 maps end 10000005 end 10000005 "
				   "own thread 19 end 30000000 end 30000000 ");
}

static void start_process(struct ctx_exp_writer *writer, uint32_t *ret)
{
	struct ctx_exp_process process = {.origin = CTX_EXP_ROOT_PROCESS,
					  .parent = CTX_NONE,
					  .pid = 1000,
					  .command = "app",
					  .time_ns = FIXTURE_START_NS};

	assert_int_equal(ctx_exp_process_start(writer, &process, ret, NULL), CTX_OK);
}

static void check_warning(const char *path, const char *text)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	bool found = false;

	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK)
		found = found || (event.kind == CTX_EV_WARNING && strstr(event.text, text) != NULL);
	source->close(source);
	assert_true(found);
}

static size_t size_in(const char *path, const char *name)
{
	struct ctx_buf text = {0};
	size_t n;

	place_load_text(path, name, &text);
	n = text.n;
	ctx_buf_deinit(&text);
	return n;
}

/* A target that renames itself, maps and starts threads without end. */
static void test_experiment_hostile__a_target_cannot_fill_the_disk_with_lines(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct ctx_exp_thread thread = {.tid = 1000, .name = "t", .time_ns = FIXTURE_START_NS};
	struct ctx_exp_map map = {.size = 0x1000, .path = "/x", .build_id = ""};
	uint64_t stack = 0x10000000;
	struct ctx_exp_sample sample = {
		.time_ns = FIXTURE_START_NS + 1, .weight = 1, .frames = &stack, .n_frames = 1};
	struct ctx_exp_writer *writer;
	struct ctx_exp_stats stats;
	uint32_t process, number, first;

	options.max_text_bytes = (uint64_t)12 << 20;
	assert_int_equal(ctx_exp_create(&options, &writer, NULL), CTX_OK);
	start_process(writer, &process);
	assert_int_equal(ctx_exp_thread_start(writer, &thread, &first, NULL), CTX_OK);
	assert_int_equal(ctx_exp_sample(writer, &sample, NULL), CTX_OK);
	for (uint32_t i = 0; i < 2000; i++)
		assert_int_equal(ctx_exp_thread_name(writer, first, i % 2 != 0 ? "one" : "two",
						     FIXTURE_START_NS + i, NULL),
				 CTX_OK);
	/* The same map again is no map; others are described up to a number. */
	for (uint32_t i = 0; i < 100000; i++) {
		map.address = 0x10000000 + (uint64_t)(i % 80000) * 0x1000;
		map.time_ns = FIXTURE_START_NS + i;
		assert_int_equal(ctx_exp_map(writer, process, &map, NULL), CTX_OK);
	}
	stats = ctx_exp_stats(writer);
	assert_int_equal(stats.left_out[CTX_EXP_DESCRIBED_NAME], 1000);
	assert_int_equal(stats.left_out[CTX_EXP_DESCRIBED_MAP], 80000 - 65536);
	for (uint32_t i = 0; i < 50000; i++) {
		thread.tid = 2000 + i;
		assert_int_equal(ctx_exp_thread_start(writer, &thread, &number, NULL), CTX_OK);
		assert_int_equal(ctx_exp_thread_exit(writer, number, FIXTURE_START_NS + 5, NULL), CTX_OK);
	}
	stats = ctx_exp_stats(writer);
	assert_true(stats.left_out[CTX_EXP_DESCRIBED_THREAD] > 1000);
	sample.thread = number; /* not described, but there */
	sample.time_ns++;
	assert_int_equal(ctx_exp_sample(writer, &sample, NULL), CTX_OK);
	assert_int_equal(ctx_exp_close(writer, FIXTURE_START_NS + 100, NULL), CTX_OK);
	assert_true(size_in(place->path, "log.xml") + size_in(place->path, "map.xml") < (size_t)18 << 20);
	check_warning(place->path, "beyond a limit they are counted and not described");
	check_warning(place->path, "1000 names of threads, 14464 maps");
	assert_int_equal(read_whole(place->path, "").samples, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_hostile__holes_are_not_read),
		place_test(test_experiment_hostile__a_process_has_no_more_maps_than_the_kernel_allows),
		place_test(test_experiment_hostile__call_stacks_that_no_recorder_packs_are_left_out),
		place_test(test_experiment_hostile__a_claim_of_heap_operations_takes_no_memory),
		place_test(test_experiment_hostile__heap_operations_that_no_recorder_packs_take_no_memory),
		place_test(test_experiment_hostile__maps_of_impossible_processes_are_damage),
		place_test(test_experiment_hostile__impossible_lives_are_damage),
		place_test(test_experiment_hostile__odd_lines_are_judged_as_xml),
		place_test(test_experiment_hostile__a_target_cannot_fill_the_disk_with_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
