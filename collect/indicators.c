#include "collect/indicators.h"

#include "collect/indicators_impl.h"

#include "base/mem.h"
#include "collect/breakpoints.h"
#include "collect/indicator_list.h"
#include "collect/session_late.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512u
#define EVERY_SITE 1u /* of coverage, in place of a configuration: no event is opened */

void ctx_indicators_keep(struct ctx_indicators *indicators)
{
	if (indicators->uprobes.n != 0)
		ctx_uprobe_keeper_begin(&indicators->keeper);
}

void ctx_indicators_let_go(struct ctx_indicators *indicators)
{
	if (indicators == NULL)
		return;
	ctx_uprobe_guard_deinit(&indicators->guard);
	ctx_uprobe_keeper_end(&indicators->keeper);
}

void ctx_indicators_destroy(struct ctx_indicators *indicators)
{
	if (indicators == NULL)
		return;
	ctx_indicators_let_go(indicators);
	ctx_uprobes_end(&indicators->uprobes);
	for (size_t i = 0; i < indicators->n; i++)
		ctx_indicator_places_deinit(&indicators->items[i].places);
	ctx_load_objects_deinit(&indicators->objects);
	ctx_indicator_watch_destroy(indicators->watch);
	ctx_once_destroy(indicators->once);
	ctx_entry_counters_destroy(indicators->entries);
	free(indicators->items);
	free(indicators);
}

/* --- places --- */

/* Whether it is in the program itself, not in one of its libraries. */
static bool is_of_program(const struct ctx_indicators *indicators, const struct ctx_indicator_place *place)
{
	return strcmp(place->path, indicators->objects.paths[0]) == 0;
}

/*
 * An object that is named but not one of the program's own may be opened later: its path is taken as it is.
 */
static enum ctx_status find_in_named(struct ctx_indicators *indicators, struct ctx_indicator *indicator,
				     struct ctx_err *err)
{
	const char *name = indicator->spec.object;
	char path[PATH_MAX];

	for (size_t i = 0; i < indicators->objects.n; i++) {
		if (ctx_load_object_is(indicators->objects.paths[i], name))
			return ctx_indicator_places_find(&indicator->places, &indicator->spec,
							 indicators->objects.paths[i], err);
	}
	if (strchr(name, '/') == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND,
				   "%s is none of the program's load objects; one that it opens later is "
				   "named by its path",
				   name);
	if (realpath(name, path) == NULL)
		return ctx_err_errno(err, CTX_E_NOTFOUND, "%s", name);
	return ctx_indicator_places_find(&indicator->places, &indicator->spec, path, err);
}

/* The first object that has it, as the loader would find it. A pattern is for the program itself. */
static enum ctx_status find_places(struct ctx_indicators *indicators, struct ctx_indicator *indicator,
				   struct ctx_err *err)
{
	struct ctx_err first = {0};
	enum ctx_status status = CTX_E_NOTFOUND;
	bool is_pattern = strpbrk(indicator->spec.name, "*?[") != NULL;

	if (indicator->spec.object[0] != '\0')
		return find_in_named(indicators, indicator, err);
	for (size_t i = 0; i < indicators->objects.n && status == CTX_E_NOTFOUND && (i == 0 || !is_pattern);
	     i++)
		status = ctx_indicator_places_find(&indicator->places, &indicator->spec,
						   indicators->objects.paths[i], i == 0 ? &first : err);
	if (status == CTX_OK)
		return CTX_OK;
	if (status == CTX_E_NOTFOUND && indicators->objects.n > 1 && !is_pattern &&
	    indicator->spec.what != CTX_INDICATOR_LINE)
		return ctx_err_set(err, status, "%s, neither in %s nor in its libraries", first.msg,
				   indicators->objects.paths[0]);
	/* What the program itself lacks says more than what its last library lacks. */
	if (status == CTX_E_NOTFOUND)
		return ctx_err_set(err, status, "%s (%s)", first.msg, indicators->objects.paths[0]);
	return indicators->objects.n == 1 || first.status == status
		       ? ctx_err_set(err, status, "%s", first.msg)
		       : status;
}

/* --- events --- */

