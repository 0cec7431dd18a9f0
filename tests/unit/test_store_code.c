/* Sites, source files, texts and code in the database. */
#include "store_damage.h"

#include "failing_malloc.h"
#include "store/block_codec.h"

/* ---- columns ---- */

static void test_store_code__codec_gives_back_any_lines(void **state)
{
	struct fixture fixture = {.seed = 77};
	struct ctx_block_codec codec = {0};
	struct ctx_line_rows got = {0};
	struct ctx_line_row in[600];

	(void)state;
	for (int round = 0; round < 500; round++) {
		uint64_t base = round % 2 == 0 ? 0 : UINT64_MAX - 100000 + (uint64_t)round;
		uint64_t address = base + fixture_random(&fixture, 3);
		size_t n = fixture_random(&fixture, 600);

		for (size_t i = 0; i < n; i++) {
			in[i].address = address;
			in[i].file =
				fixture_random(&fixture, 5) != 0 ? fixture_random(&fixture, 3) : CTX_NONE;
			in[i].line = fixture_random(&fixture, round % 3 == 0 ? 5 : UINT32_MAX);
			address += 1 + fixture_random(&fixture, 50);
		}
		must(ctx_lines_encode(&codec,
				      &(struct ctx_function_code){.address = base,
								  .n_bytes = (size_t)(address - base),
								  .lines = in,
								  .n_lines = n},
				      err));
		got.n = 0;
		must(ctx_lines_decode(
			&codec, (struct ctx_bytes){codec.payload.bytes, codec.payload.n},
			&(struct ctx_function_code){.address = base, .n_bytes = (size_t)(address - base)},
			&got, err));
		assert_int_equal(got.n, n);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(got.rows[i].address, in[i].address);
			assert_int_equal(got.rows[i].file, in[i].file);
			assert_int_equal(got.rows[i].line, in[i].line);
		}
		if (n == 0)
			continue;
		/* The function ends before its last line. */
		assert_int_equal(
			ctx_lines_decode(
				&codec, (struct ctx_bytes){codec.payload.bytes, codec.payload.n},
				&(struct ctx_function_code){.address = base,
							    .n_bytes = (size_t)(in[n - 1].address - base)},
				&got, NULL),
			CTX_E_FORMAT);
		assert_int_equal(got.n, n);
	}
	free(got.rows);
	ctx_block_codec_deinit(&codec);
}

static void test_store_code__codec_refuses_lines_out_of_order(void **state)
{
	static const struct ctx_line_row same[] = {{100, 0, 1}, {100, 0, 2}},
					 back[] = {{101, 0, 1}, {100, 0, 2}}, before[] = {{99, 0, 1}},
					 behind[] = {{110, 0, 1}};
	struct ctx_block_codec codec = {0};

	(void)state;
	assert_int_equal(ctx_lines_encode(&codec,
					  &(struct ctx_function_code){
						  .address = 100, .n_bytes = 10, .lines = same, .n_lines = 2},
					  NULL),
			 CTX_E_ARG);
	assert_int_equal(ctx_lines_encode(&codec,
					  &(struct ctx_function_code){
						  .address = 100, .n_bytes = 10, .lines = back, .n_lines = 2},
					  NULL),
			 CTX_E_ARG);
	assert_int_equal(
		ctx_lines_encode(&codec,
				 &(struct ctx_function_code){
					 .address = 100, .n_bytes = 10, .lines = before, .n_lines = 1},
				 NULL),
		CTX_E_ARG);
	assert_int_equal(
		ctx_lines_encode(&codec,
				 &(struct ctx_function_code){
					 .address = 100, .n_bytes = 10, .lines = behind, .n_lines = 1},
				 NULL),
		CTX_E_ARG);
	ctx_block_codec_deinit(&codec);
}

