#include "formats/perfdata/pd_losses.h"
#include "formats/perfdata/pd_reader.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

static const char *type_name(uint32_t type)
{
	static const char *const names[] = {
		[PERF_RECORD_READ] = "READ",
		[PERF_RECORD_AUX] = "AUX",
		[PERF_RECORD_ITRACE_START] = "ITRACE_START",
		[PERF_RECORD_SWITCH] = "SWITCH",
		[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
		[PERF_RECORD_NAMESPACES] = "NAMESPACES",
		[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
		[PERF_RECORD_CGROUP] = "CGROUP",
		[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
		[CTX_PD_AUXTRACE_INFO] = "AUXTRACE_INFO",
		[CTX_PD_AUXTRACE] = "AUXTRACE",
		[CTX_PD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
		[CTX_PD_STAT] = "STAT",
		[CTX_PD_STAT_ROUND] = "STAT_ROUND",
	};

	return type < CTX_COUNT_OF(names) ? names[type] : NULL;
}

/* perf's own bookkeeping: records without data for a profile. */
static bool is_bookkeeping(uint32_t type)
{
	return type >= CTX_PD_HEADER_ATTR && type_name(type) == NULL && type <= CTX_PD_COMPRESSED2;
}

/* "12 SWITCH, 3 AUXTRACE, 1 of type 40" */
static enum ctx_status put_skipped(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_PROPERTY};
	size_t n = 0;

	for (uint32_t type = 0; type < CTX_PD_TYPE_END; type++) {
		uint64_t count = reader->counts.types[type];
		const char *name = type_name(type);
		char number[32];

		if (count == 0 || is_bookkeeping(type))
			continue;
		snprintf(number, sizeof(number), "of type %u", type);
		if (n + 64 < sizeof(reader->text))
			n += (size_t)snprintf(reader->text + n, sizeof(reader->text) - n, "%s%llu %s",
					      n != 0 ? ", " : "", (unsigned long long)count,
					      name != NULL ? name : number);
	}
	if (n == 0)
		return CTX_OK;
	event.property.key = "records not used";
	event.property.value = reader->text;
	return ctx_pd_reader_put(reader, &event, err);
}

/* The text is kept in the table of names: several warnings are in the outbox at once. */
static enum ctx_status put_warning(struct ctx_pd_reader *reader, uint64_t count, struct ctx_err *err,
				   const char *format, ...)
{
	struct ctx_event event = {.kind = CTX_EV_WARNING};
	char text[512];
	uint32_t id = 0;
	enum ctx_status status;
	va_list args;

	if (count == 0)
		return CTX_OK;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	status = ctx_pd_reader_name(reader, text, &id, err);
	if (status != CTX_OK)
		return status;
	event.text = ctx_strtab_get(&reader->tasks.names, id);
	return ctx_pd_reader_put(reader, &event, err);
}

static enum ctx_status put_warnings(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	const struct ctx_pd_counts *counts = &reader->counts;
	enum ctx_status status = put_warning(
		reader, counts->copied_stacks, err,
		"%llu samples have a copy of the user's stack that cannot be unwound (32-bit code): their "
		"callers in user code are missing",
		(unsigned long long)counts->copied_stacks);

	if (status == CTX_OK)
		status =
			put_warning(reader, counts->unknown_ids, err,
				    "%llu samples are of events that the file does not describe: not counted",
				    (unsigned long long)counts->unknown_ids);
	if (status == CTX_OK)
		status = put_warning(reader, counts->without_time, err,
				     "%llu samples have no time: they are at the beginning",
				     (unsigned long long)counts->without_time);
	if (status == CTX_OK)
		status = put_warning(
			reader, counts->outside, err,
			"%llu samples were outside of the time that the file tells: they are at its "
			"beginning or end",
			(unsigned long long)counts->outside);
	if (status == CTX_OK)
		status = put_warning(reader, counts->longer, err,
				     "%llu samples are longer than their events say: others may be missing",
				     (unsigned long long)counts->longer);
	if (status == CTX_OK)
		status = put_warning(reader, reader->states.namespaced, err,
				     "recorded inside a pid namespace (a container, WSL): tracepoints have "
				     "the kernel's thread "
				     "ids, %llu of them of threads that are not known by both: states before "
				     "are uncertain",
				     (unsigned long long)reader->states.n_unknown_ids);
	/* Intel PT, Arm CoreSight and SPE: samples are made of the trace by perf. */
	if (status == CTX_OK)
		status = put_warning(reader, reader->weight == 0 ? counts->types[CTX_PD_AUXTRACE] : 0, err,
				     "no samples, but %llu buffers of a processor's trace (AUX): make "
				     "samples of them first, with perf "
				     "inject --itrace=i100us -i FILE -o OTHER",
				     (unsigned long long)counts->types[CTX_PD_AUXTRACE]);
	if (status == CTX_OK)
		status = put_warning(reader, counts->guests, err,
				     "%llu samples are of guests, whose addresses have no names here",
				     (unsigned long long)counts->guests);
	return status;
}

/* Neither call chains nor copies of stacks: perf record without -g. */
static bool took_no_callers(const struct ctx_pd_events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->items[i].layout.sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER))
			return false;
	}
	return true;
}

enum ctx_status ctx_pd_ending_put(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	enum ctx_status status = ctx_pd_tasks_expire(&reader->tasks, UINT64_MAX, err);

	reader->source.info.no_call_stacks = took_no_callers(&reader->file.events);
	if (status == CTX_OK)
		status = ctx_pd_losses_end(reader, err);
	if (status == CTX_OK)
		status = put_warnings(reader, err);
	return status == CTX_OK ? put_skipped(reader, err) : status;
}
