#include "report/rule_figures.h"

#include "base/mem.h"
#include "model/heap_sampling.h"
#include "model/wait_kind.h"
#include "report/heap_life.h"
#include "report/traced_groups.h"

#include <math.h>
#include <string.h>

struct reading {
	struct ctx_report_source *source;
	const struct ctx_profile *profile;
	struct ctx_rule_figures *figures;
	struct ctx_err *err;
};

static double *values_of(const struct reading *reading, enum ctx_rule_kind kind)
{
	return reading->figures->values[kind - CTX_RULE_STATE];
}

static const char **missing_of(const struct reading *reading, enum ctx_rule_kind kind)
{
	return &reading->figures->missing[kind - CTX_RULE_STATE];
}

uint64_t ctx_rule_wall_ns(const struct ctx_report_selection *selection)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < selection->n_intervals; i++)
		sum += selection->intervals[i].end_ns - selection->intervals[i].begin_ns;
	return sum;
}

void ctx_rule_put_figure_name(struct ctx_buf *buf, enum ctx_rule_kind kind, size_t measure)
{
	ctx_buf_printf(buf, "%s.%s", ctx_rule_kind_name(kind), ctx_rule_measure_at(kind, measure)->name);
}

static bool is_whole_run(const struct ctx_report_selection *selection)
{
	const struct ctx_interval *run = &selection->profile->run;

	return selection->n_intervals == 1 && selection->intervals[0].begin_ns <= run->begin_ns &&
	       selection->intervals[0].end_ns >= run->end_ns && selection->threads == NULL &&
	       selection->filter[0] == '\0';
}

/* Takes the figures that an archived run has kept. False: it has them by itself. */
static bool take_kept(const struct reading *reading, enum ctx_rule_kind kind)
{
	const struct ctx_profile_losses *losses = &reading->profile->losses;
	struct ctx_buf name CTX_AUTO_BUF = {0};

	if (!losses->sample_blocks)
		return false;
	if (!is_whole_run(&reading->source->selection))
		*missing_of(reading, kind) =
			"of a run that was archived without samples only the whole is known";
	for (size_t measure = 0; measure < ctx_rule_n_measures(kind); measure++) {
		ctx_buf_clear(&name);
		ctx_rule_put_figure_name(&name, kind, measure);
		ctx_buf_put_u8(&name, '\0');
		/* Not there: a version archived it that did not know the measure. */
		values_of(reading, kind)[measure] = (double)NAN;
		for (size_t i = 0; i < losses->n_figures && !name.failed; i++) {
			if (strcmp(losses->figures[i].name, (const char *)name.bytes) == 0)
				values_of(reading, kind)[measure] = losses->figures[i].value;
		}
	}
	return true;
}

static enum ctx_status read_states(const struct reading *reading)
{
	double *values = values_of(reading, CTX_RULE_STATE);
	const struct ctx_report_states *states;
	size_t n;
	enum ctx_status status = reading->source->states(reading->source, &states, &n, reading->err);

	for (size_t i = 0; status == CTX_OK && i < n; i++) {
		for (size_t state = 0; state < CTX_STATE_N; state++) {
			values[state] += (double)states[i].ns[state] / 1e6;
			reading->figures->threads_ms += (double)states[i].ns[state] / 1e6;
		}
	}
	return status;
}

/* `lock` is what mutexes and rwlocks are, `any` all of them; `count` and `longest` are of single waits. */
static enum ctx_status read_waits(const struct reading *reading)
{
	enum { LOCK = CTX_WAIT_KIND_STOPPED + 1, ANY, COUNT, LOCK_COUNT, LONGEST, LOCK_LONGEST };
	double *values = values_of(reading, CTX_RULE_WAIT);
	struct ctx_wait_kinds kinds;
	const struct ctx_report_waits *waits;
	size_t n;
	enum ctx_status status;

	if (take_kept(reading, CTX_RULE_WAIT))
		return CTX_OK;
	status = ctx_wait_kinds_init(&kinds, reading->profile, reading->err);
	if (status == CTX_OK)
		status = reading->source->waits(reading->source, &waits, &n, reading->err);
	for (size_t i = 0; status == CTX_OK && i < n; i++) {
		enum ctx_thread_state state = (enum ctx_thread_state)waits[i].state;
		enum ctx_wait_kind kind = ctx_wait_kinds_find(&kinds, state, waits[i].stack).kind;
		double ms = (double)waits[i].wait_ns / 1e6, longest = (double)waits[i].wait_max_ns / 1e6;

		values[kind <= CTX_WAIT_KIND_STOPPED ? kind : CTX_WAIT_KIND_OTHER] += ms;
		values[ANY] += ms;
		values[COUNT] += (double)waits[i].waits;
		values[LONGEST] = fmax(values[LONGEST], longest);
		if (kind != CTX_WAIT_KIND_MUTEX && kind != CTX_WAIT_KIND_RWLOCK)
			continue;
		values[LOCK] += ms;
		values[LOCK_COUNT] += (double)waits[i].waits;
		values[LOCK_LONGEST] = fmax(values[LOCK_LONGEST], longest);
	}
	ctx_wait_kinds_deinit(&kinds);
	return status;
}