/* Any bytes at all: a status or sound lines, and no more memory than the function's size allows. */
static void test_store_code__codec_reads_noise_without_harm(void **state)
{
	struct fixture fixture = {.seed = 5};
	struct ctx_block_codec codec = {0};
	struct ctx_line_rows got = {0};
	int sound = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		uint8_t bytes[40] = {0};
		size_t n = fixture_random(&fixture, sizeof(bytes));

		for (size_t i = 1; i < n; i++)
			bytes[i] =
				(uint8_t)fixture_random(&fixture, fixture_random(&fixture, 4) == 0 ? 256 : 4);
		got.n = 0;
		if (ctx_lines_decode(&codec, (struct ctx_bytes){bytes, n},
				     &(struct ctx_function_code){.address = 1000, .n_bytes = 50}, &got,
				     NULL) != CTX_OK)
			continue;
		sound += got.n != 0;
		assert_true(got.n <= 50);
		for (size_t i = 0; i < got.n; i++) {
			assert_in_range(got.rows[i].address, 1000, 1049);
			assert_true(i == 0 || got.rows[i].address > got.rows[i - 1].address);
		}
	}
	assert_true(sound > 0);
	free(got.rows);
	ctx_block_codec_deinit(&codec);
}

/* ---- round trip ---- */

static void assert_same_arrays(const struct fixture *fixture, const struct ctx_code *code)
{
	assert_int_equal(code->n_locations, fixture->n_locations);
	for (size_t i = 0; i < code->n_locations; i++) {
		assert_int_equal(code->locations[i].object, fixture->locations[i].object);
		assert_int_equal(code->locations[i].function, fixture->locations[i].function);
		assert_int_equal(code->locations[i].address, fixture->locations[i].address);
		assert_int_equal(code->locations[i].site, fixture->locations[i].site);
		assert_int_equal(code->locations[i].joins, fixture->locations[i].joins);
	}
	assert_int_equal(code->n_sites, fixture->n_sites);
	assert_memory_equal(code->sites, fixture->sites, fixture->n_sites * sizeof(*code->sites));
	assert_int_equal(code->n_files, FIXTURE_FILES);
	for (size_t i = 0; i < code->n_files; i++) {
		assert_string_equal(code->files[i].path, fixture->files[i].path);
		assert_string_equal(code->files[i].origin, fixture->files[i].origin);
	}
	assert_int_equal(code->raw_stacks->n, fixture->raw.n);
	assert_memory_equal(code->raw_stacks->parent, fixture->raw.parent, fixture->raw.n * sizeof(uint32_t));
	assert_memory_equal(code->raw_stacks->key, fixture->raw.key, fixture->raw.n * sizeof(uint32_t));
	assert_memory_equal(code->raw_to_stack, fixture->raw_to_stack, fixture->raw.n * sizeof(uint32_t));
}

static void assert_same_text(const struct ctx_code_reader *reader, uint32_t file)
{
	char want[FIXTURE_TEXT_MAX];
	size_t n_want, n = 99;
	const char *text;

	if (!fixture_text(file, want, &n_want)) {
		assert_int_equal(reader->text(reader->context, file, &text, &n, NULL), CTX_E_NOTFOUND);
		return;
	}
	must(reader->text(reader->context, file, &text, &n, err));
	assert_int_equal(n, n_want);
	assert_memory_equal(text, want, n);
	assert_int_equal(text[n], '\0');
}

static void assert_same_code(const struct fixture *fixture, const struct ctx_code_reader *reader,
			     uint32_t function)
{
	const struct ctx_function_code *parts;
	struct fixture_code want;
	size_t n_want = fixture_code(fixture, function, &want), n = 99;

	must(reader->code(reader->context, function, &parts, &n, err));
	assert_int_equal(n, n_want);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(parts[i].function, function);
		assert_int_equal(parts[i].address, want.parts[i].address);
		assert_int_equal(parts[i].machine, want.parts[i].machine);
		assert_int_equal(parts[i].n_bytes, want.parts[i].n_bytes);
		assert_memory_equal(parts[i].bytes, want.parts[i].bytes, parts[i].n_bytes);
		assert_int_equal(parts[i].n_lines, want.parts[i].n_lines);
		for (size_t k = 0; k < parts[i].n_lines; k++) {
			assert_int_equal(parts[i].lines[k].address, want.parts[i].lines[k].address);
			assert_int_equal(parts[i].lines[k].file, want.parts[i].lines[k].file);
			assert_int_equal(parts[i].lines[k].line, want.parts[i].lines[k].line);
		}
	}
}