static enum ctx_status add_event(struct ctx_perf_events *events, const struct ctx_indicator_spec *spec,
				 const struct ctx_perf_event *event, uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&events->items, &events->cap, events->n + 1, err);
	char name[NAME_MAX_BYTES];

	if (status != CTX_OK)
		return status;
	snprintf(name, sizeof(name), "%s%s", spec->text,
		 spec->once ? (event->attr.config == EVERY_SITE ? " sites" : "")
		 : event->stack != CTX_PERF_STACK_WHOLE || event->attr.type == PERF_TYPE_BREAKPOINT ? ""
		 : spec->slower_than_ns != 0 ? " slower"
					     : " raised");
	/* Metrics are named in lists. */
	for (char *at = name; *at != '\0'; at++)
		*at = *at == ',' ? ' ' : *at;
	events->items[events->n] = *event;
	events->items[events->n].name = ctx_memdup0(name, strlen(name));
	if (events->items[events->n].name == NULL)
		return ctx_err_nomem(err);
	*ret = (uint32_t)events->n++;
	return CTX_OK;
}

static bool are_entries(const struct ctx_indicator *indicator)
{
	for (size_t i = 0; i < indicator->places.n; i++) {
		if (indicator->places.items[i].at != CTX_INDICATOR_AT_ENTRY)
			return false;
	}
	return indicator->spec.what != CTX_INDICATOR_RETURN;
}

static struct ctx_perf_event make_event(const struct ctx_indicator *indicator, uint64_t period)
{
	struct ctx_perf_event event = {.attr = {.size = sizeof(struct perf_event_attr)}, .period = period};

	event.attr.sample_period = period;
	if (period == 1)
		event.stack = are_entries(indicator) ? CTX_PERF_STACK_CALLER : CTX_PERF_STACK_NONE;
	/* What is counted in memory is written by differences. */
	event.is_weighed = period == 1 && indicator->n_in_memory != 0;
	return event;
}

/* Places in a library are executed by many other programs, too: these are not to meet them. */
static enum ctx_status guard(struct ctx_indicators *indicators, const struct ctx_indicator_places *places,
			     uint64_t tracepoint, struct ctx_err *err)
{
	for (size_t i = 0; i < places->n; i++) {
		if (!places->items[i].in_memory && !is_of_program(indicators, &places->items[i])) {
			ctx_uprobe_guard_begin(&indicators->guard);
			return CTX_OK;
		}
	}
	return ctx_uprobe_guard_everywhere(&indicators->guard, tracepoint, err);
}

/* The returns of a function, behind its entries: those that came late are kept, with their call stacks. */
static enum ctx_status add_returns(struct ctx_indicators *indicators, struct ctx_indicator *indicator,
				   struct ctx_perf_events *events, struct ctx_perf_event *event,
				   struct ctx_err *err)
{
	const struct ctx_uprobe_place at = {.path = indicator->places.items[0].path,
					    .offset = indicator->places.items[0].offset};
	enum ctx_status status;

	if (!indicators->has_registers)
		return ctx_err_set(err, CTX_E_ARG, "slower-than needs the registers of --unwind cfi");
	if (indicator->places.n != 1)
		return ctx_err_set(err, CTX_E_ARG, "slower-than is for one function, and this is %zu places",
				   indicator->places.n);
	status = ctx_uprobes_define(&indicators->uprobes,
				    &(struct ctx_uprobe_event){.places = &at, .n = 1, .is_return = true},
				    (uint64_t *)&event->attr.config, err);
	if (status == CTX_OK)
		status = guard(indicators, &indicator->places, event->attr.config, err);
	return status == CTX_OK ? add_event(events, &indicator->spec, event, &indicator->slower, err)
				: status;
}

static enum ctx_status add_uprobes(struct ctx_indicators *indicators, struct ctx_indicator *indicator,
				   struct ctx_perf_events *events, struct ctx_err *err)
{
	const struct ctx_indicator_places *places = &indicator->places;
	struct ctx_uprobe_place *at CTX_AUTO_FREE = ctx_calloc(places->n, sizeof(*at));
	struct ctx_perf_event event = make_event(indicator, 1);
	struct ctx_uprobe_event defined = {.places = at,
					   .is_return = indicator->spec.what == CTX_INDICATOR_RETURN};
	enum ctx_status status = CTX_OK;

