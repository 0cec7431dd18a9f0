/*
 * Events that become lines of log.xml: threads, warnings, results of the unwinding.
 */
#include "formats/experiment/exp_state.h"

#include "base/mem.h"
#include "formats/experiment/exp_xml.h"
#include "model/event_source.h"

enum ctx_status ctx_exp_check(const struct ctx_exp_writer *writer, struct ctx_err *err)
{
	if (writer->failed.status == CTX_OK)
		return CTX_OK;
	return ctx_err_set(err, writer->failed.status, "%s", writer->failed.msg);
}

struct ctx_buf *ctx_exp_log_event(struct ctx_exp_writer *writer, const char *kind, uint64_t time_ns)
{
	ctx_buf_put_text(&writer->log, "<event");
	ctx_exp_xml_attribute(&writer->log, "kind", kind);
	ctx_exp_xml_time(&writer->log, "tstamp", ctx_exp_relative(writer, time_ns));
	if (time_ns < writer->log_oldest_ns)
		writer->log_oldest_ns = time_ns;
	return &writer->log;
}

bool ctx_exp_may_describe(struct ctx_exp_writer *writer, enum ctx_exp_described what, uint64_t count,
			  uint64_t max)
{
	bool is_full = ctx_exp_is_full(writer, 0, writer->last.alive_ns);

	if (writer->limits.text_used < writer->limits.text_bytes && count < max)
		return true;
	writer->stats.left_out[what]++;
	if (writer->limits.text_reached)
		return false;
	writer->limits.text_reached = true;
	if (is_full) /* the log says so already */
		return false;
	ctx_buf_put_text(&writer->log, "<event kind=\"warning\"");
	ctx_exp_xml_time(&writer->log, "tstamp", writer->last.alive_ns);
	ctx_exp_xml_attribute(
		&writer->log, "text",
		"a process starts or names threads, processes or maps without end: beyond a limit "
		"they are counted and not described");
	ctx_buf_put_text(&writer->log, "/>\n");
	writer->log_oldest_ns = 0; /* the next tick writes it */
	return false;
}

static const char *const described_names[CTX_EXP_DESCRIBED_N] = {
	[CTX_EXP_DESCRIBED_PROCESS] = "processes",
	[CTX_EXP_DESCRIBED_THREAD] = "threads",
	[CTX_EXP_DESCRIBED_NAME] = "names",
	[CTX_EXP_DESCRIBED_MAP] = "maps",
};

void ctx_exp_put_left_out(struct ctx_exp_writer *writer, uint64_t time_ns)
{
	struct ctx_buf *out;

	if (!writer->limits.text_reached)
		return;
	out = ctx_exp_log_event(writer, "left-out", time_ns);
	for (size_t i = 0; i < CTX_EXP_DESCRIBED_N; i++)
		ctx_exp_xml_number(out, described_names[i], writer->stats.left_out[i]);
	ctx_buf_put_text(out, "/>\n");
}

/* Ends the line that log_event began. */
enum ctx_status ctx_exp_log_end(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	ctx_buf_put_text(&writer->log, "/>\n");
	if (writer->log.n >= CTX_EXP_BUFFER_BYTES || writer->log.failed)
		return ctx_exp_flush_log(writer, err);
	return CTX_OK;
}

enum ctx_status ctx_exp_check_process(const struct ctx_exp_writer *writer, uint32_t process,
				      struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);

	if (status == CTX_OK && process >= writer->procs.n)
		return ctx_err_set(err, CTX_E_ARG, "process %u was never started", process);
	return status;
}

enum ctx_status ctx_exp_check_thread(const struct ctx_exp_writer *writer, uint32_t thread,
				     struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);

	if (status == CTX_OK && thread >= writer->threads.n)
		return ctx_err_set(err, CTX_E_ARG, "thread %u was never started", thread);
	return status;
}

enum ctx_status ctx_exp_thread_start(struct ctx_exp_writer *writer, const struct ctx_exp_thread *thread,
				     uint32_t *ret_thread, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, thread->process, err);
	uint32_t number = (uint32_t)writer->threads.n;
	struct ctx_exp_last_stack *row = NULL;
	struct ctx_buf *out;
	size_t before;

	if (status == CTX_OK && writer->threads.n >= CTX_NONE - 1)
		status = ctx_err_set(err, CTX_E_LIMIT, "too many threads");
	if (status == CTX_OK && (row = ctx_exp_numbers_add(&writer->threads)) == NULL)
		status = ctx_err_nomem(err);
	if (status != CTX_OK)
		return status;
	*ret_thread = number;
	row->process = thread->process;
	if (!ctx_exp_may_describe(writer, CTX_EXP_DESCRIBED_THREAD, 0, 1))
		return CTX_OK;
	row->is_described = true;
	if (ctx_exp_brief_thread(writer, number, thread))
		return CTX_OK;
	ctx_exp_brief_tell_since(writer, thread->time_ns);
	before = writer->log.n;
	out = ctx_exp_log_event(writer, "thread", thread->time_ns);
	ctx_exp_xml_number(out, "thread", number);
	ctx_exp_xml_number(out, "process", thread->process);
	ctx_exp_xml_signed(out, "tid", thread->tid);
	ctx_exp_put_thread_attributes(out, thread);
	ctx_exp_describes(writer, out, before);
	return ctx_exp_log_end(writer, err);
}