static void assert_same_everything(struct fixture *fixture, struct ctx_store *store)
{
	struct ctx_code_reader reader = ctx_store_code_reader(store);
	uint32_t n_functions = fixture->profile.n_functions;
	const struct ctx_code *code, *again;

	must(ctx_store_code(store, &code, err));
	must(ctx_store_code(store, &again, err));
	assert_ptr_equal(code, again);
	assert_same_arrays(fixture, code);
	/* In any order, and more than once. */
	for (uint32_t i = 0; i < 3 * FIXTURE_FILES; i++)
		assert_same_text(&reader, i * 5 % FIXTURE_FILES);
	for (uint32_t i = 0; i < 2 * n_functions; i++)
		assert_same_code(fixture, &reader, fixture_random(fixture, n_functions));
	for (uint32_t i = 0; i < n_functions; i++)
		assert_same_code(fixture, &reader, i);
}

static void test_store_code__contents_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct fixture fixture;
		struct ctx_store *store;

		fixture_init(&fixture, seed, 2, 20);
		store = write_and_open(&fixture, in_dir("a.db"));
		assert_same_everything(&fixture, store);
		ctx_store_close(store);
		fixture_deinit(&fixture);
	}
}

/* Columns are stored in chunks of 65536 entries. */
static void test_store_code__gives_back_many_sites(void **state)
{
	struct fixture fixture;
	struct ctx_store *store;
	const struct ctx_code *code;

	(void)state;
	fixture_init(&fixture, 4, 1, 20);
	free(fixture.sites);
	fixture.n_sites = 150000;
	fixture.sites = ctx_calloc(fixture.n_sites, sizeof(*fixture.sites));
	for (uint32_t i = 0; i < fixture.n_sites; i++)
		fixture.sites[i] = (struct ctx_site){
			fixture_random(&fixture, fixture.profile.n_functions),
			fixture_random(&fixture, FIXTURE_FILES), i,
			i > 70000 && i % 2 == 0 ? i - 1 - 2 * fixture_random(&fixture, 30000) : CTX_NONE};
	store = write_and_open(&fixture, in_dir("a.db"));
	must(ctx_store_code(store, &code, err));
	assert_same_arrays(&fixture, code);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static void test_store_code__results_of_one_call_outlive_the_other(void **state)
{
	const struct ctx_function_code *parts;
	struct ctx_code_reader reader;
	struct fixture fixture;
	struct ctx_store *store;
	const char *text;
	char want[FIXTURE_TEXT_MAX];
	size_t n, n_parts, n_want;

	(void)state;
	fixture_init(&fixture, 6, 2, 500);
	store = write_and_open(&fixture, in_dir("a.db"));
	reader = ctx_store_code_reader(store);
	must(reader.text(reader.context, 4, &text, &n, err));
	must(reader.code(reader.context, 3, &parts, &n_parts, err));
	assert_true(fixture_text(4, want, &n_want));
	assert_int_equal(n, n_want);
	assert_memory_equal(text, want, n);
	assert_int_equal(n_parts, 3);
	must(reader.text(reader.context, 3, &text, &n, err));
	assert_int_equal(parts[2].n_bytes, 1 + (3 * 37 + 2 * 101) % FIXTURE_CODE_MAX);
	assert_int_equal(parts[2].bytes[1], 6);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static void test_store_code__a_database_without_code_says_so(void **state)
{
	const struct ctx_function_code *parts;
	struct ctx_code_reader reader;
	struct ctx_store *store = NULL;
	const struct ctx_code *code;
	struct fixture fixture;
	const char *text;
	size_t n = 99;

	(void)state;
	fixture_init(&fixture, 8, 2, 50);
	for (size_t i = 0; i < fixture.n_locations; i++)
		fixture.locations[i].site = CTX_NONE;
	must(ctx_store_create(in_dir("a.db"), &store, err));
	must(ctx_store_put_contents(store,
				    &(struct ctx_store_contents){.profile = &fixture.profile,
								 .locations = fixture.locations,
								 .n_locations = fixture.n_locations,
								 .raw_stacks = &fixture.raw,
								 .raw_to_stack = fixture.raw_to_stack,
								 .fingerprint = ""},
				    err));
	must(ctx_store_commit(store, err));
	must(ctx_store_open(in_dir("a.db"), &store, err));
	must(ctx_store_code(store, &code, err));
	assert_true(code->n_sites == 0 && code->n_files == 0);
	assert_int_equal(code->n_locations, fixture.n_locations);
	reader = ctx_store_code_reader(store);
	must(reader.code(reader.context, 1, &parts, &n, err));
	assert_int_equal(n, 0);
	must(reader.code(reader.context, CTX_NONE, &parts, &n, err));
	assert_int_equal(n, 0);
	assert_int_equal(reader.text(reader.context, 0, &text, &n, NULL), CTX_E_NOTFOUND);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

/* ---- input that is refused ---- */

static void test_store_code__put_contents_refuses_unknown_ids(void **state)
{
	struct fixture fixture;

	(void)state;
	for (int i = 0; i < 9; i++) {
		fixture_init(&fixture, 5, 3, 10);
		assert_true(fixture.n_sites > 10 && fixture.locations[1].site == 1);
		if (i == 0)
			fixture.sites[3].function = fixture.profile.n_functions;
		else if (i == 1)
			fixture.sites[3].function = CTX_NONE;
		else if (i == 2)
			fixture.sites[3].file = FIXTURE_FILES;
		else if (i == 3)
			fixture.sites[3].caller = 3;
		else if (i == 4)
			fixture.locations[1].site = (uint32_t)fixture.n_sites;
		else if (i == 5)
			fixture.locations[1].function = CTX_NONE;
		else if (i == 6)
			fixture.locations[1].joins = true;
		else if (i == 7)
			fixture.locations[fixture.n_locations - 1].site = 0;
		else
			fixture.raw.key[1] = (uint32_t)fixture.n_locations;
		assert_int_equal(fixture_write(&fixture, in_dir("a.db"), NULL), CTX_E_ARG);
		fixture_deinit(&fixture);
	}
}

static void test_store_code__put_contents_refuses_endless_inlining(void **state)
{
	struct fixture fixture;

	(void)state;
	for (uint32_t depth = 256; depth <= 257; depth++) {
		fixture_init(&fixture, 5, 1, 10);
		for (size_t i = 0; i < fixture.n_locations; i++)
			fixture.locations[i].site = CTX_NONE;
		free(fixture.sites);
		fixture.n_sites = depth;
		fixture.sites = ctx_calloc(depth, sizeof(*fixture.sites));
		for (uint32_t i = 0; i < depth; i++)
			fixture.sites[i].caller = i - 1;
		assert_int_equal(fixture_write(&fixture, in_dir("a.db"), NULL),
				 depth == 256 ? CTX_OK : CTX_E_ARG);
		fixture_deinit(&fixture);
	}
}

static void test_store_code__refused_texts_and_code_leave_the_rest_alone(void **state)
{
	static uint8_t large[CTX_STORE_CODE_MAX + 1];
	static const struct ctx_line_row outside = {5000, 0, 1}, no_file = {1000, FIXTURE_FILES, 1};
	struct ctx_function_code code = {.function = 2, .address = 1000, .bytes = large, .n_bytes = 10};
	char *text = ctx_calloc(CTX_STORE_TEXT_MAX + 1, 1);
	struct ctx_store *store = NULL;
	struct fixture fixture;

	(void)state;
	assert_non_null(text);
	fixture_init(&fixture, 9, 2, 100);
	must(ctx_store_create(in_dir("a.db"), &store, err));
	assert_int_equal(ctx_store_put_source_text(store, 0, "x", 1, NULL), CTX_E_ARG);
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_ARG);
	must(fixture_put(&fixture, store, err));
	assert_int_equal(ctx_store_put_source_text(store, FIXTURE_FILES, "x", 1, NULL), CTX_E_ARG);
	assert_int_equal(ctx_store_put_source_text(store, 0, text, CTX_STORE_TEXT_MAX + 1, NULL),
			 CTX_E_LIMIT);
	code.function = fixture.profile.n_functions;
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_ARG);
	code.function = 4;
	code.n_bytes = CTX_STORE_CODE_MAX + 1;
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_LIMIT);
	code.n_bytes = 0;
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_ARG);
	code.n_bytes = 10;
	code.address = UINT64_MAX - 5;
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_ARG);
	code.address = 1000;
	code.n_lines = 1;
	code.lines = &outside;
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_ARG);
	code.lines = &no_file;
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_ARG);
	must(ctx_store_commit(store, err));
	must(ctx_store_open(in_dir("a.db"), &store, err));
	assert_same_everything(&fixture, store);
	ctx_store_close(store);
	fixture_deinit(&fixture);
	free(text);
}

