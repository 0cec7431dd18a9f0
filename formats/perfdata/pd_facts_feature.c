/*
 * A feature is a sequence of fields without gaps:
 *
 *	text		u32 length, bytes: zero-terminated, padded with zeros (the length counts the padding)
 *	texts		u32 n, n * text
 *	HOSTNAME ..	text
 *	NRCPUS		u32 available, u32 online (perf's document has them in the wrong order)
 *	CPU_TOPOLOGY	texts sockets, texts cores, available * { u32 core, u32 socket }
 *			since 5.3 also: texts dies, available * u32 die
 *
 * Event names and build ids are read in files of their own. A reader writes into the facts only
 * after it has read the whole feature: damage leaves earlier values. Counts are not trusted: loops
 * end with the bytes, and arrays are sized by the bytes that are left.
 */
#include "formats/perfdata/pd_facts.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/shellword.h"
#include "formats/perfdata/pd_facts_read.h"

#include <stdlib.h>

#define CLOCK_DATA_VERSION 1u

void ctx_pd_facts_deinit(struct ctx_pd_facts *facts)
{
	ctx_pd_simpleperf_deinit(&facts->simpleperf);
	ctx_pd_bpf_deinit(&facts->bpf);
	ctx_arena_deinit(&facts->arena);
	ctx_strtab_deinit(&facts->build_ids.paths);
	free(facts->build_ids.items);
	free(facts->build_ids.of_path);
	free(facts->events.items);
	ctx_map64_deinit(&facts->events.of_id);
	free(facts->damage.lines);
	ctx_topology_deinit(&facts->machine.topology);
	*facts = (struct ctx_pd_facts){0};
}

static uint32_t skip_texts(struct ctx_pe_wire *wire)
{
	uint32_t n = ctx_pe_wire_u32(wire);

	for (uint32_t i = 0; i < n && !wire->failed; i++)
		ctx_pd_fact_text(wire);
	return n;
}

static enum ctx_status read_text(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire, const char **ret,
				 struct ctx_err *err)
{
	const char *text = ctx_pd_fact_text(wire);

	return text != NULL ? ctx_pd_fact_keep(facts, text, ret, err) : ctx_pd_fact_cut_short(err);
}

static enum ctx_status read_command(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire, struct ctx_err *err)
{
	struct ctx_buf line __attribute__((cleanup(ctx_buf_deinit))) = {0};
	uint32_t n = ctx_pe_wire_u32(wire);
	enum ctx_status status;

	for (uint32_t i = 0; i < n; i++) {
		const char *word = ctx_pd_fact_text(wire);

		if (word == NULL)
			break;
		if (i != 0)
			ctx_buf_put_u8(&line, ' ');
		ctx_shellword_put(&line, word);
	}
	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	ctx_buf_put_u8(&line, 0);
	status = ctx_buf_check(&line, err);
	return status == CTX_OK ? ctx_pd_fact_keep(facts, (const char *)line.bytes, &facts->command, err)
				: status;
}

static enum ctx_status read_processors(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire,
				       struct ctx_err *err)
{
	uint32_t available = ctx_pe_wire_u32(wire);
	uint32_t online = ctx_pe_wire_u32(wire);

	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	facts->machine.cpus_available = available;
	facts->machine.cpus_online = online;
	return CTX_OK;
}

/* A number for each available processor; -1: it is offline. */
static enum ctx_status read_cpus(struct ctx_topology *topology, struct ctx_pe_wire *wire, size_t n,
				 bool is_die, struct ctx_err *err)
{
	size_t bytes = n * (is_die ? 1 : 2) * sizeof(uint32_t);
	enum ctx_status status;

	if (n > CTX_TOPOLOGY_CPU_MAX || bytes > ctx_pe_wire_left(wire))
		return ctx_pd_fact_cut_short(err);
	status = ctx_topology_reach(topology, n - 1, err);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		if (is_die) {
			topology->cpus[i].die = ctx_pe_wire_u32(wire);
			continue;
		}
		topology->cpus[i].core = ctx_pe_wire_u32(wire);
		topology->cpus[i].socket = ctx_pe_wire_u32(wire);
	}
	return status;
}

