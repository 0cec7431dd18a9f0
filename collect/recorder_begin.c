/*
 *	choose events -> signals -> fork the command (it waits) -> rings -> experiment -> the command goes on
 */
#include "collect/recorder_impl.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/perfevent.h"
#include "collect/permissions.h"
#include "collect/recmeta.h"
#include "collect/unwind_pool.h"
#include "formats/experiment/exp_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define DEFAULT_HZ 999u
#define VM_HEAP_BYTES                                                                                        \
	((uint64_t)512                                                                                       \
	 << 10) /* between sampled allocations of a virtual machine, unless --heap-sample says otherwise */
#define VM_HEAP_BYTES_MIN 1024u
#define VM_HEAP_BYTES_MAX ((uint64_t)1 << 30)
#define STACK_BYTES_USUAL ((size_t)32 << 10)

/* Stack bytes to copy with each sample; 0: callers are found without a copy. */
static size_t stack_bytes(const struct ctx_rec_options *options)
{
	if (options->unwind == CTX_REC_UNWIND_FP || options->unwind == CTX_REC_UNWIND_NONE)
		return 0;
	return options->stack_bytes != 0 ? (size_t)options->stack_bytes : STACK_BYTES_USUAL;
}

static enum ctx_status create_indicators(struct ctx_recorder *recorder, const struct ctx_perf_roots *roots,
					 struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	const struct ctx_indicators_options indicators = {
		.specs = options->trace.indicators.items,
		.n = options->trace.indicators.n,
		.file = options->trace.indicators_file,
		.match_symbols = options->trace.match_symbols,
		.command = options->command != NULL ? options->command[0] : NULL,
		.pids = &options->pids,
		.has_registers = stack_bytes(options) != 0,
		.only_by_kernel = options->trace.calls || options->system_wide,
		.no_follow = options->no_follow,
		.tracefs = roots->tracefs};

	return ctx_indicators_create(&indicators, &recorder->events, &recorder->metrics.indicators, err);
}

static enum ctx_status choose_addresses(struct ctx_perf_events *events, struct ctx_err *err)
{
	bool some = false;

	for (size_t i = 0; i < events->n; i++) {
		events->items[i].has_address = ctx_perf_event_can_have_address(&events->items[i]);
		some |= events->items[i].has_address;
	}
	return some ? CTX_OK
		    : ctx_err_set(err, CTX_E_ARG,
				  "--data: no event has addresses of data: -e page-faults, mem:ADDRESS, "
				  "--indicator NAME:rw and events of the processor with :p do");
}

static enum ctx_status choose_events(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	const struct ctx_perf_rate asked = {
		.period = options->period, .frequency_hz = options->frequency_hz, .default_hz = DEFAULT_HZ};
	struct ctx_perf_roots roots = ctx_perf_roots_default();
	const char *list = options->events.n > 0      ? (const char *)options->events.bytes
			   : ctx_session_has_cycles() ? "cycles"
						      : "cpu-clock";
	enum ctx_status status = ctx_perf_events_parse(&recorder->events, list, &roots, err);

	if (status == CTX_OK && ctx_rec_counts(&options->trace))
		status = create_indicators(recorder, &roots, err);
	if (status == CTX_OK && options->trace.data)
		status = choose_addresses(&recorder->events, err);
	if (status != CTX_OK)
		return status;
	if (recorder->events.n >= UINT8_MAX)
		return ctx_err_set(err, CTX_E_ARG, "more than 254 events");
	recorder->metrics.items = ctx_calloc(recorder->events.n + 1, sizeof(*recorder->metrics.items));
	if (recorder->metrics.items == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < recorder->events.n; i++) {
		struct ctx_perf_event *event = &recorder->events.items[i];

		status = ctx_perf_event_set_rate(event, &asked, err);
		if (status != CTX_OK)
			return status;
		recorder->metrics.items[i] =
			(struct ctx_exp_metric){.name = event->name,
						.unit = ctx_perf_event_unit(event),
						.file = event->is_clock ? "profile" : "hwcounters",
						.period = event->is_weighed ? 0 : event->period,
						.frequency_hz = (double)event->frequency_hz};
	}
	/* Behind those of events. */
	recorder->metrics.items[recorder->events.n] = (struct ctx_exp_metric){
		.name = CTX_VM_METRIC_ALLOCATED, .unit = "bytes", .file = "hwcounters"};
	return CTX_OK;
}

