/*
 * Ended waits, metrics that are spans or sums, external wakers: round trip through the database,
 * and damage.
 */
#include "store_damage.h"

#include "store/block_codec.h"

static void make_waits(struct fixture *fixture, struct ctx_wakeup *waits, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t who = fixture_random(fixture, 3);

		waits[i] = (struct ctx_wakeup){
			.time_ns = fixture_random(fixture, FIXTURE_RUN_NS),
			.delay_ns = fixture_random(fixture, 3) == 0 ? UINT64_MAX : i,
			.thread = fixture_random(fixture, fixture->profile.n_threads),
			.state = fixture_random(fixture, CTX_STATE_N),
			.raw_stack = fixture_random(fixture, fixture->raw.n),
			.waker = who == 0 ? fixture_random(fixture, fixture->profile.n_threads) : CTX_NONE,
			.external_waker = who == 1 ? fixture_random(fixture, 2) : CTX_NONE,
			.waker_raw_stack = fixture_random(fixture, fixture->raw.n),
		};
		waits[i].wait_ns = fixture_random(fixture, (uint32_t)waits[i].time_ns + 1);
	}
}

static void test_store_wakeups__codec_gives_back_any_waits(void **state)
{
	static struct ctx_wakeup in[700], out[700];
	struct ctx_block_codec codec = {0};
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture, 3, 4, 10);
	for (int round = 0; round < 200; round++) {
		size_t n = 1 + fixture_random(&fixture, 700);

		make_waits(&fixture, in, n);
		/* Times are any number, in any order. */
		for (size_t i = 0; i < n && round % 2 == 0; i++)
			in[i].time_ns = UINT64_MAX - in[i].time_ns * (i % 3);
		must(ctx_wakeups_encode(&codec, in, n, err));
		must(ctx_wakeups_decode(&codec, (struct ctx_bytes){codec.payload.bytes, codec.payload.n}, out,
					n, err));
		assert_memory_equal(in, out, n * sizeof(*in));
		assert_int_equal(ctx_wakeups_decode(
					 &codec, (struct ctx_bytes){codec.payload.bytes, codec.payload.n - 1},
					 out, n, NULL),
				 CTX_E_FORMAT);
	}
	assert_int_equal(ctx_wakeups_encode(&codec, in, 0, NULL), CTX_E_ARG);
	ctx_block_codec_deinit(&codec);
	fixture_deinit(&fixture);
}

/* ---- through a database ---- */

#define N_WAITS 1000u

static struct ctx_wakeup waits[N_WAITS];

static void add_entities(struct fixture *fixture)
{
	struct ctx_profile *p = &fixture->profile;
	uint32_t *parts = ctx_arena_alloc(&p->arena, 2 * sizeof(*parts));

	p->metrics = realloc(p->metrics, 5 * sizeof(*p->metrics));
	p->n_metrics = 5;
	parts[0] = 0;
	parts[1] = 2;
	p->metrics[2] = (struct ctx_metric_info){
		.name = "SLEEP", .kind = CTX_METRIC_SPAN, .unit = CTX_UNIT_NS, .samples = 7, .weight = 8};
	p->metrics[3] = (struct ctx_metric_info){.name = "Other wait",
						 .word = "other-wait",
						 .kind = CTX_METRIC_SPAN,
						 .unit = CTX_UNIT_NS,
						 .parts = parts,
						 .n_parts = 2};
	p->metrics[4] = (struct ctx_metric_info){.name = "One",
						 .word = "",
						 .kind = CTX_METRIC_SPAN,
						 .unit = CTX_UNIT_NS,
						 .parts = parts + 1,
						 .n_parts = 1};
	p->external_wakers.n = 2;
	p->external_wakers.items = ctx_calloc(2, sizeof(*p->external_wakers.items));
	p->external_wakers.items[0] = "<interrupt>";
	p->external_wakers.items[1] = "kworker\xff/0:1";
}

/* A database with waits in blocks of `block`. */
static void write_waits(struct fixture *fixture, const char *path, size_t block)
{
	struct ctx_store *store = NULL;

	must(ctx_store_create(path, &store, err));
	must(ctx_store_put_wakeups(store, NULL, 0, err));
	for (size_t at = 0; at < N_WAITS; at += block) {
		if (at == block)
			must(fixture_put(fixture, store, err));
		must(ctx_store_put_wakeups(store, waits + at, at + block < N_WAITS ? block : N_WAITS - at,
					   err));
	}
	must(ctx_store_commit(store, err));
}

