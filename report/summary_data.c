#include "report/summary.h"

#include "base/mem.h"
#include "base/strtab.h"
#include "report/state_cells.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SLICES 120u
#define MOST_SLICES 1200u
#define LEAST_WAIT 20u	   /* a wait below one part of so many is not what to look at first */
#define LEAST_KEPT_OFF 10u /* likewise of waiting for a CPU */
#define LEAST_KEPT_OFF_NS (UINT64_C(20) * 1000 * 1000) /* less is the start of a program */
#define LONG_WAIT 5u				       /* one of so much is, where a processor was not free */
#define SHORT_NS (UINT64_C(20) * 1000 * 1000) /* processes that are shorter on average cost by their number */
#define FEW_THREADS 4u			      /* so many have no groups */

/* What the selection has of a thread. */
struct use {
	bool in_selection;
	uint64_t wall_ns; /* with states */
};

const char *ctx_summary_command(const struct ctx_summary *summary)
{
	const struct ctx_profile *profile = summary->profile;
	const char *command = ctx_profile_property(profile, "command", "");

	return *command == '\0' && profile->n_processes != 0 ? profile->processes[0].command : command;
}

/*
 * The place of a wait in the order of the screen. Locks, files and faults hold a thread up; time, events
 * and conditions are often what it waits for by intention; a join is explained by the thread that it
 * waits for.
 */
static uint64_t importance(const struct ctx_wait_row *row)
{
	if (row->kind == CTX_WAIT_KIND_OTHER && row->caller == CTX_NONE)
		return 0;
	switch (row->kind) {
	case CTX_WAIT_KIND_MUTEX:
	case CTX_WAIT_KIND_RWLOCK:
	case CTX_WAIT_KIND_INTERPRETER:
	case CTX_WAIT_KIND_SAFEPOINT:
	case CTX_WAIT_KIND_FUTEX:
	case CTX_WAIT_KIND_FILE:
	case CTX_WAIT_KIND_PAGE_FAULT:
	case CTX_WAIT_KIND_STOPPED:
		return row->wait_ns * 4;
	case CTX_WAIT_KIND_BARRIER:
	case CTX_WAIT_KIND_SEMAPHORE:
	case CTX_WAIT_KIND_PIPE:
	case CTX_WAIT_KIND_SOCKET:
		return row->wait_ns * 2;
	case CTX_WAIT_KIND_JOIN:
	case CTX_WAIT_KIND_CHILD:
	case CTX_WAIT_KIND_START:
		return 0;
	default:
		return row->wait_ns;
	}
}

const struct ctx_wait_row *ctx_summary_first_wait(const struct ctx_summary *summary)
{
	return summary->waits.n != 0 ? &summary->waits.rows[summary->wait_order[0].index] : NULL;
}

bool ctx_summary_is_waited_for(const struct ctx_summary *summary)
{
	return !ctx_summary_is_waiting(summary) && summary->during.function != CTX_NONE &&
	       summary->functions.n != 0 && summary->functions.rows[0].function == summary->during.function;
}

static bool is_mutex(enum ctx_wait_kind kind)
{
	return kind == CTX_WAIT_KIND_MUTEX || kind == CTX_WAIT_KIND_RWLOCK || kind == CTX_WAIT_KIND_FUTEX;
}

/*
 * A thread that could run does not wait by itself: other programs may have the processors. A wait of
 * a few percent is not what made it slow.
 */
bool ctx_summary_is_waiting(const struct ctx_summary *summary)
{
	const struct ctx_wait_row *wait = ctx_summary_first_wait(summary);
	uint64_t cpus = summary->cpus != 0 ? summary->cpus : 1;
	uint64_t wanted_ns = summary->cpu_ns + summary->states[CTX_STATE_WAIT_CPU];

	if (wait == NULL || importance(wait) == 0 || wait->wait_ns < summary->thread_ns / LEAST_WAIT)
		return false;
	if (wanted_ns < summary->elapsed_ns / 2)
		return true;
	if (summary->cpu_ns < summary->elapsed_ns / 2 && wait->wait_ns >= summary->thread_ns / LONG_WAIT)
		return true;
	return is_mutex(wait->kind) && wait->wait_ns > summary->cpu_ns &&
	       summary->cpu_ns < summary->elapsed_ns / 4 * 3 * cpus;
}

