#include "formats/gprofng/gp_log.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define VERSION_MIN 12u
#define TIME_MAX                                                                                             \
	((int64_t)1 << 60) /* 36 years of a monotonic clock: sums of a few such times do not overflow */

/* Parser state: a <field> belongs to the last <profpckt>, which belongs to the last <profdata>. */
struct reading {
	struct ctx_gp_log *log;
	size_t file;		      /* CTX_GP_FILES_MAX: none */
	struct ctx_gp_layout *layout; /* NULL: none */
	const struct ctx_gp_tag *tag;
	struct ctx_err *err;
};

static enum ctx_status keep(struct reading *reading, const char *text, const char **ret)
{
	*ret = ctx_arena_strdup(&reading->log->arena, text != NULL ? text : "");
	return *ret != NULL ? CTX_OK : ctx_err_nomem(reading->err);
}

static enum ctx_status keep_attribute(struct reading *reading, const char *name, const char **ret)
{
	return keep(reading, ctx_gp_tag_text(reading->tag, name), ret);
}

static void damage(struct ctx_gp_log *log, size_t line, const char *what)
{
	if (log->damaged++ == 0)
		snprintf(log->damage, sizeof(log->damage), "log.xml: line %zu: %s", line, what);
}

/* Facts */

static bool is_big_endian(const char *arch)
{
	size_t n = strlen(arch);

	if (strncmp(arch, "sparc", 5) == 0 || strncmp(arch, "SPARC", 5) == 0 ||
	    strncmp(arch, "sun4", 4) == 0 || strncmp(arch, "s390", 4) == 0)
		return true;
	return strncmp(arch, "ppc", 3) == 0 && (n < 2 || strcmp(arch + n - 2, "le") != 0);
}

static enum ctx_status on_system(struct reading *reading)
{
	struct ctx_gp_log *log = reading->log;
	enum ctx_status status = keep_attribute(reading, "hostname", &log->machine.host);

	if (status == CTX_OK)
		status = keep_attribute(reading, "arch", &log->machine.arch);
	if (status == CTX_OK)
		status = keep_attribute(reading, "os", &log->machine.os);
	ctx_gp_tag_number(reading->tag, "pagesz", &log->machine.page_bytes);
	ctx_gp_tag_number(reading->tag, "npages", &log->machine.n_pages);
	if (status == CTX_OK)
		log->machine.big_endian = is_big_endian(log->machine.arch);
	return status;
}

static enum ctx_status on_process(struct reading *reading)
{
	struct ctx_gp_log *log = reading->log;
	const struct ctx_gp_tag *tag = reading->tag;
	uint64_t value;

	if (ctx_gp_tag_number(tag, "pid", &value) && value <= INT32_MAX)
		log->process.pid = (int64_t)value;
	if (ctx_gp_tag_number(tag, "ppid", &value) && value <= INT32_MAX)
		log->process.ppid = (int64_t)value;
	if (ctx_gp_tag_number(tag, "wsize", &value))
		log->machine.is_32bit = value == 32;
	if (ctx_gp_tag_text(tag, "cwd") != NULL)
		return keep_attribute(reading, "cwd", &log->process.cwd);
	return tag->n_attributes == 0 ? keep(reading, tag->text, &log->process.command) : CTX_OK;
}

static enum ctx_status on_setting(struct reading *reading)
{
	struct ctx_gp_log *log = reading->log;

	ctx_gp_tag_number(reading->tag, "sample_period", &log->settings.sample_period_s);
	if (ctx_gp_tag_text(reading->tag, "linetrace") != NULL)
		return keep_attribute(reading, "linetrace", &log->settings.follow);
	return CTX_OK;
}

/* Data */

static enum ctx_status on_counter(struct reading *reading)
{
	struct ctx_gp_log *log = reading->log;
	struct ctx_gp_counter counter = {0};
	uint64_t memory = 0;
	enum ctx_status status = keep_attribute(reading, "hwcname", &counter.name);

	if (status == CTX_OK)
		status = keep_attribute(reading, "metric", &counter.title);
	if (status == CTX_OK)
		status = keep_attribute(reading, "modstr", &counter.prefix);
	ctx_gp_tag_number(reading->tag, "tag", &counter.tag);
	ctx_gp_tag_number(reading->tag, "interval", &counter.interval);
	ctx_gp_tag_number(reading->tag, "cpuver", &counter.cpu);
	ctx_gp_tag_number(reading->tag, "memop", &memory);
	counter.has_memory = memory != 0;
	for (size_t i = 0; i < log->n_counters; i++) {
		if (log->counters[i].tag == counter.tag)
			return status;
	}
	if (status == CTX_OK)
		status = ctx_grow(&log->counters, &log->counters_cap, log->n_counters + 1, reading->err);
	if (status == CTX_OK)
		log->counters[log->n_counters++] = counter;
	return status;
}

