/*
 * Traced operations, their files and counting metrics: round trip through the database, and damage.
 */
#include "store_damage.h"

#include "store/block_codec.h"

#define N_OPERATIONS 3000u

static struct ctx_traced operations[N_OPERATIONS], got[N_OPERATIONS];

/* Of mixed kinds, in order of time. */
static void make_operations(struct fixture *fixture, size_t n)
{
	uint64_t time_ns = 0;

	for (size_t i = 0; i < n; i++) {
		struct ctx_traced *operation = &operations[i];
		enum ctx_traced_kind kind = (enum ctx_traced_kind)fixture_random(fixture, CTX_TRACED_N);

		time_ns += fixture_random(fixture, 7) * fixture_random(fixture, 7);
		*operation = (struct ctx_traced){
			.time_ns = time_ns,
			.duration_ns = fixture_random(fixture, (uint32_t)time_ns + 1),
			.size = i % 50 == 0 ? UINT64_MAX - i : fixture_random(fixture, 5000),
			.address = i % 40 == 0 ? UINT64_MAX - i
					       : 0x7f0000000000u + fixture_random(fixture, 1u << 30),
			.old_address = i % 3 == 0 ? UINT64_MAX : 0,
			.thread = fixture_random(fixture, fixture->profile.n_threads),
			.cpu = i % 9 == 0 ? INT32_MAX : (int32_t)fixture_random(fixture, 5) - 1,
			.raw_stack = fixture_random(fixture, fixture->raw.n),
			.file = i % 4 == 0 ? CTX_NONE : fixture_random(fixture, 2),
			.descriptor = i % 9 == 0 ? INT32_MAX : (int32_t)fixture_random(fixture, 5) - 1,
			.kind = (uint8_t)kind,
			.operation = (uint8_t)fixture_random(fixture, ctx_traced_n_operations(kind)),
			.failed = fixture_random(fixture, 2) != 0,
			.leaked = fixture_random(fixture, 2) != 0 && kind != CTX_TRACED_SYNC &&
				  kind != CTX_TRACED_MEMORY,
		};
		if (kind == CTX_TRACED_MEMORY)
			operation->physical = fixture_random(fixture, 1u << 30);
		if (operation->leaked)
			operation->leaked_size = operation->size / (1 + fixture_random(fixture, 2));
	}
}

static void assert_same(const struct ctx_traced *a, const struct ctx_traced *b)
{
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->duration_ns, b->duration_ns);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->address, b->address);
	assert_int_equal(a->old_address, b->old_address);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->raw_stack, b->raw_stack);
	assert_int_equal(a->file, b->file);
	assert_int_equal(a->descriptor, b->descriptor);
	assert_int_equal(a->operation, b->operation);
	assert_int_equal(a->failed, b->failed);
	assert_int_equal(a->leaked, b->leaked);
	assert_int_equal(a->leaked_size, b->leaked_size);
}

static void test_store_traced__codec_gives_back_any_operations(void **state)
{
	struct ctx_block_codec codec = {0};
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture, 3, 4, 10);
	for (int round = 0; round < 100; round++) {
		size_t n = 1 + fixture_random(&fixture, 700);

		make_operations(&fixture, n);
		must(ctx_traced_encode(&codec, operations, n, err));
		must(ctx_traced_decode(&codec, (struct ctx_bytes){codec.payload.bytes, codec.payload.n}, got,
				       n, err));
		for (size_t i = 0; i < n; i++)
			assert_same(&got[i], &operations[i]);
		assert_int_equal(ctx_traced_decode(
					 &codec, (struct ctx_bytes){codec.payload.bytes, codec.payload.n - 1},
					 got, n, NULL),
				 CTX_E_FORMAT);
	}
	operations[1].time_ns = 5;
	operations[0].time_ns = 6;
	assert_int_equal(ctx_traced_encode(&codec, operations, 2, NULL), CTX_E_ARG);
	assert_int_equal(ctx_traced_encode(&codec, operations, 0, NULL), CTX_E_ARG);
	ctx_block_codec_deinit(&codec);
	fixture_deinit(&fixture);
}

/* ---- through a database ---- */

