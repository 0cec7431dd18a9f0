/*
 *	perf events -> rings -> merge by time -> perfrecord -+- sample -> sample_batch -> ctx_exp_sample
 *	                                                     +- switch, wake-up -> state_records -> sample_batch
 *	                                                     +- fork, exec, mmap, exit -> proctree -> writer
 *	                                                     +- lost, throttled -> writer
 */
#include "collect/recorder.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "collect/child.h"
#include "collect/merge.h"
#include "collect/proctree.h"
#include "collect/recmeta.h"
#include "collect/sample_batch.h"
#include "collect/session.h"
#include "collect/sources.h"
#include "collect/state_records.h"
#include "collect/unwind_pool.h"
#include "formats/experiment/exp_writer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_HZ 999u
#define STACK_BYTES_USUAL ((size_t)32 << 10)
#define HURRY_PERCENT 75u /* of a ring: when it is that full, there is no time to unwind */
#define SECOND_NS UINT64_C(1000000000)
#define SLACK_NS UINT64_C(5000000) /* a record that old is in its ring, whatever CPU it is of */
#define ROUND_MS 100
#define GRACE_NS                                                                                             \
	SECOND_NS /* how long the experiment stays open for the exit status of a command that was            \
		     interrupted */
#define USAGE_PROCESSES_MAX 256

struct recorder {
	const struct ctx_rec_options *options;
	ctx_say *say;
	void *context;
	struct ctx_perf_events events;
	struct ctx_exp_metric *metrics; /* owned, like all below */
	struct ctx_ids tids;
	struct ctx_session session;
	struct ctx_merge merge;
	struct ctx_perf_layout layout;
	struct ctx_sample_batch *batch;
	struct ctx_exp_writer *writer;
	struct ctx_proctree *tree;
	struct ctx_state_records *states;
	struct ctx_child child;
	char *path;
	sigset_t old_mask;
	struct sigaction old_sigpipe;
	int signal_fd;
	struct pollfd *polls; /* signal_fd, then the rings */
	uint64_t start_ns, next_usage_ns;
	struct ctx_usage_info founder_usage; /* the last that was seen */
	uint64_t lost;
	unsigned interruptions;
	int last_signal; /* of them */
	bool has_failed; /* and said so */
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* --- records --- */

static enum ctx_status count_lost(struct recorder *recorder, uint64_t time_ns, uint64_t n,
				  struct ctx_err *err)
{
	recorder->lost += n;
	return ctx_exp_lost(recorder->writer, time_ns, n, err);
}

static enum ctx_status take_state(struct recorder *recorder, const struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	uint32_t event = record->event - (uint32_t)recorder->events.n;
	enum ctx_status status =
		ctx_state_records_sample(recorder->states, (enum ctx_state_event)event, record, err);

	return status == CTX_E_FORMAT ? count_lost(recorder, record->time_ns, 1, err) : status;
}

static enum ctx_status take_sample(struct recorder *recorder, const struct ctx_perf_record *record,
				   struct ctx_err *err)
{
	uint32_t process, thread;
	enum ctx_status status;

	if (record->event == UINT32_MAX)
		return CTX_OK;
	if (record->event >= recorder->events.n)
		return take_state(recorder, record, err);
	status = ctx_proctree_find(recorder->tree, (int32_t)record->pid, (int32_t)record->tid,
				   record->time_ns, &process, &thread, err);
	if (status == CTX_E_NOTFOUND)
		return count_lost(recorder, record->time_ns, 1, err);
	return status == CTX_OK ? ctx_sample_batch_add(recorder->batch, record, process, thread, err)
				: status;
}

static enum ctx_status take_record(struct recorder *recorder, const struct perf_event_header *header,
				   struct ctx_err *err)
{
	struct ctx_perf_record record;
	enum ctx_status status;

