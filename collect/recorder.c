/*
 *	perf events -> rings -> merge by time -> perfrecord -+- sample -> sample_batch -> ctx_exp_sample
 *	                                                     +- switch, wake-up -> state_records -> sample_batch
 *	                                                     +- fork, exec, mmap, exit -> proctree -> writer
 *	                                                     +- lost, throttled -> writer
 */
#include "collect/recorder.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "collect/own_allocators.h"
#include "collect/recmeta.h"
#include "collect/recorder_impl.h"
#include "collect/sources.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUND_MS 100
#define ALLOCATORS_MAX 8u  /* named at the end */
#define PYTHON_ROUND_MS 10 /* a new interpreter is known to the probe so soon */
#define TRACED_ROUND_MS 4  /* while processes are traced: their rings are filled in some 10 ms */
/* How long the experiment stays open for the exit status of a command that was interrupted. */
#define GRACE_NS CTX_RECORDER_SECOND_NS

/* --- the command --- */

/*
 * Its last resource use. wait4 is exact, but includes the command's own reaped children: used only
 * where /proc gave nothing.
 */
static enum ctx_status take_last_usage(struct ctx_recorder *recorder, uint64_t time_ns, struct ctx_err *err)
{
	const struct rusage *used = &recorder->child.usage;
	struct ctx_usage_info usage = recorder->root_process_usage;
	uint32_t root_process = ctx_proctree_root_process(recorder->tree);

	if (root_process == CTX_NONE)
		return CTX_OK;
	usage.time_ns = time_ns;
	usage.process = root_process;
	if (ctx_exp_stats(recorder->writer).processes == 1) {
		usage.user_ns = (uint64_t)used->ru_utime.tv_sec * CTX_RECORDER_SECOND_NS +
				(uint64_t)used->ru_utime.tv_usec * 1000;
		usage.system_ns = (uint64_t)used->ru_stime.tv_sec * CTX_RECORDER_SECOND_NS +
				  (uint64_t)used->ru_stime.tv_usec * 1000;
		usage.minor_faults = (uint64_t)used->ru_minflt;
		usage.major_faults = (uint64_t)used->ru_majflt;
		usage.voluntary_switches = (uint64_t)used->ru_nvcsw;
		usage.involuntary_switches = (uint64_t)used->ru_nivcsw;
		usage.rss_bytes = (uint64_t)used->ru_maxrss * 1024;
	}
	return ctx_exp_usage(recorder->writer, &usage, err);
}

/* Waits for the command; before reaping it reads its last usage in /proc. */
static bool look_at_child(struct ctx_recorder *recorder, bool block)
{
	struct ctx_child *child = &recorder->child;
	struct ctx_usage_info usage, *last = &recorder->root_process_usage;
	siginfo_t info = {0};
	bool has_ended;

	if (child->pid < 0)
		return child->has_ended;
	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT | (block ? 0 : WNOHANG)) == 0 &&
	    info.si_pid == 0)
		return false;
	if (ctx_procfs_usage(child->pid, &usage, NULL) == CTX_OK) {
		last->user_ns = usage.user_ns;
		last->system_ns = usage.system_ns;
		last->minor_faults = usage.minor_faults;
		last->major_faults = usage.major_faults;
	}
	/*
	 * In wait4 the kernel can spin for what the command's last thread still holds, which a real-time thread keeps
	 * from running: for 0.95 s on one processor.
	 */
	(void)ctx_priority_set(&recorder->keeping_up.priority.caller);
	has_ended = ctx_child_wait(child, block);
	(void)ctx_priority_set(&recorder->keeping_up.priority.own);
	return has_ended;
}

/*
 * Reads pending signals. Terminating ones count as interruptions and are forwarded to the command,
 * unless the terminal has sent them to it already.
 */