bool ctx_summary_is_kept_off(const struct ctx_summary *summary)
{
	const struct ctx_report_selection *selection = &summary->source->selection;
	uint64_t wait_ns = summary->states[CTX_STATE_WAIT_CPU];

	/* What other threads of the program have is not known of a part of them. */
	if (selection->threads != NULL || *selection->filter != '\0')
		return false;
	return summary->has_cpu && summary->cpu_ns != 0 && wait_ns > summary->cpu_ns &&
	       wait_ns >= summary->thread_ns / LEAST_KEPT_OFF && wait_ns >= LEAST_KEPT_OFF_NS &&
	       summary->cpu_ns < summary->elapsed_ns / 2 * summary->cpus;
}

static bool is_for_work(enum ctx_wait_kind kind)
{
	return kind == CTX_WAIT_KIND_CONDITION || kind == CTX_WAIT_KIND_SEMAPHORE ||
	       kind == CTX_WAIT_KIND_PIPE || kind == CTX_WAIT_KIND_SOCKET || kind == CTX_WAIT_KIND_POLL;
}

bool ctx_summary_is_idle(const struct ctx_summary *summary, const struct ctx_wait_row *row)
{
	const struct ctx_wait_row *first = ctx_summary_first_wait(summary);

	if (summary->waiting.waiters.n == 0 || row == first || row->waker == NULL || !is_for_work(row->kind))
		return false;
	return (first->waker != NULL && strcmp(row->waker, first->waker) == 0) ||
	       ctx_wait_waiters_have(&summary->waiting.waiters, summary->profile, row->waker);
}

uint32_t ctx_summary_cause(const struct ctx_summary *summary)
{
	const struct ctx_wait_row *wait = ctx_summary_first_wait(summary);

	if (wait == NULL || wait->kind == CTX_WAIT_KIND_TIMER)
		return wait != NULL ? wait->caller : CTX_NONE;
	if (is_mutex(wait->kind) && wait->waker_function != CTX_NONE && wait->waker_function != wait->caller)
		return wait->waker_function;
	return summary->during.function;
}

const struct ctx_summary_group *ctx_summary_short_processes(const struct ctx_summary *summary)
{
	const struct ctx_summary_group *most = NULL;

	for (size_t i = 0; i < summary->n_groups && summary->groups_are_commands; i++) {
		if (summary->groups[i].n >= CTX_SUMMARY_PROCESSES &&
		    (most == NULL || summary->groups[i].n > most->n) &&
		    summary->groups[i].life_ns / summary->groups[i].n < SHORT_NS)
			most = &summary->groups[i];
	}
	return most;
}

const char *ctx_summary_kind_text(enum ctx_wait_kind kind)
{
	return kind == CTX_WAIT_KIND_TIMER   ? "timer (sleep)"
	       : kind == CTX_WAIT_KIND_START ? "recorder's start"
					     : ctx_wait_kind_text(kind);
}

const char *ctx_summary_kind_word(enum ctx_wait_kind kind)
{
	return kind == CTX_WAIT_KIND_TIMER	 ? "sleep"
	       : kind == CTX_WAIT_KIND_CONDITION ? "condition"
						 : ctx_wait_kind_text(kind);
}

/* A thread whose exit is not known lives to the end of the recording. */
static uint64_t end_of_threads(const struct ctx_profile *profile)
{
	uint64_t end_ns = 0;

	for (uint32_t i = 0; i < profile->n_threads; i++)
		end_ns = profile->threads[i].life.end_ns > end_ns ? profile->threads[i].life.end_ns : end_ns;
	return end_ns > profile->run.begin_ns && end_ns < profile->run.end_ns ? end_ns : profile->run.end_ns;
}