	/* A record that is not what it says: counted as lost, for the recording as a whole is more worth than
	 * one. */
	if (ctx_perf_record_parse(header, header->size, &recorder->layout, &record, NULL) != CTX_OK)
		return count_lost(recorder, now_ns(CLOCK_MONOTONIC), 1, err);
	if (record.type == PERF_RECORD_SAMPLE)
		return take_sample(recorder, &record, err);
	if (record.type == PERF_RECORD_SWITCH || record.type == PERF_RECORD_SWITCH_CPU_WIDE)
		return ctx_state_records_switch(recorder->states, &record, err);
	status = ctx_sample_batch_flush(recorder->batch, err);
	if (status != CTX_OK)
		return status;
	switch (record.type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return count_lost(recorder, record.time_ns, record.lost, err);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return ctx_exp_throttle(recorder->writer, record.time_ns, record.type == PERF_RECORD_THROTTLE,
					err);
	case PERF_RECORD_EXIT:
		ctx_state_records_exit(recorder->states, &record);
		return ctx_proctree_apply(recorder->tree, &record, err);
	default:
		status = ctx_proctree_apply(recorder->tree, &record, err);
		if (status == CTX_OK && record.type == PERF_RECORD_COMM &&
		    (record.misc & PERF_RECORD_MISC_COMM_EXEC) != 0)
			status = ctx_state_records_exec(recorder->states, &record, err);
		return status;
	}
}

static enum ctx_status take_until(struct recorder *recorder, uint64_t limit_ns, struct ctx_err *err)
{
	const struct perf_event_header *header;
	uint64_t damaged = recorder->merge.damaged;
	enum ctx_status status = CTX_OK;

	ctx_merge_begin(&recorder->merge, limit_ns);
	ctx_sample_batch_hurry(recorder->batch, recorder->merge.fullest >= HURRY_PERCENT);
	while (status == CTX_OK && (header = ctx_merge_next(&recorder->merge)) != NULL) {
		status = take_record(recorder, header, err);
		if (status == CTX_OK && ctx_merge_is_due(&recorder->merge)) {
			status = ctx_sample_batch_flush(recorder->batch, err);
			ctx_merge_release(&recorder->merge);
		}
	}
	if (status == CTX_OK)
		status = ctx_sample_batch_flush(recorder->batch, err);
	ctx_merge_release(&recorder->merge);
	damaged = recorder->merge.damaged - damaged;
	return status == CTX_OK && damaged != 0 ? count_lost(recorder, now_ns(CLOCK_MONOTONIC), damaged, err)
						: status;
}

static enum ctx_status take_usage(struct recorder *recorder, uint64_t time_ns, struct ctx_err *err)
{
	struct ctx_proctree_live live[USAGE_PROCESSES_MAX];
	size_t n = ctx_proctree_live(recorder->tree, live, CTX_COUNT_OF(live));
	uint32_t founder = ctx_proctree_founder(recorder->tree);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_usage_info usage;

		if (live[i].pid <= 0 || ctx_procfs_usage(live[i].pid, &usage, NULL) != CTX_OK)
			continue;
		usage.time_ns = time_ns;
		usage.process = live[i].process;
		if (usage.process == founder && usage.vsize_bytes != 0)
			recorder->founder_usage = usage;
		status = ctx_exp_usage(recorder->writer, &usage, err);
	}
	recorder->next_usage_ns = time_ns + SECOND_NS;
	return status;
}

/* --- the command --- */

/* Its last resource use. wait4 counts to the nanosecond, but also what the command waited for itself: it is
 * used where there was nothing else. */
static enum ctx_status take_last_usage(struct recorder *recorder, uint64_t time_ns, struct ctx_err *err)
{
	const struct rusage *used = &recorder->child.usage;
	struct ctx_usage_info usage = recorder->founder_usage;
	uint32_t founder = ctx_proctree_founder(recorder->tree);

	if (founder == CTX_NONE)
		return CTX_OK;
	usage.time_ns = time_ns;
	usage.process = founder;
	if (ctx_exp_stats(recorder->writer).processes == 1) {
		usage.user_ns =
			(uint64_t)used->ru_utime.tv_sec * SECOND_NS + (uint64_t)used->ru_utime.tv_usec * 1000;
		usage.system_ns =
			(uint64_t)used->ru_stime.tv_sec * SECOND_NS + (uint64_t)used->ru_stime.tv_usec * 1000;
		usage.minor_faults = (uint64_t)used->ru_minflt;
		usage.major_faults = (uint64_t)used->ru_majflt;
		usage.voluntary_switches = (uint64_t)used->ru_nvcsw;
		usage.involuntary_switches = (uint64_t)used->ru_nivcsw;
		usage.rss_bytes = (uint64_t)used->ru_maxrss * 1024;
	}
	return ctx_exp_usage(recorder->writer, &usage, err);
}

