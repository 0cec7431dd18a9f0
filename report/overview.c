/*
 * Usage records are cumulative, one per process and second. A row is the difference between two
 * records of a process. The first record is compared with zero at the start of the process, unless
 * it was taken at the start: then it is the baseline (an attached process has earlier usage).
 */
#include "base/mem.h"
#include "report/head.h"
#include "report/kinds.h"
#include "report/out.h"

#include <inttypes.h>

/*
 * Two reports: `overview` shows resource usage over the run; `samples` shows the same as gprofng's
 * samples: one per process and record, numbered from 1, with its duration.
 */

/* Usage is recorded by process and about once a second; nothing finer can be selected. */
#define SELECTION_NOTE                                                                                       \
	"this report is about whole processes: of the selection, only intervals (rows that overlap them) "   \
	"and threads (rows of their processes) count; samples are of the whole run"

static const struct ctx_column columns[] = {
	{NULL, "Until ms", CTX_STYLE_TIME},
	{"process", "PID", CTX_STYLE_COUNT},
	{"begin", NULL, CTX_STYLE_TIME},
	{"end", NULL, CTX_STYLE_TIME},
	{"user_ns", "User ms", CTX_STYLE_TIME},
	{"system_ns", "Sys ms", CTX_STYLE_TIME},
	{"rss_bytes", "RSS MiB", CTX_STYLE_BYTES},
	{"vsize_bytes", NULL, CTX_STYLE_COUNT},
	{"minor_faults", "MinF", CTX_STYLE_COUNT},
	{"major_faults", "MajF", CTX_STYLE_COUNT},
	{"voluntary_switches", "VCsw", CTX_STYLE_COUNT},
	{"involuntary_switches", "ICsw", CTX_STYLE_COUNT},
	{"read_bytes", "Rd MiB", CTX_STYLE_BYTES},
	{"write_bytes", "Wr MiB", CTX_STYLE_BYTES},
	{"threads", "Thr", CTX_STYLE_COUNT},
	{"process_id", NULL, CTX_STYLE_COUNT},
};

static const struct ctx_column sample_columns[] = {
	{"sample", "Sample", CTX_STYLE_COUNT},
	{"process", "PID", CTX_STYLE_COUNT},
	{"begin", "From ms", CTX_STYLE_TIME},
	{"end", NULL, CTX_STYLE_TIME},
	{"duration_ns", "Long ms", CTX_STYLE_TIME},
	{"user_ns", "User ms", CTX_STYLE_TIME},
	{"system_ns", "Sys ms", CTX_STYLE_TIME},
	{"minor_faults", "MinF", CTX_STYLE_COUNT},
	{"major_faults", "MajF", CTX_STYLE_COUNT},
	{"voluntary_switches", "VCsw", CTX_STYLE_COUNT},
	{"involuntary_switches", "ICsw", CTX_STYLE_COUNT},
	{"read_bytes", NULL, CTX_STYLE_COUNT},
	{"write_bytes", NULL, CTX_STYLE_COUNT},
	{"process_id", NULL, CTX_STYLE_COUNT},
};

struct walk {
	struct ctx_out *out;
	void (*put)(struct walk *walk, const struct ctx_usage_info *now, const struct ctx_usage_info *before);
	struct ctx_usage_info *before; /* by process */
	bool *seen;
	uint64_t *numbers; /* of the last sample, by process */
};

/* A counter that decreased was reset: its value is the usage since then. */
static struct ctx_cell difference(uint64_t now, uint64_t before)
{
	return ctx_cell_number(now >= before ? now - before : now);
}

static void put_overview(struct walk *walk, const struct ctx_usage_info *now,
			 const struct ctx_usage_info *before)
{
	struct ctx_out *out = walk->out;
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		ctx_cell_number(now->time_ns),
		ctx_cell_signed(out->profile->processes[now->process].pid),
		ctx_cell_number(before->time_ns),
		ctx_cell_number(now->time_ns),
		difference(now->user_ns, before->user_ns),
		difference(now->system_ns, before->system_ns),
		ctx_cell_number(now->rss_bytes),
		ctx_cell_number(now->vsize_bytes),
		difference(now->minor_faults, before->minor_faults),
		difference(now->major_faults, before->major_faults),
		difference(now->voluntary_switches, before->voluntary_switches),
		difference(now->involuntary_switches, before->involuntary_switches),
		difference(now->read_bytes, before->read_bytes),
		difference(now->write_bytes, before->write_bytes),
		ctx_cell_number(now->threads),
		ctx_cell_number(now->process),
	};

	ctx_out_row(out, cells);
}