static enum ctx_status on_profile(struct reading *reading)
{
	const char *name = ctx_gp_tag_text(reading->tag, "name");
	struct ctx_gp_log *log = reading->log;

	reading->file = CTX_GP_FILES_MAX;
	reading->layout = NULL;
	if (name == NULL)
		return CTX_OK;
	if (strcmp(name, "hwcounter") == 0 || strcmp(name, "hwsimctr") == 0)
		return on_counter(reading);
	if (strcmp(name, "profile") == 0) {
		ctx_gp_tag_number(reading->tag, "ptimer", &log->settings.ticks_us);
		ctx_gp_tag_number(reading->tag, "numstates", &log->settings.n_states);
	} else if (strcmp(name, "heaptrace") == 0)
		log->settings.heap = "on";
	else if (strcmp(name, "iotrace") == 0)
		log->settings.io = "on";
	else if (strcmp(name, "jprofile") == 0)
		return keep(reading,
			    ctx_gp_tag_text(reading->tag, "jversion") != NULL
				    ? ctx_gp_tag_text(reading->tag, "jversion")
				    : "?",
			    &log->settings.jvm);
	else if (strcmp(name, "synctrace") == 0)
		return keep_attribute(reading, "threshold", &log->settings.sync_threshold);
	return CTX_OK;
}

/* Is this a plain name inside the directory? */
static bool is_plain(const char *name)
{
	return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL && strlen(name) < 200;
}

static enum ctx_status on_data_file(struct reading *reading)
{
	const char *name = ctx_gp_tag_text(reading->tag, "fname");
	struct ctx_gp_log *log = reading->log;
	enum ctx_status status;

	reading->layout = NULL;
	reading->file = CTX_GP_FILES_MAX;
	if (name == NULL || !is_plain(name)) {
		damage(log, reading->tag->line, "a data file without a proper name");
		return CTX_OK;
	}
	for (size_t i = 0; i < log->n_files; i++) {
		if (strcmp(log->files[i], name) == 0) {
			reading->file = i;
			return CTX_OK;
		}
	}
	if (log->n_files == CTX_GP_FILES_MAX) {
		damage(log, reading->tag->line, "too many data files");
		return CTX_OK;
	}
	status = keep(reading, name, &log->files[log->n_files]);
	if (status == CTX_OK)
		reading->file = log->n_files++;
	return status;
}

/* Several counters describe the same records; the first description stays. */
static void on_packet(struct reading *reading)
{
	struct ctx_gp_log *log = reading->log;
	uint64_t type;

	reading->layout = NULL;
	if (reading->file == CTX_GP_FILES_MAX || !ctx_gp_tag_number(reading->tag, "kind", &type) ||
	    type == 0 || type >= UINT16_MAX) {
		damage(log, reading->tag->line, "a record's description without its file or type");
		return;
	}
	if (ctx_gp_log_layout(log, reading->file, (uint32_t)type) != NULL)
		return;
	if (log->n_layouts == CTX_GP_LAYOUTS_MAX) {
		damage(log, reading->tag->line, "too many descriptions of records");
		return;
	}
	reading->layout = &log->layouts[log->n_layouts++];
	*reading->layout = (struct ctx_gp_layout){.type = (uint32_t)type, .file = (uint32_t)reading->file};
}

static void on_field(struct reading *reading)
{
	const char *name = ctx_gp_tag_text(reading->tag, "name");
	const char *type = ctx_gp_tag_text(reading->tag, "type");
	uint64_t offset;

	if (reading->layout == NULL)
		return;
	if (name == NULL || type == NULL || !ctx_gp_tag_number(reading->tag, "offset", &offset) ||
	    !ctx_gp_layout_add(reading->layout, name, offset, type))
		damage(reading->log, reading->tag->line, "a field that makes no sense");
}

/* Events */

static enum ctx_status on_sample(struct reading *reading, int64_t time)
{
	struct ctx_gp_log *log = reading->log;
	struct ctx_gp_label label = {.time_ns = time, .id = log->n_labels};
	enum ctx_status status = keep_attribute(reading, "label", &label.label);

