#include "formats/gprofng/gp_reader.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/utc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Properties */

/* "2026-11-21 02:55:15 UTC"; "" unknown. */
static void format_start(const struct ctx_gp_log *log, char out[CTX_UTC_MAX])
{
	out[0] = '\0';
	if (log->times.run_unix != 0)
		(void)ctx_utc_stamp((int64_t)log->times.run_unix, out);
}

static enum ctx_status host_properties(struct ctx_gp_reader *reader, const struct ctx_gp_log *log,
				       struct ctx_err *err)
{
	enum ctx_status status = ctx_gp_property(reader, err, "host", "%s", log->machine.host);

	if (status == CTX_OK)
		status = ctx_gp_property(reader, err, "os", "%s", log->machine.os);
	if (status == CTX_OK)
		status = ctx_gp_property(reader, err, "arch", "%s", log->machine.arch);
	if (status == CTX_OK && log->machine.n_cpus != 0)
		status = ctx_gp_property(reader, err, "cpus", "%llu, %llu MHz",
					 (unsigned long long)log->machine.n_cpus,
					 (unsigned long long)log->machine.clock_mhz);
	if (status == CTX_OK && log->machine.page_bytes != 0)
		status = ctx_gp_property(reader, err, "page size", "%llu",
					 (unsigned long long)log->machine.page_bytes);
	if (status == CTX_OK && log->machine.n_pages != 0 &&
	    log->machine.n_pages <= UINT64_MAX / (log->machine.page_bytes + 1))
		status = ctx_gp_property(
			reader, err, "memory", "%llu MB",
			(unsigned long long)(log->machine.n_pages * log->machine.page_bytes >> 20));
	return status;
}

/* A negative threshold was measured by the collector. */
static enum ctx_status sync_property(struct ctx_gp_reader *reader, const char *threshold, struct ctx_err *err)
{
	bool calibrated = threshold[0] == '-';

	return ctx_gp_property(reader, err, "synchronization trace", "threshold %s us%s",
			       threshold + calibrated, calibrated ? " (calibrated)" : "");
}

/*
 * "2 times, 300.000 ms"; empty if there were none. A pause that is still open at the end lasts up
 * to the last event.
 */
static enum ctx_status phases_property(struct ctx_gp_reader *reader, const char *key,
				       const struct ctx_gp_phases *phases, int64_t end_ns,
				       struct ctx_err *err)
{
	int64_t ns = phases->total_ns;

	if (phases->n == 0)
		return CTX_OK;
	if (phases->goes_on && end_ns > phases->since_ns)
		ns += end_ns - phases->since_ns;
	return ctx_gp_property(reader, err, key, "%llu time%s, %.3f ms", (unsigned long long)phases->n,
			       phases->n == 1 ? "" : "s", (double)ns / 1e6);
}

static enum ctx_status run_properties(struct ctx_gp_reader *reader, const struct ctx_gp_log *log,
				      struct ctx_err *err)
{
	char start[CTX_UTC_MAX];
	enum ctx_status status = ctx_gp_property(reader, err, "command", "%s", log->process.command);

	format_start(log, start);
	if (status == CTX_OK && log->process.pid >= 0 && log->process.ppid >= 0)
		status = ctx_gp_property(reader, err, "process", "%lld, parent %lld",
					 (long long)log->process.pid, (long long)log->process.ppid);
	if (status == CTX_OK)
		status = ctx_gp_property(reader, err, "directory", "%s", log->process.cwd);
	if (status == CTX_OK)
		status = ctx_gp_property(reader, err, "start", "%s", start);
	if (status == CTX_OK)
		status = ctx_gp_property(reader, err, "java", "%s", log->settings.jvm);
	if (status == CTX_OK && log->settings.ticks_us != 0)
		status = ctx_gp_property(reader, err, "clock profile", "every %llu us of CPU time",
					 (unsigned long long)log->settings.ticks_us);
	for (size_t i = 0; i < log->n_counters && status == CTX_OK; i++)
		status = ctx_gp_property(reader, err, "hardware counter", "%s, every %llu%s",
					 log->counters[i].name, (unsigned long long)log->counters[i].interval,
					 log->counters[i].has_memory ? ", with addresses of data" : "");
	if (status == CTX_OK && log->settings.heap[0] != '\0')
		status = ctx_gp_property(reader, err, "heap trace", "%s", log->settings.heap);
	if (status == CTX_OK && log->settings.sync_threshold[0] != '\0')
		status = sync_property(reader, log->settings.sync_threshold, err);
	if (status == CTX_OK && log->settings.io[0] != '\0')
		status = ctx_gp_property(reader, err, "I/O trace", "%s", log->settings.io);
	if (status == CTX_OK && log->settings.sample_period_s != 0)
		status = ctx_gp_property(reader, err, "usage", "every %llu s",
					 (unsigned long long)log->settings.sample_period_s);
	if (status == CTX_OK)
		status = ctx_gp_property(reader, err, "follows", "%s", log->settings.follow);
	if (status == CTX_OK)
		status = phases_property(reader, "paused", &log->pauses, log->times.last_ns, err);
	return status == CTX_OK ? phases_property(reader, "garbage collection", &log->collections, 0, err)
				: status;
}

