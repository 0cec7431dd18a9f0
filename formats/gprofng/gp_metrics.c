/*
 *	clock record: ticks, state --> Total CPU, and where the collector distinguished states: Total Thread and one per state
 *	counter record: tag, count --> the counter's metric
 */
#include "formats/gprofng/gp_reader.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define WEIGHT_MAX ((uint64_t)1 << 56) /* limit: 2 years of CPU time in one sample */
#define CPU_UNKNOWN 2499u	       /* numbers of processors: gprofng knows no counters of this one */

/* What a thread does at a tick; the numbers are in the files. */
enum {
	STATE_TRAP = 2,	      /* up to here it runs */
	STATE_LINUX_CPU = 10, /* it runs; details unknown */
	STATE_KERNEL_CPU = 11,
};

/* Names and descriptions are gprofng's, except "wait", which all metrics of that kind share. */
static const struct {
	const char *name, *word;
} states[CTX_GP_STATES] = {
	{"User CPU", "user"},
	{"System CPU", "system"},
	{"Trap CPU", "trap"},
	{"Text Page Fault", "textpfault"},
	{"Data Page Fault", "datapfault"},
	{"Kernel Page Fault", "kernelpfault"},
	{"User Lock", "lock"},
	{"Sleep", "sleep"},
	{"Wait CPU", "wait-cpu"},
	{"Stopped", "stop"},
	{"Total CPU", NULL},
	{"Kernel CPU", "kcpu"},
};

/* Announcing */

static enum ctx_status add_metric(struct ctx_gp_reader *reader, size_t *cap,
				  const struct ctx_source_metric *metric, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->source.info;
	enum ctx_status status;

	for (uint32_t i = 0; i < info->n_metrics; i++) {
		if (strcmp(info->metrics[i].name, metric->name) == 0) {
			*ret = i;
			return CTX_OK;
		}
	}
	status = ctx_grow(&info->metrics, cap, info->n_metrics + 1, err);
	if (status != CTX_OK)
		return status;
	*ret = info->n_metrics;
	info->metrics[info->n_metrics++] = *metric;
	return CTX_OK;
}

/* The states that a log's clock profile distinguishes, as bits. */
static uint32_t states_of(const struct ctx_gp_log *log)
{
	switch (log->settings.n_states) {
	case 10: /* Solaris */
		return 0x3ff;
	case 2: /* Solaris, with the kernel, a process */
		return 3;
	case 3: /* the kernel itself */
		return 1u << STATE_KERNEL_CPU;
	default:
		return 0;
	}
}

static enum ctx_status add_state(struct ctx_gp_reader *reader, size_t *cap, size_t state, struct ctx_err *err)
{
	bool runs = state <= STATE_TRAP || state >= STATE_LINUX_CPU;
	struct ctx_source_metric metric = {.name = states[state].name,
					   .word = states[state].word,
					   .kind = runs ? CTX_METRIC_CPU_TIME : CTX_METRIC_THREAD_TIME,
					   .unit = CTX_UNIT_NS};

	return add_metric(reader, cap, &metric, &reader->state_metrics[state], err);
}

static enum ctx_status make_clock(struct ctx_gp_reader *reader, size_t *cap, bool has_clock,
				  struct ctx_err *err)
{
	static const struct ctx_source_metric total_thread = {
		.name = "Total Thread", .word = "total", .kind = CTX_METRIC_THREAD_TIME, .unit = CTX_UNIT_NS};
	uint32_t wanted = 0;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < reader->experiments.n; i++)
		wanted |= states_of(&reader->experiments.items[i]->log);
	reader->thread_metric = CTX_NONE;
	for (size_t i = 0; i < CTX_GP_STATES; i++)
		reader->state_metrics[i] = CTX_NONE;
	if (has_clock)
		status = add_state(reader, cap, STATE_LINUX_CPU, err);
	if (status == CTX_OK && (wanted & 0x3ff) == 0x3ff)
		status = add_metric(reader, cap, &total_thread, &reader->thread_metric, err);
	for (size_t i = 0; i < CTX_GP_STATES && status == CTX_OK; i++) {
		if ((wanted >> i & 1) != 0)
			status = add_state(reader, cap, i, err);
	}
	return status;
}

/* What gprofng calls a counter: the same on all processors that have it. NULL: not well-known. */
static const char *well_known(const char *name, size_t n, uint64_t cpu)
{
	static const struct {
		const char *name, *title;
	} counters[] = {
		{"cycles", "CPU Cycles"},	    {"insts", "Instructions Executed"},
		{"c_stalls", "Stall Cycles"},	    {"dcm", "L1 D-cache Misses"},
		{"l2m", "L2 Cache Misses"},	    {"l3m", "L3 Cache Misses"},
		{"llm", "Last-Level Cache Misses"}, {"dtlbm", "DTLB Misses"},
		{"itlbm", "ITLB Misses"},
	};

	for (size_t i = 0; i < CTX_COUNT_OF(counters) && cpu != 0 && cpu != CPU_UNKNOWN; i++) {
		if (strlen(counters[i].name) == n && memcmp(counters[i].name, name, n) == 0)
			return counters[i].title;
	}
	return NULL;
}

/* The title of a counter, in reader->text. "cycles~system=1" is "CPU Cycles (~system=1)". */
static void put_title(struct ctx_gp_reader *reader, const struct ctx_gp_counter *counter)
{
	const char *name = counter->name[0] == '+' ? counter->name + 1 : counter->name;
	size_t n = strcspn(name, "~/");
	const char *title = counter->title[0] != '\0' ? counter->title : well_known(name, n, counter->cpu);

	if (title != NULL)
		snprintf(reader->text, sizeof(reader->text),
			 name[n] != '\0' ? "%s%.200s (%.200s)" : "%s%.200s", counter->prefix, title,
			 name + n);
	else if (counter->name[0] != '\0')
		snprintf(reader->text, sizeof(reader->text), "%s%.400s Events", counter->prefix, name);
	else
		snprintf(reader->text, sizeof(reader->text), "Undefined Events");
}