enum ctx_status ctx_exp_thread_name(struct ctx_exp_writer *writer, uint32_t thread, const char *name,
				    uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_thread(writer, thread, err);
	struct ctx_exp_last_stack *row = ctx_exp_thread_row(writer, thread);
	struct ctx_buf *out;
	size_t before;

	if (status != CTX_OK)
		return status;
	if (row == NULL || !row->is_described)
		return CTX_OK;
	if (!ctx_exp_may_describe(writer, CTX_EXP_DESCRIBED_NAME, row->n_names, CTX_EXP_NAMES_OF_THREAD_MAX))
		return CTX_OK;
	row->n_names++;
	ctx_exp_brief_tell_thread(writer, thread);
	before = writer->log.n;
	out = ctx_exp_log_event(writer, "thread-name", time_ns);
	ctx_exp_xml_number(out, "thread", thread);
	ctx_exp_xml_attribute(out, "name", name);
	ctx_exp_describes(writer, out, before);
	return ctx_exp_log_end(writer, err);
}

enum ctx_status ctx_exp_thread_exit(struct ctx_exp_writer *writer, uint32_t thread, uint64_t time_ns,
				    struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_thread(writer, thread, err);
	struct ctx_exp_last_stack *row = ctx_exp_thread_row(writer, thread);

	if (status != CTX_OK || row == NULL)
		return status;
	if (!row->has_ended)
		ctx_exp_numbers_end(&writer->threads, thread);
	row->has_ended = true;
	if (!row->is_described || ctx_exp_brief_thread_exit(writer, thread, time_ns))
		return CTX_OK;
	ctx_exp_xml_number(ctx_exp_log_event(writer, "thread-exit", time_ns), "thread", thread);
	return ctx_exp_log_end(writer, err);
}

enum ctx_status ctx_exp_throttle(struct ctx_exp_writer *writer, uint64_t time_ns, bool throttled,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);

	if (status != CTX_OK)
		return status;
	ctx_exp_log_event(writer, throttled ? "throttle" : "unthrottle", time_ns);
	return ctx_exp_log_end(writer, err);
}

enum ctx_status ctx_exp_remark(struct ctx_exp_writer *writer, uint64_t time_ns, const char *text,
			       struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);

	if (status != CTX_OK)
		return status;
	ctx_exp_xml_attribute(ctx_exp_log_event(writer, "remark", time_ns), "text", text);
	return ctx_exp_log_end(writer, err);
}

enum ctx_status ctx_exp_setting(struct ctx_exp_writer *writer, const char *key, const char *value,
				struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);

	if (status != CTX_OK)
		return status;
	ctx_buf_put_text(&writer->log, "<setting");
	ctx_exp_xml_attribute(&writer->log, "name", key);
	ctx_exp_xml_attribute(&writer->log, "value", value);
	status = ctx_exp_log_end(writer, err);
	return status == CTX_OK ? ctx_exp_flush_log(writer, err) : status;
}

enum ctx_status ctx_exp_warning(struct ctx_exp_writer *writer, uint64_t time_ns, const char *text,
				struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);

	if (status != CTX_OK)
		return status;
	ctx_exp_xml_attribute(ctx_exp_log_event(writer, "warning", time_ns), "text", text);
	status = ctx_exp_log_end(writer, err);
	return status == CTX_OK ? ctx_exp_flush_log(writer, err) : status;
}

enum ctx_status ctx_exp_unwound(struct ctx_exp_writer *writer, uint64_t time_ns,
				const struct ctx_exp_unwinding *counts, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);
	struct ctx_buf *out;

	if (status != CTX_OK)
		return status;
	out = ctx_exp_log_event(writer, "unwinding", time_ns);
	for (size_t i = 0; i < CTX_TRUNCATED_N; i++)
		ctx_exp_xml_number(out, ctx_exp_unwinding_names[i], counts->ends[i]);
	ctx_exp_xml_number(out, "joined", counts->joined);
	ctx_exp_xml_number(out, "gap", counts->gap);
	ctx_exp_xml_number(out, "exec", counts->exec);
	ctx_exp_xml_number(out, "unread", counts->unread);
	ctx_exp_xml_number(out, "by_code", counts->by_code);
	ctx_exp_xml_number(out, "by_frame_pointer", counts->by_frame_pointer);
	ctx_exp_xml_number(out, "by_chain", counts->by_chain);
	return ctx_exp_log_end(writer, err);
}
