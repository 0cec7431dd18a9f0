#include "formats/export/gprofng_texts.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/export/export_stack.h"
#include "formats/export/gprofng_blocks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECOND ((uint64_t)1000000000)
#define USAGE_BYTES 504u
#define CPUS_MAX 4096u

/* Appends text, escaped for an attribute or between tags. */
static void put_escaped(struct ctx_buf *out, const char *text)
{
	struct ctx_buf plain = {0};

	ctx_export_put_text(&plain, text);
	for (size_t i = 0; i < plain.n; i++) {
		switch (plain.bytes[i]) {
		case '&':
			ctx_buf_put_text(out, "&amp;");
			break;
		case '<':
			ctx_buf_put_text(out, "&lt;");
			break;
		case '>':
			ctx_buf_put_text(out, "&gt;");
			break;
		case '"':
			ctx_buf_put_text(out, "&quot;");
			break;
		default:
			ctx_buf_put_u8(out, plain.bytes[i]);
		}
	}
	out->failed |= plain.failed;
	ctx_buf_deinit(&plain);
}

/* Inputs and output of the files of one process. */
struct writing {
	const struct ctx_gpx_texts *texts;
	const struct ctx_profile *profile;
	const struct ctx_gpx_process *process;
	uint32_t id;
	const struct ctx_gpx_places *places;
	struct ctx_buf out;
};

static void put_attribute(struct ctx_buf *out, const char *key, const char *text)
{
	ctx_buf_printf(out, " %s=\"", key);
	put_escaped(out, text);
	ctx_buf_put_text(out, "\"");
}

/* A time from the start of the process. */
static void put_time(struct writing *writing, uint64_t time_ns)
{
	uint64_t since = time_ns > writing->process->begin_ns ? time_ns - writing->process->begin_ns : 0;

	ctx_buf_printf(&writing->out, " tstamp=\"%" PRIu64 ".%09" PRIu64 "\"", since / SECOND,
		       since % SECOND);
}

static uint64_t number_in(const char *text, uint64_t otherwise)
{
	uint64_t value = strtoull(text, NULL, 10);

	return value != 0 ? value : otherwise;
}

/* Who, where and what */

/* A property of the host, under the key of either kind of recording. */
static const char *property(const struct writing *writing, const char *key, const char *other,
			    const char *otherwise)
{
	return ctx_profile_property(writing->profile, key,
				    ctx_profile_property(writing->profile, other, otherwise));
}

/* "2, 2499 MHz" */
static uint64_t clock_mhz(const char *cpus)
{
	const char *comma = strchr(cpus, ',');

	return comma != NULL && strstr(comma, "MHz") != NULL ? number_in(comma + 1, 0) : 0;
}

static void put_system(struct writing *writing)
{
	const struct ctx_profile *profile = writing->profile;
	const char *arch = ctx_profile_property(profile, "arch", "x86_64");
	const char *kernel = ctx_profile_property(profile, "kernel", "");
	const char *cpus = ctx_profile_property(profile, "cpus", "");
	uint64_t n_cpus = number_in(cpus, 1);
	struct ctx_buf *out = &writing->out, os = {0};

	/* gprofng treats an unknown architecture as one of the other byte order. */
	if (strcmp(arch, "aarch64") != 0)
		arch = "x86_64";
	ctx_buf_put_text(&os, ctx_profile_property(profile, "os", "Linux"));
	if (kernel[0] != '\0')
		ctx_buf_printf(&os, " %s", kernel);
	ctx_buf_put_u8(&os, 0);
	out->failed |= os.failed;
	ctx_buf_put_text(out, "<system");
	put_attribute(out, "hostname", ctx_profile_property(profile, "host", "unknown"));
	put_attribute(out, "arch", arch);
	put_attribute(out, "os", os.failed ? "Linux" : (const char *)os.bytes);
	ctx_buf_deinit(&os);
	ctx_buf_printf(out, " pagesz=\"%" PRIu64 "\" npages=\"0\">\n",
		       number_in(property(writing, "page_size", "page size", ""), 4096));
	for (uint64_t i = 0; i < n_cpus && i < CPUS_MAX; i++)
		ctx_buf_printf(out, "  <cpu id=\"%" PRIu64 "\" clk=\"%" PRIu64 "\"/>\n", i, clock_mhz(cpus));
	ctx_buf_put_text(out, "</system>\n");
}