static void test_store_code__parts_come_in_order_and_within_limits(void **state)
{
	static uint8_t bytes[CTX_STORE_CODE_MAX];
	struct ctx_function_code code = {.function = 4, .address = 1000, .bytes = bytes, .n_bytes = 10};
	const struct ctx_function_code *parts;
	struct ctx_code_reader reader;
	struct ctx_store *store = NULL;
	struct fixture fixture;
	size_t n;

	(void)state;
	fixture_init(&fixture, 9, 2, 100);
	must(ctx_store_create(in_dir("a.db"), &store, err));
	must(fixture_put_contents(&fixture, store, err));
	must(ctx_store_put_code(store, &code, err));
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_ARG); /* the same again */
	code.address = 1009;
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_ARG); /* overlaps */
	code.address = 1010;
	must(ctx_store_put_code(store, &code, err));
	code.n_bytes = CTX_STORE_CODE_MAX;
	for (uint64_t i = 1; i <= 3; i++) {
		code.address = i << 30;
		must(ctx_store_put_code(store, &code, err));
	}
	code.address = (uint64_t)4 << 30;
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_LIMIT); /* in all */
	code.function = 2;
	code.n_bytes = 1;
	for (unsigned i = 0; i < CTX_STORE_PARTS_MAX; i++) {
		code.address = i;
		must(ctx_store_put_code(store, &code, err));
	}
	code.address = 10000;
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_LIMIT);
	must(ctx_store_commit(store, err));
	must(ctx_store_open(in_dir("a.db"), &store, err));
	reader = ctx_store_code_reader(store);
	must(reader.code(reader.context, 4, &parts, &n, err));
	assert_int_equal(n, 5);
	assert_true(parts[4].address == (uint64_t)3 << 30 && parts[4].n_bytes == CTX_STORE_CODE_MAX);
	must(reader.code(reader.context, 2, &parts, &n, err));
	assert_int_equal(n, CTX_STORE_PARTS_MAX);
	must(reader.code(reader.context, 3, &parts, &n, err));
	assert_int_equal(n, 0);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

