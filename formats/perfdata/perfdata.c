/*
 *	parts --pd_stream--> records --pd_queue--> in order --here--> pd_tasks (processes, threads, maps) --.
 *	                                                     `-----> pd_chain (frames of a sample) --------+--> outbox --> events
 *	                                                     `-----> counts, emitted at the end -----------'
 */
#include "formats/perfdata/perfdata.h"

#include "base/mem.h"
#include "formats/perfdata/pd_losses.h"
#include "formats/perfdata/pd_opening.h"
#include "formats/perfdata/pd_operations.h"
#include "formats/perfdata/pd_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WAITING_BYTES_MAX ((size_t)256 << 20) /* of all queues together */
#define WAITING_BYTES_MIN ((size_t)2 << 20)
#define PERIOD_MAX ((uint64_t)1 << 56) /* 200 days of cycles between two samples */

/* Samples */

static const char bad_period[] = "a sample with an impossible period";

/* An out-of-range period would outweigh all others or overflow sums. */
static bool takes_weight(struct ctx_pd_reader *reader, uint64_t period)
{
	if (period > PERIOD_MAX || period > UINT64_MAX - reader->weight)
		return false;
	reader->weight += period;
	return true;
}

/* The growth of a counter since its last sample. */
static enum ctx_status growth_of(struct ctx_pd_reader *reader, uint64_t id, uint64_t value, uint64_t *ret,
				 struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&reader->count_of_id, id);
	enum ctx_status status;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		status = ctx_grow(&reader->last_counts, &reader->counts_cap, reader->n_counts + 1, err);
		if (status != CTX_OK)
			return status;
		reader->last_counts[reader->n_counts] = 0;
		*place = (uint32_t)reader->n_counts++;
	}
	*ret = value - reader->last_counts[*place];
	reader->last_counts[*place] = value;
	return CTX_OK;
}

/*
 * A sample with counter values is a sample of each event whose counter has grown, with the growth
 * as weight: in a group only the leader is sampled (perf record -e '{a,b}:S'). Source:
 * deliver_sample_group in tools/perf/util/session.c of Linux.
 */
static enum ctx_status put_counted(struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample,
				   uint64_t offset, struct ctx_event *event, struct ctx_err *err)
{
	const struct ctx_pd_events *events = &reader->file.events;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < sample->n_counts && status == CTX_OK; i++) {
		uint64_t id, value;
		uint32_t source;

		ctx_pe_sample_count(sample, i, &id, &value);
		source = ctx_map64_get(&events->by_id, id);
		if (source == CTX_MAP64_NONE || events->items[source].metric == CTX_NONE) {
			reader->counts.unknown_ids++;
			continue;
		}
		event->sample.metric = events->items[source].metric;
		status = growth_of(reader, id, value, &event->sample.weight, err);
		if (status != CTX_OK || event->sample.weight == 0)
			continue;
		if (!takes_weight(reader, event->sample.weight))
			return ctx_pd_reader_damage(reader, offset, bad_period, err);
		status = ctx_pd_reader_put(reader, event, err);
	}
	return status;
}

static enum ctx_status on_sample(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				 struct ctx_err *err)
{
	const struct ctx_pd_record *record = &item->record;
	struct ctx_event event = {.kind = CTX_EV_SAMPLE,
				  .time_ns = ctx_pd_reader_relative(reader, item->time)};
	const struct ctx_pd_event *source =
		ctx_pd_sample_event(&reader->file.events, record->bytes, &record->header);
	struct ctx_pd_thread_numbers thread = {0};
	struct ctx_pe_sample sample;
	struct ctx_err why = {0};
	enum ctx_status status;