	if (at == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < places->n; i++) {
		if (!places->items[i].in_memory)
			at[defined.n++] = (struct ctx_uprobe_place){.path = places->items[i].path,
								    .offset = places->items[i].offset};
	}
	event.attr.type = PERF_TYPE_TRACEPOINT;
	event.is_late = defined.n == 0; /* no event is opened */
	if (!event.is_late)
		status = ctx_uprobes_define(&indicators->uprobes, &defined, (uint64_t *)&event.attr.config,
					    err);
	if (status == CTX_OK && !event.is_late)
		status = guard(indicators, places, event.attr.config, err);
	if (status == CTX_OK)
		status = add_event(events, &indicator->spec, &event, &indicator->metric, err);
	if (status != CTX_OK)
		return status;
	event.stack = CTX_PERF_STACK_WHOLE;
	event.is_weighed = false;
	if (indicator->spec.slower_than_ns != 0)
		return add_returns(indicators, indicator, events, &event, err);
	if (indicator->spec.threshold == 0)
		return CTX_OK;
	event.attr.sample_period = event.period = indicator->spec.threshold;
	return add_event(events, &indicator->spec, &event, &indicator->raised, err);
}

static size_t registers_of(const struct ctx_indicator *indicator)
{
	size_t n = 0;

	for (size_t i = 0; i < indicator->places.n; i++) {
		const struct ctx_indicator_place *place = &indicator->places.items[i];

		n += place->in_memory ? 0
		     : place->at == CTX_INDICATOR_AT_DATA
			     ? ctx_breakpoint_divide(place->address, place->length_bytes, NULL, 0)
			     : 1;
	}
	return n;
}

static enum ctx_breakpoint_kind kind_of(const struct ctx_indicator_spec *spec)
{
	return spec->what != CTX_INDICATOR_DATA ? CTX_BREAKPOINT_EXECUTE
	       : spec->reads			? CTX_BREAKPOINT_ACCESS
						: CTX_BREAKPOINT_WRITE;
}

static enum ctx_status add_breakpoints(struct ctx_indicators *indicators, struct ctx_indicator *indicator,
				       struct ctx_perf_events *events, struct ctx_err *err)
{
	struct ctx_perf_event event =
		make_event(indicator, indicator->spec.threshold != 0 ? indicator->spec.threshold : 1);
	bool has_window = indicator->spec.window != CTX_INDICATOR_NO_WINDOW;
	size_t used = 0, wanted = registers_of(indicator), n_free = ctx_breakpoints_free();

	if (has_window && indicator->spec.threshold != 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "with a hardware breakpoint, start and stop have no threshold");
	for (size_t i = 0; i < indicators->n; i++)
		used += indicators->items[i].is_breakpoint ? registers_of(&indicators->items[i]) : 0;
	if (used + wanted > n_free)
		return ctx_err_set(err, CTX_E_LIMIT,
				   "needs %zu hardware breakpoints; %zu of the processor's are free%s%s",
				   wanted, used < n_free ? n_free - used : 0,
				   indicator->places.items[0].at != CTX_INDICATOR_AT_DATA &&
						   indicators->no_uprobes.status != CTX_OK
					   ? ", and there are no uprobes: "
					   : "",
				   indicator->places.items[0].at != CTX_INDICATOR_AT_DATA
					   ? indicators->no_uprobes.msg
					   : "");
	indicator->is_breakpoint = true;
	event.is_late = true;
	event.attr.type = PERF_TYPE_BREAKPOINT;
	event.attr.bp_type =
		ctx_breakpoint_attr(kind_of(&indicator->spec), &(struct ctx_breakpoint_part){0}).bp_type;
	return add_event(events, &indicator->spec, &event, &indicator->metric, err);
}

/* Traps in the target, which has its samples made by ctx_once_take. */
static enum ctx_status add_once(struct ctx_indicators *indicators, struct ctx_indicator *indicator,
				struct ctx_perf_events *events, struct ctx_err *err)
{
	struct ctx_perf_event event = {.attr = {.size = sizeof(struct perf_event_attr), .sample_period = 1},
				       .period = 1,
				       .stack = CTX_PERF_STACK_NONE,
				       .is_late = true};
	enum ctx_status status = CTX_OK;