/* The parts of a function one after the other: a function with separated parts would hide some. */
static void test_store_code__a_function_put_twice_is_not_committed(void **state)
{
	struct ctx_function_code code = {
		.function = 4, .address = 1000, .bytes = (const uint8_t *)"x", .n_bytes = 1};
	struct ctx_store *store = NULL;
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture, 9, 2, 100);
	must(ctx_store_create(in_dir("a.db"), &store, err));
	must(fixture_put_contents(&fixture, store, err));
	must(ctx_store_put_code(store, &code, err));
	code.function = 3;
	must(ctx_store_put_code(store, &code, err));
	code.function = 4;
	code.address = 2000;
	assert_int_equal(ctx_store_put_code(store, &code, NULL), CTX_E_ARG);
	assert_int_equal(ctx_store_commit(store, NULL), CTX_E_ARG);
	fixture_deinit(&fixture);
}

/* ---- hostile databases ---- */

/* The first failure of reading everything; CTX_E_NOTFOUND of a text is none. */
static enum ctx_status read_all(const char *path, struct ctx_err *err)
{
	const struct ctx_function_code *parts;
	struct ctx_store *store = NULL;
	const struct ctx_code *code;
	struct ctx_code_reader reader;
	enum ctx_status status = ctx_store_open(path, &store, err);
	const char *text;
	size_t n;