static enum ctx_status sum_heap(const struct reading *reading, const struct ctx_report_traced *traced,
				struct ctx_heap_life *life)
{
	double *values = values_of(reading, CTX_RULE_HEAP);
	uint64_t apart = ctx_heap_sample_bytes(reading->profile->properties, reading->profile->n_properties);
	struct ctx_traced_sums sums = {0};

	life->sample_bytes = apart;
	for (size_t i = 0; i < traced->n; i++) {
		const struct ctx_traced *operation = &traced->items[i];

		/* As in the report of the heap: mapped files are no part of it. */
		if (ctx_heap_life_step(life, operation,
				       ctx_traced_is_allocation(operation) ||
					       ctx_heap_maps_file(operation->operation)) != CTX_OK)
			return ctx_err_nomem(reading->err);
		if ((double)life->live > values[CTX_RULE_HEAP_PEAK])
			values[CTX_RULE_HEAP_PEAK] = (double)life->live;
		if (ctx_traced_is_allocation(operation))
			ctx_traced_add_sampled(&sums, operation, apart);
	}
	values[CTX_RULE_HEAP_LEAKED] = (double)sums.leaked_bytes;
	values[CTX_RULE_HEAP_ALLOCATED] = (double)sums.bytes;
	values[CTX_RULE_HEAP_ALLOCATIONS] = (double)ctx_traced_whole(&sums, sums.count);
	return CTX_OK;
}

static enum ctx_status read_heap(const struct reading *reading)
{
	struct ctx_report_traced traced;
	struct ctx_heap_life life;
	enum ctx_status status;

	if (take_kept(reading, CTX_RULE_HEAP))
		return CTX_OK;
	status = reading->source->traced(reading->source, CTX_TRACED_HEAP, &traced, reading->err);
	if (status != CTX_OK)
		return status;
	if (ctx_heap_life_init(&life, reading->profile) != CTX_OK)
		status = ctx_err_nomem(reading->err);
	if (status == CTX_OK)
		status = sum_heap(reading, &traced, &life);
	ctx_heap_life_deinit(&life);
	return status;
}

/* On a CPU; without thread states the samples of the first metric, if it is a time. */
static enum ctx_status read_run(const struct reading *reading)
{
	const struct ctx_report_selection *selection = &reading->source->selection;
	const double *states = values_of(reading, CTX_RULE_STATE);
	double *values = values_of(reading, CTX_RULE_RUN);
	const struct ctx_parts_query query = {.per_thread = false};
	struct ctx_report_parts parts;
	enum ctx_status status = reading->source->parts(reading->source, &query, &parts, reading->err);

	if (status != CTX_OK)
		return status;
	values[CTX_RULE_RUN_WALL] = (double)ctx_rule_wall_ns(selection) / 1e6;
	values[CTX_RULE_RUN_LOST] = (double)reading->profile->losses.samples;
	for (size_t i = 0; i < parts.n; i++) {
		values[CTX_RULE_RUN_SAMPLES] += (double)parts.parts[i].histograms[0].samples;
		if (!reading->profile->has_states &&
		    reading->profile->metrics[selection->metrics[0]].unit == CTX_UNIT_NS)
			values[CTX_RULE_RUN_CPU] += (double)parts.parts[i].histograms[0].weight / 1e6;
	}
	if (reading->profile->has_states)
		values[CTX_RULE_RUN_CPU] =
			states[CTX_STATE_USER] + states[CTX_STATE_SYSTEM] + states[CTX_STATE_TRAP];
	return CTX_OK;
}

enum ctx_status ctx_rule_figures_read(struct ctx_report_source *source, unsigned wanted,
				      struct ctx_rule_figures *ret, struct ctx_err *err)
{
	static const char no_states[] = "a recording has no thread states";
	const struct reading reading = {source, source->selection.profile, ret, err};
	bool has_states = reading.profile->has_states;
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_rule_figures){0};
	if (!has_states)
		*missing_of(&reading, CTX_RULE_STATE) = *missing_of(&reading, CTX_RULE_WAIT) = no_states;
	if (reading.profile->traced[CTX_TRACED_HEAP] == 0)
		*missing_of(&reading, CTX_RULE_HEAP) = "a recording has no allocations (ctxrec --heap)";
	if (has_states && (wanted & (1u << CTX_RULE_STATE | 1u << CTX_RULE_WAIT | 1u << CTX_RULE_RUN)) != 0)
		status = read_states(&reading);
	if (status == CTX_OK && has_states && (wanted & 1u << CTX_RULE_WAIT) != 0)
		status = read_waits(&reading);
	if (status == CTX_OK && *missing_of(&reading, CTX_RULE_HEAP) == NULL &&
	    (wanted & 1u << CTX_RULE_HEAP) != 0)
		status = read_heap(&reading);
	if (status == CTX_OK && (wanted & 1u << CTX_RULE_RUN) != 0)
		status = read_run(&reading);
	return status;
}
