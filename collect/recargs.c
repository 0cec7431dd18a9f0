#include "collect/recargs.h"

#include "base/embed.h"
#include "base/fileio.h"
#include "base/label.h"
#include "base/mem.h"
#include "collect/priority.h"
#include "collect/time_text.h"
#include "collect/vm_choice.h"
#include "collect/wait_budget.h"
#include "model/call_counter.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STEM_MAX 200
#define FREQUENCY_MAX 100000u
#define BUDGET_PER_MILLE 100u
#define REALTIME_MAX 99u
#define HEAP_SAMPLE_MAX ((uint64_t)1 << 30)
#define CALLS_OF_MAX 400u
#define CALLS_MEMORY_MIN (UINT64_C(64) << 10)
#define CALLS_MEMORY_MAX (UINT64_C(4) << 30)
#define CALLS_DEPTH_MAX 16000000u
#define VM_LIMIT_MAX 1000000u
#define VM_TURN_MIN_NS (UINT64_C(100) * 1000000)
#define STACK_BYTES_MAX 65528u /* records have 16 bits for their size; the kernel's limit too */

extern const char ctx_rec_manual[];
CTX_EMBED(ctx_rec_manual, CTX_MANUAL_FILE);

/* "4096", "64k", "10M", "2G" (powers of 1024). False: not a size, or it does not fit. */
static bool parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "kMG";
	unsigned shift = 0;
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end != '\0') {
		const char *unit = strchr(units, *end == 'K'   ? 'k'
						 : *end == 'm' ? 'M'
						 : *end == 'g' ? 'G'
							       : *end);

		if (unit == NULL || end[1] != '\0')
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (errno != 0 || value > UINT64_MAX >> shift)
		return false;
	*ret_bytes = (uint64_t)value << shift;
	return true;
}

static bool parse_count(const char *text, uint64_t *ret)
{
	char *end;
	unsigned long long value;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	*ret = value;
	return errno == 0 && *end == '\0' && value > 0;
}

/* A setter of one option: struct ctx_option.set. */
#define SETTER(name)                                                                                         \
	static enum ctx_status set_##name(void *context, const struct ctx_option *option, const char *value, \
					  struct ctx_err *err)

SETTER(pids)
{
	struct ctx_rec_options *options = context;
	const char *at = value;

	for (;;) {
		char *end;
		long pid;
		enum ctx_status status;

		errno = 0;
		pid = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
		if (pid <= 0 || pid > INT32_MAX || errno != 0 || (*end != ',' && *end != '\0'))
			return ctx_err_set(err, CTX_E_ARG,
					   "-%c: \"%s\" is not a process id or a list of them",
					   option->letter, value);
		status = ctx_ids_add(&options->pids, pid, err);
		if (status != CTX_OK || *end == '\0')
			return status;
		at = end + 1;
	}
}

SETTER(duration)
{
	char *end;
	double seconds = strtod(value, &end);

	if (end == value || *end != '\0' || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
		return ctx_err_set(err, CTX_E_ARG, "-%c: \"%s\" is not a number of seconds", option->letter,
				   value);
	((struct ctx_rec_options *)context)->duration_ns = (uint64_t)(seconds * 1e9);
	return CTX_OK;
}

/* A uint64_t of bytes at the row's place. */
SETTER(size)
{
	uint64_t *size = (uint64_t *)((char *)context + option->at);

	if (!parse_size(value, size) || *size == 0)
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%s\" is not a size (for example 64k, 100M, 2G)",
				   option->name, value);
	return CTX_OK;
}

/* Without a unit it is pages. */
SETTER(ring)
{
	struct ctx_rec_options *options = context;
	enum ctx_status status = set_size(context, option, value, err);

	if (status == CTX_OK && strspn(value, "0123456789") == strlen(value)) {
		if (options->ring_bytes > UINT32_MAX)
			return ctx_err_set(err, CTX_E_ARG, "-%c: %s pages are too many", option->letter,
					   value);
		options->ring_bytes *= (uint64_t)sysconf(_SC_PAGESIZE);
	}
	if (status == CTX_OK && options->ring_bytes > (uint64_t)1 << 30)
		return ctx_err_set(err, CTX_E_ARG, "-%c: a ring buffer can have 1G at most", option->letter);
	return status;
}