static enum ctx_status read_topology(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire,
				     struct ctx_err *err)
{
	uint32_t sockets = skip_texts(wire);
	uint32_t cores = skip_texts(wire);
	uint32_t dies = 0;
	size_t n = facts->machine.cpus_available;
	struct ctx_topology topology CTX_CLEANUP(ctx_topology_deinit) = {0};
	enum ctx_status status = CTX_OK;

	/*
	 * Later versions append more. The array of processors has no length field: without an
	 * NRCPUS feature before this one, the places of processors and the number of dies remain unknown.
	 */
	if (!wire->failed && ctx_pe_wire_left(wire) != 0 && n != 0) {
		status = read_cpus(&topology, wire, n, false, err);
		if (status == CTX_OK && ctx_pe_wire_left(wire) != 0)
			dies = skip_texts(wire);
		if (status == CTX_OK && dies != 0 && !wire->failed)
			status = read_cpus(&topology, wire, n, true, err);
	}
	if (status != CTX_OK)
		return status;
	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	facts->machine.sockets = sockets;
	facts->machine.cores = cores;
	facts->machine.dies = dies;
	return ctx_topology_take(&facts->machine.topology, &topology, CTX_TOPOLOGY_CORE, err);
}

static enum ctx_status read_numa(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire, struct ctx_err *err)
{
	uint32_t n = ctx_pe_wire_u32(wire);
	struct ctx_topology topology CTX_CLEANUP(ctx_topology_deinit) = {0};
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < n && !wire->failed && status == CTX_OK; i++) {
		uint32_t node = ctx_pe_wire_u32(wire);
		const char *cpus;

		ctx_pe_wire_u64(wire); /* its memory, kB */
		ctx_pe_wire_u64(wire); /* free, kB */
		cpus = ctx_pd_fact_text(wire);
		if (cpus != NULL)
			status = ctx_topology_put_node(&topology, cpus, node, err);
	}
	if (status != CTX_OK)
		return status;
	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	facts->machine.numa_nodes = n;
	return ctx_topology_take(&facts->machine.topology, &topology, CTX_TOPOLOGY_NODE, err);
}

static enum ctx_status read_hybrid(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire, struct ctx_err *err)
{
	uint32_t n = ctx_pe_wire_u32(wire);
	struct ctx_topology topology CTX_CLEANUP(ctx_topology_deinit) = {0};
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < n && !wire->failed && status == CTX_OK; i++) {
		const char *name = ctx_pd_fact_text(wire);
		const char *cpus = ctx_pd_fact_text(wire);

		if (cpus == NULL)
			break;
		status = ctx_pd_fact_keep(facts, name, &name, err);
		if (status == CTX_OK)
			status = ctx_topology_put_pmu(&topology, cpus, name, err);
	}
	if (status != CTX_OK)
		return status;
	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	return ctx_topology_take(&facts->machine.topology, &topology, CTX_TOPOLOGY_PMU, err);
}

static enum ctx_status read_number(struct ctx_pe_wire *wire, uint64_t *ret, struct ctx_err *err)
{
	uint64_t value = ctx_pe_wire_u64(wire);

	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	*ret = value;
	return CTX_OK;
}

static enum ctx_status read_sample_times(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire,
					 struct ctx_err *err)
{
	uint64_t first = ctx_pe_wire_u64(wire);
	uint64_t last = ctx_pe_wire_u64(wire);

	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	if (last < first)
		return ctx_err_set(err, CTX_E_FORMAT, "the last sample is before the first");
	facts->clock.first_sample_ns = first;
	facts->clock.last_sample_ns = last;
	return CTX_OK;
}

static enum ctx_status read_clock_data(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire,
				       struct ctx_err *err)
{
	uint32_t version = ctx_pe_wire_u32(wire);
	uint32_t clockid = ctx_pe_wire_u32(wire);
	uint64_t wall_clock_ns = ctx_pe_wire_u64(wire);
	uint64_t clock_ns = ctx_pe_wire_u64(wire);

	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	if (version != CLOCK_DATA_VERSION)
		return ctx_err_set(err, CTX_E_FORMAT, "version %u is not known", version);
	facts->clock.has_clockid = true;
	facts->clock.clockid = clockid;
	facts->clock.has_clock_data = true;
	facts->clock.wall_clock_ns = wall_clock_ns;
	facts->clock.clock_ns = clock_ns;
	return CTX_OK;
}