	if (status != CTX_OK)
		return status;
	status = ctx_store_code(store, &code, err);
	reader = ctx_store_code_reader(store);
	for (uint32_t i = 0; status == CTX_OK && i < code->n_files; i++) {
		status = reader.text(reader.context, i, &text, &n, err);
		if (status == CTX_E_NOTFOUND)
			status = CTX_OK;
	}
	for (uint32_t i = 0; status == CTX_OK && i < ctx_store_profile(store)->n_functions; i++)
		status = reader.code(reader.context, i, &parts, &n, err);
	ctx_store_close(store);
	return status;
}

/* The result of reading everything after `sql` has changed a sound database. */
static enum ctx_status read_changed(const char *sql, struct ctx_err *found)
{
	const char *path = in_dir("a.db");
	struct fixture fixture;

	fixture_init(&fixture, 13, 1, 20);
	assert_true(fixture.n_sites > 100 && fixture.raw.n > 10);
	must(fixture_write(&fixture, path, err));
	fixture_deinit(&fixture);
	assert_int_equal(read_all(path, found), CTX_OK);
	change_database(path, sql);
	return read_all(path, found);
}

static void test_store_code__hostile_databases_are_refused(void **state)
{
	static const char *const changes[] = {
		"UPDATE experiment SET value = value + 1 WHERE key = 'sites'",
		"UPDATE experiment SET value = 4000000000 WHERE key = "
		"'sites'",
		"UPDATE experiment SET value = -1 WHERE key = 'sites'",
		"DELETE FROM site_block",
		"UPDATE site_block SET function = line",
		"UPDATE site_block SET file = line",
		"UPDATE site_block SET caller = line",
		"UPDATE site_block SET caller = x'0000ffffffff7f'",
		"UPDATE site_block SET line = zeroblob(9)",
		"UPDATE location_block SET site = address",
		"UPDATE location_block SET joins = x'000001'", /* all join */
		"UPDATE location_block SET joins = x'000000'", /* none does */
		"UPDATE location_block SET function = joins",
		"UPDATE location_block SET site = NULL",
		"UPDATE raw_stack_block SET location = x'0000ffff7f'",
		"UPDATE raw_stack_block SET parent = x'000000'",
		"UPDATE raw_stack_block SET parent = x'000007'",
		"DELETE FROM source_file WHERE id = 2",
		"UPDATE source_file SET text = 'plain' WHERE id = 1",
		"UPDATE source_file SET text = x'' WHERE id = 1",
		"UPDATE source_file SET text = zeroblob(16777218) WHERE id = "
		"1", /* one byte too many */
		"UPDATE source_file SET text = x'018080800828b52ffd' WHERE "
		"id = 1", /* claims 16 MiB */
		"UPDATE source_file SET text = x'01ffffffffff7f28b52ffd' "
		"WHERE id = 1",
		"UPDATE source_file SET text = x'0100' WHERE id = 1",
		"UPDATE source_file SET text = substr(text, 1, 20) WHERE id "
		"= 1",
		"UPDATE function_code SET n = n + 1 WHERE function = 3",
		"UPDATE function_code SET n = n - 1 WHERE function = 3",
		"UPDATE function_code SET n = 0 WHERE function = 3",
		"UPDATE function_code SET n = 2000000, bytes = "
		"zeroblob(2000001) WHERE function = 3",
		"UPDATE function_code SET n = 1000000, bytes = "
		"zeroblob(1000001), address = (id & 255) << 30 "
		"WHERE function = 3; "
		"INSERT INTO function_code SELECT id + 3, function, (id + 3 "
		"& 255) << 30, n, machine, bytes, lines "
		"FROM function_code WHERE function = 3",
		"UPDATE function_code SET address = 5 WHERE function = 3",
		"UPDATE function_code SET address = -1 WHERE function = 3",
		"UPDATE function_code SET machine = 65536 WHERE function = 3",
		"UPDATE function_code SET bytes = NULL WHERE function = 3",
		"UPDATE function_code SET bytes = lines WHERE function = 3",
		"UPDATE function_code SET lines = bytes WHERE function = 3",
		"UPDATE function_code SET lines = NULL WHERE function = 3",
		"UPDATE function_code SET lines = x'00ff7f000100010000' "
		"WHERE function = 3",
		"UPDATE function_code SET lines = x'000200010001' WHERE "
		"function = 3", /* no third column */
		"UPDATE function_code SET lines = x'000200010001000001' "
		"WHERE function = 3", /* bytes behind it */
		"UPDATE function_code SET lines = x'0002000100070000' "
		"WHERE function = 3", /* file 6 of 6 */
		"UPDATE function_code SET lines = x'0002000000010000' "
		"WHERE function = 3", /* one address twice */
		"UPDATE function_code SET lines = x'0001000000010001' WHERE "
		"function = 3", /* line -1 */
		"WITH RECURSIVE k(i) AS (SELECT 100 UNION ALL SELECT i + 1 "
		"FROM k WHERE i < 400) INSERT INTO "
		"function_code SELECT (3 << 32) + i, 3, i << 40, 1, 62, "
		"x'0000', x'0000000000000000' FROM k",
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(changes); i++) {
		struct ctx_err found = {0};

		if (read_changed(changes[i], &found) != CTX_E_FORMAT)
			fail_msg("not refused: %s (%s)", changes[i], found.msg);
		assert_non_null(strstr(found.msg, "a.db"));
	}
}