	if (!indicators->is_command)
		return ctx_err_set(err, CTX_E_ARG, "coverage needs a command: it begins with the program");
	event.attr.type = PERF_TYPE_TRACEPOINT; /* each is one, whatever rate is asked */
	if (indicators->once == NULL)
		status = ctx_once_create(&indicators->once, err);
	if (status == CTX_OK)
		status = add_event(events, &indicator->spec, &event, &indicator->metric, err);
	event.attr.config = EVERY_SITE;
	if (status == CTX_OK)
		status = add_event(events, &indicator->spec, &event, &indicator->sites, err);
	return status == CTX_OK ? ctx_once_add(indicators->once, &indicator->places,
					       &(struct ctx_once_metrics){.executed = indicator->metric,
									  .sites = indicator->sites},
					       err)
				: status;
}

static enum ctx_status add_events(struct ctx_indicators *indicators, struct ctx_indicator *indicator,
				  struct ctx_perf_events *events, struct ctx_err *err)
{
	const struct ctx_indicator_spec *spec = &indicator->spec;

	if (spec->once)
		return add_once(indicators, indicator, events, err);
	if (indicator->n_in_memory == indicator->places.n ||
	    (spec->what != CTX_INDICATOR_DATA && indicators->no_uprobes.status == CTX_OK))
		return add_uprobes(indicators, indicator, events, err);
	if (spec->what == CTX_INDICATOR_RETURN || spec->slower_than_ns != 0)
		return ctx_err_set(err, CTX_E_PERM, "returns need uprobes: %s", indicators->no_uprobes.msg);
	return add_breakpoints(indicators, indicator, events, err);
}

/* In the load object at `path`; NULL: in the first that has it. */
static enum ctx_status find_indicator(struct ctx_indicators *indicators,
				      const struct ctx_indicator_spec *spec, const char *path,
				      struct ctx_err *err)
{
	struct ctx_indicator *indicator = &indicators->items[indicators->n++];
	enum ctx_status status;

	indicator->spec = *spec;
	indicator->raised = indicator->slower = indicator->sites = CTX_NONE;
	if (path == NULL)
		status = find_places(indicators, indicator, err);
	else
		status = spec->has_address ? ctx_indicator_places_take(&indicator->places, spec, path, err)
					   : ctx_indicator_places_find(&indicator->places, spec, path, err);
	return status == CTX_OK ? CTX_OK : ctx_err_prefix(err, status, "indicator \"%s\"", spec->text);
}

static enum ctx_status find_written(struct ctx_indicators *indicators, const char *text, struct ctx_err *err)
{
	struct ctx_indicator_spec spec;
	enum ctx_status status = ctx_indicator_spec_parse(text, &spec, err);

	return status == CTX_OK ? find_indicator(indicators, &spec, NULL, err) : status;
}

/* Of all, once their places are known. */
static enum ctx_status add_all(struct ctx_indicators *indicators, struct ctx_perf_events *events,
			       struct ctx_err *err)
{
	enum ctx_status status = ctx_indicators_choose_memory(indicators, err);

	for (size_t i = 0; i < indicators->n && status == CTX_OK; i++) {
		struct ctx_indicator *indicator = &indicators->items[i];

		status = add_events(indicators, indicator, events, err);
		if (status == CTX_OK)
			status = ctx_indicators_add_entries(indicators, indicator, err);
		if (status != CTX_OK)
			return ctx_err_prefix(err, status, "indicator \"%s\"", indicator->spec.text);
	}
	return status;
}

static enum ctx_status list_objects(struct ctx_indicators *indicators,
				    const struct ctx_indicators_options *options, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (options->command != NULL)
		return ctx_load_objects_of_command(&indicators->objects, options->command, err);
	for (size_t i = 0; i < options->pids->n && status == CTX_OK; i++)
		status = ctx_load_objects_of_process(&indicators->objects, options->pids->items[i], err);
	return status;
}

