/*
 * Forks and images of one thread whose lines wait: if such a process ends before the log is written,
 * its whole life is one line, else the usual lines are written for it.
 *
 *	process_start --> waits --+-- process_exit: <life .../>
 *	                          `-- anything else happens to it, or the log is written: process, thread, ...
 */
#include "formats/experiment/exp_state.h"

#include "base/mem.h"
#include "formats/experiment/exp_xml.h"

#include <string.h>

#define WAITING_MAX 4096u /* processes that live at once */

struct ctx_exp_brief {
	uint32_t process, thread;  /* thread CTX_NONE: not yet started */
	uint32_t maps_of;	   /* CTX_NONE: no line about inherited maps */
	uint64_t begin_ns, end_ns; /* relative; end of the thread, 0: it lives */
	int64_t pid, tid;
	bool is_exec;
	struct ctx_buf of_process, of_thread; /* attributes; owned */
	struct ctx_exp_brief *previous, *next;
};

/* Parts of lines */

#define COMMAND_MAX 4096u

void ctx_exp_put_command(struct ctx_buf *out, const char *command, bool whole)
{
	char begin[COMMAND_MAX + 4];

	if (whole || strlen(command) <= COMMAND_MAX) {
		ctx_exp_xml_attribute(out, "command", command);
		return;
	}
	memcpy(begin, command, COMMAND_MAX);
	memcpy(begin + COMMAND_MAX, "...", 4);
	ctx_exp_xml_attribute(out, "command", begin);
}

void ctx_exp_put_process_attributes(struct ctx_buf *out, const struct ctx_exp_process *process,
				    const char *lineage)
{
	ctx_exp_xml_signed(out, "pid", process->pid);
	if (process->parent != CTX_NONE)
		ctx_exp_xml_number(out, "parent", process->parent);
	ctx_exp_xml_attribute(out, "lineage", lineage);
	if (process->command != NULL)
		ctx_exp_put_command(out, process->command, process->origin == CTX_EXP_ROOT_PROCESS);
	if (process->inner_pid != 0)
		ctx_exp_xml_signed(out, "inner-pid", process->inner_pid);
	if (process->cgroup != NULL)
		ctx_exp_xml_attribute(out, "cgroup", process->cgroup);
}

void ctx_exp_put_thread_attributes(struct ctx_buf *out, const struct ctx_exp_thread *thread)
{
	if (thread->inner_tid != 0)
		ctx_exp_xml_signed(out, "inner-tid", thread->inner_tid);
	ctx_exp_xml_attribute(out, "name", thread->name);
}

void ctx_exp_put_maps_of(struct ctx_buf *out, uint64_t time_ns, uint32_t process, uint32_t of)
{
	ctx_buf_put_text(out, "<maps");
	ctx_exp_xml_time(out, "tstamp", time_ns);
	ctx_exp_xml_number(out, "process", process);
	ctx_exp_xml_number(out, "of", of);
	ctx_buf_put_text(out, "/>\n");
}

/* What waits */

static struct ctx_exp_brief *brief_of(const struct ctx_exp_writer *writer, uint32_t process)
{
	const struct ctx_exp_proc *proc = ctx_exp_proc(writer, process);

	return proc != NULL ? proc->brief : NULL;
}

static struct ctx_exp_brief *brief_of_thread(const struct ctx_exp_writer *writer, uint32_t thread)
{
	const struct ctx_exp_last_stack *row = ctx_exp_thread_row(writer, thread);
	struct ctx_exp_brief *brief = row != NULL ? brief_of(writer, row->process) : NULL;

	return brief != NULL && brief->thread == thread ? brief : NULL;
}

static void release(struct ctx_exp_writer *writer, struct ctx_exp_brief *brief)
{
	*(brief->previous != NULL ? &brief->previous->next : &writer->briefs.first) = brief->next;
	*(brief->next != NULL ? &brief->next->previous : &writer->briefs.last) = brief->previous;
	writer->briefs.n--;
	ctx_exp_proc(writer, brief->process)->brief = NULL;
	ctx_buf_deinit(&brief->of_process);
	ctx_buf_deinit(&brief->of_thread);
	free(brief);
}

