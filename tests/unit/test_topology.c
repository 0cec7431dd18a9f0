/* Which processors are a core, a socket, a node: written, read again, malformed. */
#include "model/topology.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect_written(const struct ctx_topology *topology, enum ctx_topology_part part,
			   const char *wanted)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};

	assert_int_equal(ctx_topology_write(topology, part, &text, NULL), CTX_OK);
	ctx_buf_put_u8(&text, 0);
	assert_string_equal(text.bytes, wanted);
}

/* Two sockets with siblings eight apart; processor 5 is offline. */
static void make(struct ctx_topology *topology)
{
	*topology = (struct ctx_topology){0};
	assert_int_equal(ctx_topology_reach(topology, 15, NULL), CTX_OK);
	for (uint32_t i = 0; i < 16; i++) {
		if (i == 5)
			continue;
		topology->cpus[i].socket = i / 4 % 2 * 10;
		topology->cpus[i].core = i % 4;
	}
	assert_int_equal(ctx_topology_put_node(topology, "0-3,8-11\n", 0, NULL), CTX_OK);
	assert_int_equal(ctx_topology_put_node(topology, "4,6-7,12-15", 2, NULL), CTX_OK);
	assert_int_equal(ctx_topology_put_node(topology, "\n", 3, NULL), CTX_OK);
	assert_int_equal(ctx_topology_put_pmu(topology, "0-7", "cpu_core", NULL), CTX_OK);
	assert_int_equal(ctx_topology_put_pmu(topology, "8-15", "cpu_atom", NULL), CTX_OK);
}

static void test_topology__groups_are_written_in_order_with_their_processors_in_runs(void **state)
{
	struct ctx_topology topology;

	(void)state;
	make(&topology);
	expect_written(&topology, CTX_TOPOLOGY_CORE,
		       "S0-D0-C0: 0,8; S0-D0-C1: 1,9; S0-D0-C2: 2,10; S0-D0-C3: 3,11; S10-D0-C0: 4,12; "
		       "S10-D0-C1: 13; S10-D0-C2: 6,14; S10-D0-C3: 7,15");
	expect_written(&topology, CTX_TOPOLOGY_SOCKET, "0: 0-3,8-11; 10: 4,6-7,12-15");
	expect_written(&topology, CTX_TOPOLOGY_NODE, "0: 0-3,8-11; 2: 4,6-7,12-15");
	expect_written(&topology, CTX_TOPOLOGY_PMU, "cpu_atom: 8-15; cpu_core: 0-7");
	topology.cpus[1].die = 1;
	topology.cpus[9].core = CTX_TOPOLOGY_ID_MAX + 1;
	topology.n = 10;
	expect_written(&topology, CTX_TOPOLOGY_CORE,
		       "S0-D0-C0: 0,8; S0-D0-C2: 2; S0-D0-C3: 3; S0-D1-C1: 1; S10-D0-C0: 4; S10-D0-C2: 6; "
		       "S10-D0-C3: 7");
	ctx_topology_deinit(&topology);
	for (unsigned part = 0; part < CTX_TOPOLOGY_N; part++)
		expect_written(&topology, (enum ctx_topology_part)part, "");
}

static void test_topology__what_is_written_is_read_again(void **state)
{
	struct ctx_topology topology;

	(void)state;
	make(&topology);
	for (unsigned part = 0; part < CTX_TOPOLOGY_N; part++) {
		struct ctx_buf text CTX_AUTO_BUF = {0};
		struct ctx_topology_groups groups;
		struct ctx_strtab names = {0};
		uint32_t other;

		assert_int_equal(ctx_strtab_add_text(&names, "cpu_core", &other, NULL), CTX_OK);
		assert_int_equal(ctx_topology_write(&topology, (enum ctx_topology_part)part, &text, NULL),
				 CTX_OK);
		ctx_buf_put_u8(&text, 0);
		assert_int_equal(ctx_topology_read((const char *)text.bytes, (enum ctx_topology_part)part,
						   &names, &groups, NULL),
				 CTX_OK);
		assert_int_equal(groups.n, 16);
		for (uint32_t i = 0; i < 16; i++) {
			const struct ctx_topology_cpu *cpu = &topology.cpus[i];
			int64_t group = groups.of_cpu[i];
			char name[32];

			if (i == 5 && part != CTX_TOPOLOGY_PMU) {
				assert_int_equal(group, -1);
				continue;
			}
			snprintf(name, sizeof(name), "S%u-D0-C%u", cpu->socket, cpu->core);
			if (part == CTX_TOPOLOGY_SOCKET)
				assert_int_equal(group, cpu->socket);
			else if (part == CTX_TOPOLOGY_NODE)
				assert_int_equal(group, cpu->node);
			else
				assert_string_equal(ctx_strtab_get(&names, (uint32_t)group),
						    part == CTX_TOPOLOGY_PMU ? cpu->pmu : name);
		}
		ctx_topology_groups_deinit(&groups);
		ctx_strtab_deinit(&names);
	}
	ctx_topology_deinit(&topology);
}