static void begin_uprobes(struct ctx_indicators *indicators, const struct ctx_indicators_options *options)
{
	struct ctx_err why = {0};
	enum ctx_status status = ctx_uprobes_begin(&indicators->uprobes, options->tracefs, &why);

	if (status == CTX_OK)
		return;
	indicators->uprobes = (struct ctx_uprobes){0};
	indicators->no_uprobes = why;
	indicators->no_uprobes.status = status;
}

static bool has_windows(const struct ctx_indicators *indicators, enum ctx_indicator_window kind)
{
	for (size_t i = 0; i < indicators->n; i++) {
		if (indicators->items[i].spec.window == kind)
			return true;
	}
	return false;
}

static enum ctx_status create_watch(struct ctx_indicators *indicators, size_t n_events, struct ctx_err *err)
{
	struct ctx_indicator_rule *rules CTX_AUTO_FREE = ctx_calloc(n_events + 1, sizeof(*rules));
	bool any = false;

	if (rules == NULL)
		return ctx_err_nomem(err);
	if (has_windows(indicators, CTX_INDICATOR_STOP) && !has_windows(indicators, CTX_INDICATOR_START))
		return ctx_err_set(err, CTX_E_ARG, "an indicator stops what none starts (:start)");
	for (size_t i = 0; i < indicators->n; i++) {
		const struct ctx_indicator *indicator = &indicators->items[i];
		struct ctx_indicator_rule *rule = &rules[indicator->metric];

		rule->of_process = indicator->spec.of_process;
		rule->from = indicator->spec.from;
		if (indicator->spec.window != CTX_INDICATOR_NO_WINDOW)
			rule->role = indicator->spec.window == CTX_INDICATOR_START ? CTX_INDICATOR_STARTS
										   : CTX_INDICATOR_STOPS;
		if (indicator->slower != CTX_NONE) {
			rule->role = CTX_INDICATOR_ENTERS;
			rules[indicator->slower] = (struct ctx_indicator_rule){
				.role = CTX_INDICATOR_RETURNS, .slow_ns = indicator->spec.slower_than_ns};
		}
		any = any || rule->role != CTX_INDICATOR_COUNTS;
	}
	return any ? ctx_indicator_watch_create(rules, n_events, &indicators->watch, err) : CTX_OK;
}

bool ctx_indicators_have_windows(const struct ctx_indicators *indicators)
{
	return indicators != NULL && has_windows(indicators, CTX_INDICATOR_START);
}

/* The name of the start that opened; of a stop, that of a start of the same kind. */
static const char *window_name(const struct ctx_indicators *indicators, bool of_process)
{
	for (size_t i = 0; i < indicators->n; i++) {
		const struct ctx_indicator_spec *spec = &indicators->items[i].spec;

		if (spec->window == CTX_INDICATOR_START && spec->of_process == of_process)
			return spec->text;
	}
	return "start";
}

enum ctx_status ctx_indicators_judge(const struct ctx_indicators *indicators,
				     const struct ctx_perf_record *record, struct ctx_exp_mark *mark,
				     bool *ret_keeps, struct ctx_err *err)
{
	const struct ctx_indicator_hit hit = {
		.event = record->event,
		.pid = record->pid,
		.tid = record->tid,
		.time_ns = record->time_ns,
		.sp = record->sample.user_regs != NULL ? ctx_pe_sample_user_sp(&record->sample) : 0};
	struct ctx_indicator_verdict verdict;
	enum ctx_status status;

	mark->name = NULL;
	*ret_keeps = true;
	if (indicators->watch == NULL)
		return CTX_OK;
	status = ctx_indicator_watch_take(indicators->watch, &hit, &verdict, err);
	if (status != CTX_OK)
		return status;
	*ret_keeps = verdict.keeps;
	if (verdict.turn == CTX_INDICATOR_NO_TURN)
		return CTX_OK;
	mark->name = window_name(indicators, verdict.of_process);
	mark->operation = verdict.turn == CTX_INDICATOR_OPENS ? CTX_MARK_BEGIN_ID : CTX_MARK_END_ID;
	mark->value = verdict.of_process ? record->pid : record->tid;
	mark->time_ns = record->time_ns;
	return CTX_OK;
}