SETTER(unwind)
{
	int choice = 0;
	enum ctx_status status = ctx_option_choice(option, value, &choice, err);

	((struct ctx_rec_options *)context)->unwind = (enum ctx_rec_unwind)choice;
	return status;
}

SETTER(states)
{
	int choice = 0;
	enum ctx_status status = ctx_option_choice(option, value, &choice, err);

	((struct ctx_rec_options *)context)->waits.states = (enum ctx_rec_states)choice;
	return status;
}

SETTER(stack_size)
{
	struct ctx_rec_options *options = context;
	enum ctx_status status = set_size(context, option, value, err);

	/* 64k is the obvious value; records hold 8 bytes less. */
	if (options->stack_bytes == STACK_BYTES_MAX + 8)
		options->stack_bytes = STACK_BYTES_MAX;
	if (status == CTX_OK && (options->stack_bytes % 8 != 0 || options->stack_bytes > STACK_BYTES_MAX))
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%s\" is not a multiple of 8 that is at most %u",
				   option->name, value, STACK_BYTES_MAX);
	return status;
}

static enum ctx_status parse_rate(uint64_t *rate, const struct ctx_option *option, const char *value,
				  uint64_t max, struct ctx_err *err)
{
	if (!parse_count(value, rate) || *rate > max)
		return ctx_err_set(err, CTX_E_ARG, "-%c: \"%s\" is not a number from 1 to %llu",
				   option->letter, value, (unsigned long long)max);
	return CTX_OK;
}

SETTER(realtime)
{
	uint64_t priority = 0;

	if (strcmp(value, "0") != 0 && (!parse_count(value, &priority) || priority > REALTIME_MAX))
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%s\" is not a number from 0 to %u", option->name,
				   value, REALTIME_MAX);
	((struct ctx_rec_options *)context)->realtime = (int)priority;
	return CTX_OK;
}

SETTER(frequency)
{
	return parse_rate(&((struct ctx_rec_options *)context)->frequency_hz, option, value, FREQUENCY_MAX,
			  err);
}

SETTER(period)
{
	return parse_rate(&((struct ctx_rec_options *)context)->period, option, value, INT64_MAX, err);
}

SETTER(event)
{
	struct ctx_buf *events = &((struct ctx_rec_options *)context)->events;

	(void)option;
	if (events->n > 0)
		events->bytes[events->n - 1] = ',';
	ctx_buf_put(events, value, strlen(value) + 1);
	return ctx_buf_check(events, err);
}

SETTER(indicator)
{
	struct ctx_rec_texts *indicators = &((struct ctx_rec_options *)context)->trace.indicators;
	enum ctx_status status = ctx_grow(&indicators->items, &indicators->cap, indicators->n + 1, err);

	(void)option;
	if (status == CTX_OK)
		indicators->items[indicators->n++] = value;
	/* The last of what follows colons, in any order: nothing else goes with it. */
	if (strlen(value) > 5 && strcmp(value + strlen(value) - 5, ":once") == 0)
		((struct ctx_rec_options *)context)->trace.once = true;
	return status;
}

SETTER(label)
{
	struct ctx_rec_texts *labels = &((struct ctx_rec_options *)context)->notes.labels;
	enum ctx_status status = ctx_label_check(value, err);

	if (status == CTX_OK && labels->n == CTX_REC_LABELS_MAX)
		status = ctx_err_set(err, CTX_E_ARG, "--%s: more than %u", option->name, CTX_REC_LABELS_MAX);
	if (status == CTX_OK)
		status = ctx_grow(&labels->items, &labels->cap, labels->n + 1, err);
	if (status == CTX_OK)
		labels->items[labels->n++] = value;
	return status;
}

/* "10%", "10", "off". */
SETTER(budget)
{
	char *end;
	double percent = strtod(value, &end);

	end += *end == '%';
	if (strcmp(value, "off") == 0)
		percent = -1;
	else if (end == value || *end != '\0' || !isfinite(percent) || percent < 0 || percent > 1000)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--%s: \"%s\" is neither a percentage of the program's CPU time (10%%) nor off",
			option->name, value);
	((struct ctx_rec_options *)context)->waits.budget_per_mille =
		percent < 0 ? CTX_WAIT_BUDGET_OFF : (uint32_t)(percent * 10);
	return CTX_OK;
}

/*
 * Sets the flags of the words of a list, which commas separate: flags[i] of names[i]. Returns the first that is none of
 * the names; NULL: none.
 */