/*
 * From here on signals are blocked and read from a descriptor. Ignored ones (nohup, a background
 * job of a shell) stay ignored.
 */
static enum ctx_status take_over_signals(struct ctx_recorder *recorder, struct ctx_err *err)
{
	static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < CTX_COUNT_OF(wanted); i++) {
		struct sigaction action;

		if (wanted[i] == SIGCHLD) {
			/*
			 * If SIGCHLD were ignored, the kernel would reap the child before its
			 * status is known.
			 */
			action = (struct sigaction){.sa_handler = SIG_DFL};
			sigaction(SIGCHLD, &action, NULL);
			sigaddset(&mask, SIGCHLD);
		} else if (sigaction(wanted[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
			sigaddset(&mask, wanted[i]);
		}
	}
	sigprocmask(SIG_BLOCK, &mask, &recorder->signals.old.mask);
	sigaction(SIGPIPE, &ignore, &recorder->signals.old.pipe);
	/* A write beyond ulimit -f fails like any other. */
	sigaction(SIGXFSZ, &ignore, &recorder->signals.old.xfsz);
	recorder->signals.fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signals.fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "signalfd");
	return CTX_OK;
}

static enum ctx_status list_threads(struct ctx_recorder *recorder, struct ctx_err *err)
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

static enum ctx_status open_session(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	struct ctx_session_options session = {.events = &recorder->events,
					      .tids = options->system_wide ? NULL : &recorder->tids,
					      .on_exec = options->command != NULL && !options->system_wide,
					      .follow = !options->no_follow,
					      .user_only = options->user_only,
					      .kernel_only = options->kernel_only,
					      .stack_bytes = stack_bytes(options),
					      .stack_is_fixed = options->stack_bytes != 0,
					      .states = options->waits.states,
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
	recorder->polls = ctx_calloc(recorder->session.n_rings + CTX_RING_WAIT_OWN, sizeof(*recorder->polls));
	if (recorder->polls == NULL)
		return ctx_err_nomem(err);
	recorder->polls[0] = (struct pollfd){.fd = recorder->signals.fd, .events = POLLIN};
	recorder->polls[1] = (struct pollfd){.fd = -1};
	recorder->polls[2] = (struct pollfd){
		.fd = recorder->trace != NULL ? ctx_trace_fd(recorder->trace) : -1, .events = POLLIN};
	for (uint32_t i = 0; i < recorder->session.n_rings; i++)
		recorder->polls[CTX_RING_WAIT_OWN + i] =
			(struct pollfd){.fd = recorder->session.ring_fds[i], .events = POLLIN};
	return CTX_OK;
}

/* Of the sizes that could be opened. */
static size_t largest_copy(const struct ctx_session_sizes *sizes)
{
	size_t large = sizes->copy_bytes[CTX_COPY_LARGE];

	return large > sizes->stack_bytes ? large : sizes->stack_bytes;
}

static enum ctx_status create_batch(struct ctx_recorder *recorder, struct ctx_err *err)
{
	struct ctx_sample_batch_options options = {
		.writer = recorder->writer,
		.events = &recorder->events,
		.max_stack = ctx_max_stack(),
		.stack_bytes = largest_copy(&recorder->session.sizes),
		.keep_stacks = recorder->options->keep_stacks,
		.n_threads = ctx_unwind_pool_threads(sysconf(_SC_NPROCESSORS_ONLN)),
		.brief_event = (uint32_t)recorder->events.n + CTX_STATE_EVENT_SWITCH_BRIEF,
		.python = recorder->code.python,
		.vms = recorder->code.vms,
		.data_maps = recorder->options->trace.data ? &recorder->metrics.data_maps : NULL,
	};
	struct ctx_wait_sampling_options sampling = {.session = &recorder->session,
						     .per_mille = recorder->options->waits.budget_per_mille,
						     .now_ns = recorder->start_ns,
						     .clock = ctx_clock_ns};
	enum ctx_status status = ctx_wait_sampling_create(&sampling, &recorder->sampling, err);

	if (status != CTX_OK)
		return status;
	options.places = ctx_wait_sampling_places(recorder->sampling);
	if (!options.keep_stacks)
		options.small_bytes = recorder->session.sizes.copy_bytes[CTX_COPY_SMALL];
	memcpy(recorder->keeping_up.copies.copy_bytes, recorder->session.sizes.copy_bytes,
	       sizeof(recorder->keeping_up.copies.copy_bytes));
	recorder->keeping_up.copies.now = CTX_COPY_USUAL;
	recorder->keeping_up.n_tasks = recorder->tids.n;
	return ctx_sample_batch_create(&options, &recorder->batch, err);
}

static enum ctx_status create_states(struct ctx_recorder *recorder, struct ctx_err *err)
{
	struct ctx_state_records_options states = {.events = &recorder->session.states,
						   .tree = recorder->tree,
						   .batch = recorder->batch,
						   .writer = recorder->writer,
						   .sampling = recorder->sampling};

	return ctx_state_records_create(&states, &recorder->states, err);
}

static enum ctx_status create_named(struct ctx_recorder *recorder, struct ctx_exp_options *exp,
				    struct ctx_err *err)
{
	const char *output = recorder->options->output;

	recorder->path = ctx_memdup0(output, strlen(output));
	if (recorder->path == NULL)
		return ctx_err_nomem(err);
	exp->path = recorder->path;
	if (!exp->overwrite && access(recorder->path, F_OK) == 0 && !ctx_exp_is_recorded(recorder->path))
		return ctx_err_set(err, CTX_E_ARG, "%s: exists already (-O replaces an experiment)",
				   recorder->path);
	return ctx_exp_create(exp, &recorder->writer, err);
}

/* With the next free number; another recorder can take it at the same time. */
static enum ctx_status create_numbered(struct ctx_recorder *recorder, const char *stem,
				       struct ctx_exp_options *exp, struct ctx_err *err)
{
	enum ctx_status status;

	do {
		free(recorder->path);
		recorder->path = ctx_default_name(stem);
		if (recorder->path == NULL)
			return ctx_err_nomem(err);
		exp->path = recorder->path;
		status = ctx_exp_create(exp, &recorder->writer, err);
	} while (status == CTX_E_ARG && access(recorder->path, F_OK) == 0);
	return status;
}

static int open_object(void *context, const char *path, const char *build_id, struct ctx_err *err)
{
	return ctx_mapped_files_open(context, path, build_id, err);
}

/* "" for the usual place; NULL: none is wanted. */
static const char *store_of(const char *asked)
{
	if (asked == NULL)
		asked = getenv("CTXREC_STORE");
	if (asked == NULL)
		return "";
	return strcmp(asked, "none") == 0 ? NULL : asked;
}

static enum ctx_status create_experiment(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	struct ctx_recmeta meta;
	enum ctx_status status =
		ctx_recmeta_init(&meta, options, &recorder->session, &recorder->keeping_up.priority.own, err);
	struct ctx_exp_options exp = {.overwrite = options->overwrite && options->output != NULL,
				      .share = options->share,
				      .max_bytes = options->max_bytes,
				      .memory_bytes = (size_t)options->memory_bytes,
				      .keep_places = options->archive_sources,
				      .has_heap = options->trace.heap,
				      .has_sync = options->trace.sync,
				      .has_io = options->trace.io,
				      .has_omp = options->trace.omp,
				      .has_accesses = options->trace.data,
				      .has_calls = options->trace.calls,
				      .has_call_sums = options->trace.calls_sums,
				      .call_counters = options->trace.calls_counters,
				      .has_marks = recorder->trace != NULL || options->trace.vm.java ||
						   ctx_indicators_have_windows(recorder->metrics.indicators),
				      .has_states = recorder->session.states.level != CTX_STATES_NONE,
				      .comment = options->notes.comment,
				      .store = store_of(options->store),
				      .metrics = recorder->metrics.items,
				      .n_metrics = (uint32_t)recorder->events.n +
						   (options->trace.vm.java && options->trace.heap),
				      .properties = meta.properties,
				      .n_properties = meta.n};

	recorder->start_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	exp.start_ns = recorder->start_ns;
	if (status == CTX_OK && recorder->trace != NULL && ctx_trace_uring_text(recorder->trace) != NULL) {
		ctx_recmeta_add(&meta, "io_uring", ctx_trace_uring_text(recorder->trace));
		exp.n_properties = meta.n;
	}
	if (status == CTX_OK)
		status = ctx_mapped_files_create(&recorder->files, err);
	exp.opener = (struct ctx_exp_opener){open_object, recorder->files};
	exp.start_unix_ns = (int64_t)ctx_clock_ns(CLOCK_REALTIME);
	if (status == CTX_OK)
		status = options->output != NULL ? create_named(recorder, &exp, err)
						 : create_numbered(recorder, meta.stem, &exp, err);
	/* Of the whole system that would be the programs of all containers. */
	if (status == CTX_OK && !options->system_wide)
		ctx_mapped_files_copy_to(recorder->files, recorder->path);
	if (status == CTX_OK)
		status = ctx_losses_create(&recorder->session, recorder->writer, recorder->start_ns,
					   &recorder->losses, err);
	if (status == CTX_OK)
		status = create_batch(recorder, err);
	if (status == CTX_OK)
		status = ctx_proctree_create(recorder->writer, recorder->files, &recorder->tree, err);
	if (status == CTX_OK)
		status = ctx_jit_dumps_create(recorder->writer, recorder->tree, &recorder->code.dumps, err);
	if (status == CTX_OK)
		status = ctx_titles_create(recorder->tree, recorder->writer,
					   options->command != NULL ? meta.command : "", &recorder->titles,
					   err);
	if (status == CTX_OK)
		status = ctx_setuid_create(recorder->tree, recorder->writer, &recorder->setuid, err);
	if (status == CTX_OK)
		recorder->polls[1] = (struct pollfd){.fd = ctx_setuid_fd(recorder->setuid), .events = POLLIN};
	if (status == CTX_OK)
		status = create_states(recorder, err);
	if (status == CTX_OK && recorder->metrics.indicators != NULL)
		status = ctx_indicators_describe(recorder->metrics.indicators, recorder->writer, err);
	if (status == CTX_OK && options->command != NULL)
		status = ctx_proctree_add_root_process(recorder->tree, recorder->child.pid, meta.command,
						       recorder->start_ns, err);
	if (status == CTX_OK && recorder->trace != NULL)
		status = ctx_trace_begin(recorder->trace, recorder->writer, recorder->tree, err);
	if (recorder->code.python != NULL)
		ctx_python_begin(recorder->code.python, recorder->writer);
	if (status == CTX_OK && recorder->code.vms != NULL)
		status = ctx_vms_begin(recorder->code.vms, recorder->writer, recorder->tree, err);
	recorder->next_usage_ns = recorder->start_ns + CTX_RECORDER_SECOND_NS;
	ctx_recmeta_deinit(&meta);
	return status;
}

/* Without what it needs the rest is recorded, and the reason is said. */
static enum ctx_status create_python(struct ctx_recorder *recorder, struct ctx_err *err)
{
	enum ctx_status status;

	if (!recorder->options->trace.vm.python)
		return CTX_OK;
	if (recorder->session.user_regs == 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "--vm python needs copied stacks: --unwind fp and none have none");
	status = ctx_python_create(&recorder->session, &recorder->code.python, &recorder->code.why_no_python);
	return status == CTX_E_NOMEM ? ctx_err_nomem(err) : CTX_OK;
}

enum ctx_status ctx_recorder_warn(struct ctx_recorder *recorder, const char *text, struct ctx_err *err)
{
	recorder->user.say(recorder->user.context, text);
	return ctx_exp_warning(recorder->writer, recorder->start_ns, text, err);
}

static enum ctx_status warn_of_limits(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	enum ctx_status status = CTX_OK;

	if (options->unwind == CTX_REC_UNWIND_CFI && recorder->session.sizes.stack_bytes == 0)
		recorder->user.say(
			recorder->user.context,
			"call frame information cannot be used on this machine: frame pointers are followed");
	if (recorder->session.sizes.stack_bytes != 0 &&
	    recorder->session.sizes.stack_bytes < stack_bytes(options)) {
		char text[160];

		snprintf(text, sizeof(text), "only %zu bytes of each stack are copied: %s",
			 recorder->session.sizes.stack_bytes,
			 options->ring_bytes != 0 ? "rings as small as -m says have no room for more"
						  : "the limit on locked memory allows no larger rings "
						    "(kernel.perf_event_mlock_kb, ulimit -l)");
		recorder->user.say(recorder->user.context, text);
	}
	if (options->trace.omp_why_not != NULL)
		status = ctx_recorder_warn(recorder, options->trace.omp_why_not, err);
	if (status == CTX_OK && recorder->session.states.level == CTX_STATES_NONE &&
	    options->waits.states == CTX_REC_STATES_AUTO)
		status = ctx_recorder_warn(
			recorder,
			"what threads wait for is not recorded: too many threads and CPUs for "
			"the limit on open files (ulimit -n)",
			err);
	if (status == CTX_OK && recorder->session.without_kernel && !recorder->options->user_only) {
		char text[256];

		snprintf(text, sizeof(text),
			 "only samples in user mode: kernel samples need kernel.perf_event_paranoid of 1 or "
			 "less, or %s",
			 ctx_permissions_capability());
		return ctx_recorder_warn(recorder, text, err);
	}
	return status;
}

/*
 * Processes that already run: events are enabled first, so that nothing is missed between the scan
 * and the recording.
 */
static enum ctx_status begin_present(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	struct ctx_ids all = {0};
	const struct ctx_ids *pids = options->system_wide ? &all : &options->pids;
	enum ctx_status status = CTX_OK;

	ctx_session_enable(&recorder->session);
	ctx_proctree_looks(recorder->tree, recorder->start_ns, UINT64_MAX);
	if (options->system_wide)
		status = ctx_procfs_pids(&all, err);
	/* The scan of many processes takes longer than a ring of samples with stacks lasts. */
	for (size_t i = 0; i < pids->n && status == CTX_OK; i++) {
		status = ctx_proctree_add_present(recorder->tree, pids->items[i], recorder->start_ns, err);
		if (status == CTX_OK && i % 8 == 7)
			status = ctx_recorder_take_until(
				recorder, ctx_clock_ns(CLOCK_MONOTONIC) - CTX_RECORDER_SLACK_NS, err);
	}
	ctx_proctree_looks(recorder->tree, recorder->start_ns, ctx_clock_ns(CLOCK_MONOTONIC));
	ctx_ids_deinit(&all);
	return status;
}

static struct ctx_trace_sums calls_sums(const struct ctx_rec_trace *trace)
{
	if (!trace->calls_sums)
		return (struct ctx_trace_sums){0};
	return (struct ctx_trace_sums){
		.memory_bytes = trace->calls_memory != 0 ? trace->calls_memory : CTX_TRACE_SUMS_BYTES,
		.share = trace->has_calls_prune ? (double)trace->calls_prune / 100 : CTX_TRACE_SUMS_SHARE};
}

/* Nothing has been touched yet: a process that cannot be traced ends the recording before it has begun. */
static enum ctx_status create_trace(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	struct ctx_trace_options trace = {.heap = options->trace.heap,
					  .sync = options->trace.sync,
					  .sync_threshold_ns = options->trace.sync_threshold_ns,
					  .io = options->trace.io,
					  .tracefs = ctx_perf_roots_default().tracefs,
					  .waits = options->trace.waits,
					  .sample_bytes = options->trace.sample_bytes,
					  .omp = options->trace.omp,
					  .omp_gives_way = options->trace.omp_library != NULL,
					  .omp_by_libomp = options->trace.omp_mode == CTX_REC_OMP_LIBOMP,
					  .once_fd = ctx_indicators_once_fd(recorder->metrics.indicators),
					  .entries_fd =
						  ctx_indicators_entries_fd(recorder->metrics.indicators),
					  .entries = ctx_indicators_entries(recorder->metrics.indicators),
					  .calls = options->trace.calls,
					  .calls_of = options->trace.calls_of,
					  .calls_sums = calls_sums(&options->trace),
					  .calls_counters = options->trace.calls_counters,
					  .calls_min_ns = options->trace.calls_min_ns,
					  .calls_depth = (uint32_t)options->trace.calls_depth,
					  .command = options->command != NULL ? options->command[0] : NULL,
					  .memory_bytes = (size_t)options->memory_bytes};
	enum ctx_status status = ctx_trace_create(&trace, &recorder->trace, err);

	for (size_t i = 0; i < options->pids.n && status == CTX_OK; i++)
		status = ctx_trace_check_process(recorder->trace, options->pids.items[i], err);
	return status;
}

/* Forks the command, in an environment with the runtime where something is traced. */
static enum ctx_status fork_command(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	enum ctx_status status = CTX_OK;

	recorder->signals.old.stops_at_exec = ctx_indicators_need_stop(recorder->metrics.indicators);
	if (recorder->trace != NULL)
		status = ctx_trace_enter_environment(recorder->trace, err);
	if (status == CTX_OK && recorder->code.vms != NULL)
		status = ctx_vms_enter_environment(recorder->code.vms, err);
	if (status == CTX_OK)
		status = ctx_child_fork(&recorder->child, options->command, &recorder->signals.old, err);
	if (recorder->code.vms != NULL)
		ctx_vms_leave_environment(recorder->code.vms);
	if (recorder->trace != NULL)
		ctx_trace_leave_environment(recorder->trace);
	return status;
}

/* Tracing of processes that run already. */
static enum ctx_status attach(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_ids *pids = &recorder->options->pids;
	enum ctx_status status = CTX_OK;
	char text[CTX_TRACE_TEXT_MAX];

	for (size_t i = 0; i < pids->n && status == CTX_OK; i++) {
		uint64_t stopped_ns = 0;

		status = ctx_trace_attach(recorder->trace, pids->items[i], &stopped_ns, err);
		ctx_trace_attached_text(&recorder->options->trace, pids->items[i], stopped_ns, text);
		if (status == CTX_OK)
			status = ctx_recorder_warn(recorder, text, err);
	}
	return status;
}

static enum ctx_status begin_indicators(struct ctx_recorder *recorder, struct ctx_err *err)
{
	struct ctx_indicators *indicators = recorder->metrics.indicators;
	const struct ctx_ids *pids = &recorder->options->pids;
	enum ctx_status status = CTX_OK;

	if (recorder->options->command != NULL) {
		int64_t pid = recorder->child.pid;

		return ctx_indicators_begin_process(indicators, pid, &(struct ctx_ids){.items = &pid, .n = 1},
						    err);
	}
	for (size_t i = 0; i < pids->n && status == CTX_OK; i++) {
		struct ctx_ids tids = {0};

		status = ctx_procfs_tids(pids->items[i], &tids, err);
		if (status == CTX_OK)
			status = ctx_indicators_begin_process(indicators, pids->items[i], &tids, err);
		if (status == CTX_OK)
			status = ctx_indicators_arm(indicators, &recorder->session, (pid_t)pids->items[i],
						    &tids, err);
		ctx_ids_deinit(&tids);
	}
	return status;
}

/* A virtual machine that cannot be asked is recorded without names. */
static enum ctx_status attach_vms(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_ids *pids = &recorder->options->pids;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < pids->n && status == CTX_OK; i++) {
		char text[CTX_ERR_MAX + 64];
		struct ctx_err why = {0};

		if (ctx_vms_attach(recorder->code.vms, pids->items[i], &why) == CTX_OK)
			continue;
		snprintf(text, sizeof(text), "the methods of process %lld have no names: %s",
			 (long long)pids->items[i], why.msg);
		status = ctx_recorder_warn(recorder, text, err);
	}
	return status;
}