enum ctx_status ctx_indicators_begin_process(struct ctx_indicators *indicators, int64_t pid,
					     const struct ctx_ids *tids, struct ctx_err *err)
{
	return ctx_uprobe_guard_add(&indicators->guard, pid, tids, err);
}

enum ctx_status ctx_indicators_fork(struct ctx_indicators *indicators, const struct ctx_perf_record *record,
				    struct ctx_err *err)
{
	return ctx_uprobe_guard_fork(&indicators->guard, record->task.parent_pid, record->pid,
				     record->time_ns, err);
}

void ctx_indicators_end_thread(struct ctx_indicators *indicators, uint32_t tid)
{
	ctx_uprobe_guard_end(&indicators->guard, tid);
	if (indicators->watch != NULL)
		ctx_indicator_watch_end_thread(indicators->watch, tid);
}

enum ctx_status ctx_indicators_create(const struct ctx_indicators_options *options,
				      struct ctx_perf_events *events, struct ctx_indicators **ret,
				      struct ctx_err *err)
{
	struct ctx_indicators *indicators = ctx_calloc(1, sizeof(*indicators));
	struct ctx_indicator_listing listing = {0};
	enum ctx_status status;

	if (indicators == NULL)
		return ctx_err_nomem(err);
	indicators->has_registers = options->has_registers;
	indicators->is_command = options->command != NULL;
	indicators->once_fd = indicators->entries_fd = -1;
	indicators->may_count_in_memory = options->command != NULL && !options->only_by_kernel;
	indicators->drops_others = options->no_follow;
	status = options->file != NULL
			 ? ctx_indicator_listing_read(&listing, options->file, options->match_symbols, err)
			 : CTX_OK;
	indicators->items = ctx_calloc(options->n + listing.n + 1, sizeof(*indicators->items));
	if (status == CTX_OK)
		status = indicators->items != NULL ? list_objects(indicators, options, err)
						   : ctx_err_nomem(err);
	begin_uprobes(indicators, options);
	for (size_t i = 0; i < options->n && status == CTX_OK; i++)
		status = find_written(indicators, options->specs[i], err);
	for (size_t i = 0; i < listing.n && status == CTX_OK; i++)
		status = find_indicator(indicators, &listing.items[i].spec, listing.items[i].path, err);
	ctx_indicator_listing_deinit(&listing);
	if (status == CTX_OK)
		status = add_all(indicators, events, err);
	if (status == CTX_OK && indicators->once != NULL)
		status = ctx_once_share(indicators->once, &indicators->once_fd, err);
	if (status == CTX_OK && indicators->entries != NULL)
		status = ctx_entry_counters_share(indicators->entries, &indicators->entries_fd, err);
	if (status == CTX_OK)
		status = create_watch(indicators, events->n, err);
	if (status != CTX_OK) {
		ctx_indicators_destroy(indicators);
		return status;
	}
	*ret = indicators;
	return CTX_OK;
}

bool ctx_indicators_need_stop(const struct ctx_indicators *indicators)
{
	for (size_t i = 0; indicators != NULL && i < indicators->n; i++) {
		if (indicators->items[i].is_breakpoint)
			return true;
	}
	return false;
}

/* --- coverage --- */

int ctx_indicators_once_fd(const struct ctx_indicators *indicators)
{
	return indicators != NULL ? indicators->once_fd : -1;
}

/* --- what targets say --- */

int ctx_indicators_entries_fd(const struct ctx_indicators *indicators)
{
	return indicators != NULL ? indicators->entries_fd : -1;
}

const struct ctx_entry_counters *ctx_indicators_entries(const struct ctx_indicators *indicators)
{
	return indicators != NULL ? indicators->entries : NULL;
}

static struct ctx_entry_target target_of(const struct ctx_indicators *indicators,
					 const struct ctx_proctree *tree, struct ctx_exp_writer *writer)
{
	return (struct ctx_entry_target){
		.tree = tree, .writer = writer, .drops_others = indicators->drops_others};
}

enum ctx_status ctx_indicators_take(struct ctx_indicators *indicators, const struct ctx_proctree *tree,
				    struct ctx_exp_writer *writer, uint64_t limit_ns, struct ctx_err *err)
{
	const struct ctx_entry_target target = target_of(indicators, tree, writer);
	enum ctx_status status = CTX_OK;

