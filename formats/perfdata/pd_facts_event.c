/*
 * EVENT_DESC: u32 n, u32 size of an attribute, n * { attribute, u32 ids, text, ids * u64 }.
 *
 * A map leads from ids to events: the cost is linear in the bytes, whatever the number of events.
 */
#include "base/mem.h"
#include "formats/perfdata/pd_facts_read.h"

#include <string.h>

/* struct perf_event_attr: the first version had 64 bytes. */
#define ATTR_BYTES_MIN 64u
#define ATTR_FLAGS_OFFSET 40u
#define ATTR_USE_CLOCKID 25u /* bit number of the flag */
#define ATTR_CLOCKID_OFFSET 92u

/* Before CLOCK_DATA existed, the attr was the only place that names the clock of the samples. */
static void read_attr_clock(struct ctx_pd_facts *facts, const uint8_t *attr, size_t n, bool swap)
{
	struct ctx_pe_wire wire = ctx_pe_wire_make(attr, n, swap);

	if (facts->clock.has_clock_data || n < ATTR_CLOCKID_OFFSET + sizeof(uint32_t) ||
	    !ctx_pe_wire_flag(attr + ATTR_FLAGS_OFFSET, ATTR_USE_CLOCKID, swap))
		return;
	ctx_pe_wire_bytes(&wire, ATTR_CLOCKID_OFFSET);
	facts->clock.has_clockid = true;
	facts->clock.clockid = ctx_pe_wire_u32(&wire);
}

static enum ctx_status number_ids(struct ctx_pd_facts *facts, const struct ctx_pd_event_desc *last,
				  struct ctx_err *err)
{
	for (uint32_t i = 0; i < last->n_ids; i++) {
		uint32_t *place = ctx_map64_place(&facts->events.of_id, last->ids[i]);

		if (place == NULL)
			return ctx_err_nomem(err);
		if (*place == CTX_MAP64_NONE)
			*place = (uint32_t)facts->events.n - 1;
	}
	return CTX_OK;
}

static enum ctx_status read_event(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire, uint32_t attr_size,
				  struct ctx_err *err)
{
	const uint8_t *attr = ctx_pe_wire_bytes(wire, attr_size);
	uint32_t n_ids = ctx_pe_wire_u32(wire);
	const char *name = ctx_pd_fact_text(wire);
	struct ctx_pd_event_desc event = {.n_ids = n_ids};
	struct ctx_pe_wire fields;
	uint64_t *ids = NULL;
	enum ctx_status status;

	if (wire->failed || n_ids > ctx_pe_wire_left(wire) / sizeof(*ids))
		return ctx_pd_fact_cut_short(err);
	if (facts->events.n == CTX_MAP64_NONE)
		return ctx_err_set(err, CTX_E_LIMIT, "too many");
	fields = ctx_pe_wire_make(attr, attr_size, wire->swap);
	event.type = ctx_pe_wire_u32(&fields);
	ctx_pe_wire_u32(&fields); /* size */
	event.config = ctx_pe_wire_u64(&fields);
	status = ctx_grow(&facts->events.items, &facts->events.cap, facts->events.n + 1, err);
	if (status == CTX_OK)
		status = ctx_pd_fact_keep(facts, name, &event.name, err);
	if (status != CTX_OK)
		return status;
	if (n_ids != 0) {
		ids = ctx_arena_alloc(&facts->arena, n_ids * sizeof(*ids));
		if (ids == NULL)
			return ctx_err_nomem(err);
		for (uint32_t i = 0; i < n_ids; i++)
			ids[i] = ctx_pe_wire_u64(wire);
	}
	event.ids = ids;
	facts->events.items[facts->events.n++] = event;
	read_attr_clock(facts, attr, attr_size, wire->swap);
	return number_ids(facts, &event, err);
}

enum ctx_status ctx_pd_facts_read_events(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire,
					 struct ctx_err *err)
{
	uint32_t n = ctx_pe_wire_u32(wire);
	uint32_t attr_size = ctx_pe_wire_u32(wire);
	enum ctx_status status = CTX_OK;

	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	if (attr_size < ATTR_BYTES_MIN)
		return ctx_err_set(err, CTX_E_FORMAT, "attributes of %u bytes", attr_size);
	for (uint32_t i = 0; i < n && status == CTX_OK; i++)
		status = read_event(facts, wire, attr_size, err);
	return status;
}

const char *ctx_pd_facts_event_name(const struct ctx_pd_facts *facts, const struct ctx_pd_event_key *key,
				    size_t *ret_n)
{
	uint32_t number = ctx_map64_get(&facts->events.of_id, key->id);
	const char *name;

	if (number == CTX_MAP64_NONE) {
		name = ctx_pd_simpleperf_event_name(&facts->simpleperf, key->type, key->config, ret_n);
		if (*ret_n != 0)
			return name;
		if (facts->events.n != key->n || facts->events.items[key->index].n_ids != 0 ||
		    facts->events.items[key->index].type != key->type ||
		    facts->events.items[key->index].config != key->config)
			return NULL;
		number = (uint32_t)key->index;
	}
	*ret_n = strlen(facts->events.items[number].name);
	return *ret_n != 0 ? facts->events.items[number].name : NULL;
}