	ctx_gp_tag_number(reading->tag, "id", &label.id);
	if (status == CTX_OK)
		status = ctx_grow(&log->labels, &log->labels_cap, log->n_labels + 1, reading->err);
	if (status == CTX_OK)
		log->labels[log->n_labels++] = label;
	return status;
}

static enum ctx_status on_descent(struct reading *reading, int64_t time, bool started)
{
	struct ctx_gp_log *log = reading->log;
	struct ctx_gp_descent descent = {.time_ns = time, .started = started};
	enum ctx_status status = keep_attribute(reading, "variant", &descent.variant);

	if (status == CTX_OK)
		status = keep_attribute(reading, "lineage", &descent.lineage);
	if (status == CTX_OK)
		status = keep_attribute(reading, "msg", &descent.text);
	if (status == CTX_OK)
		status = ctx_grow(&log->descents, &log->descents_cap, log->n_descents + 1, reading->err);
	if (status == CTX_OK)
		log->descents[log->n_descents++] = descent;
	return status;
}

static enum ctx_status on_message(struct reading *reading, enum ctx_gp_message_kind kind)
{
	struct ctx_gp_log *log = reading->log;
	struct ctx_gp_message message = {.kind = kind};
	enum ctx_status status = keep(reading, reading->tag->text, &message.text);

	ctx_gp_tag_number(reading->tag, "id", &message.id);
	if (status == CTX_OK)
		status = ctx_grow(&log->messages, &log->messages_cap, log->n_messages + 1, reading->err);
	if (status == CTX_OK)
		log->messages[log->n_messages++] = message;
	return status;
}

static enum ctx_status on_java_thread(struct reading *reading)
{
	struct ctx_gp_log *log = reading->log;
	struct ctx_gp_named_thread thread = {0};
	enum ctx_status status = keep_attribute(reading, "name", &thread.name);
	uint64_t tid;

	if (!ctx_gp_tag_number(reading->tag, "tid", &tid) || status != CTX_OK)
		return status;
	thread.tid = (int64_t)tid;
	status = ctx_grow(&log->threads, &log->threads_cap, log->n_threads + 1, reading->err);
	if (status == CTX_OK)
		log->threads[log->n_threads++] = thread;
	return status;
}

static void begin_phase(struct ctx_gp_phases *phases, int64_t time)
{
	if (!phases->goes_on)
		phases->since_ns = time;
	phases->n += !phases->goes_on;
	phases->goes_on = true;
}

static void end_phase(struct ctx_gp_phases *phases, int64_t time)
{
	if (phases->goes_on && time > phases->since_ns &&
	    time - phases->since_ns < TIME_MAX - phases->total_ns)
		phases->total_ns += time - phases->since_ns;
	phases->goes_on = false;
}

/* Pauses, and garbage collections reported by Java. False: neither. */
static bool on_phase(struct ctx_gp_log *log, const char *kind, int64_t time)
{
	if (strcmp(kind, "pause") == 0)
		begin_phase(&log->pauses, time);
	else if (strcmp(kind, "resume") == 0)
		end_phase(&log->pauses, time);
	else if (strcmp(kind, "gc_start") == 0)
		begin_phase(&log->collections, time);
	else if (strcmp(kind, "gc_end") == 0)
		end_phase(&log->collections, time);
	else
		return false;
	return true;
}

static void on_run(struct reading *reading, int64_t time)
{
	struct ctx_gp_log *log = reading->log;
	uint64_t seconds;

	if (log->times.has_run || time < 0) /* written again when the experiment is closed */
		return;
	log->times.has_run = true;
	log->times.run_ns = time;
	if (ctx_gp_tag_number(reading->tag, "time", &seconds) && seconds <= INT32_MAX)
		log->times.run_unix = (int64_t)seconds;
}

static void on_end(struct ctx_gp_log *log, int64_t time, bool is_exec)
{
	if (log->times.has_exit)
		return;
	log->times.has_exec = is_exec;
	log->times.has_exit = !is_exec;
	log->times.exit_ns = time;
}

static enum ctx_status on_event(struct reading *reading)
{
	const char *kind = ctx_gp_tag_text(reading->tag, "kind");
	struct ctx_gp_log *log = reading->log;
	int64_t time = 0;
	bool is_phase, has_time = ctx_gp_tag_time(reading->tag, "tstamp", &time);