static const char *set_words(const char *list, const char *const *names, bool *const *flags)
{
	for (;;) {
		size_t n = strcspn(list, ","), i = 0;

		while (names[i] != NULL && (strlen(names[i]) != n || strncmp(names[i], list, n) != 0))
			i++;
		if (names[i] == NULL)
			return list;
		*flags[i] = true;
		if (list[n] == '\0')
			return NULL;
		list += n + 1;
	}
}

static const char *const trace_names[] = {"heap", "sync", "io", "openmp", "marks", "calls", NULL};

SETTER(trace)
{
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;
	bool *const flags[] = {&trace->heap, &trace->sync,  &trace->io,
			       &trace->omp,  &trace->marks, &trace->calls};
	const char *wrong = set_words(value, trace_names, flags);

	if (trace->omp)
		trace->omp_mode = CTX_REC_OMP_ON;
	return wrong == NULL ? CTX_OK
			     : ctx_err_set(err, CTX_E_ARG,
					   "--%s: \"%.*s\" cannot be traced: heap, sync, io, openmp, marks "
					   "and calls can",
					   option->name, (int)strcspn(wrong, ","), wrong);
}

/* A time, all, or calibrate. */
SETTER(sync_threshold)
{
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;

	trace->has_sync_threshold = true;
	trace->sync_threshold_ns = strcmp(value, "all") == 0 ? 0 : CTX_REC_CALIBRATE;
	if (strcmp(value, "all") == 0 || strcmp(value, "calibrate") == 0)
		return CTX_OK;
	if (!ctx_time_text_parse(value, &trace->sync_threshold_ns))
		return ctx_err_set(
			err, CTX_E_ARG,
			"--%s: \"%s\" is neither a time with a unit (10us), nor all, nor calibrate",
			option->name, value);
	return CTX_OK;
}

/* on, auto, off, or libomp. */
SETTER(openmp)
{
	static const enum ctx_rec_omp modes[] = {CTX_REC_OMP_ON, CTX_REC_OMP_AUTO, CTX_REC_OMP_OFF,
						 CTX_REC_OMP_LIBOMP};
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;
	int mode = 0;
	enum ctx_status status = value != NULL ? ctx_option_choice(option, value, &mode, err) : CTX_OK;

	trace->omp_mode = modes[mode];
	trace->omp = trace->omp_mode == CTX_REC_OMP_ON || trace->omp_mode == CTX_REC_OMP_LIBOMP;
	return status;
}

/* events, or summary. */
SETTER(calls)
{
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;
	int mode = 0;
	enum ctx_status status = value != NULL ? ctx_option_choice(option, value, &mode, err) : CTX_OK;

	trace->calls = true;
	trace->calls_sums = mode == 1;
	return status;
}

SETTER(calls_of)
{
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;
	regex_t pattern;

	trace->calls = true;
	trace->calls_of = value;
	if (*value == '\0' || strlen(value) > CALLS_OF_MAX ||
	    regcomp(&pattern, value, REG_EXTENDED | REG_NOSUB) != 0)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--%s: \"%.100s\" is not an extended regular expression of at most %u bytes",
			option->name, value, CALLS_OF_MAX);
	regfree(&pattern);
	return CTX_OK;
}

SETTER(calls_memory)
{
	const struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;
	enum ctx_status status = set_size(context, option, value, err);

	if (status == CTX_OK &&
	    (trace->calls_memory < CALLS_MEMORY_MIN || trace->calls_memory > CALLS_MEMORY_MAX))
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%s\" is not a size from 64k to 4g", option->name,
				   value);
	return status;
}

/* A percentage. */
SETTER(calls_prune)
{
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;
	char *end;
	unsigned long percent = strtoul(value, &end, 10);

	if (end == value || (*end != '\0' && strcmp(end, "%") != 0) || *value == '-' || percent > 100)
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%s\" is not a percentage from 0%% to 100%%",
				   option->name, value);
	trace->calls_prune = (uint32_t)percent;
	trace->has_calls_prune = true;
	return CTX_OK;
}

SETTER(calls_counter)
{
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;
	char all[CTX_CALL_COUNTERS_TEXT_MAX];
	uint32_t counters;

	ctx_call_counters_text(UINT32_MAX, all);
	if (!ctx_call_counters_parse(value, &counters))
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%.100s\" is not a list of counters out of %s",
				   option->name, value, all);
	trace->calls = true;
	trace->calls_counters |= counters;
	return CTX_OK;
}