static void add_entities(struct fixture *fixture)
{
	struct ctx_profile *p = &fixture->profile;
	uint32_t *parts = ctx_arena_alloc(&p->arena, sizeof(*parts));

	p->metrics = realloc(p->metrics, 4 * sizeof(*p->metrics));
	p->n_metrics = 4;
	parts[0] = 2;
	p->metrics[2] = (struct ctx_metric_info){.name = "Bytes Allocated",
						 .word = "heapallocbytes",
						 .kind = CTX_METRIC_BYTES,
						 .unit = CTX_UNIT_BYTES,
						 .samples = 7,
						 .weight = 80};
	p->metrics[3] = (struct ctx_metric_info){.name = "Allocations",
						 .word = "heapalloccnt",
						 .kind = CTX_METRIC_COUNT,
						 .samples = 7,
						 .weight = 7,
						 .parts = parts,
						 .n_parts = 1};
	p->n_files = 2;
	p->files = ctx_calloc(2, sizeof(*p->files));
	p->files[0] = "/tmp/a";
	p->files[1] = "b\xff";
	for (size_t i = 0; i < N_OPERATIONS; i++)
		p->traced[operations[i].kind]++;
}

/*
 * A database with the operations of each kind in blocks of `block`, before and behind the contents.
 */
static void write_operations(struct fixture *fixture, const char *path, size_t block)
{
	struct ctx_store *store = NULL;

	must(ctx_store_create(path, &store, err));
	must(ctx_store_put_traced(store, NULL, 0, err));
	for (int kind = 0; kind < CTX_TRACED_N; kind++) {
		size_t n = 0;

		for (size_t i = 0; i < N_OPERATIONS; i++) {
			if (operations[i].kind == kind)
				got[n++] = operations[i];
		}
		for (size_t at = 0; at < n; at += block)
			must(ctx_store_put_traced(store, got + at, at + block < n ? block : n - at, err));
		if (kind == 0)
			must(fixture_put(fixture, store, err));
	}
	must(ctx_store_commit(store, err));
}

static struct ctx_store *write_and_open_operations(struct fixture *fixture, size_t block)
{
	struct ctx_store *store = NULL;

	write_operations(fixture, in_dir("a.db"), block);
	must(ctx_store_open(in_dir("a.db"), &store, err));
	return store;
}

static void init_with_operations(struct fixture *fixture, uint64_t seed)
{
	fixture_init(fixture, seed, 3, 100);
	make_operations(fixture, N_OPERATIONS);
	add_entities(fixture);
}

struct expected {
	enum ctx_traced_kind kind;
	struct ctx_interval window;
	const struct fixture *fixture;
	size_t next;
};

static void to_next(struct expected *expected)
{
	while (expected->next < N_OPERATIONS &&
	       (operations[expected->next].kind != expected->kind ||
		!ctx_interval_has(expected->window, operations[expected->next].time_ns)))
		expected->next++;
}

static enum ctx_status check_operation(void *context, const struct ctx_traced *operation, struct ctx_err *err)
{
	struct expected *expected = context;

	(void)err;
	to_next(expected);
	assert_true(expected->next < N_OPERATIONS);
	assert_same(operation, &operations[expected->next++]);
	assert_int_equal(operation->kind, expected->kind);
	assert_int_equal(operation->stack, expected->fixture->raw_to_stack[operation->raw_stack]);
	return CTX_OK;
}

