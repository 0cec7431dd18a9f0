/*
 * Features of a perf.data file of arbitrary bytes. First byte: odd is the other byte order; second
 * byte: the number of the feature, 255 a single build id, 254 the text of a property of the topology, of the part of the first byte,
 * 253 BPF programs (their length in four bytes, then these) and BTF. The feature is read twice, after a number
 * of processors. In every case memory is proportional to the input, and the results can be queried.
 */
#include "formats/perfdata/pd_facts.h"

#include <stdlib.h>
#include <string.h>

/* The name of the event with this id, of no matter which place. */
static const char *event_name_of_id(const struct ctx_pd_facts *facts, uint64_t id)
{
	size_t n;

	return ctx_pd_facts_event_name(facts, &(struct ctx_pd_event_key){.id = id, .n = SIZE_MAX}, &n);
}

#define PROCESSORS 4
#define TOPOLOGY_TEXT 254
#define BPF_AND_BTF 253

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_build_ids(const struct ctx_pd_facts *facts)
{
	for (size_t i = 0; i < facts->build_ids.n; i++) {
		const struct ctx_pd_build_id *build_id = &facts->build_ids.items[i];
		size_t n = strlen(build_id->hex);

		if (n == 0 || n > 40 || strspn(build_id->hex, "0123456789abcdef") != n)
			abort();
		if (strspn(build_id->hex, "0") == n || *build_id->path == '\0')
			abort();
		if (*ctx_pd_facts_build_id(facts, build_id->path) == '\0')
			abort();
	}
}

static void check_events(const struct ctx_pd_facts *facts)
{
	for (size_t i = 0; i < facts->events.n; i++) {
		for (uint32_t j = 0; j < facts->events.items[i].n_ids; j++) {
			uint64_t id = facts->events.items[i].ids[j];
			const char *name = facts->events.items[ctx_map64_get(&facts->events.of_id, id)].name;

			if ((event_name_of_id(facts, id) == NULL) != (name[0] == '\0'))
				abort();
		}
	}
}

/* What is written of a topology can be read; what is read is within bounds. */
static void check_topology(const char *text, enum ctx_topology_part part, bool is_own)
{
	struct ctx_topology_groups groups = {0};
	struct ctx_strtab names = {0};
	enum ctx_status status = ctx_topology_read(text, part, &names, &groups, NULL);

	if (status != CTX_OK && (is_own || status != CTX_E_FORMAT))
		abort();
	for (size_t i = 0; i < groups.n; i++) {
		bool is_name = part == CTX_TOPOLOGY_CORE || part == CTX_TOPOLOGY_PMU;

		if (groups.of_cpu[i] < -1 ||
		    groups.of_cpu[i] > (is_name ? (int64_t)names.n - 1 : CTX_TOPOLOGY_ID_MAX))
			abort();
	}
	if (groups.n > CTX_TOPOLOGY_CPU_MAX + 1)
		abort();
	ctx_topology_groups_deinit(&groups);
	ctx_strtab_deinit(&names);
}

static void check_topology_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size - 1);

	if (text == NULL)
		abort();
	memcpy(text, data + 2, size - 2);
	text[size - 2] = '\0';
	check_topology(text, (enum ctx_topology_part)(data[0] % CTX_TOPOLOGY_N), false);
	free(text);
}

/* Lines are in their functions, in order; code can be read. */
static void check_function(const struct ctx_pd_bpf_function *function)
{
	const struct ctx_jit_places *places = &function->places;
	volatile uint8_t last = 0;

	if (function->size == 0 || strncmp(function->name, "bpf_prog_", 9) != 0)
		abort();
	if (function->code != NULL)
		last = (uint8_t)(last ^ function->code[function->size - 1]);
	for (size_t i = 0; i < places->n_rows; i++) {
		if (places->rows[i].begin >= function->size ||
		    (i != 0 && places->rows[i].begin <= places->rows[i - 1].begin) ||
		    (places->rows[i].site != CTX_NONE && places->rows[i].site >= places->n_sites))
			abort();
	}
	for (size_t i = 0; i < places->n_sites; i++) {
		if (places->sites[i].line == 0 || strlen(places->sites[i].file) == 0 ||
		    places->sites[i].caller != CTX_NONE)
			abort();
	}
}