static void test_topology__malformed_texts_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",	    " ",      "0",	   "0:",     "0: ",	   "0:1",
		"0: 1;",    "0: 1; ", "0: 1;2: 3", "0: 1,",  "0: 1-",	   "0: 2-1",
		"0: 65536", "0: 1 ",  "0: 1; : 2", "0: 1,1", "0: 1; 1: 1", "0: 1-3; 1: 2",
		"x y: 1",   "0: a",   "0: 0x1",	   "0: -1",  "0: 1-2-3",   "0: 99999999999999999999"};
	static const char *const numbers[] = {"a: 1", "1000000: 1", "-1: 1"};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong) + CTX_COUNT_OF(numbers); i++) {
		const char *text = i < CTX_COUNT_OF(wrong) ? wrong[i] : numbers[i - CTX_COUNT_OF(wrong)];

		for (unsigned part = 0; part < CTX_TOPOLOGY_N; part++) {
			struct ctx_topology_groups groups;
			struct ctx_strtab names = {0};
			struct ctx_err err = {0};

			if (i >= CTX_COUNT_OF(wrong) && part != CTX_TOPOLOGY_SOCKET &&
			    part != CTX_TOPOLOGY_NODE)
				continue;
			assert_int_equal(
				ctx_topology_read(text, (enum ctx_topology_part)part, &names, &groups, &err),
				CTX_E_FORMAT);
			assert_non_null(strstr(err.msg, "malformed"));
			ctx_strtab_deinit(&names);
		}
	}
}

static void test_topology__lists_that_are_malformed_or_overlap_are_refused(void **state)
{
	static const char *const wrong[] = {"a", "1,", "3-2", "65536", "1;2", "1-", "0-3"};
	struct ctx_topology topology = {0};

	(void)state;
	assert_int_equal(ctx_topology_put_node(&topology, "2", 0, NULL), CTX_OK);
	assert_int_equal(ctx_topology_put_pmu(&topology, "2", "a", NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		assert_int_equal(ctx_topology_put_node(&topology, wrong[i], 1, NULL), CTX_E_FORMAT);
		assert_int_equal(ctx_topology_put_pmu(&topology, wrong[i], "b", NULL), CTX_E_FORMAT);
	}
	assert_int_equal(ctx_topology_put_pmu(&topology, "7", "", NULL), CTX_E_FORMAT);
	assert_int_equal(ctx_topology_put_pmu(&topology, "7", "a: 0; b", NULL), CTX_E_FORMAT);
	assert_int_equal(ctx_topology_reach(&topology, CTX_TOPOLOGY_CPU_MAX + 1, NULL), CTX_E_FORMAT);
	ctx_topology_deinit(&topology);
}

static void test_topology__a_part_is_replaced_by_another(void **state)
{
	struct ctx_topology topology, other = {0};

	(void)state;
	make(&topology);
	assert_int_equal(ctx_topology_put_node(&other, "3-16", 7, NULL), CTX_OK);
	assert_int_equal(ctx_topology_put_pmu(&other, "0", "cpu", NULL), CTX_OK);
	other.cpus[0].socket = other.cpus[0].core = 1;
	assert_int_equal(ctx_topology_take(&topology, &other, CTX_TOPOLOGY_NODE, NULL), CTX_OK);
	expect_written(&topology, CTX_TOPOLOGY_NODE, "7: 3-16");
	expect_written(&topology, CTX_TOPOLOGY_SOCKET, "0: 0-3,8-11; 10: 4,6-7,12-15");
	assert_int_equal(ctx_topology_take(&topology, &other, CTX_TOPOLOGY_PMU, NULL), CTX_OK);
	expect_written(&topology, CTX_TOPOLOGY_PMU, "cpu: 0");
	assert_int_equal(ctx_topology_take(&topology, &other, CTX_TOPOLOGY_CORE, NULL), CTX_OK);
	expect_written(&topology, CTX_TOPOLOGY_CORE, "S1-D0-C1: 0");
	ctx_topology_deinit(&topology);
	ctx_topology_deinit(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_topology__groups_are_written_in_order_with_their_processors_in_runs),
		cmocka_unit_test(test_topology__what_is_written_is_read_again),
		cmocka_unit_test(test_topology__malformed_texts_are_refused),
		cmocka_unit_test(test_topology__lists_that_are_malformed_or_overlap_are_refused),
		cmocka_unit_test(test_topology__a_part_is_replaced_by_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
