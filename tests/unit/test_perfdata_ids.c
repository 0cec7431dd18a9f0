/* Build ids by path, and names of events by id. */
#include "tests/unit/pd_facts_fixture.h"

/* The name of the event with this id, of no matter which place. */
static const char *event_name_of_id(const struct ctx_pd_facts *facts, uint64_t id)
{
	size_t n;

	return ctx_pd_facts_event_name(facts, &(struct ctx_pd_event_key){.id = id, .n = SIZE_MAX}, &n);
}

/* ---- build ids ---- */

static void add_build_id(struct ctx_pd_facts *facts, uint16_t misc, struct maker *maker)
{
	struct ctx_pe_wire wire = ctx_pe_wire_make(maker->buf.bytes, maker->buf.n, maker->swap);

	assert_int_equal(ctx_pd_facts_add_build_id(facts, misc, wire, NULL), CTX_OK);
	ctx_buf_clear(&maker->buf);
}

static void test_perfdata_ids__build_ids_have_the_recorded_length(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};

	(void)state;
	put_build_id(&maker, -1, 0x31, 16, 16, "/md5");
	add_build_id(&facts, MISC_USER | MISC_SIZE, &maker);
	put_build_id(&maker, -1, 0x31, 16, 16, "/md5-of-old");
	add_build_id(&facts, MISC_USER, &maker);
	put_build_id(&maker, -1, 0x31, 20, 1, "/byte");
	add_build_id(&facts, MISC_SIZE, &maker);
	assert_int_equal(facts.damage.n, 0);
	put_build_id(&maker, -1, 0x31, 20, 21, "/long");
	add_build_id(&facts, MISC_SIZE, &maker);
	put_build_id(&maker, -1, 0x31, 20, 20, "");
	add_build_id(&facts, MISC_SIZE, &maker);
	assert_string_equal(ctx_pd_facts_build_id(&facts, "/md5"), "3132333435363738393a3b3c3d3e3f40");
	assert_string_equal(ctx_pd_facts_build_id(&facts, "/md5-of-old"),
			    "3132333435363738393a3b3c3d3e3f4000000000");
	assert_string_equal(ctx_pd_facts_build_id(&facts, "/byte"), "31");
	assert_string_equal(ctx_pd_facts_build_id(&facts, "/long"), "");
	assert_int_equal(facts.build_ids.n, 3);
	assert_int_equal(facts.damage.n, 2);
	assert_string_equal(facts.damage.lines[0], "header: build ids: one of 21 bytes, of /long");
	assert_string_equal(facts.damage.lines[1], "header: build ids: one without a path");
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

static void test_perfdata_ids__a_build_id_of_zeros_is_none(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};

	(void)state;
	put_build_id(&maker, -1, 0, 0, 0, "/a");
	add_build_id(&facts, MISC_USER, &maker);
	put_build_id(&maker, -1, 0, 0, 20, "/b");
	add_build_id(&facts, MISC_USER | MISC_SIZE, &maker);
	put_build_id(&maker, -1, 0x31, 20, 0, "/c"); /* no byte of it counts */
	add_build_id(&facts, MISC_USER | MISC_SIZE, &maker);
	assert_int_equal(facts.build_ids.n, 0);
	assert_int_equal(facts.damage.n, 0);
	put_build_id(&maker, -1, 0, 20, 20, "/d"); /* the first byte alone is zero */
	add_build_id(&facts, MISC_USER | MISC_SIZE, &maker);
	assert_string_equal(ctx_pd_facts_build_id(&facts, "/d"), "000102030405060708090a0b0c0d0e0f10111213");
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