static void check_bpf(struct ctx_pd_facts *facts)
{
	const struct ctx_pd_bpf *bpf = &facts->bpf;
	size_t n;

	if (ctx_pd_bpf_settle(&facts->bpf, &facts->arena, NULL) != CTX_OK)
		abort();
	for (size_t i = 0; i < bpf->n; i++) {
		check_function(&bpf->functions[i]);
		if (ctx_pd_bpf_of(bpf, bpf->functions[i].program, &n) > &bpf->functions[i] || n == 0)
			abort();
	}
}

static void check_both(const uint8_t *data, size_t size)
{
	struct ctx_pd_facts facts = {0};
	struct ctx_pe_wire wire = ctx_pe_wire_make(data + 2, size - 2, (data[0] & 1) != 0);
	uint32_t n = ctx_pe_wire_u32(&wire);
	size_t left = ctx_pe_wire_left(&wire);
	struct ctx_pe_wire programs = wire;

	if (n > left)
		n = (uint32_t)left;
	programs.end = programs.at + n;
	ctx_pe_wire_bytes(&wire, n);
	if (programs.failed)
		return;
	if (ctx_pd_facts_add(&facts, CTX_PD_FEATURE_BPF_PROG_INFO, programs, NULL) != CTX_OK ||
	    ctx_pd_facts_add(&facts, CTX_PD_FEATURE_BPF_BTF, wire, NULL) != CTX_OK)
		abort();
	check_bpf(&facts);
	/* A function of eight bytes, its length among those of its address, may have a name of 512. */
	if (facts.arena.total_bytes > 80 * size + 100 * 1000)
		abort();
	ctx_pd_facts_deinit(&facts);
}

static void check_properties(struct ctx_pd_facts *facts)
{
	struct ctx_property *properties;
	size_t n;

	if (ctx_pd_facts_properties(facts, facts->clock.first_sample_ns, &properties, &n, NULL) != CTX_OK)
		abort();
	for (size_t i = 0; i < n; i++) {
		if (*properties[i].value == '\0')
			abort();
		for (unsigned part = 0; part < CTX_TOPOLOGY_N; part++) {
			if (strcmp(properties[i].key, ctx_topology_key((enum ctx_topology_part)part)) == 0)
				check_topology(properties[i].value, (enum ctx_topology_part)part, true);
		}
	}
	free(properties);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_pd_facts facts = {.machine.cpus_available = PROCESSORS, .machine.cpus_online = PROCESSORS};
	struct ctx_pe_wire wire;
	enum ctx_status status;

	if (size < 2)
		return 0;
	if (data[1] == TOPOLOGY_TEXT) {
		check_topology_text(data, size);
		return 0;
	}
	if (data[1] == BPF_AND_BTF) {
		check_both(data, size);
		return 0;
	}
	wire = ctx_pe_wire_make(data + 2, size - 2, (data[0] & 1) != 0);
	for (int round = 0; round < 2; round++) {
		if (data[1] == UINT8_MAX)
			status = ctx_pd_facts_add_build_id(&facts, (uint16_t)(data[0] << 8), wire, NULL);
		else
			status = ctx_pd_facts_add(&facts, data[1], wire, NULL);
		if (status != CTX_OK)
			abort();
	}
	/* A quotation mark takes four bytes; a chunk of the arena is 64 KiB. */
	if (facts.arena.total_bytes > 32 * size + 100 * 1000 || facts.events.cap > size + 64)
		abort();
	for (size_t i = 0; i < facts.damage.n; i++) {
		if (strncmp(facts.damage.lines[i], "header: ", 8) != 0)
			abort();
	}
	check_build_ids(&facts);
	check_events(&facts);
	check_bpf(&facts);
	check_properties(&facts);
	ctx_pd_facts_deinit(&facts);
	return 0;
}