static void take_signals(struct ctx_recorder *recorder)
{
	struct signalfd_siginfo info;

	while (read(recorder->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		recorder->signals.interruptions++;
		recorder->signals.last = (int)info.ssi_signo;
		if (recorder->child.pid > 0 && info.ssi_code != SI_KERNEL)
			(void)kill(recorder->child.pid, (int)info.ssi_signo);
	}
}

/* After the recording: until the command has ended, or an interruption after the first. */
static void wait_for_child(struct ctx_recorder *recorder, uint64_t until_ns)
{
	while (!look_at_child(recorder, false) && recorder->signals.interruptions < 2) {
		struct pollfd signals = {.fd = recorder->signals.fd, .events = POLLIN};
		uint64_t now = ctx_clock_ns(CLOCK_MONOTONIC);
		int timeout = -1;

		if (until_ns != 0 && now >= until_ns)
			return;
		if (until_ns != 0)
			timeout = (int)((until_ns - now) / 1000000 + 1);
		(void)poll(&signals, 1, timeout);
		take_signals(recorder);
	}
}

/* --- the loop --- */

static bool all_have_ended(const struct ctx_recorder *recorder)
{
	struct ctx_proctree_live live[CTX_RECORDER_PROCESSES_MAX];
	size_t n;

	if (recorder->options->pids.n == 0) {
		n = ctx_proctree_live(recorder->tree, live, CTX_COUNT_OF(live));
		for (size_t i = 0; i < n; i++) {
			if (ctx_procfs_exists(live[i].pid))
				return false;
		}
		return true;
	}
	for (size_t i = 0; i < recorder->options->pids.n; i++) {
		int64_t pid = recorder->options->pids.items[i];

		/*
		 * An ended process stays a zombie until its parent reaps it: the exit record comes
		 * earlier.
		 */
		if (ctx_proctree_process(recorder->tree, pid) != CTX_NONE && ctx_procfs_exists(pid))
			return false;
	}
	return true;
}

/* Processes that the command started last are known once its last records have been taken. */
static bool descendants_have_ended(const struct ctx_recorder *recorder)
{
	return recorder->taken_ns > recorder->child_ended_ns && all_have_ended(recorder);
}

static bool is_over(struct ctx_recorder *recorder, uint64_t now)
{
	const struct ctx_rec_options *options = recorder->options;

	if (recorder->signals.interruptions > 0 ||
	    (options->duration_ns != 0 && now - recorder->start_ns >= options->duration_ns))
		return true;
	if (options->command != NULL) {
		if (!look_at_child(recorder, false))
			return false;
		if (recorder->child_ended_ns == 0)
			recorder->child_ended_ns = now;
		return !options->wait_descendants || options->system_wide || descendants_have_ended(recorder);
	}
	return options->pids.n > 0 && all_have_ended(recorder);
}

/* Makes the recorder real-time where that is allowed and has not been done; *ret_rose: it has. */
static enum ctx_status rise(struct ctx_recorder *recorder, const char *why, bool *ret_rose,
			    struct ctx_err *err)
{
	char text[64], line[96];

	*ret_rose = ctx_priority_rise(&recorder->keeping_up.priority);
	if (!*ret_rose)
		return CTX_OK;
	ctx_priority_describe(&recorder->keeping_up.priority.own, text, sizeof(text));
	snprintf(line, sizeof(line), "%s: %s", why, text);
	return ctx_exp_remark(recorder->writer, ctx_clock_ns(CLOCK_MONOTONIC), line, err);
}

static enum ctx_status adapt_copies(struct ctx_recorder *recorder, uint64_t now, struct ctx_err *err)
{
	struct ctx_exp_unwinding counts = ctx_sample_batch_counts(recorder->batch);
	struct ctx_pressure pressure = {.now_ns = now,
					.fullest_percent = recorder->merge.fullest,
					.cut = counts.ends[CTX_TRUNCATED_COPY] + counts.gap,
					.lost = ctx_losses_total(recorder->losses),
					.events = recorder->keeping_up.n_tasks * recorder->session.n_rings};
	const struct ctx_copy_trial *trial =
		ctx_sample_batch_try(recorder->batch, recorder->keeping_up.copies.tries);
	enum ctx_copy before = recorder->keeping_up.copies.now;
	char line[96];

	for (size_t i = 0; i < CTX_TRUNCATED_N; i++)
		pressure.stacks += counts.ends[i];
	pressure.tried = trial->stacks;
	pressure.deep = trial->deep;
	pressure.failed = trial->failed;
	if (!ctx_copy_choose(&recorder->keeping_up.copies, &pressure)) {
		ctx_session_copies_repeat(&recorder->session.copies);
		return CTX_OK;
	}
	ctx_session_copies_set(&recorder->session.copies, recorder->keeping_up.copies.now);
	snprintf(line, sizeof(line), "%s: %zu bytes of each stack are copied",
		 recorder->keeping_up.copies.is_chained		     ? "frame pointers complete the stacks"
		 : recorder->keeping_up.copies.now == CTX_COPY_SMALL ? "a ring was half full"
		 : before == CTX_COPY_LARGE			     ? "larger copies are cut as often"
		 : before == CTX_COPY_SMALL ? "stacks are cut and the rings have room again"
					    : "stacks are cut",
		 recorder->keeping_up.copies.copy_bytes[recorder->keeping_up.copies.now]);
	return ctx_exp_remark(recorder->writer, now, line, err);
}

/* After a round: what it takes not to lose records in the next one. */
static enum ctx_status keep_up(struct ctx_recorder *recorder, uint64_t now, struct ctx_err *err)
{
	bool rose = false;
	enum ctx_status status = CTX_OK;

	if (ctx_pressure_is_late(0, ROUND_MS, recorder->merge.fullest))
		status = rise(recorder, "a ring was half full", &rose, err);
	else if (ctx_pressure_is_crowded(recorder->keeping_up.n_tasks, recorder->session.n_rings))
		status = rise(recorder, "there are many threads", &rose, err);
	if (status == CTX_OK && !rose && recorder->session.sizes.stack_bytes != 0)
		status = adapt_copies(recorder, now, err);
	return status;
}

/* Whether rings of traced processes are to be read every few milliseconds. */
static bool fills_fast(const struct ctx_recorder *recorder)
{
	return recorder->trace != NULL && ctx_trace_is_busy(recorder->trace) &&
	       !ctx_trace_is_sparse(recorder->trace);
}

/* Waits for records; false: it was for longer than it should have been. */
static bool wait_for_records(struct ctx_recorder *recorder, uint64_t now)
{
	uint64_t duration_ns = recorder->options->duration_ns;
	nfds_t n = recorder->session.n_rings + CTX_RING_WAIT_OWN;
	int timeout, n_ready;
	bool is_late;

	ctx_wait_sampling_turn(recorder->sampling, now, true);
	timeout = ctx_wait_sampling_timeout(recorder->sampling, now, ROUND_MS);
	if (recorder->code.python != NULL && timeout > PYTHON_ROUND_MS)
		timeout = PYTHON_ROUND_MS;
	if (fills_fast(recorder) && timeout > TRACED_ROUND_MS)
		timeout = ctx_trace_has_backlog(recorder->trace) ? 0 : TRACED_ROUND_MS;

	if (duration_ns != 0 && recorder->start_ns + duration_ns < now + (uint64_t)timeout * 1000000)
		timeout = (int)((recorder->start_ns + duration_ns - now) / 1000000 + 1);
	n_ready = ctx_ring_wait(&recorder->wait, recorder->polls, recorder->session.rings,
				recorder->session.n_rings, timeout);
	is_late = ctx_pressure_is_late((ctx_clock_ns(CLOCK_MONOTONIC) - now) / 1000000, (uint64_t)timeout,
				       recorder->merge.fullest);
	if (n_ready <= 0)
		return !is_late;
	/*
	 * All threads of an event have ended: POLLHUP would wake us for ever. The ring is still
	 * read.
	 */
	for (nfds_t i = CTX_RING_WAIT_OWN; i < n; i++) {
		if ((recorder->polls[i].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
			recorder->polls[i].fd = -1;
	}
	take_signals(recorder);
	return !is_late;
}

/* Processes that were attached to go on without the runtime; what they have written is taken afterwards. */
static void detach(struct ctx_recorder *recorder)
{
	struct ctx_err why = {0};
	char text[CTX_ERR_MAX + 128];

	if (recorder->trace == NULL || ctx_trace_detach(recorder->trace, &why) == CTX_OK)
		return;
	snprintf(text, sizeof(text),
		 "the calls of a process that was traced still go by way of the library, which does nothing "
		 "more: %s",
		 why.msg);
	recorder->user.say(recorder->user.context, text);
}

static enum ctx_status run_loop(struct ctx_recorder *recorder, struct ctx_err *err)
{
	for (;;) {
		uint64_t now = ctx_clock_ns(CLOCK_MONOTONIC);
		bool is_last = is_over(recorder, now), rose;
		enum ctx_status status;

		ctx_titles_read(recorder->titles, now, is_last);
		ctx_wait_sampling_turn(recorder->sampling, now, false);
		if (is_last) {
			detach(recorder);
			ctx_wait_sampling_stop(recorder->sampling);
			ctx_session_disable(&recorder->session);
		}
		status = ctx_recorder_take_until(recorder, is_last ? UINT64_MAX : now - CTX_RECORDER_SLACK_NS,
						 err);
		recorder->taken_ns = now - CTX_RECORDER_SLACK_NS;
		if (status == CTX_OK)
			status = ctx_setuid_reap(recorder->setuid, now, err);
		if (status == CTX_OK)
			status = ctx_titles_settle(recorder->titles,
						   is_last ? UINT64_MAX : recorder->taken_ns, err);
		if (status == CTX_OK && !is_last)
			status = keep_up(recorder, now, err);
		if (status == CTX_OK && !is_last && now >= recorder->next_usage_ns)
			status = ctx_recorder_take_usage(recorder, now, err);
		if (status == CTX_OK)
			status = ctx_losses_tick(recorder->losses, now, err);
		if (status == CTX_OK)
			status = ctx_exp_tick(recorder->writer, now, err);
		if (status != CTX_OK || is_last)
			return status;
		now = ctx_clock_ns(CLOCK_MONOTONIC);
		if (!wait_for_records(recorder, now))
			status = rise(recorder, "the recorder was late", &rose, err);
		if (status != CTX_OK)
			return status;
	}
}

/* --- end --- */

static enum ctx_status archive_sources(struct ctx_recorder *recorder, struct ctx_err *err)
{
	struct ctx_sources_result result;
	struct ctx_err why = {0};
	enum ctx_status status =
		ctx_sources_archive(recorder->writer, recorder->files, &ctx_sources_usual, &result, &why);
	char text[CTX_ERR_MAX + 64];

	if (status == CTX_E_NOTFOUND) {
		snprintf(text, sizeof(text), "no source files were copied: %s", why.msg);
		return ctx_recorder_warn(recorder, text, err);
	}
	if (status != CTX_OK)
		return ctx_err_set(err, status, "%s", why.msg);
	if (status == CTX_OK && result.copied == 0)
		status = ctx_recorder_warn(
			recorder,
			result.objects == 0
				? "no source files were copied: no program here has line tables (gcc -g)"
				: "no source files were copied: the log says what was looked for",
			err);
	if (status == CTX_OK && result.unread != 0) {
		snprintf(text, sizeof(text),
			 "the line tables of %u load objects could not be read, or not in time",
			 result.unread);
		status = ctx_recorder_warn(recorder, text, err);
	}
	if (status == CTX_OK && result.left_out != 0) {
		snprintf(text, sizeof(text),
			 "%u source files were not copied: larger than 4 MiB, or beyond 64 MiB in all",
			 result.left_out);
		status = ctx_recorder_warn(recorder, text, err);
	}
	if (status == CTX_OK && result.newer != 0) {
		snprintf(text, sizeof(text),
			 "%u source files are newer than the programs made from them: their lines may be "
			 "others",
			 result.newer);
		status = ctx_recorder_warn(recorder, text, err);
	}
	return status;
}

static enum ctx_status warn_of_more_setuid(struct ctx_recorder *recorder, struct ctx_err *err)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "%llu more setuid or unreadable programs, which are not recorded from their exec on",
		 (unsigned long long)ctx_setuid_more(recorder->setuid));
	return ctx_exp_warning(recorder->writer, recorder->start_ns, text, err);
}

/* For the header of reports. */
static enum ctx_status note_sampling(struct ctx_recorder *recorder, uint64_t now, struct ctx_err *err)
{
	char text[CTX_ERR_MAX];

	return ctx_wait_sampling_text(recorder->sampling, text, sizeof(text))
		       ? ctx_exp_warning(recorder->writer, now, text, err)
		       : CTX_OK;
}

struct naming {
	struct ctx_recorder *recorder;
	unsigned n;
	enum ctx_status status;
	struct ctx_err *err;
};

static bool name_allocator(void *context, const char *path, int fd)
{
	struct naming *naming = context;
	const char *name = ctx_own_allocator_find(fd);
	char text[CTX_TRACE_TEXT_MAX];

	if (name == NULL)
		return true;
	snprintf(text, sizeof(text),
		 "%.400s has an allocator of its own inside, %s: its blocks are not recorded", path, name);
	naming->status = ctx_recorder_warn(naming->recorder, text, naming->err);
	return naming->status == CTX_OK && ++naming->n < ALLOCATORS_MAX;
}

/* Says what tracing has missed. */
static enum ctx_status end_trace(struct ctx_recorder *recorder, struct ctx_err *err)
{
	struct ctx_trace_counts counts = ctx_trace_counts(recorder->trace);
	struct naming naming = {.recorder = recorder, .err = err};
	struct ctx_rec_trace traced = recorder->options->trace;
	const struct ctx_trace_unfit *unfit = ctx_trace_unfit(recorder->trace);
	enum ctx_status status = CTX_OK;
	char text[CTX_TRACE_TEXT_MAX];

	traced.counts = ctx_indicators_entries(recorder->metrics.indicators) != NULL;
	counts.start_ns = recorder->start_ns;
	if (recorder->options->no_follow)
		counts.nobodys = counts.unmapped = counts.left =
			0; /* the command's children, which are not recorded */
	counts.unfit -= unfit->times < counts.unfit ? unfit->times : counts.unfit;
	/* Nobody has asked for OpenMP of other programs. */
	if (ctx_rec_is_automatic(&traced))
		counts.unfit = 0;
	for (size_t i = 0; i < unfit->n && !ctx_rec_is_automatic(&traced) && status == CTX_OK; i++) {
		ctx_trace_unfit_line(&unfit->programs[i], &traced, text);
		status = ctx_recorder_warn(recorder, text, err);
	}
	for (unsigned i = 0; i < CTX_TRACE_TEXTS && status == CTX_OK; i++) {
		if (ctx_trace_text(&counts, &traced, i, text))
			status = ctx_recorder_warn(recorder, text, err);
	}
	naming.status = status;
	if (status == CTX_OK && recorder->options->trace.heap)
		ctx_mapped_files_each(recorder->files, name_allocator, &naming);
	return naming.status;
}

/* Writes the functions of compilers that still run, and warns of dumps that could not be used. */
static enum ctx_status end_dumps(struct ctx_recorder *recorder, struct ctx_err *err)
{
	char text[CTX_JIT_DUMPS_TEXT_MAX];
	enum ctx_status status = ctx_jit_dumps_take(recorder->code.dumps, -1, err);

	return status == CTX_OK && ctx_jit_dumps_text(recorder->code.dumps, text)
		       ? ctx_recorder_warn(recorder, text, err)
		       : status;
}

/* Warns of what virtual machines reported and could not be used. */
static enum ctx_status end_vms(struct ctx_recorder *recorder, struct ctx_err *err)
{
	struct ctx_vms_counts counts = ctx_vms_counts(recorder->code.vms);
	enum ctx_status status = CTX_OK;
	char text[CTX_VMS_TEXT_MAX];

	for (unsigned i = 0; i < CTX_VMS_TEXTS && status == CTX_OK; i++) {
		if (ctx_vms_text(&counts, i, text))
			status = ctx_recorder_warn(recorder, text, err);
	}
	return status;
}

/* How many records that were, and of what, is not known: it is counted as one for each time. */
static enum ctx_status warn_of_skipped(struct ctx_recorder *recorder, struct ctx_err *err)
{
	uint64_t bytes = 0;
	char text[256];

	for (uint32_t i = 0; i < recorder->session.n_rings; i++)
		bytes += recorder->session.rings[i].skipped;
	if (bytes == 0)
		return CTX_OK;
	snprintf(text, sizeof(text),
		 "%llu bytes of the kernel's records made no sense and were passed over, %llu times: "
		 "samples, and "
		 "begins and ends of processes and threads, may be missing",
		 (unsigned long long)bytes, (unsigned long long)recorder->merge.damaged);
	return ctx_recorder_warn(recorder, text, err);
}

/* Warns of stacks without their functions of Python, and why. */
static enum ctx_status end_python(struct ctx_recorder *recorder, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	char text[CTX_PYTHON_TEXT_MAX];

	for (unsigned i = 0; i < CTX_PYTHON_TEXTS && status == CTX_OK; i++) {
		if (ctx_python_text(recorder->code.python, i, text))
			status = ctx_recorder_warn(recorder, text, err);
	}
	return status;
}

static enum ctx_status finish_tree(struct ctx_recorder *recorder, uint64_t now, struct ctx_err *err)
{
	struct ctx_exp_unwinding counts = ctx_sample_batch_counts(recorder->batch);
	enum ctx_status status = ctx_losses_finish(recorder->losses, ctx_clock_ns(CLOCK_MONOTONIC), err);

	if (status == CTX_OK && recorder->session.sizes.stack_bytes != 0)
		status = ctx_exp_unwound(recorder->writer, now, &counts, err);
	if (status == CTX_OK)
		status = note_sampling(recorder, now, err);
	if (status == CTX_OK && recorder->metrics.indicators != NULL)
		status = ctx_indicators_count(recorder->metrics.indicators, &recorder->session,
					      recorder->writer, err);
	if (status != CTX_OK)
		return status;
	if (recorder->child.has_ended) {
		uint64_t seen_ns = recorder->child_ended_ns != 0 ? recorder->child_ended_ns : now;
		uint64_t end_ns = ctx_proctree_root_process_end_ns(recorder->tree, seen_ns);

		status = take_last_usage(recorder, end_ns, err);
		if (status == CTX_OK)
			status = ctx_proctree_root_process_exit(recorder->tree, end_ns,
								recorder->child.status, err);
	} else {
		status = ctx_recorder_take_usage(recorder, now, err);
	}
	if (status == CTX_OK && ctx_setuid_more(recorder->setuid) != 0)
		status = warn_of_more_setuid(recorder, err);
	if (status == CTX_OK)
		status = warn_of_skipped(recorder, err);
	if (status == CTX_OK && recorder->trace != NULL)
		status = end_trace(recorder, err);
	if (status == CTX_OK && recorder->code.vms != NULL)
		status = end_vms(recorder, err);
	if (status == CTX_OK && recorder->code.python != NULL)
		status = end_python(recorder, err);
	if (status == CTX_OK)
		status = end_dumps(recorder, err);
	if (status == CTX_OK && !recorder->options->no_archive)
		status = ctx_exp_archive(recorder->writer, err);
	if (status == CTX_OK && recorder->options->archive_sources)
		status = archive_sources(recorder, err);
	return status;
}

/* Where the recorder came too late and may not do anything about it. */
static void suggest(const struct ctx_recorder *recorder)
{
	const struct ctx_priority_attr *own = &recorder->keeping_up.priority.own;

	if (ctx_losses_total(recorder->losses) != 0 && own->realtime == 0 && own->nice >= 0 &&
	    recorder->session.sizes.stack_bytes != 0 && recorder->options->realtime != 0 &&
	    !recorder->options->prints.quiet)
		recorder->user.say(recorder->user.context,
				   "records were lost: a higher priority than that of the target is not "
				   "allowed here (ulimit -e, ulimit -r); with --stack-size 2k rings "
				   "last longer");
}

/* Reports the first error. */
static void fail(struct ctx_recorder *recorder, const struct ctx_err *err)
{
	char text[CTX_ERR_MAX + 64];

	if (recorder->user.has_failed)
		return;
	recorder->user.has_failed = true;
	if (recorder->trace != NULL)
		ctx_trace_give_up(recorder->trace);
	if (recorder->writer != NULL)
		ctx_exp_fail(recorder->writer, err->msg);
	snprintf(text, sizeof(text), "recording failed: %s", err->msg);
	recorder->user.say(recorder->user.context, text);
}

/*
 * Closes the experiment in any case: what is on disk stays valid. It ends with the last process: what the
 * recorder does afterwards, seconds on a busy machine, is not part of the run.
 */
static void finish(struct ctx_recorder *recorder, struct ctx_recording *recording)
{
	uint64_t end_ns = ctx_proctree_end_ns(recorder->tree, ctx_clock_ns(CLOCK_MONOTONIC));
	struct ctx_exp_stats stats;
	struct ctx_err err = {0};

	suggest(recorder);
	ctx_priority_restore(&recorder->keeping_up.priority);
	if (!recorder->user.has_failed && finish_tree(recorder, end_ns, &err) != CTX_OK)
		fail(recorder, &err);
	stats = ctx_exp_stats(recorder->writer);
	if (ctx_exp_close(recorder->writer, end_ns, &err) != CTX_OK)
		fail(recorder, &err);
	recorder->writer = NULL;
	recording->name = recorder->path;
	recorder->path = NULL;
	recording->samples = stats.samples;
	recording->processes = stats.processes;
	recording->threads = stats.threads;
	recording->dropped_by_limit = stats.dropped_by_limit;
	recording->lost = ctx_losses_total(recorder->losses);
	recording->bytes = ctx_tree_bytes(recording->name);
	recording->duration_ns = end_ns - recorder->start_ns;
}

static void release(struct ctx_recorder *recorder)
{
	ctx_child_abandon(&recorder->child);
	ctx_merge_deinit(&recorder->merge);
	if (recorder->session.events != NULL)
		ctx_session_close(&recorder->session);
	ctx_state_records_destroy(recorder->states);
	ctx_titles_destroy(recorder->titles);
	ctx_setuid_destroy(recorder->setuid);
	ctx_losses_destroy(recorder->losses);
	detach(recorder); /* after a failure; otherwise none is left */
	ctx_trace_destroy(recorder->trace);
	ctx_vms_destroy(recorder->code.vms);
	ctx_python_destroy(recorder->code.python);
	ctx_jit_dumps_destroy(recorder->code.dumps);
	ctx_proctree_destroy(recorder->tree);
	ctx_mapped_files_destroy(recorder->files);
	ctx_data_maps_deinit(&recorder->metrics.data_maps);
	ctx_perf_events_deinit(&recorder->events);
	ctx_ids_deinit(&recorder->tids);
	free(recorder->metrics.items);
	ctx_indicators_destroy(recorder->metrics.indicators);
	ctx_sample_batch_destroy(recorder->batch);
	ctx_wait_sampling_destroy(recorder->sampling);
	free(recorder->polls);
	free(recorder->path);
	if (recorder->signals.fd >= 0)
		close(recorder->signals.fd);
}

/* Nothing was recorded: removes the experiment if it was created. */
static enum ctx_status give_up(struct ctx_recorder *recorder, enum ctx_status status)
{
	if (recorder->writer != NULL) {
		/*
		 * The user should read why nothing was recorded, not errors of the removal.
		 */
		if (ctx_exp_close(recorder->writer, ctx_clock_ns(CLOCK_MONOTONIC), NULL) != CTX_OK ||
		    ctx_dir_remove(recorder->path, NULL) != CTX_OK)
			recorder->user.say(recorder->user.context,
					   "the experiment that was begun could not be removed");
	}
	release(recorder);
	return status;
}

static enum ctx_status check_command(const struct ctx_rec_options *options, struct ctx_recording *recording,
				     struct ctx_err *err)
{
	enum ctx_status status =
		options->command != NULL ? ctx_command_check(options->command[0], err) : CTX_OK;

	if (status != CTX_OK)
		recording->exit_code = status == CTX_E_NOTFOUND ? 127 : 126;
	return status;
}

static void record(struct ctx_recorder *recorder, const struct ctx_recorder_user *user,
		   struct ctx_recording *recording)
{
	struct ctx_err err = {0};

	if (run_loop(recorder, &err) != CTX_OK) {
		ctx_session_disable(&recorder->session);
		fail(recorder, &err);
	} else if (recorder->signals.interruptions > 0 && recorder->options->command != NULL) {
		wait_for_child(recorder, ctx_clock_ns(CLOCK_MONOTONIC) + GRACE_NS);
	}
	finish(recorder, recording);
	/* From here on the rings cost the command nothing. */
	ctx_merge_deinit(&recorder->merge);
	ctx_session_close(&recorder->session);
	ctx_indicators_let_go(recorder->metrics.indicators);
	if (user->finished != NULL)
		user->finished(user->context, recording);
	if (recorder->options->command == NULL)
		return;
	wait_for_child(recorder, 0);
	recording->exit_code = recorder->child.has_ended ? ctx_exit_code(recorder->child.status)
							 : 128 + recorder->signals.last;
}

/* The command is stopped at its exec; if it cannot be armed, it does not run. */
static enum ctx_status arm(struct ctx_recorder *recorder, struct ctx_err *err)
{
	int64_t tid = recorder->child.pid;
	enum ctx_status status =
		ctx_indicators_arm(recorder->metrics.indicators, &recorder->session, recorder->child.pid,
				   &(struct ctx_ids){.items = &tid, .n = 1}, err);

	if (status < CTX_OK)
		(void)kill(recorder->child.pid, SIGKILL);
	ctx_child_detach(&recorder->child);
	return status < CTX_OK ? status : CTX_OK;
}

enum ctx_status ctx_record(const struct ctx_rec_options *options, const struct ctx_recorder_user *user,
			   struct ctx_recording *ret, struct ctx_err *err)
{
	struct ctx_recorder recorder = {.options = options,
					.user = {.say = user->say, .context = user->context},
					.child = CTX_CHILD_NONE,
					.signals.fd = -1};
	enum ctx_status status;

	*ret = (struct ctx_recording){0};
	status = check_command(options, ret, err);
	if (status != CTX_OK)
		return status;
	status = ctx_recorder_begin(&recorder, err);
	if (status != CTX_OK)
		return give_up(&recorder, status);
	if (user->began != NULL)
		user->began(user->context, recorder.path);
	if (options->command != NULL) {
		status = ctx_child_exec(&recorder.child, options->command[0], err);
		if (status == CTX_OK && recorder.child.stops_at_exec) {
			status = arm(&recorder, err);
			if (status != CTX_OK)
				return give_up(&recorder, status);
		}
		if (status == CTX_E_NOTFOUND || status == CTX_E_PERM)
			ret->exit_code = status == CTX_E_NOTFOUND ? 127 : 126;
		if (status != CTX_OK)
			return give_up(&recorder, status);
	}
	record(&recorder, user, ret);
	if (recorder.user.has_failed && (options->fail || options->command == NULL))
		ret->exit_code = 2;
	recorder.child.pid = -1; /* after a second interruption it continues unobserved */
	release(&recorder);
	return CTX_OK;
}

void ctx_recording_deinit(struct ctx_recording *recording)
{
	free(recording->name);
	*recording = (struct ctx_recording){0};
}