/* Valid-looking numbers written by another program. */
static void test_store_code__odd_databases_are_read(void **state)
{
	static const char *const changes[] = {
		"UPDATE source_file SET text = NULL WHERE id = 1",
		"UPDATE source_file SET path = NULL, origin = NULL",
		"UPDATE function_code SET lines = x'0001000000010000' WHERE function = 3",
		"DELETE FROM function_code WHERE id = 3 << 32",
		"UPDATE function_code SET function = 9999",
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(changes); i++) {
		struct ctx_err found = {0};

		if (read_changed(changes[i], &found) != CTX_OK)
			fail_msg("refused: %s (%s)", changes[i], found.msg);
	}
}

/* ---- memory ---- */

static void test_store_code__memory_that_runs_out_is_a_status(void **state)
{
	const char *path = in_dir("a.db");
	enum ctx_status status = CTX_E_NOMEM;
	struct fixture fixture;
	long n;

	(void)state;
	fixture_init(&fixture, 13, 1, 20);
	for (n = 0; status == CTX_E_NOMEM; n++) {
		struct ctx_err found = {0};
		struct ctx_store *store = NULL;

		must(ctx_store_create(path, &store, err));
		fail_after = n;
		status = fixture_put_contents(&fixture, store, &found);
		if (status == CTX_OK)
			status = fixture_put_code(&fixture, store, &found);
		fail_after = -1;
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
		ctx_store_close(store);
	}
	assert_true(n > 4);
	must(fixture_write(&fixture, path, err));
	for (status = CTX_E_NOMEM, n = 0; status == CTX_E_NOMEM; n++) {
		struct ctx_err found = {0};

		fail_after = n;
		status = read_all(path, &found);
		fail_after = -1;
		if (status != CTX_OK && status != CTX_E_NOMEM)
			fail_msg("allocation %ld: %s", n, found.msg);
	}
	assert_true(n > 30);
	fixture_deinit(&fixture);
}

/* A call that failed without memory works when memory is available again. */
static void test_store_code__a_second_try_works(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture, 13, 1, 20);
	must(fixture_write(&fixture, in_dir("a.db"), err));
	for (long n = 0; n < 25; n++) {
		struct ctx_store *store = NULL;
		const struct ctx_code *code;
		enum ctx_status status;

		must(ctx_store_open(in_dir("a.db"), &store, err));
		fail_after = n;
		status = ctx_store_code(store, &code, NULL);
		fail_after = -1;
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
		assert_same_everything(&fixture, store);
		ctx_store_close(store);
	}
	fixture_deinit(&fixture);
}

/* ---- SQL ---- */

struct cells {
	const struct fixture *fixture;
	size_t n;
};

