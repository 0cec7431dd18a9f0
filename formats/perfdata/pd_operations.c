#include "formats/perfdata/pd_operations.h"

#include "base/mem.h"
#include "model/chainwalk.h"
#include "model/data_source.h"

#include <linux/perf_event.h>

#define BLOCK_MAX ((uint64_t)1 << 20) /* bytes that run without a taken branch: more is another path */

void ctx_pd_operations_deinit(struct ctx_pd_operations *operations)
{
	free(operations->items);
	free(operations->frames);
	*operations = (struct ctx_pd_operations){0};
}

/* What the processor keeps as a call stack are calls, not branches. */
bool ctx_pd_event_has_branches(const struct ctx_pd_event *event)
{
	return (event->layout.sample_type & PERF_SAMPLE_BRANCH_STACK) != 0 &&
	       (event->layout.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) == 0;
}

static bool is_fault(const struct ctx_pd_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE && (event->config == PERF_COUNT_SW_PAGE_FAULTS ||
						     event->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
						     event->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

/*
 * Other events of the kernel have none, though the field is there; counters of the processor have them where they are
 * precise, and then say more. That of the branch trace store is a target, not data.
 */
bool ctx_pd_event_has_addresses(const struct ctx_pd_event *event)
{
	uint64_t more =
		PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR;

	if ((event->layout.sample_type & PERF_SAMPLE_ADDR) == 0)
		return false;
	switch (event->type) {
	case PERF_TYPE_TRACEPOINT:
		return false;
	case PERF_TYPE_SOFTWARE:
		return is_fault(event);
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		return (event->layout.sample_type & more) != 0;
	default:
		return true;
	}
}

void ctx_pd_operations_announce(struct ctx_pd_reader *reader)
{
	const struct ctx_pd_events *events = &reader->file.events;
	struct ctx_pd_operations *operations = &reader->operations;
	struct ctx_source_info *info = &reader->source.info;
	bool has_branches = false, has_memory = false;

	for (size_t i = 0; i < events->n; i++) {
		has_branches |= ctx_pd_event_has_branches(&events->items[i]);
		has_memory |= ctx_pd_event_has_addresses(&events->items[i]);
	}
	if (has_branches) {
		operations->branches = info->n_metrics;
		ctx_traced_metrics_append(CTX_TRACED_BRANCH, info->metrics + info->n_metrics,
					  info->n_metrics);
		info->n_metrics += CTX_BRANCH_METRIC_N;
	}
	if (has_memory) {
		operations->memory = info->n_metrics;
		ctx_traced_metrics_append(CTX_TRACED_MEMORY, info->metrics + info->n_metrics,
					  info->n_metrics);
		info->n_metrics += CTX_MEMORY_METRIC_N;
	}
}

/* What is emitted of an operation besides itself. */
struct place {
	const struct ctx_event *sample; /* its thread and time */
	struct ctx_event_stack stack;
	const char *file; /* what is mapped there; NULL unknown */
};

static enum ctx_status put_operation(struct ctx_pd_reader *reader, const struct place *place,
				     const struct ctx_traced *operation, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_TRACED,
				  .time_ns = place->sample->time_ns,
				  .process = place->sample->process,
				  .thread = place->sample->thread};

	event.traced =
		(struct ctx_event_traced){.operation = operation, .file = place->file, .stack = place->stack};
	return ctx_pd_reader_put(reader, &event, err);
}

/* Nothing for no weight. */
static enum ctx_status put_weight(struct ctx_pd_reader *reader, const struct place *place, uint32_t metric,
				  uint64_t weight, struct ctx_err *err)
{
	struct ctx_event event = *place->sample;

	if (weight == 0)
		return CTX_OK;
	event.sample.metric = metric;
	event.sample.weight = weight;
	event.sample.stack = place->stack;
	return ctx_pd_reader_put(reader, &event, err);
}

/* ---- branches ---- */

static uint64_t place_of(uint64_t address)
{
	return ctx_chainwalk_is_mark(address) || ctx_frame_is_mark(address) ? 0 : address;
}

/* Bytes of the code from the target of the branch before, plus one. */
static uint64_t block_of(uint64_t begin, uint64_t end)
{
	bool same_part = (begin >= CTX_KERNEL_START) == (end >= CTX_KERNEL_START);

	return begin != 0 && end >= begin && end - begin < BLOCK_MAX && same_part ? end - begin + 1 : 0;
}

static enum ctx_status put_branch(struct ctx_pd_reader *reader, const struct ctx_event *at, size_t i,
				  struct ctx_err *err)
{
	const struct ctx_pd_operations *operations = &reader->operations;
	const struct ctx_traced *branch = &operations->items[i];
	const uint64_t *frames = &operations->frames[2 * i];
	struct place edge = {at, {.frames = frames, .n_frames = 2}, NULL};
	struct place from = {at, {.frames = frames, .n_frames = 1}, NULL};
	uint32_t first = operations->branches;
	enum ctx_status status = put_operation(reader, &edge, branch, err);

	if (status == CTX_OK)
		status = put_weight(reader, &from, first + CTX_BRANCH_METRIC_ENTRIES, 1, err);
	if (status == CTX_OK)
		status = put_weight(reader, &from, first + CTX_BRANCH_METRIC_MISPREDICTED, branch->failed,
				    err);
	return status == CTX_OK
		       ? put_weight(reader, &from, first + CTX_BRANCH_METRIC_CYCLES, branch->cycles, err)
		       : status;
}

/* The last branch comes first; perf counts each entry once for each sample that has it. */
static enum ctx_status put_branches(struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample,
				    const struct ctx_event *at, struct ctx_err *err)
{
	struct ctx_pd_operations *operations = &reader->operations;
	size_t n = (size_t)sample->n_branches;
	bool has_all = ctx_pe_sample_has_all_branches(sample);
	enum ctx_status status = ctx_grow(&operations->items, &operations->cap, n + 1, err);

	if (status == CTX_OK)
		status = ctx_grow(&operations->frames, &operations->frames_cap, 2 * n, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		struct ctx_pe_branch branch = ctx_pe_sample_branch(sample, i);
		uint64_t before = has_all && i + 1 < n ? ctx_pe_sample_branch(sample, i + 1).to : 0;

		operations->frames[2 * i] = place_of(branch.from);
		operations->frames[2 * i + 1] = place_of(branch.to);
		operations->items[i] = (struct ctx_traced){
			.kind = CTX_TRACED_BRANCH,
			.operation = branch.type,
			.block = block_of(before, branch.from),
			.cycles = branch.cycles,
			.detail = (branch.predicted || branch.mispredicted ? CTX_BRANCH_IS_PREDICTED : 0) |
				  (branch.in_transaction ? CTX_BRANCH_IN_TRANSACTION : 0) |
				  (branch.aborts ? CTX_BRANCH_ABORTS : 0),
			.failed = branch.mispredicted,
			.cpu = sample->cpu,
			.file = CTX_NONE,
			.descriptor = -1,
		};
	}
	for (size_t i = n; i > 0 && status == CTX_OK; i--) /* in the order of time */
		status = put_branch(reader, at, i - 1, err);
	return status;
}

/* ---- memory ---- */

static const char *mapped_at(const struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample)
{
	if (sample->address >= CTX_KERNEL_START)
		return "[kernel]";
	return ctx_pd_tasks_mapped(&reader->tasks, sample->pid, sample->address);
}

static enum ctx_status put_access(struct ctx_pd_reader *reader, const struct ctx_pd_event *source,
				  const struct ctx_pe_sample *sample, const struct ctx_event *at,
				  struct ctx_err *err)
{
	struct ctx_pd_operations *operations = &reader->operations;
	const struct place place = {at, at->sample.stack, mapped_at(reader, sample)};
	uint32_t first = operations->memory;
	struct ctx_traced *access;
	enum ctx_status status = ctx_grow(&operations->items, &operations->cap, 1, err);

	if (status != CTX_OK)
		return status;
	access = &operations->items[0];
	*access = (struct ctx_traced){
		.kind = CTX_TRACED_MEMORY,
		.operation = (uint8_t)(is_fault(source) ? CTX_MEMORY_FAULT
							: ctx_data_operation_of(sample->data_source)),
		.latency = sample->weight,
		.address = sample->address,
		/* Of a breakpoint the kernel says "not available", in bits; no part of it is known. */
		.detail = source->type == PERF_TYPE_BREAKPOINT ? 0 : sample->data_source,
		.physical = sample->physical,
		.cpu = sample->cpu,
		.file = CTX_NONE,
		.descriptor = -1,
	};
	status = put_operation(reader, &place, access, err);
	if (status == CTX_OK)
		status = put_weight(reader, &place, first + CTX_MEMORY_METRIC_ACCESSES, 1, err);
	if (status != CTX_OK || sample->weight > CTX_TRACED_WEIGHT_MAX)
		return status;
	return put_weight(reader, &place, first + CTX_MEMORY_METRIC_LATENCY, sample->weight, err);
}

enum ctx_status ctx_pd_operations_put(struct ctx_pd_reader *reader, const struct ctx_pd_event *source,
				      const struct ctx_pe_sample *sample, const struct ctx_event *event,
				      struct ctx_err *err)
{
	if (sample->n_branches != 0 && ctx_pd_event_has_branches(source))
		return put_branches(reader, sample, event, err);
	if (sample->address != 0 && ctx_pd_event_has_addresses(source))
		return put_access(reader, source, sample, event, err);
	return CTX_OK;
}