SETTER(calls_min)
{
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;

	trace->calls = true;
	if (!ctx_time_text_parse(value, &trace->calls_min_ns))
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%s\" is not a time with a unit (5us)",
				   option->name, value);
	return CTX_OK;
}

SETTER(calls_depth)
{
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;

	trace->calls = true;
	if (!parse_count(value, &trace->calls_depth) || trace->calls_depth > CALLS_DEPTH_MAX)
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%s\" is not a number from 1 to %u", option->name,
				   value, CALLS_DEPTH_MAX);
	return CTX_OK;
}

SETTER(trace_full)
{
	int choice = 0;
	enum ctx_status status = ctx_option_choice(option, value, &choice, err);

	((struct ctx_rec_options *)context)->trace.waits = choice == 1;
	return status;
}

static const char *const vm_names[] = {"java", "python", NULL};

SETTER(vm)
{
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;
	bool *const flags[] = {&trace->vm.java, &trace->vm.python};
	const char *wrong = set_words(value, vm_names, flags);

	return wrong == NULL ? CTX_OK
			     : ctx_err_set(err, CTX_E_ARG,
					   "--%s: \"%.*s\" is no virtual machine: java and python are",
					   option->name, (int)strcspn(wrong, ","), wrong);
}

SETTER(vm_of)
{
	struct ctx_rec_texts *of = &((struct ctx_rec_options *)context)->trace.vm.of;
	struct ctx_vm_rules rules = {0};
	struct ctx_err why = {0};
	enum ctx_status status = ctx_vm_rules_add(&rules, value, &why);

	ctx_vm_rules_deinit(&rules);
	if (status != CTX_OK)
		return ctx_err_set(err, status, "--%s: %s", option->name, why.msg);
	status = ctx_grow(&of->items, &of->cap, of->n + 1, err);
	if (status == CTX_OK)
		of->items[of->n++] = value;
	return status;
}

SETTER(vm_limit)
{
	struct ctx_rec_vm *vm = &((struct ctx_rec_options *)context)->trace.vm;

	if (!parse_count(value, &vm->limit) || vm->limit > VM_LIMIT_MAX)
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%s\" is not a number from 1 to %u", option->name,
				   value, VM_LIMIT_MAX);
	return CTX_OK;
}

SETTER(vm_round_robin)
{
	struct ctx_rec_vm *vm = &((struct ctx_rec_options *)context)->trace.vm;

	if (!ctx_time_text_parse(value, &vm->turn_ns) || vm->turn_ns < VM_TURN_MIN_NS)
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%s\" is not a time of at least 100ms (5s)",
				   option->name, value);
	return CTX_OK;
}

SETTER(heap_sample)
{
	struct ctx_rec_trace *trace = &((struct ctx_rec_options *)context)->trace;

	trace->heap = true;
	if (!parse_size(value, &trace->sample_bytes) || trace->sample_bytes == 0 ||
	    trace->sample_bytes > HEAP_SAMPLE_MAX)
		return ctx_err_set(err, CTX_E_ARG, "--%s: \"%s\" is not a size up to 1G (for example 512k)",
				   option->name, value);
	return CTX_OK;
}

static const char *const openmp_names[] = {"on", "auto", "off", "libomp", NULL};
static const char *const calls_names[] = {"events", "summary", NULL};
static const char *const trace_full_names[] = {"drop", "wait", NULL};
static const char *const threshold_names[] = {"calibrate", "all", NULL};
static const char *const unwind_names[] = {
	[CTX_REC_UNWIND_AUTO] = "auto",
	[CTX_REC_UNWIND_FP] = "fp",
	[CTX_REC_UNWIND_CFI] = "cfi",
	[CTX_REC_UNWIND_NONE] = "none",
	NULL,
};
static const char *const state_names[] = {
	[CTX_REC_STATES_AUTO] = "auto", [CTX_REC_STATES_FULL] = "full",		[CTX_REC_STATES_MIN] = "min",
	[CTX_REC_STATES_OFF] = "off",	[CTX_REC_STATES_SYSCALLS] = "syscalls", NULL,
};
static const char *const event_names[] = {
	"cpu-clock",	  "task-clock", "page-faults",	"context-switches",
	"cpu-migrations", "cycles",	"instructions", "cache-misses",
	"branch-misses",  "ref-cycles", NULL,
};