/* Allocations are sampled, as many bytes apart as those of native code, if these are. */
static enum ctx_status create_vms(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_trace *trace = &recorder->options->trace;
	const struct ctx_vm_interest interest = {.rules = trace->vm.of.items,
						 .n = trace->vm.of.n,
						 .limit = (uint32_t)trace->vm.limit,
						 .turn_ns = trace->vm.turn_ns};
	struct ctx_vm_wishes wishes = {.metric = (uint32_t)recorder->events.n, .sync = trace->sync};
	enum ctx_status status;

	if (trace->heap)
		wishes.heap_bytes =
			trace->sample_bytes >= VM_HEAP_BYTES_MIN ? trace->sample_bytes : VM_HEAP_BYTES;
	if (wishes.heap_bytes > VM_HEAP_BYTES_MAX)
		wishes.heap_bytes = VM_HEAP_BYTES_MAX;
	status = ctx_vms_create(&recorder->code.vms, &wishes, err);
	if (status == CTX_OK && ctx_rec_vm_chooses(&trace->vm))
		status = ctx_vms_choose(recorder->code.vms, &interest, err);
	return status;
}

enum ctx_status ctx_recorder_begin(struct ctx_recorder *recorder, struct ctx_err *err)
{
	const struct ctx_rec_options *options = recorder->options;
	enum ctx_status status = choose_events(recorder, err);

