/*
 * Records: parse, batch, apply; lost ones are located (losses.h).
 */
#include "collect/recorder_impl.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/pressure.h"
#include "collect/procfs.h"
#include "collect/session_widen.h"
#include "collect/trace_take.h"

#define FULL_PERCENT 75u /* of a ring: fewer stacks of waits are copied then */

static enum ctx_status take_state(struct ctx_recorder *recorder, const struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	uint32_t event = record->event - (uint32_t)recorder->events.n;
	enum ctx_status status =
		ctx_state_records_sample(recorder->states, (enum ctx_state_event)event, record, err);

	return status == CTX_E_FORMAT
		       ? ctx_losses_unusable(recorder->losses, record->time_ns, CTX_LOSS_CHANGES, err)
		       : status;
}

static enum ctx_status take_sample(struct ctx_recorder *recorder, const struct ctx_perf_record *record,
				   struct ctx_err *err)
{
	const struct ctx_proctree_task task = {(int32_t)record->pid, (int32_t)record->tid, record->time_ns};
	uint32_t process, thread;
	enum ctx_status status;

	if (record->event == UINT32_MAX)
		return CTX_OK;
	if (recorder->code.python != NULL && ctx_python_is_chain(recorder->code.python, record)) {
		ctx_python_take_chain(recorder->code.python, record);
		return CTX_OK;
	}
	if (record->event >= recorder->events.n)
		return take_state(recorder, record, err);
	status = ctx_proctree_find(recorder->tree, &task, &process, &thread, err);
	if (status == CTX_E_NOTFOUND)
		return ctx_losses_unusable(recorder->losses, record->time_ns, CTX_LOSS_SAMPLES, err);
	if (status == CTX_OK && recorder->metrics.indicators != NULL) {
		struct ctx_exp_mark mark = {.process = process, .thread = thread};
		bool keeps = true;

		status = ctx_indicators_judge(recorder->metrics.indicators, record, &mark, &keeps, err);
		if (status == CTX_OK && mark.name != NULL)
			status = ctx_exp_mark(recorder->writer, &mark, err);
		if (status != CTX_OK || !keeps)
			return status;
	}
	if (status == CTX_OK)
		ctx_titles_sampled(recorder->titles, task.pid, process, record->time_ns);
	return status == CTX_OK ? ctx_sample_batch_add(recorder->batch, record, process, thread, err)
				: status;
}

/* The kernel has taken the events of threads off a setuid program; those of processors go on. */
static enum ctx_status take_false_exit(struct ctx_recorder *recorder, const struct ctx_perf_record *record,
				       struct ctx_err *err)
{
	if (recorder->options->system_wide)
		return CTX_OK;
	ctx_state_records_exit(recorder->states, record);
	return ctx_setuid_begin(recorder->setuid, record, recorder->start_ns, err);
}

static void count_task(struct ctx_recorder *recorder, const struct ctx_perf_record *record)
{
	uint64_t *n = &recorder->keeping_up.n_tasks;

	if (record->type == PERF_RECORD_FORK &&
	    !ctx_woken_filter_holds(&recorder->session.woken.filter, record->tid))
		ctx_session_widen(&recorder->session, ctx_wait_sampling_is_whole(recorder->sampling));
	if (record->type == PERF_RECORD_FORK && !recorder->options->system_wide)
		(*n)++;
	else if (record->type == PERF_RECORD_EXIT && *n != 0)
		(*n)--;
}

/* The end of a thread or of an image, by exec: first what it wrote, then the record. */
static enum ctx_status take_end(struct ctx_recorder *recorder, const struct ctx_perf_record *record,
				struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (recorder->metrics.indicators != NULL)
		status = ctx_indicators_before_end(recorder->metrics.indicators, recorder->tree,
						   recorder->writer, record, err);
	if (status == CTX_OK && recorder->trace != NULL)
		status = ctx_trace_before_end(recorder->trace, record, err);
	if (status == CTX_OK && recorder->code.vms != NULL)
		status = ctx_vms_before_end(recorder->code.vms, record, err);
	if (status == CTX_OK && record->pid == record->tid)
		status = ctx_jit_dumps_take(recorder->code.dumps, record->pid, err);
	if (status == CTX_OK)
		status = ctx_proctree_apply(recorder->tree, record, err);
	if (status == CTX_OK && recorder->trace != NULL)
		ctx_trace_after_end(recorder->trace, record->pid, record->time_ns);
	return status;
}