#define FLAG(field) .set = ctx_option_set_flag, .at = offsetof(struct ctx_rec_options, field)
#define STRING(field) .set = ctx_option_set_text, .at = offsetof(struct ctx_rec_options, field)
#define SIZE(setter, field) .set = (setter), .at = offsetof(struct ctx_rec_options, field)

/* In the order of the manual. */
// clang-format off
static const struct ctx_option rows[] = {
	{"pid", 'p', CTX_OPTION_TEXT, .set = set_pids},
	{"system", 'a', CTX_OPTION_FLAG, FLAG(system_wide)},
	{"frequency", 'F', CTX_OPTION_TEXT, .set = set_frequency},
	{"period", 'c', CTX_OPTION_TEXT, .set = set_period},
	{"event", 'e', CTX_OPTION_LIST, .set = set_event, .words = event_names},
	{"indicator", 0, CTX_OPTION_LIST, .set = set_indicator},
	{"indicators", 0, CTX_OPTION_FILE, STRING(trace.indicators_file)},
	{"match-symbols", 0, CTX_OPTION_FLAG, FLAG(trace.match_symbols)},
	{"data", 0, CTX_OPTION_FLAG, FLAG(trace.data)},
	{"unwind", 0, CTX_OPTION_TEXT, .set = set_unwind, .words = unwind_names},
	{"stack-size", 0, CTX_OPTION_TEXT, SIZE(set_stack_size, stack_bytes)},
	{"keep-stacks", 0, CTX_OPTION_FLAG, FLAG(keep_stacks)},
	{"states", 0, CTX_OPTION_TEXT, .set = set_states, .words = state_names},
	{"budget", 0, CTX_OPTION_TEXT, .set = set_budget},
	{"heap", 0, CTX_OPTION_FLAG, FLAG(trace.heap)},
	{"heap-sample", 0, CTX_OPTION_TEXT, .set = set_heap_sample},
	{"sync", 0, CTX_OPTION_FLAG, FLAG(trace.sync)},
	{"sync-threshold", 0, CTX_OPTION_TEXT, .set = set_sync_threshold, .words = threshold_names},
	{"io", 0, CTX_OPTION_FLAG, FLAG(trace.io)},
	{"openmp", 0, CTX_OPTION_MODE, .set = set_openmp, .words = openmp_names},
	{"calls", 0, CTX_OPTION_MODE, .set = set_calls, .words = calls_names},
	{"calls-memory", 0, CTX_OPTION_TEXT, SIZE(set_calls_memory, trace.calls_memory)},
	{"calls-prune", 0, CTX_OPTION_TEXT, .set = set_calls_prune},
	{"calls-of", 0, CTX_OPTION_TEXT, .set = set_calls_of},
	{"calls-counter", 0, CTX_OPTION_TEXT, .set = set_calls_counter},
	{"calls-min", 0, CTX_OPTION_TEXT, .set = set_calls_min},
	{"calls-depth", 0, CTX_OPTION_TEXT, .set = set_calls_depth},
	{"marks", 0, CTX_OPTION_FLAG, FLAG(trace.marks)},
	{"trace", 0, CTX_OPTION_LIST, .set = set_trace, .words = trace_names},
	{"trace-full", 0, CTX_OPTION_TEXT, .set = set_trace_full, .words = trace_full_names},
	{"vm", 0, CTX_OPTION_LIST, .set = set_vm, .words = vm_names},
	{"vm-of", 0, CTX_OPTION_TEXT, .set = set_vm_of},
	{"vm-limit", 0, CTX_OPTION_TEXT, .set = set_vm_limit},
	{"vm-round-robin", 0, CTX_OPTION_TEXT, .set = set_vm_round_robin},
	{"user", 0, CTX_OPTION_FLAG, FLAG(user_only)},
	{"kernel", 0, CTX_OPTION_FLAG, FLAG(kernel_only)},
	{"no-follow", 0, CTX_OPTION_FLAG, FLAG(no_follow)},
	{"duration", 'd', CTX_OPTION_TEXT, .set = set_duration},
	{"wait-descendants", 0, CTX_OPTION_FLAG, FLAG(wait_descendants)},

	{"output", 'o', CTX_OPTION_FILE, STRING(output)},
	{"overwrite", 'O', CTX_OPTION_FLAG, FLAG(overwrite)},
	{"share", 0, CTX_OPTION_FLAG, FLAG(share)},
	{"comment", 'C', CTX_OPTION_TEXT, STRING(notes.comment)},
	{"label", 0, CTX_OPTION_TEXT, .set = set_label},
	{"no-archive", 0, CTX_OPTION_FLAG, FLAG(no_archive)},
	{"store", 0, CTX_OPTION_FILE, STRING(store)},
	{"archive-sources", 0, CTX_OPTION_FLAG, FLAG(archive_sources)},
	{"max-size", 0, CTX_OPTION_TEXT, SIZE(set_size, max_bytes)},
	{"memory", 0, CTX_OPTION_TEXT, SIZE(set_size, memory_bytes)},
	{"ring", 'm', CTX_OPTION_TEXT, SIZE(set_ring, ring_bytes)},
	{"realtime", 0, CTX_OPTION_TEXT, .set = set_realtime},

	{"top", 0, CTX_OPTION_FLAG, FLAG(top)},
	{"fail", 0, CTX_OPTION_FLAG, FLAG(fail)},
	{"quiet", 'q', CTX_OPTION_FLAG, FLAG(prints.quiet)},
	{"help", 'h', CTX_OPTION_FLAG, FLAG(prints.help)},
	{"version", 'V', CTX_OPTION_FLAG, FLAG(prints.version)},
};
// clang-format on