static void put_sample(struct walk *walk, const struct ctx_usage_info *now,
		       const struct ctx_usage_info *before)
{
	const struct ctx_cell cells[CTX_COUNT_OF(sample_columns)] = {
		ctx_cell_number(walk->numbers[now->process]),
		ctx_cell_signed(walk->out->profile->processes[now->process].pid),
		ctx_cell_number(before->time_ns),
		ctx_cell_number(now->time_ns),
		ctx_cell_number(now->time_ns - before->time_ns),
		difference(now->user_ns, before->user_ns),
		difference(now->system_ns, before->system_ns),
		difference(now->minor_faults, before->minor_faults),
		difference(now->major_faults, before->major_faults),
		difference(now->voluntary_switches, before->voluntary_switches),
		difference(now->involuntary_switches, before->involuntary_switches),
		difference(now->read_bytes, before->read_bytes),
		difference(now->write_bytes, before->write_bytes),
		ctx_cell_number(now->process),
	};

	ctx_out_row(walk->out, cells);
}

static bool is_asked(const struct ctx_report_selection *selection, uint64_t begin, uint64_t end,
		     uint32_t process)
{
	bool in_interval = selection->n_intervals == 0, has_thread = selection->threads == NULL;

	for (size_t i = 0; i < selection->n_intervals && !in_interval; i++)
		in_interval =
			ctx_interval_overlaps(selection->intervals[i], (struct ctx_interval){begin, end});
	for (size_t i = 0; i < selection->n_threads && !has_thread; i++)
		has_thread = selection->threads[i] < selection->profile->n_threads &&
			     selection->profile->threads[selection->threads[i]].process == process;
	return in_interval && has_thread;
}

/* The header of `out` is about the whole run: `selection` is the requested one. */
static void put_rows(struct walk *walk, const struct ctx_report_selection *selection)
{
	struct ctx_out *out = walk->out;
	const struct ctx_profile *profile = selection->profile;
	uint64_t shown = 0, left_out = 0;

	for (size_t i = 0; i < profile->n_usage; i++) {
		const struct ctx_usage_info *now = &profile->usage[i];
		struct ctx_usage_info *last;
		bool baseline;

		if (now->process >= profile->n_processes)
			continue;
		last = &walk->before[now->process];
		if (!walk->seen[now->process])
			last->time_ns = profile->processes[now->process].life.begin_ns;
		baseline = !walk->seen[now->process] && ctx_usage_is_start(profile, now);
		walk->seen[now->process] = true;
		walk->numbers[now->process] += !baseline;
		if (!baseline && now->time_ns > last->time_ns &&
		    is_asked(selection, last->time_ns, now->time_ns, now->process)) {
			if (out->options->limit != 0 && shown == out->options->limit) {
				left_out++;
			} else {
				walk->put(walk, now, last);
				shown++;
			}
		}
		*last = *now;
	}
	ctx_out_section(out, NULL);
	if (shown == 0)
		ctx_out_line(out, "(no usage records in the selection)");
	if (left_out != 0)
		ctx_out_line(out, ctx_out_format(out, "(%" PRIu64 " more lines)", left_out));
}

static enum ctx_status print_walk(struct walk *walk, const struct ctx_report_kind *kind,
				  const struct ctx_report_selection *selection,
				  const struct ctx_report_options *options, struct ctx_err *err)
{
	const struct ctx_out_spec spec = {
		.kind = kind, .selection = selection, .options = options, .whole_note = SELECTION_NOTE};
	uint32_t n = selection->profile->n_processes;
	struct ctx_usage_info *before CTX_AUTO_FREE = ctx_calloc(n, sizeof(*before));
	bool *seen CTX_AUTO_FREE = ctx_calloc(n, sizeof(*seen));
	uint64_t *numbers CTX_AUTO_FREE = ctx_calloc(n, sizeof(*numbers));
	struct ctx_out out;

	if (before == NULL || seen == NULL || numbers == NULL)
		return ctx_err_nomem(err);
	walk->out = &out;
	walk->before = before;
	walk->seen = seen;
	walk->numbers = numbers;
	ctx_out_begin(&out, &spec);
	put_rows(walk, selection);
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

static enum ctx_status print_overview(struct ctx_report_source *source,
				      const struct ctx_report_options *options, struct ctx_err *err)
{
	return print_walk(&(struct walk){.put = put_overview}, &ctx_report_overview, &source->selection,
			  options, err);
}

static const struct ctx_report_alias overview_aliases[] = {{"statistics", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_overview = {
	.name = "overview",
	.metrics = CTX_REPORT_NO_METRIC,
	.no_function = true,
	.order = ": it is in order of time",
	.aliases = overview_aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print_overview,
};

static enum ctx_status print_samples(struct ctx_report_source *source,
				     const struct ctx_report_options *options, struct ctx_err *err)
{
	return print_walk(&(struct walk){.put = put_sample}, &ctx_report_samples, &source->selection, options,
			  err);
}

static const struct ctx_report_alias sample_aliases[] = {
	{"sample-list", false}, {"sample-detail", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_samples = {
	.name = "samples",
	.metrics = CTX_REPORT_NO_METRIC,
	.no_function = true,
	.order = ": it is in order of time",
	.aliases = sample_aliases,
	.columns = sample_columns,
	.n_columns = CTX_COUNT_OF(sample_columns),
	.print = print_samples,
};