	if (source == NULL) {
		reader->counts.unknown_ids++;
		return CTX_OK;
	}
	if (ctx_pe_sample_parse(&source->layout, record->bytes, record->header.size, &sample, &why) != CTX_OK)
		return ctx_pd_reader_damage(reader, record->offset, why.msg, err);
	if (source->metric == CTX_NONE) {
		reader->counts.unknown_ids++;
		return CTX_OK;
	}
	if (sample.n_counts == 0 && !takes_weight(reader, sample.period))
		return ctx_pd_reader_damage(reader, record->offset, bad_period, err);
	if (item->time == 0)
		reader->counts.without_time++;
	else if (item->time < reader->file.first_sample || item->time > reader->file.last_sample)
		reader->counts.outside++;
	reader->counts.longer += sample.is_longer;
	reader->counts.guests += ctx_pd_record_is_of_guest(record->header.misc);
	status = ctx_pd_losses_see(&reader->losses, sample.cpu, item->time, err);
	if (status == CTX_OK)
		status = ctx_pd_chain_set(&reader->chain, &sample, source, record->header.misc, err);
	reader->counts.copied_stacks += sample.user_stack != NULL && !reader->chain.has_user;
	if (status == CTX_OK)
		status = ctx_pd_tasks_sample(&reader->tasks,
					     &(struct ctx_pd_task_at){.time_ns = event.time_ns,
								      .pid = sample.pid,
								      .tid = sample.tid,
								      .cgroup = sample.cgroup},
					     &thread, err);
	if (status != CTX_OK)
		return status;
	event.process = thread.process;
	event.thread = thread.thread;
	event.sample.weight = sample.period;
	event.sample.metric = source->metric;
	event.sample.cpu = sample.cpu;
	event.sample.stack = (struct ctx_event_stack){
		.frames = reader->chain.frames,
		.n_frames = reader->chain.n,
		.user = reader->chain.has_user ? &reader->chain.user : NULL,
	};
	status = sample.n_counts != 0 ? put_counted(reader, &sample, record->offset, &event, err)
				      : ctx_pd_reader_put(reader, &event, err);
	if (status == CTX_OK)
		status = ctx_pd_operations_put(reader, source, &sample, &event, err);
	return status == CTX_OK && reader->states.on && item->time != 0
		       ? ctx_pd_states_sample(reader, source, &sample, &event, err)
		       : status;
}

/* Tasks */

/* The body of a record. */
static struct ctx_pe_wire body_of(const struct ctx_pd_reader *reader, const struct ctx_pd_queued *item)
{
	return ctx_pe_body(item->record.bytes, item->record.header.size, reader->file.swap);
}

static enum ctx_status on_task(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
			       struct ctx_err *err)
{
	const struct perf_event_header *header = &item->record.header;
	struct ctx_pd_fork fork = {.time_ns = ctx_pd_reader_relative(reader, item->time),
				   .synthesized =
					   item->time == 0 || (header->misc & PERF_RECORD_MISC_FORK_EXEC)};
	struct ctx_pe_task task;
	struct ctx_err why = {0};

	if (ctx_pe_task_parse(body_of(reader, item), &task, &why) != CTX_OK)
		return ctx_pd_reader_damage(reader, item->record.offset, why.msg, err);
	if (header->type == PERF_RECORD_EXIT)
		return ctx_pd_tasks_exit(&reader->tasks, fork.time_ns, task.pid, task.tid, err);
	fork.pid = task.pid;
	fork.parent_pid = task.parent_pid;
	fork.tid = task.tid;
	fork.parent_tid = task.parent_tid;
	return ctx_pd_tasks_fork(&reader->tasks, &fork, err);
}

static enum ctx_status on_comm(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
			       struct ctx_err *err)
{
	struct ctx_pd_comm comm = {.time_ns = ctx_pd_reader_relative(reader, item->time),
				   .is_exec = item->record.header.misc & PERF_RECORD_MISC_COMM_EXEC};
	struct ctx_pe_comm parsed;
	struct ctx_err why = {0};
	enum ctx_status status;

	if (ctx_pe_comm_parse(body_of(reader, item), &parsed, &why) != CTX_OK)
		return ctx_pd_reader_damage(reader, item->record.offset, why.msg, err);
	comm.pid = parsed.pid;
	comm.tid = parsed.tid;
	comm.name = parsed.name;
	status = ctx_pd_tasks_comm(&reader->tasks, &comm, err);
	return status == CTX_OK && comm.is_exec && reader->states.on && item->time != 0
		       ? ctx_pd_states_exec(reader, comm.time_ns, comm.tid, err)
		       : status;
}