const struct ctx_option_table ctx_rec_options_table = {.program = "ctxrec",
						       .manual = ctx_rec_manual,
						       .rows = rows,
						       .n_rows = CTX_COUNT_OF(rows),
						       .stops_at_argument = true};

static enum ctx_status check_trace(const struct ctx_rec_options *options, struct ctx_err *err)
{
	const struct ctx_rec_trace *trace = &options->trace;
	bool any = ctx_rec_traces(trace);

	if (trace->once && options->command == NULL)
		return ctx_err_set(err, CTX_E_ARG,
				   "coverage (:once) needs a command: it begins with the program");
	if (trace->once && trace->calls)
		return ctx_err_set(
			err, CTX_E_ARG,
			"coverage (:once) and --calls both change the program's text: one at a time");
	if (any && options->command == NULL && options->pids.n == 0)
		return ctx_err_set(err, CTX_E_ARG, "--%s needs a command, or processes (-p PID)",
				   trace->heap	  ? "heap"
				   : trace->sync  ? "sync"
				   : trace->io	  ? "io"
				   : trace->omp	  ? "openmp"
				   : trace->calls ? "calls"
						  : "marks");
	if (trace->omp_mode == CTX_REC_OMP_LIBOMP && options->command == NULL)
		return ctx_err_set(err, CTX_E_ARG,
				   "--openmp=libomp needs a command: libomp is loaded when it begins");
	if (trace->vm.java && options->command == NULL && options->pids.n == 0)
		return ctx_err_set(err, CTX_E_ARG, "--vm java needs a command, or processes (-p PID)");
	if (ctx_rec_vm_chooses(&trace->vm) && !trace->vm.java)
		return ctx_err_set(err, CTX_E_ARG, "--vm-%s needs --vm java",
				   trace->vm.of.n != 0	  ? "of"
				   : trace->vm.limit != 0 ? "limit"
							  : "round-robin");
	if (trace->waits && !any)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--trace-full needs --trace, --heap, --sync, --io, --openmp, --marks or --calls");
	if (!trace->calls_sums && (trace->calls_memory != 0 || trace->has_calls_prune))
		return ctx_err_set(err, CTX_E_ARG, "--calls-%s needs --calls=summary",
				   trace->calls_memory != 0 ? "memory" : "prune");
	if (trace->calls_sums && trace->calls_min_ns != 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "--calls-min is for single calls: --calls=summary counts all");
	if (trace->calls_counters != 0 && (trace->calls_sums || trace->calls_min_ns != 0))
		return ctx_err_set(
			err, CTX_E_ARG,
			"--calls-counter is read at each call that is recorded by itself: not with %s",
			trace->calls_sums ? "--calls=summary" : "--calls-min");
	if (trace->has_sync_threshold && !trace->sync)
		return ctx_err_set(err, CTX_E_ARG, "--sync-threshold needs --sync");
	return CTX_OK;
}

