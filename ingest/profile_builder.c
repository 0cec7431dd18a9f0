#include "ingest/profile_builder.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DAMAGE_SHOWN 8u
#define CALL_METRICS 3u
#define MAX_NUMBER (1u << 26) /* processes or threads: more means a damaged file */

static enum ctx_status keep(struct ctx_profile_builder *builder, const char *text, const char **ret,
			    struct ctx_err *err)
{
	*ret = ctx_arena_strdup(&builder->profile.arena, text);
	return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* The time of day at the recording's time 0, to the nanosecond: by it recordings of several machines are put together. */
static enum ctx_status keep_start(struct ctx_profile_builder *builder, uint64_t wall_ns, struct ctx_err *err)
{
	struct ctx_property *property = &builder->profile.properties[builder->profile.n_properties];
	char text[32];
	enum ctx_status status = keep(builder, "start_unix_ns", &property->key, err);

	snprintf(text, sizeof(text), "%" PRIu64, wall_ns);
	if (status == CTX_OK)
		status = keep(builder, text, &property->value, err);
	builder->profile.n_properties += status == CTX_OK;
	return status;
}

static enum ctx_status keep_properties(struct ctx_profile_builder *builder,
				       const struct ctx_source_info *info, struct ctx_err *err)
{
	struct ctx_profile *profile = &builder->profile;

	profile->properties = ctx_calloc(info->n_properties + 1, sizeof(*profile->properties));
	if (profile->properties == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < info->n_properties; i++) {
		enum ctx_status status =
			keep(builder, info->properties[i].key, &profile->properties[i].key, err);

		if (status == CTX_OK)
			status = keep(builder, info->properties[i].value, &profile->properties[i].value, err);
		if (status != CTX_OK)
			return status;
		profile->n_properties++;
	}
	return info->clock.wall_ns != 0 ? keep_start(builder, info->clock.wall_ns, err) : CTX_OK;
}

/* Sets the metric whose samples metric `i` counts: an earlier one, not a sum. */
static enum ctx_status set_counted(struct ctx_profile *profile, uint32_t i, uint32_t of, struct ctx_err *err)
{
	struct ctx_metric_info *metric = &profile->metrics[i];
	uint32_t *parts;

	if (of >= i || profile->metrics[of].parts != NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "metric %u counts what it cannot", i);
	parts = ctx_arena_alloc(&profile->arena, sizeof(*parts));
	if (parts == NULL)
		return ctx_err_nomem(err);
	parts[0] = of;
	metric->parts = parts;
	metric->n_parts = 1;
	return CTX_OK;
}

/* Appends metrics; `of` of a count is a number in the same array. */
static enum ctx_status keep_metrics(struct ctx_profile_builder *builder,
				    const struct ctx_source_metric *metrics, uint32_t n, struct ctx_err *err)
{
	struct ctx_profile *profile = &builder->profile;
	uint32_t first = profile->n_metrics;

	for (uint32_t i = 0; i < n; i++) {
		struct ctx_metric_info *metric = &profile->metrics[first + i];
		enum ctx_status status = keep(builder, metrics[i].name, &metric->name, err);

		metric->unit = metrics[i].unit;
		metric->kind = ctx_source_metric_kind(&metrics[i]);
		if (status == CTX_OK && metrics[i].word != NULL)
			status = keep(builder, metrics[i].word, &metric->word, err);
		if (status == CTX_OK && ctx_metric_is_count(metric))
			status = set_counted(profile, first + i, first + metrics[i].of, err);
		if (status != CTX_OK)
			return status;
		profile->n_metrics++;
	}
	return CTX_OK;
}

static enum ctx_status make_metrics(struct ctx_profile_builder *builder, const struct ctx_source_info *info,
				    struct ctx_err *err)
{
	struct ctx_profile *profile = &builder->profile;

	profile->metrics = ctx_calloc(info->n_metrics + CTX_STATE_N + CTX_STATE_METRICS_N + CALL_METRICS +
					      CTX_OMP_METRIC_N + info->n_call_counters,
				      sizeof(*profile->metrics));
	return profile->metrics != NULL ? keep_metrics(builder, info->metrics, info->n_metrics, err)
					: ctx_err_nomem(err);
}

/* The metrics of a sum of states. */
static enum ctx_status set_parts(struct ctx_profile *profile, unsigned states, struct ctx_metric_info *metric,
				 struct ctx_err *err)
{
	uint32_t *parts = ctx_arena_alloc(&profile->arena, CTX_STATE_N * sizeof(*parts));