	if (status == CTX_OK)
		status = take_over_signals(recorder, err);
	if (status == CTX_OK &&
	    (ctx_rec_traces(&options->trace) || ctx_indicators_entries_fd(recorder->metrics.indicators) >= 0))
		status = create_trace(recorder, err);
	if (status == CTX_OK && options->trace.vm.java)
		status = create_vms(recorder, err);
	if (status == CTX_OK && options->command != NULL)
		status = fork_command(recorder, err);
	/* The command has its process already, with the caller's priority. */
	if (status == CTX_OK)
		status = ctx_priority_raise(&recorder->keeping_up.priority, options->realtime, err);
	if (status == CTX_OK)
		status = open_session(recorder, err);
	/* At once: whatever follows, a kill of this process leaves nothing in the targets. */
	if (status == CTX_OK && recorder->metrics.indicators != NULL)
		ctx_indicators_keep(recorder->metrics.indicators);
	if (status == CTX_OK)
		status = create_python(recorder, err);
	if (status == CTX_OK)
		status = create_experiment(recorder, err);
	if (status == CTX_OK)
		status = warn_of_limits(recorder, err);
	if (status == CTX_OK && options->trace.vm.python && recorder->code.python == NULL)
		status = ctx_recorder_warn(recorder, recorder->code.why_no_python.msg, err);
	if (status == CTX_OK && (options->command == NULL || options->system_wide))
		status = begin_present(recorder, err);
	for (size_t i = 0; recorder->code.python != NULL && i < options->pids.n && status == CTX_OK; i++)
		status = ctx_python_scan(recorder->code.python, options->pids.items[i], err);
	if (status == CTX_OK && recorder->trace != NULL)
		status = attach(recorder, err);
	if (status == CTX_OK && recorder->code.vms != NULL)
		status = attach_vms(recorder, err);
	return status == CTX_OK && recorder->metrics.indicators != NULL ? begin_indicators(recorder, err)
									: status;
}
