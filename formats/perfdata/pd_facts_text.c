/* The facts as readable properties for the header of a report. */
#include "formats/perfdata/pd_facts.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/utc.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define LINES_MAX (9u + CTX_TOPOLOGY_N)

struct lines {
	struct ctx_property *items; /* LINES_MAX of them */
	size_t n;
	struct ctx_buf value; /* of the current line */
};

static void lines_deinit(struct lines *lines)
{
	free(lines->items);
	ctx_buf_deinit(&lines->value);
}

/* Ends the current line and clears `value`. An empty value makes no line. */
static enum ctx_status end_line(struct lines *lines, struct ctx_pd_facts *facts, const char *key,
				struct ctx_err *err)
{
	enum ctx_status status = ctx_buf_check(&lines->value, err);
	const char *text;

	if (status != CTX_OK || lines->value.n == 0)
		return status;
	text = ctx_arena_strndup(&facts->arena, (const char *)lines->value.bytes, lines->value.n);
	if (text == NULL)
		return ctx_err_nomem(err);
	lines->items[lines->n++] = (struct ctx_property){.key = key, .value = text};
	ctx_buf_clear(&lines->value);
	return CTX_OK;
}

static enum ctx_status put_text(struct lines *lines, struct ctx_pd_facts *facts, const char *key,
				const char *text, struct ctx_err *err)
{
	if (text != NULL)
		ctx_buf_put_text(&lines->value, text);
	return end_line(lines, facts, key, err);
}

static enum ctx_status put_collector(struct lines *lines, struct ctx_pd_facts *facts, struct ctx_err *err)
{
	const char *version = facts->version, *name = "perf ";

	if (facts->simpleperf.version != NULL) {
		version = facts->simpleperf.version;
		name = "simpleperf ";
	}
	if (version != NULL && *version != '\0')
		ctx_buf_put_text(&lines->value, name);
	return put_text(lines, facts, "collector", version, err);
}

static void put_count(struct ctx_buf *value, uint32_t n, const char *one, const char *many)
{
	ctx_buf_printf(value, "%s%" PRIu32 " %s", value->n != 0 ? ", " : "", n, n == 1 ? one : many);
}

/* Dies appear only if there are more than sockets, NUMA nodes only if there are several. */
static enum ctx_status put_processors(struct lines *lines, struct ctx_pd_facts *facts, struct ctx_err *err)
{
	struct ctx_buf *value = &lines->value;
	const char *name = facts->machine.cpu_desc != NULL && *facts->machine.cpu_desc != '\0'
				   ? facts->machine.cpu_desc
				   : facts->machine.cpuid;

	if (name != NULL)
		ctx_buf_put_text(value, name);
	if (facts->machine.cpus_online != 0 || facts->machine.cpus_available != 0)
		ctx_buf_printf(value, "%s%" PRIu32 " online of %" PRIu32, value->n != 0 ? ", " : "",
			       facts->machine.cpus_online, facts->machine.cpus_available);
	if (facts->machine.sockets != 0)
		put_count(value, facts->machine.sockets, "socket", "sockets");
	if (facts->machine.cores != 0)
		put_count(value, facts->machine.cores, "core", "cores");
	if (facts->machine.dies > facts->machine.sockets)
		put_count(value, facts->machine.dies, "die", "dies");
	if (facts->machine.numa_nodes > 1)
		put_count(value, facts->machine.numa_nodes, "NUMA node", "NUMA nodes");
	return end_line(lines, facts, "processors", err);
}

static enum ctx_status put_topology(struct lines *lines, struct ctx_pd_facts *facts,
				    enum ctx_topology_part part, struct ctx_err *err)
{
	enum ctx_status status = ctx_topology_write(&facts->machine.topology, part, &lines->value, err);

	return status == CTX_OK ? end_line(lines, facts, ctx_topology_key(part), err) : status;
}

/* "23.5 GiB", rounded down. perf's kB are 1024 bytes. */
static enum ctx_status put_memory(struct lines *lines, struct ctx_pd_facts *facts, struct ctx_err *err)
{
	uint64_t kb = facts->machine.memory_kb;
	unsigned shift = kb >> 20 != 0 ? 20 : 10;
	uint64_t rest = kb & ((UINT64_C(1) << shift) - 1);