static enum ctx_status read_compression(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire,
					struct ctx_err *err)
{
	uint32_t type, level, ratio, mmap_bytes;

	ctx_pe_wire_u32(wire); /* version: always 0; perf checks the type only */
	type = ctx_pe_wire_u32(wire);
	level = ctx_pe_wire_u32(wire);
	ratio = ctx_pe_wire_u32(wire);
	mmap_bytes = ctx_pe_wire_u32(wire);
	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	facts->compression.on = true;
	facts->compression.type = type;
	facts->compression.level = level;
	facts->compression.ratio = ratio;
	facts->compression.mmap_bytes = mmap_bytes;
	return CTX_OK;
}

static enum ctx_status read_feature(struct ctx_pd_facts *facts, uint32_t feature, struct ctx_pe_wire *wire,
				    struct ctx_err *err)
{
	uint64_t resolution_ns;

	switch (feature) {
	case CTX_PD_FEATURE_BUILD_ID:
		return ctx_pd_facts_read_build_ids(facts, wire, err);
	case CTX_PD_FEATURE_HOSTNAME:
		return read_text(facts, wire, &facts->machine.hostname, err);
	case CTX_PD_FEATURE_OSRELEASE:
		return read_text(facts, wire, &facts->machine.os_release, err);
	case CTX_PD_FEATURE_VERSION:
		return read_text(facts, wire, &facts->version, err);
	case CTX_PD_FEATURE_ARCH:
		return read_text(facts, wire, &facts->machine.arch, err);
	case CTX_PD_FEATURE_NRCPUS:
		return read_processors(facts, wire, err);
	case CTX_PD_FEATURE_CPUDESC:
		return read_text(facts, wire, &facts->machine.cpu_desc, err);
	case CTX_PD_FEATURE_CPUID:
		return read_text(facts, wire, &facts->machine.cpuid, err);
	case CTX_PD_FEATURE_TOTAL_MEM:
		return read_number(wire, &facts->machine.memory_kb, err);
	case CTX_PD_FEATURE_CMDLINE:
		return read_command(facts, wire, err);
	case CTX_PD_FEATURE_EVENT_DESC:
		return ctx_pd_facts_read_events(facts, wire, err);
	case CTX_PD_FEATURE_CPU_TOPOLOGY:
		return read_topology(facts, wire, err);
	case CTX_PD_FEATURE_NUMA_TOPOLOGY:
		return read_numa(facts, wire, err);
	case CTX_PD_FEATURE_HYBRID_TOPOLOGY:
		return read_hybrid(facts, wire, err);
	case CTX_PD_FEATURE_SAMPLE_TIME:
		return read_sample_times(facts, wire, err);
	case CTX_PD_FEATURE_CLOCKID: /* only the clock's resolution, despite the name; not used */
		return read_number(wire, &resolution_ns, err);
	case CTX_PD_FEATURE_DIR_FORMAT:
		return read_number(wire, &facts->dir_version, err);
	case CTX_PD_FEATURE_COMPRESSED:
		return read_compression(facts, wire, err);
	case CTX_PD_FEATURE_CLOCK_DATA:
		return read_clock_data(facts, wire, err);
	case CTX_PD_FEATURE_SIMPLEPERF_FILE:
	case CTX_PD_FEATURE_SIMPLEPERF_META:
	case CTX_PD_FEATURE_SIMPLEPERF_FILE2:
		return ctx_pd_simpleperf_read(&facts->simpleperf, &facts->arena, feature, wire, err);
	case CTX_PD_FEATURE_BPF_PROG_INFO:
	case CTX_PD_FEATURE_BPF_BTF:
		return ctx_pd_bpf_read(&facts->bpf, &facts->arena, feature, wire, err);
	default:
		return CTX_OK; /* not used here, or written by a later perf */
	}
}

enum ctx_status ctx_pd_facts_add(struct ctx_pd_facts *facts, uint32_t feature, struct ctx_pe_wire wire,
				 struct ctx_err *err)
{
	struct ctx_err reason = {0};
	enum ctx_status status;

	if (feature >= CTX_PD_FEATURE_BITS)
		return CTX_OK;
	facts->seen[feature / 64] |= UINT64_C(1) << (feature % 64);
	status = read_feature(facts, feature, &wire, &reason);
	return ctx_pd_fact_settle(facts, feature, status, &reason, err);
}