static enum ctx_status on_switch(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				 struct ctx_err *err)
{
	bool used = false;
	struct ctx_pe_trailer trailer;
	enum ctx_status status = reader->states.on ? ctx_pd_states_switch(reader, item, &used, err) : CTX_OK;

	if (status == CTX_OK &&
	    ctx_pd_trailer_parse(&reader->file.events, item->record.bytes, &item->record.header, &trailer))
		status = ctx_pd_losses_see(&reader->losses, trailer.cpu, item->time, err);
	if (!used)
		reader->counts.types[item->record.header.type]++;
	return status;
}

static enum ctx_status on_throttle(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				   struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_THROTTLE,
				  .time_ns = ctx_pd_reader_relative(reader, item->time)};

	event.lost.loss.count = item->record.header.type == PERF_RECORD_THROTTLE;
	return ctx_pd_reader_put(reader, &event, err);
}

static enum ctx_status on_cgroup(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				 struct ctx_err *err)
{
	struct ctx_pe_cgroup cgroup;
	struct ctx_err why = {0};

	if (ctx_pe_cgroup_parse(body_of(reader, item), &cgroup, &why) != CTX_OK)
		return ctx_pd_reader_damage(reader, item->record.offset, why.msg, err);
	return ctx_pd_tasks_cgroup(&reader->tasks, cgroup.id, cgroup.path, err);
}

static enum ctx_status on_record(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				 struct ctx_err *err)
{
	const struct perf_event_header *header = &item->record.header;

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		return on_sample(reader, item, err);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return ctx_pd_maps_mmap(reader, item, err);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return on_task(reader, item, err);
	case PERF_RECORD_COMM:
		return on_comm(reader, item, err);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return ctx_pd_losses_take(reader, item, err);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return on_throttle(reader, item, err);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return on_switch(reader, item, err);
	case PERF_RECORD_KSYMBOL:
		return ctx_pd_maps_ksymbol(reader, item, err);
	case PERF_RECORD_BPF_EVENT:
		return ctx_pd_maps_bpf(reader, item, err);
	case PERF_RECORD_CGROUP:
		return on_cgroup(reader, item, err);
	default:
		if (header->type < CTX_PD_TYPE_END)
			reader->counts.types[header->type]++;
		return CTX_OK;
	}
}

/* The source */

/*
 * The oldest record of all queues. A record without a time, and damage, go first.
 */
static enum ctx_status peek(struct ctx_pd_reader *reader, const struct ctx_pd_queued **ret,
			    struct ctx_err *err)
{
	uint64_t oldest = UINT64_MAX;
	bool found = false;

	for (size_t i = 0; i < reader->n_queues; i++) {
		const struct ctx_pd_queued *item;
		enum ctx_status status = ctx_pd_queue_peek(&reader->queues[i], &item, err);

		if (status == CTX_END)
			continue;
		if (status != CTX_OK)
			return status;
		if (found && item != NULL && item->time >= oldest)
			continue;
		found = true;
		reader->current = i;
		*ret = item;
		if (item == NULL || item->time == 0)
			return CTX_OK;
		oldest = item->time;
	}
	return found ? CTX_OK : CTX_END;
}

static enum ctx_status put_damage(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_DAMAGE, .text = reader->text};

	snprintf(reader->text, sizeof(reader->text), "%s", reader->queues[reader->current].stream.damage);
	return ctx_pd_reader_put(reader, &event, err);
}

static enum ctx_status read_one(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	const struct ctx_pd_queued *item = NULL;
	enum ctx_status status = peek(reader, &item, err);

	if (status == CTX_END) {
		reader->ended = true;
		return ctx_pd_ending_put(reader, err);
	}
	if (status != CTX_OK)
		return status;
	if (item == NULL) {
		status = put_damage(reader, err);
	} else {
		if (reader->n_jits != 0)
			status = ctx_pd_maps_jitted(reader, item->time, err);
		if (status == CTX_OK)
			status = ctx_pd_tasks_expire(&reader->tasks,
						     ctx_pd_reader_relative(reader, item->time), err);
		if (status == CTX_OK)
			status = on_record(reader, item, err);
	}
	ctx_pd_queue_take(&reader->queues[reader->current]);
	return status;
}