/* Waits for the command; on the way keeps what /proc still says of it. */
static bool look_at_child(struct recorder *recorder, bool block)
{
	struct ctx_child *child = &recorder->child;
	struct ctx_usage_info usage, *last = &recorder->founder_usage;
	siginfo_t info = {0};

	if (child->pid < 0)
		return child->has_ended;
	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT | (block ? 0 : WNOHANG)) == 0 &&
	    info.si_pid != 0 && ctx_procfs_usage(child->pid, &usage, NULL) == CTX_OK) {
		last->user_ns = usage.user_ns;
		last->system_ns = usage.system_ns;
		last->minor_faults = usage.minor_faults;
		last->major_faults = usage.major_faults;
	}
	return ctx_child_wait(child, block);
}

/* Reads the signals that wait. Those that are meant to end us count as interruptions and go to the command,
 * unless the terminal has sent them to it already. */
static void take_signals(struct recorder *recorder)
{
	struct signalfd_siginfo info;

	while (read(recorder->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		recorder->interruptions++;
		recorder->last_signal = (int)info.ssi_signo;
		if (recorder->child.pid > 0 && info.ssi_code != SI_KERNEL)
			(void)kill(recorder->child.pid, (int)info.ssi_signo);
	}
}

/* After the recording: until the command has ended, or an interruption after the first. */
static void wait_for_child(struct recorder *recorder, uint64_t until_ns)
{
	while (!look_at_child(recorder, false) && recorder->interruptions < 2) {
		struct pollfd signals = {.fd = recorder->signal_fd, .events = POLLIN};
		uint64_t now = now_ns(CLOCK_MONOTONIC);
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

static bool is_gone(int64_t pid)
{
	return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static bool all_have_ended(const struct recorder *recorder)
{
	struct ctx_proctree_live live[USAGE_PROCESSES_MAX];
	size_t n;

	if (recorder->options->pids.n == 0) {
		n = ctx_proctree_live(recorder->tree, live, CTX_COUNT_OF(live));
		for (size_t i = 0; i < n; i++) {
			if (!is_gone(live[i].pid))
				return false;
		}
		return true;
	}
	for (size_t i = 0; i < recorder->options->pids.n; i++) {
		int64_t pid = recorder->options->pids.items[i];

		/* A process that has ended stays a zombie until its parent has looked: the exit record tells
		 * earlier. */
		if (ctx_proctree_is_live(recorder->tree, pid) && !is_gone(pid))
			return false;
	}
	return true;
}

static bool is_over(struct recorder *recorder, uint64_t now)
{
	const struct ctx_rec_options *options = recorder->options;

	if (recorder->interruptions > 0 ||
	    (options->duration_ns != 0 && now - recorder->start_ns >= options->duration_ns))
		return true;
	if (options->command != NULL)
		return look_at_child(recorder, false) &&
		       (!options->wait_descendants || options->system_wide || all_have_ended(recorder));
	return options->pids.n > 0 && all_have_ended(recorder);
}

static void wait_for_records(struct recorder *recorder, uint64_t now)
{
	uint64_t duration_ns = recorder->options->duration_ns;
	int timeout = ROUND_MS;
	nfds_t n = recorder->session.n_rings + 1;

	if (duration_ns != 0 && recorder->start_ns + duration_ns < now + ROUND_MS * UINT64_C(1000000))
		timeout = (int)((recorder->start_ns + duration_ns - now) / 1000000 + 1);
	if (poll(recorder->polls, n, timeout) <= 0)
		return;
	/* All that an event watched has ended: its end would wake us for ever. The ring goes on being looked
	 * at. */
	for (nfds_t i = 1; i < n; i++) {
		if ((recorder->polls[i].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
			recorder->polls[i].fd = -1;
	}
	take_signals(recorder);
}

static enum ctx_status run_loop(struct recorder *recorder, struct ctx_err *err)
{
	for (;;) {
		uint64_t now = now_ns(CLOCK_MONOTONIC);
		bool is_last = is_over(recorder, now);
		enum ctx_status status;

		if (is_last)
			ctx_session_disable(&recorder->session);
		status = take_until(recorder, is_last ? UINT64_MAX : now - SLACK_NS, err);
		if (status == CTX_OK && !is_last && now >= recorder->next_usage_ns)
			status = take_usage(recorder, now, err);
		if (status == CTX_OK)
			status = ctx_exp_tick(recorder->writer, now, err);
		if (status != CTX_OK || is_last)
			return status;
		wait_for_records(recorder, now_ns(CLOCK_MONOTONIC));
	}
}

/* --- beginning --- */

static enum ctx_status choose_events(struct recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	struct ctx_perf_roots roots = ctx_perf_roots_default();
	const char *list = options->events.n > 0      ? (const char *)options->events.bytes
			   : ctx_session_has_cycles() ? "cycles"
						      : "cpu-clock";
	enum ctx_status status = ctx_perf_events_parse(&recorder->events, list, &roots, err);

	if (status != CTX_OK)
		return status;
	if (recorder->events.n > UINT8_MAX)
		return ctx_err_set(err, CTX_E_ARG, "more than 255 events");
	recorder->metrics = ctx_calloc(recorder->events.n, sizeof(*recorder->metrics));
	if (recorder->metrics == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < recorder->events.n; i++) {
		struct ctx_perf_event *event = &recorder->events.items[i];

		ctx_perf_event_set_rate(event, options->period, options->frequency_hz, DEFAULT_HZ);
		recorder->metrics[i] =
			(struct ctx_exp_metric){.name = event->name,
						.unit = ctx_perf_event_unit(event),
						.file = event->is_clock ? "profile" : "hwcounters",
						.period = event->period,
						.frequency_hz = (double)event->frequency_hz};
	}
	return CTX_OK;
}

/* From here on signals are read, not suffered. One that is ignored (nohup, a background job of a shell) stays
 * so. */
static enum ctx_status take_over_signals(struct recorder *recorder, struct ctx_err *err)
{
	static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < CTX_COUNT_OF(wanted); i++) {
		struct sigaction action;

		if (wanted[i] == SIGCHLD) {
			/* Ignored, it would have the kernel clear the child away before we know its status.
			 */
			action = (struct sigaction){.sa_handler = SIG_DFL};
			sigaction(SIGCHLD, &action, NULL);
			sigaddset(&mask, SIGCHLD);
		} else if (sigaction(wanted[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
			sigaddset(&mask, wanted[i]);
		}
	}
	sigprocmask(SIG_BLOCK, &mask, &recorder->old_mask);
	sigaction(SIGPIPE, &ignore, &recorder->old_sigpipe);
	recorder->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signal_fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "signalfd");
	return CTX_OK;
}

static enum ctx_status list_threads(struct recorder *recorder, struct ctx_err *err)
{
	const struct ctx_ids *pids = &recorder->options->pids;

	if (recorder->options->command != NULL)
		return ctx_ids_add(&recorder->tids, recorder->child.pid, err);
	for (size_t i = 0; i < pids->n; i++) {
		enum ctx_status status = ctx_procfs_tids(pids->items[i], &recorder->tids, err);

		if (status == CTX_E_NOTFOUND)
			return ctx_err_set(err, CTX_E_ARG, "-p: there is no process %lld",
					   (long long)pids->items[i]);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

/* To be copied with each sample; 0: callers are found without. */
static size_t stack_bytes(const struct ctx_rec_options *options)
{
	if (options->unwind == CTX_REC_UNWIND_FP || options->unwind == CTX_REC_UNWIND_NONE)
		return 0;
	return options->stack_bytes != 0 ? (size_t)options->stack_bytes : STACK_BYTES_USUAL;
}

static enum ctx_status open_session(struct recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	struct ctx_session_options session = {.events = &recorder->events,
					      .tids = options->system_wide ? NULL : &recorder->tids,
					      .on_exec = options->command != NULL && !options->system_wide,
					      .follow = !options->no_follow,
					      .user_only = options->user_only,
					      .kernel_only = options->kernel_only,
					      .stack_bytes = stack_bytes(options),
					      .states = options->states,
					      .without_callers = options->unwind == CTX_REC_UNWIND_NONE,
					      .ring_bytes = options->ring_bytes,
					      .ring_is_fixed = options->ring_bytes != 0};
	enum ctx_status status = options->system_wide ? CTX_OK : list_threads(recorder, err);

	if (status == CTX_OK)
		status = ctx_session_open(&recorder->session, &session, err);
	if (status == CTX_OK)
		status = ctx_merge_init(&recorder->merge, recorder->session.rings, recorder->session.n_rings,
					err);
	if (status != CTX_OK)
		return status;
	recorder->layout = ctx_session_layout(&recorder->session);
	recorder->polls = ctx_calloc(recorder->session.n_rings + 1, sizeof(*recorder->polls));
	if (recorder->polls == NULL)
		return ctx_err_nomem(err);
	recorder->polls[0] = (struct pollfd){.fd = recorder->signal_fd, .events = POLLIN};
	for (uint32_t i = 0; i < recorder->session.n_rings; i++)
		recorder->polls[i + 1] =
			(struct pollfd){.fd = recorder->session.ring_fds[i], .events = POLLIN};
	return CTX_OK;
}

static enum ctx_status create_batch(struct recorder *recorder, struct ctx_err *err)
{
	struct ctx_sample_batch_options options = {
		.writer = recorder->writer,
		.max_stack = ctx_max_stack(),
		.stack_bytes = recorder->session.stack_bytes,
		.keep_stacks = recorder->options->keep_stacks,
		.n_threads = ctx_unwind_pool_threads(sysconf(_SC_NPROCESSORS_ONLN)),
	};

	return ctx_sample_batch_create(&options, &recorder->batch, err);
}

static enum ctx_status create_states(struct recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	struct ctx_state_records_options states = {.events = &recorder->session.states,
						   .tree = recorder->tree,
						   .batch = recorder->batch,
						   .writer = recorder->writer,
						   .from_start =
							   options->command != NULL && !options->system_wide};

	return ctx_state_records_create(&states, &recorder->states, err);
}

static enum ctx_status create_experiment(struct recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	struct ctx_recmeta meta;
	enum ctx_status status = ctx_recmeta_init(&meta, options, &recorder->session, err);
	struct ctx_exp_options exp = {.overwrite = options->overwrite,
				      .max_bytes = options->max_bytes,
				      .memory_bytes = (size_t)options->memory_bytes,
				      .keep_places = options->archive_sources,
				      .has_states = recorder->session.states.level != CTX_STATES_NONE,
				      .comment = options->comment,
				      .metrics = recorder->metrics,
				      .n_metrics = (uint32_t)recorder->events.n,
				      .properties = meta.properties,
				      .n_properties = meta.n};

	recorder->path = options->output != NULL ? ctx_memdup0(options->output, strlen(options->output))
						 : ctx_default_name(meta.stem);
	recorder->start_ns = now_ns(CLOCK_MONOTONIC);
	exp.start_ns = recorder->start_ns;
	exp.start_unix_ns = (int64_t)now_ns(CLOCK_REALTIME);
	exp.path = recorder->path;
	if (status == CTX_OK && recorder->path == NULL)
		status = ctx_err_nomem(err);
	if (status == CTX_OK)
		status = ctx_exp_create(&exp, &recorder->writer, err);
	if (status == CTX_OK)
		status = create_batch(recorder, err);
	if (status == CTX_OK)
		status = ctx_proctree_create(recorder->writer, &recorder->tree, err);
	if (status == CTX_OK)
		status = create_states(recorder, err);
	if (status == CTX_OK && options->command != NULL)
		status = ctx_proctree_add_founder(recorder->tree, recorder->child.pid, meta.command,
						  recorder->start_ns, err);
	recorder->next_usage_ns = recorder->start_ns + SECOND_NS;
	ctx_recmeta_deinit(&meta);
	return status;
}

static enum ctx_status warn(struct recorder *recorder, const char *text, struct ctx_err *err)
{
	recorder->say(recorder->context, text);
	return ctx_exp_warning(recorder->writer, recorder->start_ns, text, err);
}

static enum ctx_status tell_limits(struct recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;

	if (options->unwind == CTX_REC_UNWIND_CFI && recorder->session.stack_bytes == 0)
		recorder->say(
			recorder->context,
			"call frame information cannot be used on this machine: frame pointers are followed");
	if (recorder->session.stack_bytes != 0 && recorder->session.stack_bytes < stack_bytes(options)) {
		char text[160];

		snprintf(text, sizeof(text),
			 "only %zu bytes of each stack are looked at: the limit on locked memory allows no "
			 "larger "
			 "rings (kernel.perf_event_mlock_kb, ulimit -l)",
			 recorder->session.stack_bytes);
		recorder->say(recorder->context, text);
	}
	if (recorder->session.without_kernel && !recorder->options->user_only)
		return warn(recorder,
			    "only samples in user mode: kernel samples need kernel.perf_event_paranoid of 1 "
			    "or less, or the "
			    "capability CAP_PERFMON",
			    err);
	return CTX_OK;
}

/* What runs already: the events are on first, so that nothing is missed between looking and recording. */
static enum ctx_status begin_present(struct recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	struct ctx_ids all = {0};
	const struct ctx_ids *pids = options->system_wide ? &all : &options->pids;
	enum ctx_status status = CTX_OK;

	ctx_session_enable(&recorder->session);
	if (options->system_wide)
		status = ctx_procfs_pids(&all, err);
	/* Looking at many takes longer than a ring of samples with stacks lasts. */
	for (size_t i = 0; i < pids->n && status == CTX_OK; i++) {
		status = ctx_proctree_add_present(recorder->tree, pids->items[i], recorder->start_ns, err);
		if (status == CTX_OK && i % 8 == 7)
			status = take_until(recorder, now_ns(CLOCK_MONOTONIC) - SLACK_NS, err);
	}
	ctx_ids_deinit(&all);
	return status;
}

static enum ctx_status begin(struct recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	enum ctx_status status = choose_events(recorder, err);

	if (status == CTX_OK)
		status = take_over_signals(recorder, err);
	if (status == CTX_OK && options->command != NULL)
		status = ctx_child_fork(&recorder->child, options->command, &recorder->old_mask,
					&recorder->old_sigpipe, err);
	if (status == CTX_OK)
		status = open_session(recorder, err);
	if (status == CTX_OK)
		status = create_experiment(recorder, err);
	if (status == CTX_OK)
		status = tell_limits(recorder, err);
	if (status == CTX_OK && (options->command == NULL || options->system_wide))
		status = begin_present(recorder, err);
	return status;
}

/* --- end --- */

static enum ctx_status archive_sources(struct recorder *recorder, struct ctx_err *err)
{
	struct ctx_sources_result result;
	enum ctx_status status = ctx_sources_archive(recorder->writer, &ctx_sources_usual, &result, err);
	char text[256];

	if (status == CTX_OK && result.copied == 0)
		status =
			warn(recorder,
			     result.objects == 0
				     ? "no source files were copied: no program here has line tables (gcc -g)"
				     : "no source files were copied: the log says what was looked for",
			     err);
	if (status == CTX_OK && result.left_out != 0) {
		snprintf(text, sizeof(text),
			 "%u source files were not copied: larger than 4 MiB, or beyond 64 MiB in all",
			 result.left_out);
		status = warn(recorder, text, err);
	}
	if (status == CTX_OK && result.newer != 0) {
		snprintf(text, sizeof(text),
			 "%u source files are newer than the programs made from them: their lines may be "
			 "others",
			 result.newer);
		status = warn(recorder, text, err);
	}
	return status;
}

static enum ctx_status finish_tree(struct recorder *recorder, uint64_t now, struct ctx_err *err)
{
	struct ctx_exp_unwinding counts = ctx_sample_batch_counts(recorder->batch);
	enum ctx_status status = CTX_OK;

	if (recorder->session.stack_bytes != 0)
		status = ctx_exp_unwound(recorder->writer, now, &counts, err);
	if (status != CTX_OK)
		return status;
	if (recorder->child.has_ended) {
		status = take_last_usage(recorder, now, err);
		if (status == CTX_OK)
			status = ctx_proctree_founder_exit(recorder->tree, now, recorder->child.status, err);
	} else {
		status = take_usage(recorder, now, err);
	}
	if (status == CTX_OK && !recorder->options->no_archive)
		status = ctx_exp_archive(recorder->writer, err);
	if (status == CTX_OK && recorder->options->archive_sources)
		status = archive_sources(recorder, err);
	return status;
}

/* Says what went wrong, once. */
static void fail(struct recorder *recorder, const struct ctx_err *err)
{
	char text[CTX_ERR_MAX + 64];

	if (recorder->has_failed)
		return;
	recorder->has_failed = true;
	snprintf(text, sizeof(text), "recording stopped: %s", err->msg);
	recorder->say(recorder->context, text);
}

/* Closes the experiment whatever happened: what is on disk stays valid. */
static void finish(struct recorder *recorder, struct ctx_recording *recording)
{
	uint64_t end_ns = now_ns(CLOCK_MONOTONIC);
	struct ctx_exp_stats stats;
	struct ctx_err err = {0};

	if (!recorder->has_failed && finish_tree(recorder, end_ns, &err) != CTX_OK)
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
	recording->lost = recorder->lost;
	recording->bytes = ctx_tree_bytes(recording->name);
	recording->duration_ns = end_ns - recorder->start_ns;
}

static void release(struct recorder *recorder)
{
	ctx_child_abandon(&recorder->child);
	ctx_merge_deinit(&recorder->merge);
	if (recorder->session.events != NULL)
		ctx_session_close(&recorder->session);
	ctx_state_records_destroy(recorder->states);
	ctx_proctree_destroy(recorder->tree);
	ctx_perf_events_deinit(&recorder->events);
	ctx_ids_deinit(&recorder->tids);
	free(recorder->metrics);
	ctx_sample_batch_destroy(recorder->batch);
	free(recorder->polls);
	free(recorder->path);
	if (recorder->signal_fd >= 0)
		close(recorder->signal_fd);
}

/* Nothing was recorded: an experiment that we have made is taken away again. */
static enum ctx_status give_up(struct recorder *recorder, enum ctx_status status)
{
	if (recorder->writer != NULL) {
		/*
		 * The reason why nothing was recorded is what the user should read, not what the clearing
		 * away met.
		 */
		if (ctx_exp_close(recorder->writer, now_ns(CLOCK_MONOTONIC), NULL) != CTX_OK ||
		    ctx_dir_remove(recorder->path, NULL) != CTX_OK)
			recorder->say(recorder->context,
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

static void record(struct recorder *recorder,
		   void (*told)(void *context, const struct ctx_recording *recording),
		   struct ctx_recording *recording)
{
	struct ctx_err err = {0};

	if (run_loop(recorder, &err) != CTX_OK) {
		ctx_session_disable(&recorder->session);
		fail(recorder, &err);
	} else if (recorder->interruptions > 0 && recorder->options->command != NULL) {
		wait_for_child(recorder, now_ns(CLOCK_MONOTONIC) + GRACE_NS);
	}
	finish(recorder, recording);
	/* The rings cost the command no more. */
	ctx_merge_deinit(&recorder->merge);
	ctx_session_close(&recorder->session);
	if (told != NULL)
		told(recorder->context, recording);
	if (recorder->options->command == NULL)
		return;
	wait_for_child(recorder, 0);
	recording->exit_code = recorder->child.has_ended ? ctx_exit_code(recorder->child.status)
							 : 128 + recorder->last_signal;
}

enum ctx_status ctx_record(const struct ctx_rec_options *options, ctx_say *say, void *context,
			   void (*told)(void *context, const struct ctx_recording *recording),
			   struct ctx_recording *ret, struct ctx_err *err)
{
	struct recorder recorder = {
		.options = options, .say = say, .context = context, .child = CTX_CHILD_NONE, .signal_fd = -1};
	enum ctx_status status;

	*ret = (struct ctx_recording){0};
	status = check_command(options, ret, err);
	if (status != CTX_OK)
		return status;
	status = begin(&recorder, err);
	if (status != CTX_OK)
		return give_up(&recorder, status);
	if (options->command != NULL) {
		status = ctx_child_exec(&recorder.child, options->command[0], err);
		if (status == CTX_E_NOTFOUND || status == CTX_E_PERM)
			ret->exit_code = status == CTX_E_NOTFOUND ? 127 : 126;
		if (status != CTX_OK)
			return give_up(&recorder, status);
	}
	record(&recorder, told, ret);
	if (recorder.has_failed && ret->exit_code == 0)
		ret->exit_code = 2;
	recorder.child.pid = -1; /* after a second interruption it goes on without us */
	release(&recorder);
	return CTX_OK;
}

void ctx_recording_deinit(struct ctx_recording *recording)
{
	free(recording->name);
	*recording = (struct ctx_recording){0};
}