bool ctx_exp_brief_begin(struct ctx_exp_writer *writer, uint32_t process, const struct ctx_exp_process *start)
{
	struct ctx_exp_brief *brief;

	if ((start->origin != CTX_EXP_FORK && start->origin != CTX_EXP_EXEC) ||
	    writer->briefs.n == WAITING_MAX)
		return false;
	brief = ctx_calloc(1, sizeof(*brief));
	if (brief == NULL)
		return false;
	*brief = (struct ctx_exp_brief){.process = process,
					.thread = CTX_NONE,
					.maps_of = CTX_NONE,
					.pid = start->pid,
					.is_exec = start->origin == CTX_EXP_EXEC,
					.begin_ns = ctx_exp_relative(writer, start->time_ns),
					.previous = writer->briefs.last};
	ctx_exp_put_process_attributes(&brief->of_process, start, ctx_exp_proc(writer, process)->lineage);
	if (brief->of_process.failed) {
		ctx_buf_deinit(&brief->of_process);
		free(brief);
		return false;
	}
	*(brief->previous != NULL ? &brief->previous->next : &writer->briefs.first) = brief;
	writer->briefs.last = brief;
	writer->briefs.n++;
	ctx_exp_proc(writer, process)->brief = brief;
	if (start->time_ns < writer->log_oldest_ns)
		writer->log_oldest_ns = start->time_ns;
	return true;
}

bool ctx_exp_brief_thread(struct ctx_exp_writer *writer, uint32_t number, const struct ctx_exp_thread *thread)
{
	struct ctx_exp_brief *brief = brief_of(writer, thread->process);

	if (brief == NULL)
		return false;
	if (brief->thread == CTX_NONE && ctx_exp_relative(writer, thread->time_ns) == brief->begin_ns) {
		ctx_exp_put_thread_attributes(&brief->of_thread, thread);
		if (!brief->of_thread.failed) {
			brief->thread = number;
			brief->tid = thread->tid;
			return true;
		}
	}
	ctx_exp_brief_tell(writer, thread->process);
	return false;
}

bool ctx_exp_brief_thread_exit(struct ctx_exp_writer *writer, uint32_t thread, uint64_t time_ns)
{
	struct ctx_exp_brief *brief = brief_of_thread(writer, thread);
	uint64_t end_ns = ctx_exp_relative(writer, time_ns);

	if (brief == NULL)
		return false;
	if (end_ns == 0 || end_ns < brief->begin_ns || brief->end_ns != 0) {
		ctx_exp_brief_tell(writer, brief->process);
		return false;
	}
	brief->end_ns = end_ns;
	return true;
}

bool ctx_exp_brief_maps(struct ctx_exp_writer *writer, uint32_t process, uint32_t of)
{
	struct ctx_exp_brief *brief = brief_of(writer, process);

	if (brief == NULL || ctx_exp_proc(writer, process)->home != CTX_EXP_HOME_ROOT)
		return false;
	brief->maps_of = of;
	return true;
}

/* The lines */

static void put_event(struct ctx_buf *out, const char *kind, uint64_t time_ns)
{
	ctx_buf_put_text(out, "<event");
	ctx_exp_xml_attribute(out, "kind", kind);
	ctx_exp_xml_time(out, "tstamp", time_ns);
}

static void put_process(const struct ctx_exp_brief *brief, struct ctx_buf *out)
{
	put_event(out, "process", brief->begin_ns);
	ctx_exp_xml_number(out, "process", brief->process);
	ctx_exp_xml_attribute(out, "origin", brief->is_exec ? "exec" : "fork");
	ctx_buf_put(out, brief->of_process.bytes, brief->of_process.n);
	ctx_buf_put_text(out, "/>\n");
}