static enum ctx_status make_properties(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	const struct ctx_gp_log *log = &reader->experiments.items[0]->log;
	enum ctx_status status =
		ctx_gp_property(reader, err, "collector", "gprofng %s", log->writer.collector);

	if (status == CTX_OK)
		status = host_properties(reader, log, err);
	if (status == CTX_OK)
		status = run_properties(reader, log, err);
	if (status == CTX_OK)
		status =
			ctx_gp_property(reader, err, "word size", "%d bits", log->machine.is_32bit ? 32 : 64);
	if (status == CTX_OK && reader->experiments.n > 1)
		status = ctx_gp_property(reader, err, "experiments", "%zu", reader->experiments.n);
	return status;
}

/* Warnings */

static enum ctx_status warn_of(struct ctx_gp_reader *reader, const struct ctx_gp_message *message,
			       struct ctx_err *err)
{
	const char *meaning = ctx_gp_message_meaning(message->id);
	const char *who =
		message->kind == CTX_GP_MESSAGE_ERROR ? "error of the collector" : "warning of the collector";

	if (message->kind == CTX_GP_MESSAGE_COMMENT)
		return CTX_OK;
	if (meaning != NULL)
		return ctx_gp_warn(reader, err, "%s: %s%s%.300s%s", who, meaning,
				   message->text[0] != '\0' ? " (" : "", message->text,
				   message->text[0] != '\0' ? ")" : "");
	return ctx_gp_warn(reader, err, "%s: number %llu: %.300s", who, (unsigned long long)message->id,
			   message->text);
}

static bool is_closed(const struct ctx_gp_log *log)
{
	return log->times.has_exit || log->times.has_exec;
}

static enum ctx_status make_warnings(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	struct ctx_gp_experiments *experiments = &reader->experiments;
	enum ctx_status status = CTX_OK;

	reader->source.info.closed = true;
	for (size_t i = 0; i < experiments->n; i++) {
		const struct ctx_gp_experiment *item = experiments->items[i];

		for (size_t k = 0; k < item->log.n_messages && status == CTX_OK; k++)
			status = warn_of(reader, &item->log.messages[k], err);
		if (is_closed(&item->log))
			continue;
		reader->source.info.closed = false;
		if (status == CTX_OK && experiments->n > 1)
			status = ctx_gp_warn(reader, err, "%s was not closed", ctx_path_base(item->path));
	}
	return status;
}

/* All */

/* gprofng records no kernel functions; experiments that ctxan exported may have them. */
static enum ctx_status find_kallsyms(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(reader->experiments.items[0]->path, "kallsyms");

	reader->source.info.kallsyms = "";
	if (path == NULL)
		return ctx_err_nomem(err);
	if (access(path, R_OK) != 0)
		return CTX_OK;
	reader->source.info.kallsyms = ctx_arena_strdup(&reader->arena, path);
	return reader->source.info.kallsyms != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_gp_info_fill(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->source.info;
	enum ctx_status status = ctx_gp_metrics_make(reader, err);

	if (status == CTX_OK)
		status = make_properties(reader, err);
	if (status == CTX_OK)
		status = make_warnings(reader, err);
	if (status == CTX_OK)
		status = ctx_gp_notes_read(reader, err);
	snprintf(reader->text, sizeof(reader->text), "gprofng %s",
		 reader->experiments.items[0]->log.writer.version);
	info->format = ctx_arena_strdup(&reader->arena, reader->text);
	info->fallback_root = "";
	if (status == CTX_OK)
		status = find_kallsyms(reader, err);
	return status == CTX_OK && info->format == NULL ? ctx_err_nomem(err) : status;
}