	if (kb != 0)
		ctx_buf_printf(&lines->value, "%" PRIu64 ".%" PRIu64 " %s", kb >> shift, (rest * 10) >> shift,
			       shift == 20 ? "GiB" : "MiB");
	return end_line(lines, facts, "memory", err);
}

bool ctx_pd_facts_wall_time(const struct ctx_pd_facts *facts, uint64_t time_ns, uint64_t *ret_ns)
{
	uint64_t passed_ns = time_ns - facts->clock.clock_ns; /* modulo 2^64 */

	if (!facts->clock.has_clock_data)
		return false;
	*ret_ns = facts->clock.wall_clock_ns + passed_ns;
	return time_ns >= facts->clock.clock_ns ? *ret_ns >= facts->clock.wall_clock_ns
						: *ret_ns < facts->clock.wall_clock_ns;
}

static enum ctx_status put_start(struct lines *lines, struct ctx_pd_facts *facts, uint64_t start_ns,
				 struct ctx_err *err)
{
	uint64_t wall_ns;
	char text[CTX_UTC_MAX];

	if (start_ns == UINT64_MAX || !ctx_pd_facts_wall_time(facts, start_ns, &wall_ns))
		return CTX_OK;
	if (!ctx_utc_stamp((int64_t)(wall_ns / NS_PER_SECOND), text))
		return CTX_OK;
	return put_text(lines, facts, "start", text, err);
}

const char *ctx_pd_clock_name(uint32_t clockid)
{
	switch (clockid) {
	case CLOCK_REALTIME:
		return "CLOCK_REALTIME";
	case CLOCK_MONOTONIC:
		return "CLOCK_MONOTONIC";
	case CLOCK_MONOTONIC_RAW:
		return "CLOCK_MONOTONIC_RAW";
	case CLOCK_BOOTTIME:
		return "CLOCK_BOOTTIME";
	case CLOCK_TAI:
		return "CLOCK_TAI";
	default:
		return NULL; /* the kernel accepts no other clock for events */
	}
}

static enum ctx_status put_clock(struct lines *lines, struct ctx_pd_facts *facts, struct ctx_err *err)
{
	const char *name = ctx_pd_clock_name(facts->clock.clockid);

	if (facts->clock.has_clockid && name != NULL)
		ctx_buf_put_text(&lines->value, name);
	else if (facts->clock.has_clockid)
		ctx_buf_printf(&lines->value, "clock %" PRIu32, facts->clock.clockid);
	return end_line(lines, facts, "clock", err);
}

enum ctx_status ctx_pd_facts_properties(struct ctx_pd_facts *facts, uint64_t start_ns,
					struct ctx_property **ret, size_t *ret_n, struct ctx_err *err)
{
	struct lines lines __attribute__((cleanup(lines_deinit))) = {0};
	enum ctx_status status;

	lines.items = ctx_calloc(LINES_MAX, sizeof(*lines.items));
	if (lines.items == NULL)
		return ctx_err_nomem(err);
	status = put_collector(&lines, facts, err);
	if (status == CTX_OK)
		status = put_text(&lines, facts, "command", facts->command, err);
	if (status == CTX_OK)
		status = put_text(&lines, facts, "host",
				  facts->simpleperf.device != NULL ? facts->simpleperf.device
								   : facts->machine.hostname,
				  err);
	if (status == CTX_OK)
		status = put_text(&lines, facts, "kernel", facts->machine.os_release, err);
	if (status == CTX_OK)
		status = put_text(&lines, facts, "arch", facts->machine.arch, err);
	if (status == CTX_OK)
		status = put_processors(&lines, facts, err);
	for (unsigned part = 0; part < CTX_TOPOLOGY_N && status == CTX_OK; part++)
		status = put_topology(&lines, facts, (enum ctx_topology_part)part, err);
	if (status == CTX_OK)
		status = put_memory(&lines, facts, err);
	if (status == CTX_OK)
		status = put_start(&lines, facts, start_ns, err);
	if (status == CTX_OK)
		status = put_clock(&lines, facts, err);
	if (status != CTX_OK)
		return status;
	*ret = lines.items;
	*ret_n = lines.n;
	lines.items = NULL;
	return CTX_OK;
}