static int64_t parent_pid(const struct writing *writing)
{
	uint32_t parent = writing->profile->processes[writing->id].parent;

	return parent < writing->profile->n_processes ? writing->profile->processes[parent].pid : 0;
}

static void put_process(struct writing *writing)
{
	const struct ctx_process_info *info = &writing->profile->processes[writing->id];
	struct ctx_buf *out = &writing->out;

	ctx_buf_printf(out, "<process pid=\"%" PRId64 "\"></process>\n", info->pid);
	ctx_buf_printf(out, "<process ppid=\"%" PRId64 "\"></process>\n", parent_pid(writing));
	ctx_buf_put_text(out, "<process");
	put_attribute(out, "cwd", property(writing, "cwd", "directory", "/"));
	ctx_buf_put_text(out, "></process>\n<process wsize=\"64\"></process>\n<process>");
	put_escaped(out, info->command[0] != '\0' ? info->command : "unknown");
	ctx_buf_put_text(out, "</process>\n<dataptr name=\"frameinfo\" format=\"binary\"/>\n");
	ctx_buf_put_text(out, "<setting linetrace=\"fork|exec|combo\"/>\n");
}

static void put_run(struct writing *writing)
{
	uint64_t run = (uint64_t)CTX_GPX_RUN_NS + writing->process->begin_ns;
	int64_t unix_s = writing->texts->start_unix;

	if (unix_s != 0)
		unix_s += (int64_t)(writing->process->begin_ns / SECOND);
	ctx_buf_printf(&writing->out,
		       "<event kind=\"run\" tstamp=\"%" PRIu64 ".%09" PRIu64 "\" time=\"%" PRId64
		       "\" tm_zone=\"0\"/>\n",
		       run / SECOND, run % SECOND, unix_s);
}

/* Records */

static void put_field(struct ctx_buf *out, const char *name, const char *about, unsigned offset,
		      const char *type)
{
	ctx_buf_printf(out, "    <field name=\"%s\"", name);
	if (about[0] != '\0')
		put_attribute(out, "uname", about);
	ctx_buf_printf(out, " offset=\"%u\" type=\"%s\"/>\n", offset, type);
}

static void put_common_fields(struct ctx_buf *out, bool is_clock)
{
	put_field(out, "LWPID", "Lightweight process id", 8, "INT64");
	put_field(out, "THRID", "Thread number", 16, "INT64");
	put_field(out, "CPUID", "CPU id", 24, "INT32");
	put_field(out, "TSTAMP", "High resolution timestamp", is_clock ? 28 : 32, "INT64");
	put_field(out, "FRINFO", "", is_clock ? 36 : 40, "INT64");
}

static void put_clock(struct writing *writing)
{
	const struct ctx_gpx_data *data = writing->texts->data;
	struct ctx_buf *out = &writing->out;

	ctx_buf_printf(out,
		       "<profile name=\"profile\" ptimer=\"%" PRIu64 "\" numstates=\"%d\">\n"
		       "  <profdata fname=\"profile\"/>\n"
		       "  <profpckt kind=\"8\" uname=\"Clock profiling data\">\n",
		       data->tick_us, data->kind == CTX_GPX_STATES ? 10 : 1);
	put_common_fields(out, true);
	put_field(out, "MSTATE", "Thread state", 44, "INT32");
	put_field(out, "NTICK", "Duration", 48, "INT32");
	if (!data->is_exact)
		put_field(out, "WEIGHT_NS", "Duration, ns", 56, "UINT64");
	ctx_buf_put_text(out, "  </profpckt>\n</profile>\n");
}

/*
 * gprofng's names of counters have attributes after "~" and a register after "/": these characters
 * must not be in a name.
 */