	if (parts == NULL)
		return ctx_err_nomem(err);
	for (uint32_t state = 0; state < CTX_STATE_N; state++) {
		if ((states & CTX_STATE_BIT(state)) != 0)
			parts[metric->n_parts++] = profile->states + state;
	}
	metric->parts = parts;
	return CTX_OK;
}

static enum ctx_status add_state_metrics(struct ctx_profile *profile, struct ctx_err *err)
{
	profile->has_states = true;
	profile->states = profile->n_metrics;
	for (uint32_t state = 0; state < CTX_STATE_N; state++)
		profile->metrics[profile->n_metrics++] =
			(struct ctx_metric_info){.name = ctx_state_name((enum ctx_thread_state)state),
						 .kind = CTX_METRIC_SPAN,
						 .unit = CTX_UNIT_NS};
	for (size_t i = 0; i < CTX_STATE_METRICS_N; i++) {
		struct ctx_metric_info *metric = &profile->metrics[profile->n_metrics++];
		enum ctx_status status;

		*metric = (struct ctx_metric_info){.name = ctx_state_metrics[i].name,
						   .word = ctx_state_metrics[i].word,
						   .kind = CTX_METRIC_SPAN,
						   .unit = CTX_UNIT_NS};
		status = set_parts(profile, ctx_state_metrics[i].states, metric, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

static void add_omp_metrics(struct ctx_profile *profile)
{
	static const struct ctx_metric_info metrics[CTX_OMP_METRIC_N] = {
		[CTX_OMP_METRIC_WORK] = {.name = "OMP Work", .word = "omp-work"},
		[CTX_OMP_METRIC_WAIT] = {.name = "OMP Wait", .word = "omp-wait"},
		[CTX_OMP_METRIC_SERIAL] = {.name = "OMP Serial", .word = "omp-serial"},
		[CTX_OMP_METRIC_IDLE] = {.name = "OMP Idle", .word = "omp-idle"},
	};

	for (uint32_t i = 0; i < CTX_OMP_METRIC_N; i++) {
		profile->metrics[profile->n_metrics] = metrics[i];
		profile->metrics[profile->n_metrics].kind = CTX_METRIC_OMP_SPAN;
		profile->metrics[profile->n_metrics++].unit = CTX_UNIT_NS;
	}
}

/*
 * With states the time at open calls is two metrics and their sum; without them one. Then come the
 * counters that are read at calls.
 */
static enum ctx_status add_call_metrics(struct ctx_profile_builder *builder,
					const struct ctx_source_info *info, struct ctx_err *err)
{
	static const struct ctx_metric_info time[CALL_METRICS] = {
		{.name = "traced CPU time", .word = "traced"},
		{.name = "traced, not running", .word = "traced-off"},
		{.name = "elapsed", .word = "elapsed"},
	};
	struct ctx_profile *profile = &builder->profile;
	uint32_t first = profile->n_metrics;

	for (uint32_t i = info->has_states ? 0 : CALL_METRICS - 1; i < CALL_METRICS; i++) {
		profile->metrics[profile->n_metrics] = time[i];
		profile->metrics[profile->n_metrics].kind = CTX_METRIC_CALL_SPAN;
		profile->metrics[profile->n_metrics++].unit = CTX_UNIT_NS;
	}
	if (info->has_states) {
		uint32_t *parts = ctx_arena_alloc(&profile->arena, 2 * sizeof(*parts));

		if (parts == NULL)
			return ctx_err_nomem(err);
		parts[0] = first;
		parts[1] = first + 1;
		profile->metrics[first + 2].parts = parts;
		profile->metrics[first + 2].n_parts = 2;
	}
	return keep_metrics(builder, info->call_counters, info->n_call_counters, err);
}

/* Computes the metrics that are sums of others. */
static void add_up_parts(struct ctx_profile *profile)
{
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		struct ctx_metric_info *metric = &profile->metrics[i];

		for (uint32_t k = 0; k < metric->n_parts; k++) {
			metric->samples += profile->metrics[metric->parts[k]].samples;
			metric->weight += profile->metrics[metric->parts[k]].weight;
		}
		if (ctx_metric_is_count(metric))
			metric->weight = metric->samples;
	}
}

enum ctx_status ctx_profile_builder_init(struct ctx_profile_builder *builder,
					 const struct ctx_source_info *info, struct ctx_err *err)
{
	enum ctx_status status;

	*builder = (struct ctx_profile_builder){0};
	builder->profile.run = (struct ctx_interval){0, info->duration_ns != 0 ? info->duration_ns : 1};
	builder->profile.closed = info->closed;
	status = keep(builder, info->name, &builder->profile.name, err);
	if (status == CTX_OK)
		status = keep(builder, info->notes, &builder->profile.notes, err);
	if (status == CTX_OK)
		status = keep_properties(builder, info, err);
	if (status == CTX_OK)
		status = make_metrics(builder, info, err);
	if (status == CTX_OK && info->has_states)
		status = add_state_metrics(&builder->profile, err);
	if (status == CTX_OK && info->has_omp)
		add_omp_metrics(&builder->profile);
	if (status == CTX_OK && info->has_calls)
		status = add_call_metrics(builder, info, err);
	return status;
}

void ctx_profile_builder_deinit(struct ctx_profile_builder *builder)
{
	ctx_profile_deinit(&builder->profile);
	free(builder->thread_known);
}

enum ctx_status ctx_profile_builder_warn(struct ctx_profile_builder *builder, struct ctx_err *err,
					 const char *fmt, ...)
{
	struct ctx_profile *profile = &builder->profile;
	enum ctx_status status =
		ctx_grow(&profile->warnings, &builder->warnings_cap, profile->n_warnings + 1, err);
	char text[CTX_ERR_MAX];
	va_list args;

	if (status != CTX_OK)
		return status;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	status = keep(builder, text, &profile->warnings[profile->n_warnings], err);
	if (status == CTX_OK)
		profile->n_warnings++;
	return status;
}

enum ctx_status ctx_profile_builder_damage(struct ctx_profile_builder *builder, const char *text,
					   struct ctx_err *err)
{
	builder->profile.losses.damaged++;
	if (builder->profile.losses.damaged > DAMAGE_SHOWN)
		return CTX_OK;
	builder->damage_shown++;
	return ctx_profile_builder_warn(builder, err, "%s", text);
}

static enum ctx_status grow_processes(struct ctx_profile_builder *builder, uint32_t process,
				      struct ctx_err *err)
{
	struct ctx_profile *profile = &builder->profile;
	enum ctx_status status;

	if (process >= MAX_NUMBER)
		return ctx_err_set(err, CTX_E_FORMAT, "process number %u", process);
	status = ctx_grow(&profile->processes, &builder->processes_cap, (size_t)process + 1, err);
	if (status != CTX_OK)
		return status;
	while (profile->n_processes <= process) {
		profile->processes[profile->n_processes++] =
			(struct ctx_process_info){.parent = CTX_NONE,
						  .pid = -1,
						  .command = "",
						  .lineage = "",
						  .cgroup = "",
						  .life = {0, UINT64_MAX}};
	}
	return CTX_OK;
}

static enum ctx_status grow_threads(struct ctx_profile_builder *builder, uint32_t thread, struct ctx_err *err)
{
	struct ctx_profile *profile = &builder->profile;
	enum ctx_status status;

	if (thread >= MAX_NUMBER)
		return ctx_err_set(err, CTX_E_FORMAT, "thread number %u", thread);
	status = ctx_grow(&profile->threads, &builder->threads_cap, (size_t)thread + 1, err);
	if (status == CTX_OK)
		status =
			ctx_grow(&builder->thread_known, &builder->thread_known_cap, (size_t)thread + 1, err);
	if (status != CTX_OK)
		return status;
	while (profile->n_threads <= thread) {
		builder->thread_known[profile->n_threads] = false;
		profile->threads[profile->n_threads++] =
			(struct ctx_thread_info){.tid = -1, .name = "", .life = {0, UINT64_MAX}};
	}
	return CTX_OK;
}

static enum ctx_status on_process(struct ctx_profile_builder *builder, const struct ctx_event *event,
				  struct ctx_err *err)
{
	enum ctx_status status = grow_processes(builder, event->process, err);
	struct ctx_process_info *process;

	if (status != CTX_OK)
		return status;
	process = &builder->profile.processes[event->process];
	if (event->kind == CTX_EV_PROCESS_TITLE)
		return keep(builder, event->text, &process->command, err);
	if (event->kind == CTX_EV_PROCESS_EXIT) {
		process->life.end_ns = event->time_ns;
		process->has_exit_status = event->process_exit.has_status;
		process->exit_status = event->process_exit.status;
		return CTX_OK;
	}
	process->parent = event->process_start.parent;
	process->pid = event->process_start.pid;
	process->life.begin_ns = event->time_ns;
	process->inner_pid = event->process_start.inner_pid;
	status = keep(builder, event->process_start.command, &process->command, err);
	if (status == CTX_OK)
		status = keep(builder, event->process_start.lineage, &process->lineage, err);
	if (status == CTX_OK && event->process_start.cgroup != NULL)
		status = keep(builder, event->process_start.cgroup, &process->cgroup, err);
	return status;
}

static enum ctx_status on_thread(struct ctx_profile_builder *builder, const struct ctx_event *event,
				 struct ctx_err *err)
{
	enum ctx_status status = grow_threads(builder, event->thread, err);
	struct ctx_thread_info *thread;

	if (status == CTX_OK)
		status = grow_processes(builder, event->process, err);
	if (status != CTX_OK)
		return status;
	thread = &builder->profile.threads[event->thread];
	if (event->kind == CTX_EV_THREAD_EXIT) {
		thread->life.end_ns = event->time_ns;
		return CTX_OK;
	}
	if (event->kind == CTX_EV_THREAD_NAME)
		return keep(builder, event->thread_name, &thread->name, err);
	builder->thread_known[event->thread] = true;
	thread->process = event->process;
	thread->tid = event->thread_start.tid;
	thread->inner_tid = event->thread_start.inner_tid;
	thread->life.begin_ns = event->time_ns;
	return keep(builder, event->thread_start.name, &thread->name, err);
}

static enum ctx_status on_usage(struct ctx_profile_builder *builder, const struct ctx_event *event,
				struct ctx_err *err)
{
	struct ctx_profile *profile = &builder->profile;
	enum ctx_status status = ctx_grow(&profile->usage, &builder->usage_cap, profile->n_usage + 1, err);

	if (status == CTX_OK)
		status = grow_processes(builder, event->process, err);
	if (status != CTX_OK)
		return status;
	profile->usage[profile->n_usage] = event->usage;
	profile->usage[profile->n_usage].time_ns = event->time_ns;
	profile->usage[profile->n_usage++].process = event->process;
	return CTX_OK;
}

/* Of several events of a process each adds what it knows. */
static enum ctx_status on_vm(struct ctx_profile_builder *builder, const struct ctx_event *event,
			     struct ctx_err *err)
{
	struct ctx_profile *profile = &builder->profile;
	struct ctx_vm_info more = event->vm;
	const char **const texts[] = {&more.name, &more.version, &more.collector, &more.command};
	enum ctx_status status = grow_processes(builder, event->process, err);
	uint32_t i = 0;

	for (size_t j = 0; j < CTX_COUNT_OF(texts) && status == CTX_OK; j++)
		status = keep(builder, *texts[j], texts[j], err);
	while (i < profile->vms.n && profile->vms.items[i].process != event->process)
		i++;
	if (status == CTX_OK)
		status = ctx_grow(&profile->vms.items, &builder->vms_cap, (size_t)i + 1, err);
	if (status != CTX_OK)
		return status;
	if (i == profile->vms.n)
		profile->vms.items[profile->vms.n++] = ctx_vm_info_make(event->process, event->time_ns);
	ctx_vm_info_update(&profile->vms.items[i], &more);
	return CTX_OK;
}

static enum ctx_status on_property(struct ctx_profile_builder *builder, const struct ctx_property *property,
				   struct ctx_err *err)
{
	struct ctx_profile *profile = &builder->profile;
	size_t cap = profile->n_properties;
	enum ctx_status status = ctx_grow(&profile->properties, &cap, profile->n_properties + 1, err);
	struct ctx_property *place;

	if (status != CTX_OK)
		return status;
	place = &profile->properties[profile->n_properties];
	status = keep(builder, property->key, &place->key, err);
	if (status == CTX_OK)
		status = keep(builder, property->value, &place->value, err);
	if (status == CTX_OK)
		profile->n_properties++;
	return status;
}

/* A recording with very many is tidied in between. */
#define LOSSES_KEPT ((size_t)16 * CTX_LOSSES_MAX)

enum ctx_status ctx_profile_builder_lost(struct ctx_profile_builder *builder, const struct ctx_loss *loss,
					 struct ctx_err *err)
{
	struct ctx_profile_losses *losses = &builder->profile.losses;
	enum ctx_status status = ctx_grow(&losses->items, &builder->losses_cap, losses->n_items + 1, err);

	if (status != CTX_OK)
		return status;
	losses->samples += loss->count - (loss->has_kinds ? loss->kinds[CTX_LOSS_CALLS] : 0);
	losses->items[losses->n_items++] = *loss;
	if (losses->n_items >= LOSSES_KEPT)
		losses->n_items = ctx_losses_tidy(losses->items, losses->n_items);
	return CTX_OK;
}

static enum ctx_status on_lost(struct ctx_profile_builder *builder, const struct ctx_event_lost *lost,
			       struct ctx_err *err)
{
	if (lost->beyond_limit)
		return ctx_profile_builder_warn(
			builder, err, "%llu samples and changes of state beyond the limit were dropped",
			(unsigned long long)lost->loss.count);
	return ctx_profile_builder_lost(builder, &lost->loss, err);
}

enum ctx_status ctx_profile_builder_event(struct ctx_profile_builder *builder, const struct ctx_event *event,
					  struct ctx_err *err)
{
	switch (event->kind) {
	case CTX_EV_PROCESS_START:
	case CTX_EV_PROCESS_EXIT:
	case CTX_EV_PROCESS_TITLE:
		return on_process(builder, event, err);
	case CTX_EV_THREAD_START:
	case CTX_EV_THREAD_NAME:
	case CTX_EV_THREAD_EXIT:
		return on_thread(builder, event, err);
	case CTX_EV_USAGE:
		return on_usage(builder, event, err);
	case CTX_EV_LOST:
		return on_lost(builder, &event->lost, err);
	case CTX_EV_THROTTLE:
		builder->profile.losses.throttled += event->lost.loss.count != 0;
		return CTX_OK;
	case CTX_EV_DAMAGE:
		return ctx_profile_builder_damage(builder, event->text, err);
	case CTX_EV_WARNING:
		return ctx_profile_builder_warn(builder, err, "%s", event->text);
	case CTX_EV_PROPERTY:
		return on_property(builder, &event->property, err);
	case CTX_EV_VM:
		return on_vm(builder, event, err);
	case CTX_EV_MAP:
	case CTX_EV_UNMAP:
	case CTX_EV_FORK_MAPS:
	case CTX_EV_FUNCTION:
	case CTX_EV_STACKS:
	case CTX_EV_STACKS_RESET:
	case CTX_EV_SAMPLE:
	case CTX_EV_STATE:
	case CTX_EV_TRACED:
	case CTX_EV_CALL:
	case CTX_EV_OMP:
		break;
	}
	return ctx_err_set(err, CTX_E_INTERNAL, "event kind %d is not one of processes, threads and remarks",
			   (int)event->kind);
}

enum ctx_status ctx_profile_builder_check_thread(const struct ctx_profile_builder *builder, uint32_t thread,
						 struct ctx_err *err)
{
	if (thread < builder->profile.n_threads && builder->thread_known[thread])
		return CTX_OK;
	return ctx_err_set(err, CTX_E_FORMAT, "thread %u was not announced", thread);
}

void ctx_profile_builder_count(struct ctx_profile_builder *builder, uint32_t thread, uint32_t metric,
			       uint64_t weight)
{
	struct ctx_profile *profile = &builder->profile;

	profile->metrics[metric].samples++;
	profile->metrics[metric].weight += weight;
	if (metric == 0) {
		profile->threads[thread].samples++;
		profile->threads[thread].weight += weight;
	}
}

enum ctx_status ctx_profile_builder_finish(struct ctx_profile_builder *builder, struct ctx_err *err)
{
	struct ctx_profile *profile = &builder->profile;

	add_up_parts(profile);
	profile->losses.n_items = ctx_losses_tidy(profile->losses.items, profile->losses.n_items);
	for (uint32_t i = 0; i < profile->n_processes; i++) {
		if (profile->processes[i].life.end_ns == UINT64_MAX)
			profile->processes[i].life.end_ns = profile->run.end_ns;
	}
	for (uint32_t i = 0; i < profile->vms.n; i++) {
		struct ctx_vm_info *vm = &profile->vms.items[i];

		if (vm->life.end_ns == UINT64_MAX)
			vm->life.end_ns = profile->processes[vm->process].life.end_ns;
		if (vm->life.end_ns < vm->life.begin_ns)
			vm->life.end_ns = vm->life.begin_ns;
	}
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		struct ctx_thread_info *thread = &profile->threads[i];

		if (thread->life.end_ns == UINT64_MAX)
			thread->life.end_ns = profile->processes[thread->process].life.end_ns;
		profile->processes[thread->process].samples += thread->samples;
		profile->processes[thread->process].weight += thread->weight;
	}
	if (profile->losses.damaged > builder->damage_shown)
		return ctx_profile_builder_warn(
			builder, err, "%llu more places are damaged",
			(unsigned long long)(profile->losses.damaged - builder->damage_shown));
	return CTX_OK;
}