static void put_thread(const struct ctx_exp_brief *brief, struct ctx_buf *out)
{
	if (brief->thread == CTX_NONE)
		return;
	put_event(out, "thread", brief->begin_ns);
	ctx_exp_xml_number(out, "thread", brief->thread);
	ctx_exp_xml_number(out, "process", brief->process);
	ctx_exp_xml_signed(out, "tid", brief->tid);
	ctx_buf_put(out, brief->of_thread.bytes, brief->of_thread.n);
	ctx_buf_put_text(out, "/>\n");
	if (brief->end_ns == 0)
		return;
	put_event(out, "thread-exit", brief->end_ns);
	ctx_exp_xml_number(out, "thread", brief->thread);
	ctx_buf_put_text(out, "/>\n");
}

static void put_maps(struct ctx_exp_writer *writer, const struct ctx_exp_brief *brief)
{
	uint64_t time_ns = writer->start_ns + brief->begin_ns;

	if (brief->maps_of == CTX_NONE)
		return;
	ctx_exp_put_maps_of(&writer->shared.map_lines, brief->begin_ns, brief->process, brief->maps_of);
	if (time_ns < writer->shared.oldest_ns)
		writer->shared.oldest_ns = time_ns;
}

void ctx_exp_brief_tell(struct ctx_exp_writer *writer, uint32_t process)
{
	struct ctx_exp_brief *brief = brief_of(writer, process);
	size_t before = writer->log.n;

	if (brief == NULL)
		return;
	put_process(brief, &writer->log);
	put_thread(brief, &writer->log);
	put_maps(writer, brief);
	ctx_exp_describes(writer, &writer->log, before);
	release(writer, brief);
}

void ctx_exp_brief_tell_thread(struct ctx_exp_writer *writer, uint32_t thread)
{
	const struct ctx_exp_brief *brief = brief_of_thread(writer, thread);

	if (brief != NULL)
		ctx_exp_brief_tell(writer, brief->process);
}

void ctx_exp_brief_tell_all(struct ctx_exp_writer *writer)
{
	while (writer->briefs.first != NULL)
		ctx_exp_brief_tell(writer, writer->briefs.first->process);
}

void ctx_exp_brief_tell_since(struct ctx_exp_writer *writer, uint64_t time_ns)
{
	if (writer->briefs.last != NULL && writer->briefs.last->begin_ns >= ctx_exp_relative(writer, time_ns))
		ctx_exp_brief_tell_all(writer);
}

bool ctx_exp_brief_end(struct ctx_exp_writer *writer, uint32_t process, const struct ctx_exp_exit *how)
{
	struct ctx_exp_brief *brief = brief_of(writer, process);
	struct ctx_buf *out = &writer->log;
	size_t before = out->n;

	if (brief == NULL)
		return false;
	if (how->has_status || brief->end_ns == 0 ||
	    ctx_exp_relative(writer, how->time_ns) != brief->end_ns) {
		ctx_exp_brief_tell(writer, process);
		return false;
	}
	ctx_buf_put_text(out, "<life");
	ctx_exp_xml_time(out, "tstamp", brief->begin_ns);
	ctx_exp_xml_number(out, "ns", brief->end_ns - brief->begin_ns);
	ctx_exp_xml_number(out, "process", process);
	ctx_exp_xml_number(out, "thread", brief->thread);
	ctx_buf_put(out, brief->of_process.bytes, brief->of_process.n);
	if (brief->tid != brief->pid)
		ctx_exp_xml_signed(out, "tid", brief->tid);
	ctx_buf_put(out, brief->of_thread.bytes, brief->of_thread.n);
	if (brief->maps_of != CTX_NONE)
		ctx_exp_xml_number(out, "maps", brief->maps_of);
	ctx_exp_describes(writer, out, before);
	release(writer, brief);
	return true;
}