static void put_counter(struct writing *writing)
{
	const struct ctx_metric_info *metric = &writing->profile->metrics[writing->texts->input->metric];
	struct ctx_buf *out = &writing->out, name = {0};

	ctx_buf_put_text(&name, metric->name);
	ctx_buf_put_u8(&name, 0);
	for (size_t i = 0; !name.failed && i + 1 < name.n; i++) {
		if (strchr(" ~/,+%\"'", name.bytes[i]) != NULL || name.bytes[i] < ' ')
			name.bytes[i] = '-';
	}
	out->failed |= name.failed;
	ctx_buf_put_text(out, "<profile name=\"hwcounter\" cpuver=\"0\"");
	put_attribute(out, "hwcname", name.failed ? "" : (const char *)name.bytes);
	put_attribute(out, "int_name", name.failed ? "" : (const char *)name.bytes);
	ctx_buf_put_text(out, " interval=\"1\" tag=\"0\" memop=\"0\"/>\n<profdata fname=\"hwcounters\"/>\n"
			      "<profpckt kind=\"3\" uname=\"Hardware counter profiling data\">\n");
	put_common_fields(out, false);
	put_field(out, "HWCTAG", "Hardware counter index", 48, "INT32");
	put_field(out, "HWCINT", "Hardware counter interval", 56, "INT64");
	ctx_buf_put_text(out, "</profpckt>\n");
	ctx_buf_deinit(&name);
}

/* Events */

static void put_comment(struct ctx_buf *out, const char *text)
{
	ctx_buf_put_text(out, "<event kind=\"comment\" id=\"400\"");
	put_attribute(out, "text", text);
	ctx_buf_put_text(out, "/>\n");
}

/* Notes that the experiment has only a part of the recording. */
static void put_selection(struct writing *writing)
{
	const struct ctx_export_input *input = writing->texts->input;
	const struct ctx_report_selection *selection = input->selection;
	struct ctx_buf text = {0};

	ctx_buf_printf(&text, "exported by ctxan %s from %s: %s", CTX_VERSION, selection->path,
		       writing->profile->metrics[input->metric].name);
	for (size_t i = 0; i < selection->n_intervals; i++)
		ctx_buf_printf(&text, "%s %" PRIu64 ".%06" PRIu64 ":%" PRIu64 ".%06" PRIu64 " ms",
			       i == 0 ? ", interval" : ",", selection->intervals[i].begin_ns / 1000000,
			       selection->intervals[i].begin_ns % 1000000,
			       selection->intervals[i].end_ns / 1000000,
			       selection->intervals[i].end_ns % 1000000);
	if (selection->threads != NULL)
		ctx_buf_printf(&text, ", %zu of %u threads", selection->n_threads,
			       writing->profile->n_threads);
	if (selection->filter != NULL && selection->filter[0] != '\0')
		ctx_buf_printf(&text, ", %s", selection->filter);
	ctx_buf_put_u8(&text, 0);
	writing->out.failed |= text.failed;
	if (!text.failed)
		put_comment(&writing->out, (const char *)text.bytes);
	ctx_buf_deinit(&text);
	for (size_t i = 0; i < writing->profile->n_warnings; i++)
		put_comment(&writing->out, writing->profile->warnings[i]);
}

static void put_child(struct writing *writing, uint32_t child)
{
	const struct ctx_gpx_process *process = &writing->texts->processes[child];
	const struct ctx_process_info *info = &writing->profile->processes[child];
	bool is_exec = child == writing->process->successor;
	struct ctx_buf *out = &writing->out;

	ctx_buf_printf(out, "<event kind=\"%s\"", is_exec ? "exec_start" : "desc_started");
	put_time(writing, process->begin_ns);
	ctx_buf_printf(out, " variant=\"%s\" lineage=\"%s\" follow=\"1\"", is_exec ? "execve" : "fork",
		       process->lineage);
	if (is_exec)
		put_attribute(out, "msg", info->command);
	else
		ctx_buf_printf(out, " msg=\"pid=%" PRId64 "\"", info->pid);
	ctx_buf_put_text(out, "/>\n");
}