static enum ctx_status next_event(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err)
{
	struct ctx_pd_reader *reader = source->impl;

	while (reader->out.at == reader->out.n) {
		enum ctx_status status = CTX_OK;

		if (reader->damage_at < reader->file.n_damage) {
			*ret = (struct ctx_event){.kind = CTX_EV_DAMAGE,
						  .text = reader->file.damage[reader->damage_at++]};
			return CTX_OK;
		}
		if (reader->ended)
			return CTX_END;
		status = read_one(reader, err);
		if (status != CTX_OK)
			return status;
	}
	*ret = reader->out.items[reader->out.at++];
	return CTX_OK;
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct ctx_pd_reader *reader = source->impl;
	uint64_t done = 0;

	for (size_t i = 0; i < reader->n_queues; i++)
		done += reader->queues[i].stream.at - reader->file.parts[i].begin;
	return done;
}

static void close_reader(struct ctx_event_source *source)
{
	struct ctx_pd_reader *reader = source->impl;

	for (size_t i = 0; i < reader->n_ready; i++)
		ctx_pd_queue_deinit(&reader->queues[i]);
	for (size_t i = 0; i < reader->n_jits; i++)
		ctx_pd_jitdump_deinit(&reader->jits[i].dump);
	ctx_pd_outbox_deinit(&reader->out);
	ctx_strtab_deinit(&reader->jit_paths);
	ctx_pd_tasks_deinit(&reader->tasks);
	ctx_pd_chain_deinit(&reader->chain);
	ctx_map64_deinit(&reader->count_of_id);
	ctx_map64_deinit(&reader->ksymbols);
	ctx_map64_deinit(&reader->bpf_loads);
	ctx_pd_states_deinit(&reader->states);
	ctx_pd_losses_deinit(&reader->losses);
	ctx_pd_operations_deinit(&reader->operations);
	free(reader->last_counts);
	ctx_pd_file_deinit(&reader->file);
	free(reader->source.info.properties);
	free(reader->source.info.metrics);
	free(reader->queues);
	free(reader->jits);
	free(reader->format);
	free(reader);
}

static enum ctx_status make_queues(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	const struct ctx_pd_file *file = &reader->file;
	size_t bytes_max = WAITING_BYTES_MAX / file->n_parts;

	reader->queues = ctx_calloc(file->n_parts, sizeof(*reader->queues));
	if (reader->queues == NULL)
		return ctx_err_nomem(err);
	reader->n_queues = file->n_parts;
	for (; reader->n_ready < file->n_parts; reader->n_ready++) {
		struct ctx_pd_queue *queue = &reader->queues[reader->n_ready];
		const struct ctx_pd_part *part = &file->parts[reader->n_ready];

		ctx_pd_stream_init(&queue->stream, part, file->swap);
		ctx_pd_queue_init(queue, &file->events,
				  bytes_max > WAITING_BYTES_MIN ? bytes_max : WAITING_BYTES_MIN);
	}
	return CTX_OK;
}

enum ctx_status ctx_perfdata_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct ctx_pd_reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->source = (struct ctx_event_source){
		.impl = reader, .next = next_event, .progress = progress, .close = close_reader};
	reader->tasks.out = &reader->out;
	status = ctx_pd_file_open(&reader->file, path, err);
	if (status == CTX_OK)
		status = ctx_pd_info_fill(reader, err);
	if (status == CTX_OK)
		status = ctx_pd_states_fill(reader, err);
	if (status == CTX_OK)
		status = make_queues(reader, err);
	if (status != CTX_OK) {
		close_reader(&reader->source);
		return status;
	}
	reader->monotonic = reader->file.events.items[0].use_clockid &&
			    reader->file.events.items[0].clockid == CLOCK_MONOTONIC;
	*ret = &reader->source;
	return CTX_OK;
}

bool ctx_perfdata_is(const char *path)
{
	return ctx_pd_file_is(path);
}