static enum ctx_status make_counter(struct ctx_gp_reader *reader, size_t *cap,
				    const struct ctx_gp_counter *counter, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_source_metric metric;
	const char *title;

	put_title(reader, counter);
	title = ctx_arena_strdup(&reader->arena, reader->text);
	if (title == NULL)
		return ctx_err_nomem(err);
	metric = (struct ctx_source_metric){.name = title,
					    .word = counter->name[0] != '\0' ? counter->name : NULL,
					    .kind = CTX_METRIC_EVENTS,
					    .unit = CTX_UNIT_EVENTS};
	return add_metric(reader, cap, &metric, ret, err);
}

enum ctx_status ctx_gp_metrics_make(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	struct ctx_gp_experiments *experiments = &reader->experiments;
	size_t cap = 0, n_counters = 0, at = 0;
	bool has_clock = false;
	enum ctx_status status;

	for (size_t i = 0; i < experiments->n; i++) {
		has_clock = has_clock || experiments->items[i]->log.settings.ticks_us != 0;
		n_counters += experiments->items[i]->log.n_counters;
	}
	reader->counter_metrics = ctx_calloc(n_counters + 1, sizeof(*reader->counter_metrics));
	if (reader->counter_metrics == NULL)
		return ctx_err_nomem(err);
	status = make_clock(reader, &cap, has_clock || n_counters == 0, err);
	for (size_t i = 0; i < experiments->n; i++) {
		const struct ctx_gp_log *log = &experiments->items[i]->log;

		reader->images[i].counter_metrics = (uint32_t)at;
		for (size_t k = 0; k < log->n_counters && status == CTX_OK; k++)
			status = make_counter(reader, &cap, &log->counters[k], &reader->counter_metrics[at++],
					      err);
	}
	return status;
}

/* Weighing */

/*
 * Appends a copy of `like` with this metric and weight to reader->later.events. Does nothing for
 * CTX_NONE.
 */
static void add_sample(struct ctx_gp_reader *reader, const struct ctx_event *like, uint32_t metric,
		       uint64_t weight)
{
	struct ctx_event *sample = &reader->later.events[reader->later.n];

	if (metric == CTX_NONE)
		return;
	*sample = *like;
	sample->sample.metric = metric;
	sample->sample.weight = weight;
	reader->later.n++;
}

/* False: out of range. */
static bool is_possible(struct ctx_gp_reader *reader, uint64_t weight)
{
	if (weight > WEIGHT_MAX || weight > UINT64_MAX / 4 - reader->sums.weight) {
		reader->sums.impossible++;
		return false;
	}
	reader->sums.weight += weight;
	return true;
}

static uint64_t weight_of(const struct ctx_gp_log *log, uint64_t ticks)
{
	uint64_t weight;

	if (log->settings.ticks_us == 0 || log->settings.ticks_us > WEIGHT_MAX / 1000 ||
	    __builtin_mul_overflow(ticks, log->settings.ticks_us * 1000, &weight))
		return UINT64_MAX;
	return weight;
}

static void take_clock(struct ctx_gp_reader *reader, uint32_t state, uint64_t weight,
		       const struct ctx_event *like)
{
	if (!is_possible(reader, state < CTX_GP_STATES ? weight : UINT64_MAX))
		return;
	if (state <= STATE_TRAP)
		add_sample(reader, like, reader->state_metrics[STATE_LINUX_CPU], weight);
	if (state < STATE_LINUX_CPU)
		add_sample(reader, like, reader->thread_metric, weight);
	add_sample(reader, like, reader->state_metrics[state], weight);
}

static void take_count(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
		       const struct ctx_gp_event *event, const struct ctx_event *like)
{
	const struct ctx_gp_log *log = &experiment->log;
	size_t i = 0;

	while (i < log->n_counters && log->counters[i].tag != event->hwc.tag)
		i++;
	if (!is_possible(reader, i < log->n_counters ? event->hwc.count : UINT64_MAX))
		return;
	add_sample(reader, like,
		   reader->counter_metrics[reader->images[experiment->number].counter_metrics + i],
		   event->hwc.count);
}

bool ctx_gp_metrics_are_of(const struct ctx_gp_event *event)
{
	return event->type == CTX_GP_CLOCK || event->type == CTX_GP_STATES_CLOCK ||
	       event->type == CTX_GP_HWC || event->type == CTX_GP_MHWC;
}

void ctx_gp_metrics_take(struct ctx_gp_reader *reader, const struct ctx_gp_event *event,
			 const struct ctx_event *like)
{
	const struct ctx_gp_experiment *experiment = reader->experiments.items[event->owner];

	if (event->type == CTX_GP_CLOCK) {
		take_clock(reader, event->clock.state,
			   event->clock.is_exact ? event->clock.weight_ns
						 : weight_of(&experiment->log, event->clock.ticks),
			   like);
	} else if (event->type == CTX_GP_STATES_CLOCK) {
		for (uint32_t i = 0; i < CTX_GP_OLD_STATES && i < experiment->log.settings.n_states; i++) {
			if (event->ticks[i] != 0)
				take_clock(reader, i, weight_of(&experiment->log, event->ticks[i]), like);
		}
	} else {
		take_count(reader, experiment, event, like);
	}
}