static enum ctx_status check_together(const struct ctx_rec_options *options, struct ctx_err *err)
{
	enum ctx_status status;

	if (options->pids.n > 0 && options->system_wide)
		return ctx_err_set(err, CTX_E_ARG, "-a and -p exclude each other");
	if (options->pids.n > 0 && options->command != NULL)
		return ctx_err_set(err, CTX_E_ARG, "-p and a command (\"%s\") exclude each other",
				   options->command[0]);
	if (options->pids.n == 0 && !options->system_wide && options->command == NULL)
		return ctx_err_set(err, CTX_E_ARG,
				   "nothing to record: give a command, -p PID or -a (see ctxrec --help)");
	if (options->frequency_hz != 0 && options->period != 0)
		return ctx_err_set(err, CTX_E_ARG, "-F and -c exclude each other");
	if (options->user_only && options->kernel_only)
		return ctx_err_set(err, CTX_E_ARG, "--user and --kernel exclude each other");
	if ((options->keep_stacks || options->stack_bytes != 0) &&
	    (options->unwind == CTX_REC_UNWIND_FP || options->unwind == CTX_REC_UNWIND_NONE))
		return ctx_err_set(err, CTX_E_ARG, "%s needs --unwind cfi",
				   options->keep_stacks ? "--keep-stacks" : "--stack-size");
	if (options->trace.match_symbols && options->trace.indicators_file == NULL)
		return ctx_err_set(err, CTX_E_ARG, "--match-symbols needs --indicators");
	if (ctx_rec_counts(&options->trace) && (options->system_wide || options->kernel_only))
		return ctx_err_set(
			err, CTX_E_ARG,
			"--indicator is for programs in user mode: a command, or processes (-p PID)");
	if (options->no_archive && options->archive_sources)
		return ctx_err_set(err, CTX_E_ARG, "--no-archive and --archive-sources exclude each other");
	status = check_trace(options, err);
	if (status != CTX_OK)
		return status;
	if (options->output != NULL && options->output[0] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "-o: the name is empty");
	return CTX_OK;
}

enum ctx_status ctx_rec_options_parse(int argc, char **argv, struct ctx_rec_options *ret, struct ctx_err *err)
{
	struct ctx_arguments arguments = {.n = argc, .words = argv};
	enum ctx_status status;

	*ret = (struct ctx_rec_options){.notes.comment = "",
					.waits.budget_per_mille = BUDGET_PER_MILLE,
					.trace.sync_threshold_ns = CTX_REC_CALIBRATE,
					.realtime = CTX_PRIORITY_AUTO};
	status = ctx_option_parse(&ctx_rec_options_table, &arguments, ret, err);
	if (status != CTX_OK || ret->prints.help || ret->prints.version)
		return status;
	if (arguments.first < argc)
		ret->command = argv + arguments.first;
	return check_together(ret, err);
}

void ctx_rec_options_deinit(struct ctx_rec_options *options)
{
	ctx_ids_deinit(&options->pids);
	ctx_buf_deinit(&options->events);
	free(options->trace.indicators.items);
	free(options->trace.vm.of.items);
	free(options->notes.labels.items);
	*options = (struct ctx_rec_options){0};
}

/* The number of "<stem>.<number>.er"; 0: another name. */
static unsigned long number_of(const char *name, const char *stem)
{
	size_t n = strlen(stem);
	unsigned long number;
	char *end;

	if (strncmp(name, stem, n) != 0 || name[n] != '.' || name[n + 1] < '1' || name[n + 1] > '9')
		return 0;
	errno = 0;
	number = strtoul(name + n + 1, &end, 10);
	return errno == 0 && number < ULONG_MAX && strcmp(end, ".er") == 0 ? number : 0;
}

char *ctx_default_name(const char *stem)
{
	unsigned long highest = 0;
	char short_stem[STEM_MAX + 1], name[STEM_MAX + 32];
	struct dirent *entry;
	DIR *dir = opendir(".");

	snprintf(short_stem, sizeof(short_stem), "%s", ctx_path_base(stem));
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		unsigned long number = number_of(entry->d_name, short_stem);

		highest = number > highest ? number : highest;
	}
	if (dir != NULL)
		closedir(dir);
	snprintf(name, sizeof(name), "%s.%lu.er", short_stem, highest + 1);
	return ctx_memdup0(name, strlen(name));
}