static void test_store_traced__come_back_by_kind_and_window(void **state)
{
	struct ctx_store *store;
	struct fixture fixture;

	(void)state;
	init_with_operations(&fixture, 5);
	store = write_and_open_operations(&fixture, 40);
	for (int round = 0; round < 200; round++) {
		uint64_t begin = fixture_random(&fixture, (uint32_t)operations[N_OPERATIONS - 1].time_ns);
		struct expected expected = {
			.kind = (enum ctx_traced_kind)(round % CTX_TRACED_N),
			.window = {begin, begin + fixture_random(&fixture, 5000)},
			.fixture = &fixture,
		};

		if (round < CTX_TRACED_N)
			expected.window = CTX_INTERVAL_ALL;
		must(ctx_store_scan_traced(store,
					   &(struct ctx_store_traced_scan){expected.kind, expected.window,
									   check_operation, &expected},
					   err));
		to_next(&expected);
		assert_int_equal(expected.next, N_OPERATIONS);
	}
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static enum ctx_status ignore_operation(void *context, const struct ctx_traced *operation,
					struct ctx_err *err)
{
	(void)context;
	(void)operation;
	(void)err;
	return CTX_OK;
}

static void test_store_traced__blocks_outside_the_window_are_not_decoded(void **state)
{
	struct ctx_store *store;
	struct fixture fixture;

	(void)state;
	init_with_operations(&fixture, 5);
	for (size_t i = 0; i < N_OPERATIONS; i++) {
		operations[i].time_ns = 500 * i + 100;
		operations[i].duration_ns = 0;
	}
	store = write_and_open_operations(&fixture, 10);
	must(ctx_store_scan_traced(
		store, &(struct ctx_store_traced_scan){CTX_TRACED_IO, {50000, 51000}, ignore_operation, NULL},
		err));
	assert_true(ctx_store_cost(store).blocks <= 2);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static void test_store_traced__invalid_operations_are_refused(void **state)
{
	static const struct ctx_traced wrong[][2] = {
		{{.time_ns = 5, .duration_ns = 6}, {.time_ns = 7}},
		{{.time_ns = 5}, {.time_ns = 4}},
		{{.kind = CTX_TRACED_HEAP}, {.kind = CTX_TRACED_SYNC}},
		{{.kind = CTX_TRACED_N}, {.kind = CTX_TRACED_N}},
		{{.operation = CTX_HEAP_N}, {0}},
		{{.kind = CTX_TRACED_SYNC, .operation = CTX_SYNC_BLOCK + 1}, {.kind = CTX_TRACED_SYNC}},
		{{.cpu = -2}, {0}},
		{{.descriptor = -2}, {0}},
		{{.leaked_size = 1, .size = 2}, {0}},
		{{.leaked = true, .leaked_size = 3, .size = 2}, {0}},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		struct ctx_store *store = NULL;

		must(ctx_store_create(in_dir("a.db"), &store, err));
		assert_int_equal(ctx_store_put_traced(store, wrong[i], 2, NULL), CTX_E_ARG);
		ctx_store_close(store);
	}
}

static enum ctx_status keep_row(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	struct ctx_buf *text = context;

	(void)err;
	for (int i = 0; i < row->n; i++)
		ctx_buf_printf(text, "%s%s", i != 0 ? "|" : "",
			       row->values[i] != NULL ? row->values[i] : "-");
	ctx_buf_put_text(text, "\n");
	return CTX_OK;
}

static void test_store_traced__sql_shows_them_with_their_details(void **state)
{
	struct ctx_buf text = {0};
	const struct ctx_profile *p;
	struct ctx_store *store;
	struct fixture fixture;
	char want[300];

	(void)state;
	fixture_init(&fixture, 6, 3, 100);
	make_operations(&fixture, N_OPERATIONS);
	operations[0] = (struct ctx_traced){.kind = CTX_TRACED_IO,
					    .operation = CTX_IO_WRITE,
					    .size = 7,
					    .file = 1,
					    .descriptor = 3,
					    .cpu = -1};
	operations[1] = (struct ctx_traced){.kind = CTX_TRACED_HEAP,
					    .operation = CTX_HEAP_MAP,
					    .size = 9,
					    .address = 16,
					    .file = CTX_NONE,
					    .descriptor = -1,
					    .leaked = true,
					    .leaked_size = 4};
	operations[2] = (struct ctx_traced){.kind = CTX_TRACED_SYNC,
					    .operation = CTX_SYNC_ORDER,
					    .size = 7,
					    .address = 32,
					    .old_address = 48,
					    .other = 2,
					    .descriptor = -1,
					    .cpu = -1};
	operations[3] = (struct ctx_traced){.kind = CTX_TRACED_MARK,
					    .operation = CTX_MARK_COUNTER,
					    .value = -5,
					    .file = 0,
					    .descriptor = -1,
					    .cpu = -1};
	add_entities(&fixture);
	store = write_and_open_operations(&fixture, 100);
	p = ctx_store_profile(store);
	assert_true(p->metrics[3].kind == CTX_METRIC_COUNT && p->metrics[2].kind == CTX_METRIC_BYTES);
	assert_int_equal(p->n_files, 2);
	assert_string_equal(p->files[1], "b\xff");
	snprintf(want, sizeof(want),
		 "branch|%llu\ncall|%llu\nheap|%llu\nio|%llu\nmark|%llu\nmemory|%llu\nomp|%llu\nsync|%llu\n",
		 (unsigned long long)p->traced[CTX_TRACED_BRANCH],
		 (unsigned long long)p->traced[CTX_TRACED_CALL],
		 (unsigned long long)p->traced[CTX_TRACED_HEAP], (unsigned long long)p->traced[CTX_TRACED_IO],
		 (unsigned long long)p->traced[CTX_TRACED_MARK],
		 (unsigned long long)p->traced[CTX_TRACED_MEMORY],
		 (unsigned long long)p->traced[CTX_TRACED_OMP],
		 (unsigned long long)p->traced[CTX_TRACED_SYNC]);
	must(ctx_store_sql(store, "SELECT kind, count(*) FROM traced GROUP BY kind", keep_row, &text, err));
	ctx_buf_put_u8(&text, 0);
	assert_string_equal(text.bytes, want);
	ctx_buf_clear(&text);
	must(ctx_store_sql(store,
			   "SELECT kind, operation, duration_ns, size, address, old_address, cpu, "
			   "descriptor, file, failed, "
			   "leaked, leaked_size, other FROM traced WHERE time_ns <= 0 AND (size IN (7, 9) OR "
			   "address = 32) ORDER BY kind, size LIMIT 3",
			   keep_row, &text, err));
	ctx_buf_put_u8(&text, 0);
	assert_string_equal(text.bytes, "heap|map|-|9|16|-|0|-|-|0|1|4|-\nio|write|0|7|-|-|-|3|1|0|0|-|-\n"
					"sync|order|0|-|32|48|-|-|-|0|0|-|2\n");
	ctx_buf_clear(&text);
	must(ctx_store_sql(store,
			   "SELECT operation, duration_ns, size, address, file, value FROM traced WHERE "
			   "kind = 'mark' AND time_ns <= 0 AND value = -5",
			   keep_row, &text, err));
	ctx_buf_put_u8(&text, 0);
	assert_string_equal(text.bytes, "counter|-|-|-|0|-5\n");
	ctx_buf_deinit(&text);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

/* ---- damage ---- */

static enum ctx_status read_operations(struct ctx_store *store, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (int kind = 0; kind < CTX_TRACED_N && status == CTX_OK; kind++)
		status = ctx_store_scan_traced(store,
					       &(struct ctx_store_traced_scan){(enum ctx_traced_kind)kind,
									       CTX_INTERVAL_ALL,
									       ignore_operation, NULL},
					       err);
	return status;
}

static void test_store_traced__damage_is_found(void **state)
{
	static const struct in_blocks in_blocks = {write_operations, read_operations, "SELECT * FROM traced"};
	static const char *const damages[] = {
		"UPDATE traced_block SET n = n + 1 WHERE id = 3",
		"UPDATE traced_block SET n = 0 WHERE id = 3",
		"UPDATE traced_block SET n = 1 << 40 WHERE id = 3",
		"UPDATE traced_block SET first_ns = last_ns WHERE id = 3",
		"UPDATE traced_block SET last_ns = first_ns WHERE id = 3",
		"UPDATE traced_block SET kind = 1",
		"UPDATE traced_block SET payload = substr(payload, 1, 20) WHERE id = 3",
		"UPDATE traced_block SET payload = NULL WHERE id = 3",
		"DELETE FROM traced_file WHERE id = 1",
		"DELETE FROM traced_file WHERE id = 0",
		"UPDATE metric SET counts = 1 WHERE id = 0",
		"UPDATE metric SET spans = 1 WHERE id = 0",
		"UPDATE metric SET kind = 'nothing' WHERE id = 0",
		"UPDATE metric SET parts = NULL WHERE id = 3",
	};
	struct fixture fixture;

	(void)state;
	init_with_operations(&fixture, 8);
	assert_damage_is_found(&in_blocks, &fixture, damages, CTX_COUNT_OF(damages));
	fixture_deinit(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_store_traced__codec_gives_back_any_operations),
		in_own_dir(test_store_traced__come_back_by_kind_and_window),
		in_own_dir(test_store_traced__blocks_outside_the_window_are_not_decoded),
		in_own_dir(test_store_traced__invalid_operations_are_refused),
		in_own_dir(test_store_traced__sql_shows_them_with_their_details),
		in_own_dir(test_store_traced__damage_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