/* Of the intervals, up to the end of the run; as they are if they are after it. */
static uint64_t elapsed(const struct ctx_report_selection *selection, uint64_t end_ns)
{
	const struct ctx_interval *intervals =
		selection->n_intervals != 0 ? selection->intervals : &selection->profile->run;
	size_t n = selection->n_intervals != 0 ? selection->n_intervals : 1;
	uint64_t inside_ns = 0, ns = 0;

	for (size_t i = 0; i < n; i++) {
		struct ctx_interval interval = intervals[i];

		ns += interval.end_ns - interval.begin_ns;
		interval.end_ns = interval.end_ns < end_ns ? interval.end_ns : end_ns;
		inside_ns += ctx_interval_is_empty(interval) ? 0 : interval.end_ns - interval.begin_ns;
	}
	return inside_ns != 0 ? inside_ns : ns;
}

/* "2", or perf's "Xeon, 2 online of 4, 1 socket". */
static uint64_t count_cpus(const struct ctx_profile *profile)
{
	const char *cpus = ctx_profile_property(profile, "cpus", NULL);
	const char *at;

	if (cpus != NULL)
		return strtoull(cpus, NULL, 10);
	cpus = ctx_profile_property(profile, "processors", "");
	at = strstr(cpus, " online of ");
	while (at != NULL && at > cpus && isdigit((unsigned char)at[-1]))
		at--;
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

static void add_share(struct ctx_summary *summary, const char *text, uint64_t ns, bool on_cpu)
{
	if (ns != 0 || on_cpu)
		summary->shares[summary->n_shares++] = (struct ctx_summary_share){text, ns, on_cpu};
}

/* On a CPU, then the largest first. */
static int compare_shares(const void *left, const void *right)
{
	const struct ctx_summary_share *a = left, *b = right;

	if (a->on_cpu != b->on_cpu)
		return a->on_cpu ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* The kinds divide the waiting states; a wait that no kind has is "other". */
static void divide_time(struct ctx_summary *summary)
{
	uint64_t kinds[CTX_WAIT_KIND_N] = {0}, waits = ctx_state_sum(summary->states, CTX_STATES_OF_WAITS);

	for (size_t i = 0; i < summary->waits.n; i++)
		kinds[summary->waits.rows[i].kind] += summary->waits.rows[i].wait_ns;
	for (unsigned kind = 1; kind < CTX_WAIT_KIND_N; kind++) {
		waits -= kinds[kind] < waits ? kinds[kind] : waits;
		add_share(summary, ctx_summary_kind_text((enum ctx_wait_kind)kind), kinds[kind], false);
	}
	add_share(summary, ctx_wait_kind_text(CTX_WAIT_KIND_OTHER), waits, false);
	add_share(summary, ctx_state_text(CTX_STATE_WAIT_CPU), summary->states[CTX_STATE_WAIT_CPU], false);
	add_share(summary, "lost records", summary->states[CTX_STATE_UNKNOWN], false);
	add_share(summary, "on a CPU", ctx_state_sum(summary->states, CTX_SUMMARY_ON_CPU), true);
	qsort(summary->shares, summary->n_shares, sizeof(*summary->shares), compare_shares);
}

static enum ctx_status order_waits(struct ctx_summary *summary, struct ctx_err *err)
{
	const struct ctx_wait_row *rows = summary->waits.rows;
	uint32_t n = (uint32_t)summary->waits.n;

	summary->wait_order = ctx_calloc(n, sizeof(*summary->wait_order));
	if (summary->wait_order == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		summary->wait_order[i] = (struct ctx_order_item){
			.index = i, .number = importance(&rows[i]), .second = rows[i].wait_ns};
	ctx_order_sort(summary->wait_order, n);
	return CTX_OK;
}

/* The first, the others by importance, idle ones, joins and children, small ones. */
static uint64_t rank_of(const struct ctx_summary *summary, const struct ctx_wait_row *row)
{
	if (row == ctx_summary_first_wait(summary))
		return 4;
	if (row->wait_ns < summary->thread_ns / CTX_SUMMARY_SMALL)
		return 0;
	if (importance(row) == 0)
		return 1;
	return ctx_summary_is_idle(summary, row) ? 2 : 3;
}

static void rank_waits(struct ctx_summary *summary)
{
	for (size_t i = 0; i < summary->waits.n; i++) {
		struct ctx_order_item *item = &summary->wait_order[i];
		const struct ctx_wait_row *row = &summary->waits.rows[item->index];

		*item = (struct ctx_order_item){
			.index = item->index,
			.number = rank_of(summary, row),
			.second = importance(row) != 0 ? importance(row) : row->wait_ns,
		};
	}
	ctx_order_sort(summary->wait_order, summary->waits.n);
}

/* Whether the screen says what the waker of the first wait did: it comes first, or is a large part. */
static bool is_worth_a_cause(const struct ctx_summary *summary)
{
	const struct ctx_wait_row *wait = ctx_summary_first_wait(summary);

	return ctx_summary_is_waiting(summary) ||
	       (wait != NULL && importance(wait) != 0 && wait->wait_ns >= summary->thread_ns / LONG_WAIT);
}

/* Who waits in the first wait, and for what; waits for work of theirs come after others. */
static enum ctx_status explain_first_wait(struct ctx_summary *summary, const struct use *uses,
					  struct ctx_err *err)
{
	const struct ctx_wait_row *wait = ctx_summary_first_wait(summary);
	enum ctx_status status =
		ctx_wait_during_find(&summary->waits, wait, summary->source, &summary->during, err);

	if (status == CTX_OK)
		status = ctx_wait_waiters_find(&summary->waits, wait, summary->source,
					       &summary->waiting.waiters, err);
	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < summary->profile->n_threads; i++)
		summary->waiting.waiters.wall_ns +=
			summary->waiting.waiters.is_waiter[i] ? uses[i].wall_ns : 0;
	rank_waits(summary);
	return CTX_OK;
}

static enum ctx_status collect_states(struct ctx_summary *summary, struct use *uses, struct ctx_err *err)
{
	const struct ctx_report_states *states;
	size_t n;
	enum ctx_status status = summary->source->states(summary->source, &states, &n, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		for (unsigned state = 0; state < CTX_STATE_N; state++)
			summary->states[state] += states[i].ns[state];
		if (states[i].thread < summary->profile->n_threads)
			uses[states[i].thread] = (struct use){
				true, ctx_state_sum(states[i].ns, CTX_STATE_BIT(CTX_STATE_N) - 1)};
	}
	summary->thread_ns = ctx_state_sum(summary->states, CTX_STATE_BIT(CTX_STATE_N) - 1);
	summary->cpu_ns = ctx_state_sum(summary->states, CTX_SUMMARY_ON_CPU);
	summary->has_cpu = true;
	status = ctx_wait_table_build(&summary->waits, summary->source, summary->options, &summary->kinds,
				      err);
	if (status == CTX_OK)
		status = order_waits(summary, err);
	if (status == CTX_OK)
		divide_time(summary);
	return status == CTX_OK && is_worth_a_cause(summary) ? explain_first_wait(summary, uses, err)
							     : status;
}

static void put_program(struct ctx_buf *name, const char *command)
{
	size_t n;
	const char *program = ctx_command_program(command, &n);

	ctx_buf_put(name, program, n);
}

struct grouping {
	struct ctx_strtab names;
	struct ctx_buf name;
	struct ctx_summary_group *groups;
	size_t cap;
};

static enum ctx_status find_name(struct grouping *grouping, uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_buf_check(&grouping->name, err);

	if (status == CTX_OK)
		status = ctx_strtab_add(&grouping->names, (const char *)grouping->name.bytes,
					grouping->name.n, ret, err);
	if (status == CTX_OK)
		status = ctx_grow(&grouping->groups, &grouping->cap, grouping->names.n, err);
	return status;
}

/* By process: whether it counts, the last selected image of one. */
static enum ctx_status find_last_images(const struct ctx_profile *profile, const struct use *uses, bool *last,
					struct ctx_err *err)
{
	uint32_t *last_of CTX_AUTO_FREE = ctx_calloc(profile->n_processes, sizeof(*last_of));

	if (last_of == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		uint32_t process = profile->threads[i].process, first;

		if (!uses[i].in_selection || process >= profile->n_processes)
			continue;
		first = ctx_profile_first_image(profile, process);
		if (last_of[first] <= process)
			last_of[first] = process + 1;
	}
	for (uint32_t i = 0; i < profile->n_processes; i++) {
		if (last_of[i] != 0)
			last[last_of[i] - 1] = true;
	}
	return CTX_OK;
}

/* The group of a thread, which is made if it is missing. */
static enum ctx_status find_group_of(struct ctx_summary *summary, struct grouping *grouping, uint32_t i,
				     struct ctx_summary_group **ret, struct ctx_err *err)
{
	const struct ctx_profile *profile = summary->profile;
	const struct ctx_thread_info *thread = &profile->threads[i];
	size_t before = grouping->names.n;
	uint32_t id;
	enum ctx_status status;

	ctx_buf_clear(&grouping->name);
	if (summary->groups_are_commands)
		put_program(&grouping->name, profile->processes[thread->process].command);
	else
		ctx_thread_name_pattern(thread->name, &grouping->name);
	status = find_name(grouping, &id, err);
	if (status != CTX_OK)
		return status;
	if (before != grouping->names.n)
		grouping->groups[id] = (struct ctx_summary_group){.parent = CTX_NONE};
	*ret = &grouping->groups[id];
	return CTX_OK;
}

/* Adds the threads of the selection to their groups; processes count once. */
static enum ctx_status add_threads(struct ctx_summary *summary, struct grouping *grouping,
				   const struct ctx_report_thread_sums *sums, const struct use *uses,
				   struct ctx_err *err)
{
	const struct ctx_profile *profile = summary->profile;
	bool *counts CTX_AUTO_FREE = ctx_calloc(profile->n_processes, sizeof(*counts));
	enum ctx_status status =
		counts != NULL ? find_last_images(profile, uses, counts, err) : ctx_err_nomem(err);

	for (uint32_t i = 0; i < profile->n_threads && status == CTX_OK; i++) {
		uint32_t process = profile->threads[i].process;
		struct ctx_summary_group *group;

		if (!uses[i].in_selection ||
		    (summary->groups_are_commands && process >= profile->n_processes))
			continue;
		status = find_group_of(summary, grouping, i, &group, err);
		if (status != CTX_OK)
			break;
		group->cpu += sums->weight != NULL ? sums->weight[i] : profile->threads[i].weight;
		group->wall_ns += uses[i].wall_ns;
		group->life_ns += profile->threads[i].life.end_ns - profile->threads[i].life.begin_ns;
		group->n += !summary->groups_are_commands || counts[process];
		if (!summary->groups_are_commands || !counts[process])
			continue;
		counts[process] = false;
		if (group->parent == CTX_NONE)
			group->parent = profile->processes[ctx_profile_first_image(profile, process)].parent;
	}
	return status;
}

/* The heaviest first. */
static int compare_groups(const void *left, const void *right)
{
	const struct ctx_summary_group *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu > b->cpu ? -1 : 1;
	if (a->wall_ns != b->wall_ns)
		return a->wall_ns > b->wall_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static enum ctx_status make_groups(struct ctx_summary *summary, const struct ctx_report_thread_sums *sums,
				   const struct use *uses, struct ctx_err *err)
{
	struct grouping grouping = {0};
	enum ctx_status status = add_threads(summary, &grouping, sums, uses, err);

	summary->groups = grouping.groups;
	summary->n_groups = status == CTX_OK ? grouping.names.n : 0;
	for (size_t i = 0; i < summary->n_groups; i++) {
		summary->groups[i].name =
			ctx_arena_strdup(&summary->fold.arena, ctx_strtab_get(&grouping.names, (uint32_t)i));
		if (summary->groups[i].name == NULL)
			status = ctx_err_nomem(err);
	}
	if (status == CTX_OK && summary->n_groups != 0)
		qsort(summary->groups, summary->n_groups, sizeof(*summary->groups), compare_groups);
	ctx_buf_deinit(&grouping.name);
	ctx_strtab_deinit(&grouping.names);
	return status;
}

/* An image that a process executed has its thread again: a process and a thread count once. */
static void count_processes(struct ctx_summary *summary, bool *has_image)
{
	const struct ctx_profile *profile = summary->profile;

	for (uint32_t i = 0; i < profile->n_processes; i++) {
		uint32_t first = ctx_profile_first_image(profile, i);

		if (!has_image[i])
			continue;
		if (first != i && has_image[first])
			summary->n_threads--;
		else
			summary->n_processes++;
		has_image[first] = true;
	}
}

/* Different commands are told apart, else the threads of a program with many. */
static enum ctx_status collect_groups(struct ctx_summary *summary, struct use *uses, struct ctx_err *err)
{
	const struct ctx_profile *profile = summary->profile;
	struct ctx_report_thread_sums sums;
	bool *has_image CTX_AUTO_FREE = ctx_calloc(profile->n_processes, sizeof(*has_image));
	enum ctx_status status = summary->source->thread_sums(summary->source, &sums, err);

	if (status == CTX_OK && has_image == NULL)
		status = ctx_err_nomem(err);
	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		uses[i].in_selection |=
			(sums.samples != NULL ? sums.samples[i] : profile->threads[i].samples) != 0;
		if (!uses[i].in_selection)
			continue;
		summary->n_threads++;
		if (profile->threads[i].process < profile->n_processes)
			has_image[profile->threads[i].process] = true;
	}
	count_processes(summary, has_image);
	summary->groups_are_commands = summary->n_processes > 1;
	if (summary->n_processes <= 1 && summary->n_threads < FEW_THREADS)
		return CTX_OK;
	status = make_groups(summary, &sums, uses, err);
	if (status == CTX_OK && summary->n_groups <= 1)
		summary->n_groups = 0;
	return status;
}

static enum ctx_status collect_missing(struct ctx_summary *summary, struct ctx_err *err)
{
	struct ctx_report_parts parts;
	enum ctx_status status =
		summary->source->parts(summary->source, &(struct ctx_parts_query){0}, &parts, err);

	if (status != CTX_OK)
		return status;
	return ctx_missing_objects_find(summary->profile, &parts, &summary->missing, err);
}

static enum ctx_status collect_functions(struct ctx_summary *summary, struct ctx_err *err)
{
	const struct ctx_profile *profile = summary->profile;
	enum ctx_status status = ctx_fold_init(
		&summary->fold, profile, &(struct ctx_fold_options){.recursion = true, .kernel = true}, err);

	if (status == CTX_OK)
		status = ctx_wait_kinds_init(&summary->kinds, profile, err);
	if (status == CTX_OK)
		status = ctx_hot_functions_build(summary->source, &summary->fold, &summary->kinds,
						 &summary->functions, err);
	return status;
}

/* As many slices as on a screen lie before the end. */
static size_t count_slices(const struct ctx_summary *summary)
{
	const struct ctx_report_selection *selection = &summary->source->selection;
	uint64_t begin_ns, end_ns;
	double n;

	if (selection->n_intervals == 0)
		return SLICES;
	begin_ns = selection->intervals[0].begin_ns;
	end_ns = selection->intervals[selection->n_intervals - 1].end_ns;
	if (summary->end_ns <= begin_ns || summary->end_ns >= end_ns)
		return SLICES;
	n = SLICES * (double)(end_ns - begin_ns) / (double)(summary->end_ns - begin_ns);
	return n < MOST_SLICES ? (size_t)n : MOST_SLICES;
}

/* Slices with anything count as before the end. */
static enum ctx_status collect_slices(struct ctx_summary *summary, struct ctx_err *err)
{
	struct ctx_report_slices *slices = &summary->slices;
	enum ctx_status status =
		summary->source->slices(summary->source, count_slices(summary), 0, slices, err);

	if (status != CTX_OK || slices->per_thread == 0)
		return status;
	for (size_t i = 0; i < slices->per_thread; i++) {
		if (slices->slices[i].weight != 0 || slices->slices[i].interval.begin_ns < summary->end_ns)
			summary->n_slices = i + 1;
	}
	if (summary->n_slices == 0)
		summary->n_slices = slices->per_thread;
	/* A single instant has no course. */
	if (ctx_profile_is_timeless(summary->profile))
		summary->n_slices = 0;
	if (summary->functions.weight == 0)
		return CTX_OK;
	return ctx_slice_tops_find(summary->source,
				   &(struct ctx_slice_tops_input){&summary->fold, &summary->kinds, slices},
				   &summary->tops, err);
}

/* A part of the run is not divided: its letters would be others than those of the run. */
static enum ctx_status collect_phases(struct ctx_summary *summary, struct ctx_err *err)
{
	const struct ctx_phases *phases;
	enum ctx_status status;

	if (!ctx_head_is_whole_run(&summary->source->selection))
		return CTX_OK;
	status = summary->source->phases(summary->source, true, &phases, err);
	if (status == CTX_OK && phases->n_groups != 0 && phases->groups[0].n > 1)
		summary->phases = phases->groups;
	return status;
}

enum ctx_status ctx_summary_collect(struct ctx_summary *summary, struct ctx_report_source *source,
				    const struct ctx_report_options *options, struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct use *uses CTX_AUTO_FREE = ctx_calloc(profile->n_threads, sizeof(*uses));
	enum ctx_status status;

	*summary = (struct ctx_summary){
		.source = source,
		.options = options,
		.profile = profile,
		.metric = ctx_head_metric_of(profile, source->selection.metrics[0]),
		.end_ns = end_of_threads(profile),
		.during = {.function = CTX_NONE},
		.cpus = count_cpus(profile),
	};
	if (uses == NULL)
		return ctx_err_nomem(err);
	summary->elapsed_ns = elapsed(&source->selection, summary->end_ns);
	status = collect_functions(summary, err);
	if (status == CTX_OK)
		status = collect_slices(summary, err);
	if (status == CTX_OK)
		status = collect_phases(summary, err);
	if (status == CTX_OK)
		status = collect_missing(summary, err);
	if (status == CTX_OK && profile->has_states)
		status = collect_states(summary, uses, err);
	if (status == CTX_OK)
		status = ctx_summary_omp_collect(source, &summary->waiting.omp, err);
	if (status == CTX_OK)
		status = collect_groups(summary, uses, err);
	if (!profile->has_states && ctx_metric_is_time(&summary->metric)) {
		summary->cpu_ns = summary->functions.weight;
		summary->has_cpu = true;
	}
	return status;
}

void ctx_summary_deinit(struct ctx_summary *summary)
{
	ctx_wait_table_deinit(&summary->waits);
	ctx_wait_waiters_deinit(&summary->waiting.waiters);
	ctx_missing_objects_deinit(&summary->missing);
	free(summary->wait_order);
	free(summary->tops);
	ctx_hot_functions_deinit(&summary->functions);
	ctx_wait_kinds_deinit(&summary->kinds);
	ctx_fold_deinit(&summary->fold);
	free(summary->groups);
}