static void test_perfdata_ids__the_last_build_id_of_the_host_counts(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {.swap = true};

	(void)state;
	put_build_id(&maker, 77, 0x10, 2, 2, "/lib");
	add_build_id(&facts, MISC_GUEST_KERNEL | MISC_SIZE, &maker);
	assert_string_equal(ctx_pd_facts_build_id(&facts, "/lib"), "1011");
	put_build_id(&maker, 78, 0x20, 2, 2, "/lib");
	add_build_id(&facts, MISC_USER | MISC_SIZE, &maker);
	assert_string_equal(ctx_pd_facts_build_id(&facts, "/lib"), "2021");
	put_build_id(&maker, -1, 0x20, 2, 2, "/lib"); /* the same file, but now it is the host's */
	add_build_id(&facts, MISC_USER | MISC_SIZE, &maker);
	put_build_id(&maker, -1, 0x30, 2, 2, "/lib");
	add_build_id(&facts, MISC_USER | MISC_SIZE, &maker);
	assert_string_equal(ctx_pd_facts_build_id(&facts, "/lib"), "3031");
	put_build_id(&maker, -1, 0x30, 2, 2, "/lib"); /* twice */
	add_build_id(&facts, MISC_USER | MISC_SIZE, &maker);
	put_build_id(&maker, 77, 0x40, 2, 2, "/lib");
	add_build_id(&facts, MISC_USER | MISC_SIZE, &maker);
	assert_string_equal(ctx_pd_facts_build_id(&facts, "/lib"), "3031");
	assert_int_equal(facts.build_ids.n, 5);
	assert_int_equal(facts.build_ids.items[0].pid, 77);
	assert_true(facts.build_ids.items[0].kernel);
	assert_int_equal(facts.build_ids.items[2].pid, -1);
	assert_false(facts.build_ids.items[4].kernel);
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

/* A record that is wrong inside does not hide the next one. */
static void test_perfdata_ids__a_damaged_build_id_is_one_of_many(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};

	(void)state;
	put_build_id_record(&maker, MISC_USER, 0x10, "/a");
	put_build_id_record(&maker, MISC_USER, 0x20, "");
	put_build_id_record(&maker, MISC_USER, 0x30, "/c");
	maker.buf.bytes[maker.buf.n - 1] = 'c'; /* no end */
	put_build_id_record(&maker, MISC_USER, 0x40, "/d");
	add(&facts, CTX_PD_FEATURE_BUILD_ID, &maker);
	assert_int_equal(facts.damage.n, 2);
	assert_int_equal(facts.build_ids.n, 2);
	assert_string_equal(facts.build_ids.items[1].path, "/d");
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

static void test_perfdata_ids__many_paths_keep_their_build_ids(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};
	char path[32], hex[8];

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "/lib/%u", i % 2000);
		put_build_id(&maker, -1, (uint8_t)(i / 16), 20, 3, path);
		add_build_id(&facts, MISC_SIZE, &maker);
	}
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t last = i < 1000 ? i + 2000 : i;
		uint8_t first = (uint8_t)(last / 16);

		snprintf(path, sizeof(path), "/lib/%u", i);
		snprintf(hex, sizeof(hex), "%02x%02x%02x", first, (uint8_t)(first + 1), (uint8_t)(first + 2));
		assert_string_equal(ctx_pd_facts_build_id(&facts, path), hex);
	}
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

/* ---- events ---- */

static const char *slow_event_name(const struct ctx_pd_facts *facts, uint64_t id)
{
	for (size_t i = 0; i < facts->events.n; i++) {
		for (uint32_t j = 0; j < facts->events.items[i].n_ids; j++) {
			if (facts->events.items[i].ids[j] == id)
				return facts->events.items[i].name;
		}
	}
	return NULL;
}

static void test_perfdata_ids__an_id_has_the_name_of_the_first_event_with_it(void **state)
{
	struct ctx_pd_facts facts = {0};

	(void)state;
	srand(1);
	for (int round = 0; round < 20; round++) {
		struct maker maker = {.swap = round % 2 != 0};
		uint32_t n = (uint32_t)(rand() % 20);

		put32(&maker, n);
		put32(&maker, ATTR_BYTES);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t n_ids = (uint32_t)(rand() % 12);
			char name[32];

			snprintf(name, sizeof(name), "event %d.%u", round, i);
			put_attr(&maker, 0, i, -1);
			put32(&maker, n_ids);
			put_text(&maker, name);
			for (uint32_t j = 0; j < n_ids; j++)
				put64(&maker, (uint64_t)(rand() % 500));
		}
		add(&facts, CTX_PD_FEATURE_EVENT_DESC, &maker);
		assert_int_equal(facts.damage.n, 0);
		for (uint64_t id = 0; id < 501; id++)
			assert_ptr_equal(event_name_of_id(&facts, id), slow_event_name(&facts, id));
		ctx_buf_deinit(&maker.buf);
	}
	assert_true(facts.events.n > 100);
	assert_false(facts.clock.has_clockid);
	ctx_pd_facts_deinit(&facts);
}

/*
 * Attributes were once 64 bytes, without a clock; the last field before was 8 bytes of an address.
 */
static void test_perfdata_ids__attributes_of_an_old_perf_have_no_clock(void **state)
{
	struct ctx_pd_facts facts = {0};
	struct maker maker = {0};

	(void)state;
	put32(&maker, 1);
	put32(&maker, 64);
	put_attr(&maker, 5, 6, CLOCK_TAI);
	maker.buf.n -= ATTR_BYTES - 64;
	put32(&maker, 1);
	put_text(&maker, "old");
	put64(&maker, 9);
	add(&facts, CTX_PD_FEATURE_EVENT_DESC, &maker);
	assert_int_equal(facts.damage.n, 0);
	assert_string_equal(event_name_of_id(&facts, 9), "old");
	assert_int_equal(facts.events.items[0].type, 5);
	assert_false(facts.clock.has_clockid);
	ctx_buf_deinit(&maker.buf);
	ctx_pd_facts_deinit(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_ids__build_ids_have_the_recorded_length),
		cmocka_unit_test(test_perfdata_ids__a_build_id_of_zeros_is_none),
		cmocka_unit_test(test_perfdata_ids__the_last_build_id_of_the_host_counts),
		cmocka_unit_test(test_perfdata_ids__a_damaged_build_id_is_one_of_many),
		cmocka_unit_test(test_perfdata_ids__many_paths_keep_their_build_ids),
		cmocka_unit_test(test_perfdata_ids__an_id_has_the_name_of_the_first_event_with_it),
		cmocka_unit_test(test_perfdata_ids__attributes_of_an_old_perf_have_no_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