	if (indicators->once != NULL)
		status = ctx_once_take(indicators->once, tree, writer, limit_ns, err);
	if (status == CTX_OK && indicators->entries != NULL)
		status = ctx_entry_counters_take(indicators->entries, &target, limit_ns, err);
	return status;
}

enum ctx_status ctx_indicators_before_end(struct ctx_indicators *indicators, const struct ctx_proctree *tree,
					  struct ctx_exp_writer *writer, const struct ctx_perf_record *record,
					  struct ctx_err *err)
{
	const struct ctx_entry_target target = target_of(indicators, tree, writer);
	enum ctx_status status = ctx_indicators_take(indicators, tree, writer, record->time_ns, err);

	return status == CTX_OK && indicators->entries != NULL
		       ? ctx_entry_counters_end(indicators->entries, &target, record, err)
		       : status;
}

/* --- hardware breakpoints --- */

struct arming {
	struct ctx_session *session;
	const struct ctx_ids *tids;
	pid_t pid;
};

static enum ctx_status arm_place(const struct arming *arming, const struct ctx_indicator *indicator,
				 const struct ctx_indicator_place *place, struct ctx_err *err)
{
	struct ctx_breakpoint_part parts[CTX_BREAKPOINTS_MAX] = {{0}};
	enum ctx_breakpoint_kind kind = kind_of(&indicator->spec);
	uint64_t bias = 0;
	size_t n = 1;
	enum ctx_status status = ctx_breakpoint_bias(arming->pid, place->path, &bias, err);

	if (status != CTX_OK)
		return status;
	parts[0].address = place->address + bias;
	if (kind != CTX_BREAKPOINT_EXECUTE)
		n = ctx_breakpoint_divide(place->address + bias, place->length_bytes, parts,
					  CTX_BREAKPOINTS_MAX);
	for (size_t i = 0; i < n && i < CTX_BREAKPOINTS_MAX && status == CTX_OK; i++) {
		struct perf_event_attr attr = ctx_breakpoint_attr(kind, &parts[i]);

		for (size_t t = 0; t < arming->tids->n && status == CTX_OK; t++)
			status = ctx_session_open_late(arming->session, indicator->metric, &attr,
						       arming->tids->items[t], err);
	}
	return status;
}

/* Those of the program itself, or those of its libraries. */
static enum ctx_status arm_some(const struct ctx_indicators *indicators, const struct arming *arming,
				bool of_program, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < indicators->n; i++) {
		const struct ctx_indicator *indicator = &indicators->items[i];

		for (size_t p = 0; p < indicator->places.n && indicator->is_breakpoint && status == CTX_OK;
		     p++) {
			const struct ctx_indicator_place *place = &indicator->places.items[p];

			if (!place->in_memory && is_of_program(indicators, place) == of_program)
				status = arm_place(arming, indicator, place, err);
		}
		if (status != CTX_OK)
			return ctx_err_prefix(err, status, "indicator \"%s\"", indicator->spec.text);
	}
	return CTX_OK;
}

static bool has_libraries(const struct ctx_indicators *indicators)
{
	for (size_t i = 0; i < indicators->n; i++) {
		const struct ctx_indicator *indicator = &indicators->items[i];

		for (size_t p = 0; p < indicator->places.n && indicator->is_breakpoint; p++) {
			if (!indicator->places.items[p].in_memory &&
			    !is_of_program(indicators, &indicator->places.items[p]))
				return true;
		}
	}
	return false;
}

enum ctx_status ctx_indicators_arm(struct ctx_indicators *indicators, struct ctx_session *session, pid_t pid,
				   const struct ctx_ids *tids, struct ctx_err *err)
{
	const struct arming arming = {.session = session, .tids = tids, .pid = pid};
	enum ctx_status status = arm_some(indicators, &arming, true, err);

	if (status != CTX_OK || !has_libraries(indicators))
		return status;
	if (indicators->is_command)
		status = ctx_breakpoint_run_to_entry(pid, err);
	return status == CTX_OK ? arm_some(indicators, &arming, false, err) : status;
}