	if (kind == NULL) {
		damage(log, reading->tag->line, "an event without its kind");
		return CTX_OK;
	}
	if (strcmp(kind, "cerror") == 0)
		return on_message(reading, CTX_GP_MESSAGE_ERROR);
	if (strcmp(kind, "cwarn") == 0)
		return on_message(reading, CTX_GP_MESSAGE_WARNING);
	if (strcmp(kind, "comment") == 0)
		return on_message(reading, CTX_GP_MESSAGE_COMMENT);
	if (strcmp(kind, "jthread_start") == 0)
		return on_java_thread(reading);
	if (has_time && (time > TIME_MAX || time < -TIME_MAX)) {
		damage(log, reading->tag->line, "a time that cannot be");
		return CTX_OK;
	}
	if (!has_time)
		return CTX_OK;
	if (strcmp(kind, "run") == 0) {
		on_run(reading, time);
		return CTX_OK;
	}
	is_phase = on_phase(log, kind, time);
	if (strncmp(kind, "jthread", 7) == 0 || strncmp(kind, "gc_", 3) == 0) /* absolute */
		return CTX_OK;

	if (time > log->times.last_ns)
		log->times.last_ns = time;
	if (is_phase)
		return CTX_OK;
	if (strcmp(kind, "exit") == 0)
		on_end(log, time, false);
	else if (strcmp(kind, "exec_start") == 0)
		on_end(log, time, true);
	else if (strcmp(kind, "exec_error") == 0)
		log->times.has_exec = false;
	else if (strcmp(kind, "sample") == 0)
		return on_sample(reading, time);
	else if (strcmp(kind, "desc_start") == 0 || strcmp(kind, "desc_started") == 0)
		return on_descent(reading, time, kind[strlen("desc_start")] != '\0');
	return CTX_OK;
}

/* All */

static enum ctx_status on_tag(struct reading *reading)
{
	const struct ctx_gp_tag *tag = reading->tag;
	struct ctx_gp_log *log = reading->log;

	if (tag->closes) {
		if (strcmp(tag->name, "profpckt") == 0)
			reading->layout = NULL;
		return CTX_OK;
	}
	if (strcmp(tag->name, "event") == 0)
		return on_event(reading);
	if (strcmp(tag->name, "collector") == 0)
		return keep(reading, tag->text, &log->writer.collector);
	if (strcmp(tag->name, "system") == 0)
		return on_system(reading);
	if (strcmp(tag->name, "process") == 0)
		return on_process(reading);
	if (strcmp(tag->name, "setting") == 0)
		return on_setting(reading);
	if (strcmp(tag->name, "profile") == 0)
		return on_profile(reading);
	if (strcmp(tag->name, "profdata") == 0)
		return on_data_file(reading);
	if (strcmp(tag->name, "profpckt") == 0)
		on_packet(reading);
	else if (strcmp(tag->name, "field") == 0)
		on_field(reading);
	else if (strcmp(tag->name, "cpu") == 0 && log->machine.n_cpus++ == 0)
		ctx_gp_tag_number(tag, "clk", &log->machine.clock_mhz);
	return CTX_OK;
}

/* The first tag identifies an experiment and its version. */
static enum ctx_status on_first(struct reading *reading)
{
	struct ctx_gp_log *log = reading->log;
	const char *version = ctx_gp_tag_text(reading->tag, "version");
	char major[8] = "";

	if (reading->tag->closes || strcmp(reading->tag->name, "experiment") != 0 || version == NULL)
		return ctx_err_set(reading->err, CTX_E_FORMAT, "log.xml does not begin with <experiment>");
	snprintf(major, sizeof(major), "%.*s", (int)strcspn(version, "."), version);
	if (!ctx_gp_number_parse(major, &log->writer.version_major))
		return ctx_err_set(reading->err, CTX_E_FORMAT, "log.xml: the version is not a number");
	if (log->writer.version_major < VERSION_MIN)
		return ctx_err_set(reading->err, CTX_E_VERSION,
				   "version %s of the experiment is not read, only %u and later", version,
				   VERSION_MIN);
	return keep(reading, version, &log->writer.version);
}

static void set_unknown(struct ctx_gp_log *log)
{
	*log = (struct ctx_gp_log){
		.writer.version = "",
		.writer.collector = "",
		.machine.host = "",
		.machine.arch = "",
		.machine.os = "",
		.process.cwd = "",
		.process.command = "",
		.settings.follow = "",
		.settings.jvm = "",
		.settings.heap = "",
		.settings.io = "",
		.settings.sync_threshold = "",
		.process.pid = -1,
		.process.ppid = -1,
	};
}