static void assert_id(const char *value, uint32_t want)
{
	if (want == CTX_NONE)
		assert_null(value);
	else
		assert_int_equal(strtoull(value, NULL, 10), want);
}

static enum ctx_status check_location(void *context, const struct ctx_sql_result_row *row,
				      struct ctx_err *err)
{
	struct cells *cells = context;
	const struct ctx_location *location = &cells->fixture->locations[cells->n];
	const struct ctx_site *site =
		location->site != CTX_NONE ? &cells->fixture->sites[location->site] : NULL;

	(void)err;
	assert_int_equal(row->n, 8);
	assert_id(row->values[0], (uint32_t)cells->n++);
	assert_id(row->values[1], location->object);
	assert_id(row->values[2], location->function);
	assert_int_equal((uint64_t)strtoll(row->values[3], NULL, 10), location->address);
	assert_id(row->values[4], location->site);
	assert_id(row->values[5], site != NULL ? site->file : CTX_NONE);
	assert_id(row->values[6], site != NULL && site->line != 0 ? site->line : CTX_NONE);
	assert_id(row->values[7], location->joins);
	return CTX_OK;
}

static enum ctx_status check_site(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	struct cells *cells = context;
	const struct ctx_site *site = &cells->fixture->sites[cells->n];

	(void)err;
	assert_int_equal(row->n, 5);
	assert_id(row->values[0], (uint32_t)cells->n++);
	assert_id(row->values[1], site->function);
	assert_id(row->values[2], site->file);
	assert_id(row->values[3], site->line != 0 ? site->line : CTX_NONE);
	assert_id(row->values[4], site->caller);
	return CTX_OK;
}

static enum ctx_status check_count(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	(void)err;
	assert_int_equal(strtoull(row->values[0], NULL, 10), *(const size_t *)context);
	return CTX_OK;
}

static void test_store_code__locations_and_sites_are_tables_in_sql(void **state)
{
	struct fixture fixture;
	struct ctx_store *store;
	struct cells cells = {&fixture, 0};
	size_t with_path = 0;

	(void)state;
	fixture_init(&fixture, 21, 2, 100);
	store = write_and_open(&fixture, in_dir("a.db"));
	must(ctx_store_sql(store, "SELECT * FROM location ORDER BY id", check_location, &cells, err));
	assert_int_equal(cells.n, fixture.n_locations);
	cells.n = 0;
	must(ctx_store_sql(store, "SELECT * FROM site ORDER BY id", check_site, &cells, err));
	assert_int_equal(cells.n, fixture.n_sites);
	for (size_t i = 0; i < fixture.n_sites; i++)
		with_path += fixture.sites[i].file != CTX_NONE;
	must(ctx_store_sql(store, "SELECT count(*) FROM site AS s JOIN source_file AS f ON f.id = s.file",
			   check_count, &with_path, err));
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_own_dir(test_store_code__codec_gives_back_any_lines),
		in_own_dir(test_store_code__codec_refuses_lines_out_of_order),
		in_own_dir(test_store_code__codec_reads_noise_without_harm),
		in_own_dir(test_store_code__contents_round_trip),
		in_own_dir(test_store_code__gives_back_many_sites),
		in_own_dir(test_store_code__results_of_one_call_outlive_the_other),
		in_own_dir(test_store_code__a_database_without_code_says_so),
		in_own_dir(test_store_code__put_contents_refuses_unknown_ids),
		in_own_dir(test_store_code__put_contents_refuses_endless_inlining),
		in_own_dir(test_store_code__refused_texts_and_code_leave_the_rest_alone),
		in_own_dir(test_store_code__parts_come_in_order_and_within_limits),
		in_own_dir(test_store_code__a_function_put_twice_is_not_committed),
		in_own_dir(test_store_code__hostile_databases_are_refused),
		in_own_dir(test_store_code__odd_databases_are_read),
		in_own_dir(test_store_code__memory_that_runs_out_is_a_status),
		in_own_dir(test_store_code__a_second_try_works),
		in_own_dir(test_store_code__locations_and_sites_are_tables_in_sql),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