/* gprofng reads these as names of Java threads, and shows them only for Java. */
static void put_threads(struct writing *writing)
{
	const struct ctx_gpx_groups *threads = writing->texts->threads;
	const struct ctx_profile *profile = writing->profile;
	struct ctx_buf *out = &writing->out;

	for (uint32_t at = threads->begins[writing->id]; at < threads->begins[writing->id + 1]; at++) {
		uint32_t i = threads->items[at];
		uint64_t begin = (uint64_t)CTX_GPX_RUN_NS + profile->threads[i].life.begin_ns;

		if (profile->threads[i].name[0] == '\0')
			continue;
		ctx_buf_printf(out, "<event kind=\"jthread_start\" tstamp=\"%" PRIu64 ".%09" PRIu64 "\"",
			       begin / SECOND, begin % SECOND);
		put_attribute(out, "name", profile->threads[i].name);
		ctx_buf_printf(out,
			       " grpname=\"\" prntname=\"\" tid=\"0x%" PRIx64
			       "\" jthr=\"0x0\" jenv=\"0x0\"/>\n",
			       writing->texts->thread_numbers[i]);
	}
}

/*
 * One sample per usage record, and one at the end without a record: gprofng takes the end of the
 * run from it.
 */
static void put_samples(struct writing *writing)
{
	const struct ctx_gpx_groups *usage = writing->texts->usage;
	uint32_t begin = usage->begins[writing->id], n = usage->begins[writing->id + 1] - begin;

	for (uint32_t at = 0; at < n; at++) {
		ctx_buf_put_text(&writing->out, "<event kind=\"sample\"");
		put_time(writing, writing->profile->usage[usage->items[begin + at]].time_ns);
		ctx_buf_printf(&writing->out, " id=\"%u\" label=\"%s\"/>\n", at,
			       at == 0 ? "start" : "periodic");
	}
	ctx_buf_put_text(&writing->out, "<event kind=\"sample\"");
	put_time(writing, writing->process->end_ns);
	ctx_buf_printf(&writing->out, " id=\"%u\" label=\"end\"/>\n", n);
}

static void put_end(struct writing *writing)
{
	uint32_t successor = writing->process->successor;

	put_samples(writing);
	if (successor != CTX_NONE) {
		put_child(writing, successor);
	} else if (writing->process->closed) {
		put_run(writing);
		ctx_buf_put_text(&writing->out, "<event kind=\"exit\"");
		put_time(writing, writing->process->end_ns);
		ctx_buf_put_text(&writing->out, "/>\n");
	}
}

static void put_log(struct writing *writing)
{
	const struct ctx_gpx_groups *children = writing->texts->children;

	ctx_buf_put_text(&writing->out, "<experiment version=\"12.4\">\n<collector>ctxan " CTX_VERSION
					"</collector>\n</experiment>\n");
	put_system(writing);
	put_process(writing);
	put_run(writing);
	if (writing->texts->data->kind == CTX_GPX_COUNTER)
		put_counter(writing);
	else
		put_clock(writing);
	if (writing->id == writing->texts->root_process)
		put_selection(writing);
	put_threads(writing);
	for (uint32_t i = children->begins[writing->id]; i < children->begins[writing->id + 1]; i++) {
		if (children->items[i] != writing->process->successor)
			put_child(writing, children->items[i]);
	}
	put_end(writing);
}

/* Maps */

static int by_time(const void *a, const void *b, void *context)
{
	const struct ctx_gpx_places *places = context;
	const struct ctx_gpx_range *left = a, *right = b;
	uint64_t left_ns = places->places[left->object].since_ns;
	uint64_t right_ns = places->places[right->object].since_ns;

	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	return (left->begin > right->begin) - (left->begin < right->begin);
}

static void put_maps(struct writing *writing, struct ctx_gpx_range *ranges)
{
	const struct ctx_gpx_places *places = writing->places;
	size_t n = places->n_ranges;

	if (n != 0) {
		memcpy(ranges, places->ranges, n * sizeof(*ranges));
		qsort_r(ranges, n, sizeof(*ranges), by_time, (void *)(uintptr_t)places);
	}
	for (size_t i = 0; i < n; i++) {
		ctx_buf_put_text(&writing->out, "<event kind=\"map\" object=\"segment\"");
		put_time(writing, places->places[ranges[i].object].since_ns);
		ctx_buf_printf(&writing->out,
			       " vaddr=\"0x%016" PRIX64 "\" size=\"%" PRIu64
			       "\" pagesz=\"4096\" foffset=\"+0x%08" PRIX64
			       "\" modes=\"0x005\" chksum=\"0xFFFFFFFF\"",
			       ranges[i].begin, ranges[i].end - ranges[i].begin, ranges[i].file_offset);
		put_attribute(&writing->out, "name", places->objects->items[ranges[i].object].name);
		ctx_buf_put_text(&writing->out, "/>\n");
	}
}