/* All others have code in them. */
static bool is_data_map(const struct ctx_perf_record *record)
{
	return record->type == PERF_RECORD_MMAP2 && (record->misc & PERF_RECORD_MISC_MMAP_DATA) != 0;
}

static enum ctx_status take_record(struct ctx_recorder *recorder, const void *bytes, struct ctx_err *err)
{
	struct ctx_perf_record record;
	enum ctx_status status;

	/* A malformed record is counted as lost and does not end the recording. */
	if (ctx_perf_record_parse(bytes, ctx_pe_header_read(bytes, false).size, &recorder->layout, &record,
				  NULL) != CTX_OK)
		return ctx_losses_unusable(recorder->losses, ctx_clock_ns(CLOCK_MONOTONIC), CTX_LOSS_KIND_N,
					   err);
	if (record.type == PERF_RECORD_SAMPLE)
		return take_sample(recorder, &record, err);
	if (record.type == PERF_RECORD_SWITCH || record.type == PERF_RECORD_SWITCH_CPU_WIDE)
		return ctx_state_records_switch(recorder->states, &record, err);
	count_task(recorder, &record);
	status = ctx_sample_batch_flush(recorder->batch, err);
	if (status == CTX_OK && recorder->options->trace.data)
		status = ctx_data_maps_record(&recorder->metrics.data_maps, &record, err);
	if (status == CTX_OK && is_data_map(&record))
		return CTX_OK;
	if (status == CTX_OK && recorder->code.python != NULL)
		status = ctx_python_record(recorder->code.python, &record, err);
	if (status != CTX_OK)
		return status;
	switch (record.type) {
	case PERF_RECORD_FORK:
		if (recorder->metrics.indicators != NULL && record.pid != (uint32_t)record.task.parent_pid &&
		    !recorder->options->no_follow)
			status = ctx_indicators_fork(recorder->metrics.indicators, &record, err);
		if (status != CTX_OK)
			return status;
		/* A process of which nothing is recorded is not part of the recording. */
		return recorder->options->no_follow && !recorder->options->system_wide &&
				       record.pid != (uint32_t)record.task.parent_pid
			       ? CTX_OK
			       : ctx_proctree_apply(recorder->tree, &record, err);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return ctx_losses_record(recorder->losses, ctx_merge_ring(&recorder->merge), &record,
					 ctx_merge_previous_ns(&recorder->merge), err);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return ctx_exp_throttle(recorder->writer, record.time_ns, record.type == PERF_RECORD_THROTTLE,
					err);
	case PERF_RECORD_EXIT:
		if (ctx_setuid_is_false_exit(recorder->setuid, &record))
			return take_false_exit(recorder, &record, err);
		recorder->wait.n_ended++;
		if (recorder->metrics.indicators != NULL)
			ctx_indicators_end_thread(recorder->metrics.indicators, record.tid);
		ctx_state_records_exit(recorder->states, &record);
		status = ctx_titles_exit(recorder->titles, record.tid, record.time_ns, err);
		return status == CTX_OK ? take_end(recorder, &record, err) : status;
	default:
		ctx_setuid_note(recorder->setuid, &record);
		if (record.type != PERF_RECORD_COMM || (record.misc & PERF_RECORD_MISC_COMM_EXEC) == 0) {
			status = ctx_proctree_apply(recorder->tree, &record, err);
			return status == CTX_OK ? ctx_jit_dumps_note(recorder->code.dumps, &record, err)
						: status;
		}
		status = take_end(recorder, &record, err);
		return status == CTX_OK ? ctx_state_records_exec(recorder->states, &record, err) : status;
	}
}

