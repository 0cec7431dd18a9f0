#include "fleet/fleet_cells.h"

#include "model/span_clip.h"

#include <stdlib.h>

#define NS_PER_S UINT64_C(1000000000)
#define METRICS_BITS 8u
#define GROUP_BITS 16u
#define CELL_BITS 38u /* of a cell's number since 1970; two more are the level */

const uint32_t ctx_cell_levels[CTX_CELL_LEVELS] = {CTX_CELL_WHOLE, 1, 10, 60};

void ctx_fleet_cells_init(struct ctx_fleet_cells *cells, const struct ctx_fleet_cells_spec *spec)
{
	*cells = (struct ctx_fleet_cells){.spec = *spec};
}

static void table_deinit(struct ctx_fleet_cell_table *table)
{
	free(table->rows);
	ctx_map64_deinit(&table->row_of);
}

void ctx_fleet_cells_deinit(struct ctx_fleet_cells *cells)
{
	for (unsigned i = 0; i < CTX_CELL_LEVELS; i++)
		table_deinit(&cells->now[i]);
	table_deinit(&cells->past);
	ctx_map64_deinit(&cells->places);
	*cells = (struct ctx_fleet_cells){0};
}

static enum ctx_status hand_out(struct ctx_fleet_cells *cells, struct ctx_fleet_cell_table *table,
				struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (table->n != 0)
		status = cells->spec.each(cells->spec.context, table->rows, table->n, err);
	table->n = 0;
	ctx_map64_clear(&table->row_of);
	return status;
}

enum ctx_status ctx_fleet_cells_end(struct ctx_fleet_cells *cells, struct ctx_err *err)
{
	enum ctx_status status = hand_out(cells, &cells->past, err);

	for (unsigned i = 0; i < CTX_CELL_LEVELS && status == CTX_OK; i++)
		status = hand_out(cells, &cells->now[i], err);
	cells->n_places = 0;
	ctx_map64_clear(&cells->places);
	return status;
}

/* A part of a sample in a cell. */
struct part {
	uint32_t level; /* index in ctx_cell_levels */
	uint64_t
		number; /* of the cell: of its begin, in its own length since 1970; 0 of the whole recording */
	const struct ctx_sample *sample;
	uint64_t weight;
	bool is_carried; /* it has begun before the cell */
	bool is_last;	 /* the sample ends in the cell */
};

static enum ctx_status check_ids(const struct ctx_fleet_cells *cells, const struct part *part,
				 struct ctx_err *err)
{
	uint32_t group = cells->spec.groups[part->sample->thread];

	if (part->sample->metric >> METRICS_BITS != 0 || group >> GROUP_BITS != 0 ||
	    part->number >> CELL_BITS != 0)
		return ctx_err_set(err, CTX_E_LIMIT, "more than %u metrics or %u groups of threads",
				   1u << METRICS_BITS, 1u << GROUP_BITS);
	return CTX_OK;
}

/* The number of the part's cell, metric and group. */
static enum ctx_status find_place(struct ctx_fleet_cells *cells, const struct part *part, uint32_t *ret,
				  struct ctx_err *err)
{
	uint64_t key = part->number << (METRICS_BITS + GROUP_BITS + 2) |
		       (uint64_t)part->level << (METRICS_BITS + GROUP_BITS) |
		       (uint64_t)part->sample->metric << GROUP_BITS |
		       cells->spec.groups[part->sample->thread];
	uint32_t *place = ctx_map64_place(&cells->places, key);

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE)
		*place = cells->n_places++;
	*ret = *place;
	return CTX_OK;
}

/* The table for the part, and what its keys begin with. */
static enum ctx_status find_table(struct ctx_fleet_cells *cells, const struct part *part,
				  struct ctx_fleet_cell_table **ret, uint64_t *ret_key, struct ctx_err *err)
{
	struct ctx_fleet_cell_table *now = &cells->now[part->level];
	uint64_t *number = &cells->now_number[part->level];
	uint32_t place = 0;
	enum ctx_status status = check_ids(cells, part, err);

	if (status == CTX_OK && part->is_last && part->number > *number) {
		status = hand_out(cells, now, err);
		*number = part->number;
	}
	if (status == CTX_OK && part->number == *number) {
		*ret = now;
		*ret_key = (uint64_t)part->sample->metric << (GROUP_BITS + 32) |
			   (uint64_t)cells->spec.groups[part->sample->thread] << 32;
		return CTX_OK;
	}
	if (status == CTX_OK)
		status = find_place(cells, part, &place, err);
	*ret = &cells->past;
	*ret_key = (uint64_t)place << 32;
	return status;
}

static enum ctx_status find_row(struct ctx_fleet_cells *cells, const struct part *part, uint32_t stack,
				struct ctx_fleet_cell **ret, struct ctx_err *err)
{
	uint32_t level = ctx_cell_levels[part->level], *row;
	struct ctx_fleet_cell_table *table;
	uint64_t key;
	enum ctx_status status = find_table(cells, part, &table, &key, err);

