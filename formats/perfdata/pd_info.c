#include "formats/perfdata/pd_operations.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define METRIC_BEGINNING_MAX 250

/* Names in use, and the last number appended to each beginning. */
struct metric_names {
	struct ctx_strtab used, beginnings;
	uint32_t *last; /* owned; by id of beginnings */
	size_t cap;
};

static void metric_names_deinit(struct metric_names *names)
{
	ctx_strtab_deinit(&names->used);
	ctx_strtab_deinit(&names->beginnings);
	free(names->last);
}

/* "cycles#2", or the next number that makes the name unique. */
static enum ctx_status number_metric(struct ctx_pd_reader *reader, struct metric_names *names,
				     const char **name, struct ctx_err *err)
{
	size_t n = strnlen(*name, METRIC_BEGINNING_MAX), n_before = names->beginnings.n;
	char text[METRIC_BEGINNING_MAX + 16];
	uint32_t id = 0;
	enum ctx_status status = ctx_strtab_add(&names->beginnings, *name, n, &id, err);

	if (status == CTX_OK)
		status = ctx_grow(&names->last, &names->cap, names->beginnings.n, err);
	if (status != CTX_OK)
		return status;
	if (id == n_before)
		names->last[id] = 1;
	do {
		snprintf(text, sizeof(text), "%.*s#%u", (int)n, *name, ++names->last[id]);
	} while (ctx_strtab_find(&names->used, text, strlen(text)) != UINT32_MAX);
	*name = ctx_arena_strdup(&reader->file.facts.arena, text);
	return *name != NULL ? ctx_strtab_add_text(&names->used, text, &id, err) : ctx_err_nomem(err);
}

/* Events of the same name get a number: "cycles", "cycles#2". */
static enum ctx_status name_metric(struct ctx_pd_reader *reader, struct metric_names *names,
				   const struct ctx_pd_event *event, const char **ret, struct ctx_err *err)
{
	size_t n_before = names->used.n;
	enum ctx_status status;
	uint32_t id = 0;

	*ret = event->name;
	status = ctx_strtab_add_text(&names->used, *ret, &id, err);
	if (status != CTX_OK || id == n_before)
		return status;
	return number_metric(reader, names, ret, err);
}

static enum ctx_status make_metrics(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	struct metric_names names __attribute__((cleanup(metric_names_deinit))) = {0};
	struct ctx_pd_events *events = &reader->file.events;
	struct ctx_source_info *info = &reader->source.info;

	info->metrics = ctx_calloc(events->n + CTX_PD_OPERATION_METRICS, sizeof(*info->metrics));
	if (info->metrics == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < events->n; i++) {
		struct ctx_pd_event *event = &events->items[i];
		enum ctx_status status;

		if (ctx_pd_event_is_dummy(event) && events->n > 1)
			continue;
		event->metric = info->n_metrics;
		status = name_metric(reader, &names, event, &info->metrics[info->n_metrics].name, err);
		if (status != CTX_OK)
			return status;
		info->metrics[info->n_metrics].unit = ctx_pd_event_unit(event);
		if (ctx_pd_event_is_off_cpu(event))
			info->metrics[info->n_metrics].kind = CTX_METRIC_DURATION;
		info->n_metrics++;
	}
	ctx_pd_operations_announce(reader);
	return CTX_OK;
}

static bool is_other_host(const char *recorded)
{
	char own[256];

	return recorded != NULL && gethostname(own, sizeof(own)) == 0 &&
	       strncmp(recorded, own, sizeof(own)) != 0;
}

static const char *or_nothing(const char *text)
{
	return text != NULL ? text : "";
}

/* Without a clock of one's choice records have the kernel's own time, which perf calls by no name. */
static void set_clock(const struct ctx_pd_file *file, struct ctx_source_clock *clock)
{
	const struct ctx_pd_clock *facts = &file->facts.clock;
	const struct ctx_pd_event *first = file->events.n != 0 ? &file->events.items[0] : NULL;
	bool is_given = facts->has_clockid || (first != NULL && first->use_clockid);

	if (file->first_sample > file->last_sample)
		return;
	clock->name = !is_given		   ? "perf"
		      : facts->has_clockid ? ctx_pd_clock_name(facts->clockid)
					   : ctx_pd_clock_name((uint32_t)first->clockid);
	clock->host = file->facts.machine.hostname;
	clock->begin_ns = file->first_sample;
	if (!ctx_pd_facts_wall_time(&file->facts, file->first_sample, &clock->wall_ns))
		clock->wall_ns = clock->name != NULL && strcmp(clock->name, "CLOCK_REALTIME") == 0
					 ? file->first_sample
					 : 0;
}

enum ctx_status ctx_pd_info_fill(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->source.info;
	struct ctx_pd_file *file = &reader->file;
	enum ctx_status status = make_metrics(reader, err);

	if (status == CTX_OK)
		status = ctx_pd_facts_properties(&file->facts, file->first_sample, &info->properties,
						 &info->n_properties, err);
	if (status != CTX_OK)
		return status;
	if (asprintf(&reader->format, "perf.data%s%s", file->pipe ? " (pipe)" : "",
		     file->n_parts > 1 ? " (directory)" : "") < 0) {
		reader->format = NULL;
		return ctx_err_nomem(err);
	}
	info->name = ctx_path_base(file->path);
	info->format = reader->format;
	info->duration_ns =
		file->first_sample <= file->last_sample ? file->last_sample - file->first_sample + 1 : 1;
	set_clock(file, &info->clock);
	info->closed = file->closed;
	info->notes = info->kallsyms = info->fallback_root = "";
	info->kernel = (struct ctx_source_kernel){
		.build_id = ctx_pd_facts_build_id(&file->facts, "[kernel.kallsyms]"),
		.release = or_nothing(file->facts.machine.os_release),
		.symbol = "",
	};
	status = ctx_pd_bpf_settle(&file->facts.bpf, &file->facts.arena, err);
	if (status != CTX_OK)
		return status;
	ctx_pd_simpleperf_settle(&file->facts.simpleperf);
	info->symbols = file->facts.simpleperf.files;
	info->n_symbols = file->facts.simpleperf.n_files;
	info->bytes = file->bytes;
	reader->other_host = is_other_host(file->facts.machine.hostname);
	return CTX_OK;
}