enum ctx_status ctx_gp_log_parse(struct ctx_gp_log *log, struct ctx_gp_xml *xml, struct ctx_err *err)
{
	struct ctx_gp_tag tag = {0};
	struct reading reading = {.log = log, .file = CTX_GP_FILES_MAX, .tag = &tag, .err = err};
	struct ctx_err why = {0};
	bool is_first = true;
	enum ctx_status status;

	set_unknown(log);
	for (;;) {
		status = ctx_gp_xml_next(xml, &tag, &why);
		if (status == CTX_E_FORMAT) {
			if (log->damaged++ == 0)
				snprintf(log->damage, sizeof(log->damage), "log.xml: %.200s", why.msg);
			continue;
		}
		if (status < 0)
			return ctx_err_set(err, status, "%s", why.msg);
		if (status == CTX_END)
			break;
		status = is_first ? on_first(&reading) : on_tag(&reading);
		if (status != CTX_OK)
			return status;
		is_first = false;
	}
	return is_first ? ctx_err_set(err, CTX_E_FORMAT, "log.xml has nothing in it") : CTX_OK;
}

/* The text of the tag, if it is a message. */
static enum ctx_status on_message_tag(struct reading *reading)
{
	const char *kind = ctx_gp_tag_text(reading->tag, "kind");

	if (reading->tag->closes || strcmp(reading->tag->name, "event") != 0 || kind == NULL)
		return CTX_OK;
	if (strcmp(kind, "cerror") == 0)
		return on_message(reading, CTX_GP_MESSAGE_ERROR);
	return strcmp(kind, "cwarn") == 0 ? on_message(reading, CTX_GP_MESSAGE_WARNING) : CTX_OK;
}

enum ctx_status ctx_gp_log_add_messages(struct ctx_gp_log *log, struct ctx_gp_xml *xml, struct ctx_err *err)
{
	struct ctx_gp_tag tag = {0};
	struct reading reading = {.log = log, .file = CTX_GP_FILES_MAX, .tag = &tag, .err = err};
	struct ctx_err why = {0};
	enum ctx_status status;

	while ((status = ctx_gp_xml_next(xml, &tag, &why)) != CTX_END) {
		if (status == CTX_E_FORMAT)
			continue;
		if (status < 0)
			return ctx_err_set(err, status, "%s", why.msg);
		status = on_message_tag(&reading);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

enum ctx_status ctx_gp_log_read(struct ctx_gp_log *log, const char *path, struct ctx_err *err)
{
	struct ctx_gp_xml xml = {0};
	enum ctx_status status = ctx_gp_xml_open(&xml, path, err);

	if (status == CTX_OK)
		status = ctx_gp_log_parse(log, &xml, err);
	ctx_gp_xml_deinit(&xml);
	return status;
}

void ctx_gp_log_deinit(struct ctx_gp_log *log)
{
	ctx_arena_deinit(&log->arena);
	free(log->counters);
	free(log->labels);
	free(log->descents);
	free(log->messages);
	free(log->threads);
	*log = (struct ctx_gp_log){0};
}

const struct ctx_gp_layout *ctx_gp_log_layout(const struct ctx_gp_log *log, size_t file, uint32_t type)
{
	for (size_t i = 0; i < log->n_layouts; i++) {
		if (log->layouts[i].file == file && log->layouts[i].type == type)
			return &log->layouts[i];
	}
	return NULL;
}

const char *ctx_gp_message_meaning(uint64_t id)
{
	switch (id) {
	case 14:
		return "the limit of the experiment's size was reached";
	case 24:
		return "a file of the experiment could not be mapped";
	case 32:
		return "there was no space left for the experiment";
	case 201:
		return "the experiment was written to a file system of a kind that may disturb it";
	case 202:
		return "the interval was rounded";
	case 206:
		return "the application wanted a timer of its own and did not get it";
	case 207:
		return "the period of the profiling timer was changed, so the clock profile may be too low";
	case 210:
		return "a vfork was made a fork";
	case 216:
		return "the application wanted to block the profiling signal and could not";
	case 219:
		return "the number of the process changed";
	case 412:
		return "the interval of a hardware counter was adjusted";
	default:
		return NULL;
	}
}