static struct ctx_store *write_and_open_waits(struct fixture *fixture, size_t block)
{
	struct ctx_store *store = NULL;

	write_waits(fixture, in_dir("a.db"), block);
	must(ctx_store_open(in_dir("a.db"), &store, err));
	return store;
}

static void init_with_waits(struct fixture *fixture, uint64_t seed)
{
	fixture_init(fixture, seed, 3, 100);
	add_entities(fixture);
	make_waits(fixture, waits, N_WAITS);
}

static enum ctx_status check_wait(void *context, const struct ctx_wakeup *wakeup, struct ctx_err *err)
{
	size_t *next = context;

	(void)err;
	assert_memory_equal(wakeup, &waits[*next], sizeof(*wakeup));
	++*next;
	return CTX_OK;
}

static enum ctx_status count_wait(void *context, const struct ctx_wakeup *wakeup, struct ctx_err *err)
{
	(void)wakeup;
	(void)err;
	++*(uint64_t *)context;
	return CTX_OK;
}

static void test_store_wakeups__come_back_by_window(void **state)
{
	struct ctx_store *store;
	struct fixture fixture;
	size_t next = 0;

	(void)state;
	init_with_waits(&fixture, 5);
	store = write_and_open_waits(&fixture, 30);
	for (size_t i = 0; i < N_WAITS; i++) {
		waits[i].stack = fixture.raw_to_stack[waits[i].raw_stack];
		waits[i].waker_stack = fixture.raw_to_stack[waits[i].waker_raw_stack];
	}
	must(ctx_store_scan_wakeups(store, CTX_INTERVAL_ALL, check_wait, &next, err));
	assert_int_equal(next, N_WAITS);
	for (int round = 0; round < 200; round++) {
		uint64_t begin = fixture_random(&fixture, FIXTURE_RUN_NS), want = 0, got = 0;
		struct ctx_interval window = {begin, begin + fixture_random(&fixture, 5000)};

		for (size_t i = 0; i < N_WAITS && !ctx_interval_is_empty(window); i++)
			want += waits[i].time_ns >= window.begin_ns &&
				waits[i].time_ns - waits[i].wait_ns < window.end_ns;
		must(ctx_store_scan_wakeups(store, window, count_wait, &got, err));
		assert_int_equal(got, want);
	}
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static void test_store_wakeups__blocks_outside_the_window_are_not_decoded(void **state)
{
	struct ctx_store *store;
	struct fixture fixture;
	uint64_t n = 0;

	(void)state;
	init_with_waits(&fixture, 5);
	for (size_t i = 0; i < N_WAITS; i++) {
		waits[i].time_ns = 500 * i + 100;
		waits[i].wait_ns = 100;
	}
	store = write_and_open_waits(&fixture, 10);
	must(ctx_store_scan_wakeups(store, (struct ctx_interval){50000, 60000}, count_wait, &n, err));
	assert_int_equal(n, 20);
	assert_true(ctx_store_cost(store).blocks <= 3);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static void test_store_wakeups__invalid_waits_are_refused(void **state)
{
	static const struct ctx_wakeup wrong[] = {
		{.time_ns = 5, .wait_ns = 6, .waker = CTX_NONE, .external_waker = CTX_NONE},
		{.state = CTX_STATE_N, .waker = CTX_NONE, .external_waker = CTX_NONE},
		{.waker = 0, .external_waker = 0},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		struct ctx_store *store = NULL;

		must(ctx_store_create(in_dir("a.db"), &store, err));
		assert_int_equal(ctx_store_put_wakeups(store, &wrong[i], 1, NULL), CTX_E_ARG);
		ctx_store_close(store);
	}
}

static void test_store_wakeups__metrics_and_external_wakers_come_back(void **state)
{
	const struct ctx_profile *p;
	struct ctx_store *store;
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture, 6, 3, 100);
	add_entities(&fixture);
	store = write_and_open(&fixture, in_dir("a.db"));
	p = ctx_store_profile(store);
	assert_int_equal(p->n_metrics, 5);
	assert_true(ctx_metric_is_clipped(&p->metrics[2]) && p->metrics[2].parts == NULL &&
		    p->metrics[2].word == NULL);
	assert_true(ctx_metric_is_clipped(&p->metrics[3]) && ctx_metric_is_clipped(&p->metrics[4]));
	assert_string_equal(p->metrics[3].word, "other-wait");
	assert_string_equal(p->metrics[4].word, "");
	assert_int_equal(p->metrics[3].n_parts, 2);
	assert_int_equal(p->metrics[3].parts[0], 0);
	assert_int_equal(p->metrics[3].parts[1], 2);
	assert_int_equal(p->metrics[4].n_parts, 1);
	assert_int_equal(p->metrics[4].parts[0], 2);
	assert_int_equal(p->external_wakers.n, 2);
	assert_string_equal(p->external_wakers.items[1], "kworker\xff/0:1");
	assert_false(p->has_states);
	ctx_store_close(store);
	fixture_deinit(&fixture);
}

static void test_store_wakeups__sums_of_invalid_waits_are_refused(void **state)
{
	static const uint32_t behind[] = {4}, twice[] = {2, 2}, sums[] = {2, 3};
	static const struct {
		const uint32_t *parts;
		uint32_t n;
	} wrong[] = {{behind, 1}, {twice, 2}, {sums, 2}, {behind, 0}, {NULL, 1}};

	(void)state;
	for (size_t i = 0; i <= CTX_COUNT_OF(wrong); i++) {
		struct ctx_err err;
		struct fixture fixture;

		fixture_init(&fixture, 6, 3, 100);
		add_entities(&fixture);
		if (i < CTX_COUNT_OF(wrong)) {
			fixture.profile.metrics[4].parts = wrong[i].parts;
			fixture.profile.metrics[4].n_parts = wrong[i].n;
		} else {
			fixture.profile.has_states = true; /* but their metrics do not exist */
		}
		assert_int_equal(fixture_write(&fixture, in_dir("a.db"), &err), CTX_E_ARG);
		fixture_deinit(&fixture);
	}
}

/* ---- damage ---- */

static enum ctx_status read_waits(struct ctx_store *store, struct ctx_err *err)
{
	uint64_t n = 0;

	return ctx_store_scan_wakeups(store, CTX_INTERVAL_ALL, count_wait, &n, err);
}

static void test_store_wakeups__damage_is_found(void **state)
{
	static const struct in_blocks in_blocks = {write_waits, read_waits, "SELECT * FROM wakeups"};
	static const char *const damages[] = {
		"UPDATE wakeup_block SET n = n + 1 WHERE id = 3",
		"UPDATE wakeup_block SET n = 0 WHERE id = 3",
		"UPDATE wakeup_block SET n = 1 << 40 WHERE id = 3",
		"UPDATE wakeup_block SET first_ns = last_ns WHERE id = 3",
		"UPDATE wakeup_block SET last_ns = first_ns WHERE id = 3",
		"UPDATE wakeup_block SET payload = substr(payload, 1, 20) WHERE id = 3",
		"UPDATE wakeup_block SET payload = NULL WHERE id = 3",
		"DELETE FROM outsider WHERE id = 1",
		"UPDATE metric SET parts = '' WHERE id = 3",
		"UPDATE metric SET parts = '0,' WHERE id = 3",
		"UPDATE metric SET parts = '0,3' WHERE id = 3",
		"UPDATE metric SET parts = '2,0' WHERE id = 3",
		"UPDATE metric SET parts = '-1' WHERE id = 3",
		"UPDATE metric SET parts = '0,1,2,0,1,2' WHERE id = 3",
		"UPDATE metric SET parts = '99999999999999999999' WHERE id = 3",
		"UPDATE metric SET parts = '3' WHERE id = 4",
		"INSERT INTO experiment VALUES ('states', 0)",
		"INSERT INTO experiment VALUES ('states', -1)",
		"INSERT INTO experiment VALUES ('states', 4294967290)",
	};
	struct fixture fixture;

	(void)state;
	init_with_waits(&fixture, 8);
	assert_damage_is_found(&in_blocks, &fixture, damages, CTX_COUNT_OF(damages));
	fixture_deinit(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_store_wakeups__codec_gives_back_any_waits),
		in_own_dir(test_store_wakeups__come_back_by_window),
		in_own_dir(test_store_wakeups__blocks_outside_the_window_are_not_decoded),
		in_own_dir(test_store_wakeups__invalid_waits_are_refused),
		in_own_dir(test_store_wakeups__metrics_and_external_wakers_come_back),
		in_own_dir(test_store_wakeups__sums_of_invalid_waits_are_refused),
		in_own_dir(test_store_wakeups__damage_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