/* Usage */

static void put_timespec(uint8_t *at, uint64_t ns)
{
	ctx_gpx_put_u64(at, ns / SECOND);
	ctx_gpx_put_u64(at + 8, ns % SECOND);
}

static void put_usage(struct writing *writing)
{
	const struct ctx_gpx_groups *records = writing->texts->usage;

	for (uint32_t i = records->begins[writing->id]; i < records->begins[writing->id + 1]; i++) {
		const struct ctx_usage_info *usage = &writing->profile->usage[records->items[i]];
		uint64_t begin = (uint64_t)CTX_GPX_RUN_NS + writing->process->begin_ns;
		uint64_t now = (uint64_t)CTX_GPX_RUN_NS + usage->time_ns;
		uint8_t record[USAGE_BYTES] = {0};

		ctx_gpx_put_u32(record, (uint32_t)writing->profile->processes[writing->id].pid);
		ctx_gpx_put_u32(record + 4, 1);
		put_timespec(record + 8, now);
		put_timespec(record + 24, begin);
		put_timespec(record + 56, now > begin ? now - begin : 0);
		put_timespec(record + 72, usage->user_ns);
		put_timespec(record + 88, usage->system_ns);
		ctx_gpx_put_u64(record + 328, usage->minor_faults);
		ctx_gpx_put_u64(record + 336, usage->major_faults);
		ctx_gpx_put_u64(record + 352, usage->read_bytes / 512);
		ctx_gpx_put_u64(record + 360, usage->write_bytes / 512);
		ctx_gpx_put_u64(record + 392, usage->voluntary_switches);
		ctx_gpx_put_u64(record + 400, usage->involuntary_switches);
		ctx_buf_put(&writing->out, record, sizeof(record));
	}
}

/* gprofng prints them unchanged: written line by line, without non-text bytes. */
static void put_notes(struct ctx_buf *out, const char *notes)
{
	while (*notes != '\0') {
		size_t n = strcspn(notes, "\n");
		char *line = ctx_memdup0(notes, n);

		if (line == NULL) {
			out->failed = true;
			return;
		}
		ctx_export_put_text(out, line);
		ctx_buf_put_text(out, "\n");
		free(line);
		notes += n + (notes[n] == '\n');
	}
}

static enum ctx_status end_file(struct writing *writing, const char *name, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(writing->process->path, name);
	enum ctx_status status = path != NULL ? ctx_buf_check(&writing->out, err) : ctx_err_nomem(err);

	if (status == CTX_OK)
		status = ctx_file_replace(path, writing->out.bytes, writing->out.n, err);
	ctx_buf_clear(&writing->out);
	return status;
}

enum ctx_status ctx_gpx_texts_write(const struct ctx_gpx_texts *texts, uint32_t process,
				    const struct ctx_gpx_places *places, struct ctx_err *err)
{
	struct writing writing = {.texts = texts,
				  .profile = texts->input->profile,
				  .process = &texts->processes[process],
				  .id = process,
				  .places = places};
	struct ctx_gpx_range *ranges CTX_AUTO_FREE = ctx_calloc(places->n_ranges, sizeof(*ranges));
	enum ctx_status status;

	if (ranges == NULL)
		return ctx_err_nomem(err);
	put_log(&writing);
	status = end_file(&writing, "log.xml", err);
	if (status == CTX_OK) {
		put_maps(&writing, ranges);
		status = end_file(&writing, "map.xml", err);
	}
	if (status == CTX_OK) {
		put_usage(&writing);
		status = end_file(&writing, "overview", err);
	}
	if (status == CTX_OK && process == texts->root_process && writing.profile->notes[0] != '\0') {
		put_notes(&writing.out, writing.profile->notes);
		status = end_file(&writing, "notes", err);
	}
	ctx_buf_deinit(&writing.out);
	return status;
}