	if (status != CTX_OK)
		return status;
	row = ctx_map64_place(&table->row_of, key | stack);
	if (row == NULL)
		return ctx_err_nomem(err);
	if (*row == CTX_MAP64_NONE) {
		/* Its slot must not be left without a row. */
		if (ctx_grow(&table->rows, &table->cap, table->n + 1, err) != CTX_OK) {
			ctx_map64_remove(&table->row_of, key | stack);
			return CTX_E_NOMEM;
		}
		*row = (uint32_t)table->n++;
		table->rows[*row] = (struct ctx_fleet_cell){
			.begin_s = level != CTX_CELL_WHOLE ? (uint32_t)(part->number * level)
							   : (uint32_t)(cells->spec.wall_ns / NS_PER_S),
			.level = level,
			.metric = part->sample->metric,
			.group = cells->spec.groups[part->sample->thread],
			.stack = stack};
	}
	*ret = &table->rows[*row];
	return CTX_OK;
}

/* The node down to which the stack is that of the thread's last sample. */
static uint32_t kept_of(const struct ctx_sample *sample, const struct ctx_trie *cct)
{
	if (sample->kept_stack != 0 || sample->kept_depth == 0)
		return sample->kept_stack;
	return ctx_trie_ancestor(cct, sample->stack, sample->kept_depth);
}

static void add_calls(struct ctx_fleet_cell *row, int64_t calls, bool is_carried)
{
	row->calls += calls;
	row->carried_calls += is_carried ? calls : 0;
}

static enum ctx_status add_part(struct ctx_fleet_cells *cells, const struct part *part, struct ctx_err *err)
{
	const struct ctx_profile *profile = cells->spec.profile;
	const struct ctx_sample *sample = part->sample;
	bool entered = sample->kept_depth < profile->cct.depth[sample->stack] &&
		       !(part->is_carried && ctx_span_has_exact_calls(profile, sample));
	int64_t calls = entered ? 1 + (int64_t)sample->more_calls : 0;
	struct ctx_fleet_cell *row;
	enum ctx_status status = find_row(cells, part, sample->stack, &row, err);

	if (status != CTX_OK)
		return status;
	row->weight += part->weight;
	row->samples++;
	row->carried += part->is_carried;
	row->longest = part->weight > row->longest ? part->weight : row->longest;
	if (!entered)
		return CTX_OK;
	add_calls(row, calls, part->is_carried);
	status = find_row(cells, part, kept_of(sample, &profile->cct), &row, err);
	if (status == CTX_OK)
		add_calls(row, -calls, part->is_carried);
	return status;
}

/* In all cells of a level that it touches; `begin_ns` and `last_ns` are times of day. */
static enum ctx_status add_level(struct ctx_fleet_cells *cells, struct part part,
				 const struct ctx_interval *span, struct ctx_err *err)
{
	uint64_t length_ns = ctx_cell_levels[part.level] * NS_PER_S, last_ns = span->end_ns - 1;
	enum ctx_status status = CTX_OK;

	for (part.number = span->begin_ns / length_ns; part.number <= last_ns / length_ns && status == CTX_OK;
	     part.number++) {
		struct ctx_interval cell = {part.number * length_ns, (part.number + 1) * length_ns};

		part.is_carried = span->begin_ns < cell.begin_ns;
		part.is_last = part.number == last_ns / length_ns;
		if (part.is_carried || span->end_ns > cell.end_ns)
			part.weight = (span->end_ns < cell.end_ns ? span->end_ns : cell.end_ns) -
				      (part.is_carried ? cell.begin_ns : span->begin_ns);
		else
			part.weight = part.sample->weight;
		status = add_part(cells, &part, err);
	}
	return status;
}

/* A sample of a metric of spans that has any length; others are points of time. */
static bool is_span(const struct ctx_profile *profile, const struct ctx_sample *sample)
{
	return sample->weight != 0 && ctx_metric_is_clipped(&profile->metrics[sample->metric]);
}

static size_t n_rows(const struct ctx_fleet_cells *cells)
{
	size_t n = cells->past.n;

	for (unsigned i = 0; i < CTX_CELL_LEVELS; i++)
		n += cells->now[i].n;
	return n;
}

enum ctx_status ctx_fleet_cells_add(struct ctx_fleet_cells *cells, const struct ctx_sample *sample,
				    struct ctx_err *err)
{
	const struct ctx_profile *profile = cells->spec.profile;
	uint64_t time_ns = cells->spec.wall_ns + sample->time_ns;
	struct ctx_interval span = {time_ns, time_ns + 1};
	struct part part = {.sample = sample, .weight = sample->weight, .is_last = true};
	enum ctx_status status;

	if (is_span(profile, sample))
		span.begin_ns = cells->spec.wall_ns + ctx_sample_begin(sample);
	if (n_rows(cells) >= cells->spec.rows_max) {
		status = ctx_fleet_cells_end(cells, err);
		if (status != CTX_OK)
			return status;
	}
	status = add_part(cells, &part, err);
	for (part.level = 1; part.level < CTX_CELL_LEVELS && status == CTX_OK; part.level++)
		status = add_level(cells, part, &span, err);
	return status;
}