/* After each part of a round. */
static void adapt(struct ctx_recorder *recorder, unsigned *fill, bool *hurries)
{
	unsigned now = ctx_merge_fill(&recorder->merge);

	*hurries = ctx_pressure_hurries(*hurries, *fill, now);
	*fill = now;
	ctx_sample_batch_hurry(recorder->batch, *hurries);
}

/* A round that goes on for long, as with full rings, does not keep old buffers from being written. */
static enum ctx_status tick_in_between(struct ctx_recorder *recorder, uint64_t *ticked_ns,
				       struct ctx_err *err)
{
	uint64_t now_ns = ctx_clock_ns(CLOCK_MONOTONIC);

	if (now_ns < *ticked_ns + CTX_RECORDER_TICK_NS)
		return CTX_OK;
	*ticked_ns = now_ns;
	return ctx_exp_write_old(recorder->writer, now_ns, err);
}

enum ctx_status ctx_recorder_take_until(struct ctx_recorder *recorder, uint64_t limit_ns, struct ctx_err *err)
{
	const void *record;
	uint64_t damaged = recorder->merge.damaged;
	uint64_t ticked_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	unsigned fill;
	bool hurries = false;
	enum ctx_status status = CTX_OK;

	if (recorder->code.vms != NULL)
		status = ctx_vms_listen(recorder->code.vms, err);
	ctx_merge_begin(&recorder->merge, limit_ns);
	fill = recorder->merge.fullest;
	ctx_wait_sampling_hurry(recorder->sampling, fill >= FULL_PERCENT);
	while (status == CTX_OK && (record = ctx_merge_next(&recorder->merge)) != NULL) {
		status = take_record(recorder, record, err);
		if (status == CTX_OK && ctx_merge_is_due(&recorder->merge)) {
			status = ctx_sample_batch_flush(recorder->batch, err);
			ctx_merge_release(&recorder->merge);
			adapt(recorder, &fill, &hurries);
			if (status == CTX_OK)
				status = tick_in_between(recorder, &ticked_ns, err);
		}
	}
	if (status == CTX_OK)
		status = ctx_sample_batch_flush(recorder->batch, err);
	ctx_sample_batch_hurry(recorder->batch, false);
	ctx_merge_release(&recorder->merge);
	if (status == CTX_OK && recorder->metrics.indicators != NULL)
		status = ctx_indicators_take(recorder->metrics.indicators, recorder->tree, recorder->writer,
					     limit_ns, err);
	if (status == CTX_OK && recorder->trace != NULL)
		status = ctx_trace_take(recorder->trace, limit_ns, err);
	if (status == CTX_OK && recorder->code.vms != NULL)
		status = ctx_vms_take(recorder->code.vms, limit_ns, err);
	for (; status == CTX_OK && damaged != recorder->merge.damaged; damaged++)
		status = ctx_losses_unusable(recorder->losses, ctx_clock_ns(CLOCK_MONOTONIC), CTX_LOSS_KIND_N,
					     err);
	return status;
}

enum ctx_status ctx_recorder_take_usage(struct ctx_recorder *recorder, uint64_t time_ns, struct ctx_err *err)
{
	struct ctx_proctree_live live[CTX_RECORDER_PROCESSES_MAX];
	size_t n = ctx_proctree_live(recorder->tree, live, CTX_COUNT_OF(live));
	uint32_t root_process = ctx_proctree_root_process(recorder->tree);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_usage_info usage;

		if (live[i].pid <= 0 || ctx_procfs_usage(live[i].pid, &usage, NULL) != CTX_OK)
			continue;
		usage.time_ns = time_ns;
		usage.process = live[i].process;
		if (usage.process == root_process && usage.vsize_bytes != 0)
			recorder->root_process_usage = usage;
		status = ctx_exp_usage(recorder->writer, &usage, err);
	}
	recorder->next_usage_ns = time_ns + CTX_RECORDER_SECOND_NS;
	return status;
}
