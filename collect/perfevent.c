#include "collect/perfevent.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "model/data_source.h"
#include "model/traced.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLOCK_MIN_PERIOD_NS 10000u
#define HERTZ_MAX 100000u
#define COUNTER_MIN_PERIOD 1000u /* of events of which there are some for each nanosecond */
#define NAME_MAX_BYTES 512
#define BREAKPOINT "mem:" /* how their names begin */

struct known {
	const char *name;
	uint32_t type;
	uint64_t config;
};

static const struct known known_events[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	{"cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
	{"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
};

static const struct known caches[] = {
	{"L1-dcache", 0, PERF_COUNT_HW_CACHE_L1D}, {"L1-icache", 0, PERF_COUNT_HW_CACHE_L1I},
	{"LLC", 0, PERF_COUNT_HW_CACHE_LL},	   {"dTLB", 0, PERF_COUNT_HW_CACHE_DTLB},
	{"iTLB", 0, PERF_COUNT_HW_CACHE_ITLB},	   {"branch", 0, PERF_COUNT_HW_CACHE_BPU},
	{"node", 0, PERF_COUNT_HW_CACHE_NODE},
};

static const struct known cache_operations[] = {
	{"load", 0, PERF_COUNT_HW_CACHE_OP_READ},
	{"store", 0, PERF_COUNT_HW_CACHE_OP_WRITE},
	{"prefetch", 0, PERF_COUNT_HW_CACHE_OP_PREFETCH},
};

struct ctx_perf_roots ctx_perf_roots_default(void)
{
	const char *tracing = "/sys/kernel/tracing";

	if (access("/sys/kernel/tracing/events", F_OK) != 0 &&
	    access("/sys/kernel/debug/tracing/events", F_OK) == 0)
		tracing = "/sys/kernel/debug/tracing";
	return (struct ctx_perf_roots){.event_sources = "/sys/bus/event_source/devices", .tracefs = tracing};
}

void ctx_perf_events_deinit(struct ctx_perf_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		free(events->items[i].name);
	free(events->items);
	*events = (struct ctx_perf_events){0};
}

static bool set_known(const char *name, struct perf_event_attr *attr)
{
	for (size_t i = 0; i < CTX_COUNT_OF(known_events); i++) {
		if (strcmp(name, known_events[i].name) != 0)
			continue;
		attr->type = known_events[i].type;
		attr->config = known_events[i].config;
		return true;
	}
	return false;
}

/*
 * <cache>-<operation>s or <cache>-<operation>-misses; the operation is `load` when only misses are
 * named.
 */
static bool set_cache(const char *name, struct perf_event_attr *attr)
{
	for (size_t c = 0; c < CTX_COUNT_OF(caches); c++) {
		size_t n = strlen(caches[c].name);

		if (strncmp(name, caches[c].name, n) != 0 || name[n] != '-')
			continue;
		for (size_t o = 0; o < CTX_COUNT_OF(cache_operations); o++) {
			const char *rest = name + n + 1;
			size_t n_op = strlen(cache_operations[o].name);
			uint64_t result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;

			if (strncmp(rest, cache_operations[o].name, n_op) != 0)
				continue;
			rest += n_op;
			if (strcmp(rest, "-misses") == 0)
				result = PERF_COUNT_HW_CACHE_RESULT_MISS;
			else if (strcmp(rest, "s") != 0 && strcmp(rest, "es") != 0)
				return false;
			attr->type = PERF_TYPE_HW_CACHE;
			attr->config = caches[c].config | cache_operations[o].config << 8 | result << 16;
			return true;
		}
	}
	return false;
}

static bool parse_u64(const char *text, int base, uint64_t *ret)
{
	char *end;
	unsigned long long value;

	if (*text == '\0' || *text == '-' || *text == '+' || *text == ' ')
		return false;
	errno = 0;
	value = strtoull(text, &end, base);
	if (errno != 0 || *end != '\0')
		return false;
	*ret = value;
	return true;
}

static bool set_raw(const char *name, struct perf_event_attr *attr)
{
	uint64_t config;

	if (name[0] != 'r' || name[1] == '\0' ||
	    strspn(name + 1, "0123456789abcdefABCDEF") != strlen(name + 1) ||
	    !parse_u64(name + 1, 16, &config))
		return false;
	attr->type = PERF_TYPE_RAW;
	attr->config = config;
	return true;
}

/* A small text file of the kernel without its newline. */
static enum ctx_status read_line(const char *path, char *line, size_t size, struct ctx_err *err)
{
	struct ctx_buf buf = {0};
	enum ctx_status status = ctx_file_read(path, 1 << 20, &buf, err);
	size_t n = buf.n < size ? buf.n : size - 1;

	if (status == CTX_OK) {
		memcpy(line, buf.bytes != NULL ? (const void *)buf.bytes : "", n);
		line[n] = '\0';
		line[strcspn(line, "\n")] = '\0';
	}
	ctx_buf_deinit(&buf);
	return status;
}

/* A name that becomes a part of a path below sysfs or tracefs. */
static bool is_plain_name(const char *name)
{
	return *name != '\0' && *name != '.' && strchr(name, '/') == NULL;
}

/* Reads a file that holds one number; `format` and what follows give its path. */
static enum ctx_status __attribute__((format(printf, 3, 4)))
read_number(uint64_t *ret, struct ctx_err *err, const char *format, ...)
{
	char path[2 * NAME_MAX_BYTES], line[64];
	enum ctx_status status;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (n >= (int)sizeof(path))
		return ctx_err_set(err, CTX_E_ARG, "name is too long");
	status = read_line(path, line, sizeof(line), err);
	if (status == CTX_OK && !parse_u64(line, 0, ret))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a number", path);
	return status;
}

/*
 * Spreads `value` over the bits that a format file names: "config:0-7,32-35" or "config1:16". The
 * lowest bits of the value go to the first range.
 */
static enum ctx_status apply_format(const char *format, uint64_t value, struct perf_event_attr *attr,
				    struct ctx_err *err)
{
	uint64_t *word = NULL;
	const char *at = strchr(format, ':');

	if (strncmp(format, "config:", 7) == 0)
		word = (uint64_t *)&attr->config;
	else if (strncmp(format, "config1:", 8) == 0)
		word = (uint64_t *)&attr->config1;
	else if (strncmp(format, "config2:", 8) == 0)
		word = (uint64_t *)&attr->config2;
	else
		return ctx_err_set(err, CTX_E_FORMAT, "format \"%s\" is not understood", format);
	do {
		char *end;
		unsigned long low = strtoul(at + 1, &end, 10);
		unsigned long high = *end == '-' ? strtoul(end + 1, &end, 10) : low;

		if (low > 63 || high > 63 || high < low || (*end != ',' && *end != '\0'))
			return ctx_err_set(err, CTX_E_FORMAT, "format \"%s\" is not understood", format);
		for (unsigned long bit = low; bit <= high; bit++, value >>= 1)
			*word = (*word & ~(UINT64_C(1) << bit)) | (value & 1) << bit;
		at = end;
	} while (*at == ',');
	if (value != 0)
		return ctx_err_set(err, CTX_E_ARG, "value does not fit its field (%s)", format);
	return CTX_OK;
}

struct term_context {
	const char *root; /* of the event sources */
	const char *pmu;
	struct ctx_perf_event *event;
	int depth; /* of aliases: an alias expands to terms, never to aliases */
};

static enum ctx_status apply_terms(const struct term_context *context, char *terms, struct ctx_err *err);

/* A bare word: an event that sysfs lists for this PMU. */
static enum ctx_status apply_alias(const struct term_context *context, const char *name, struct ctx_err *err)
{
	struct term_context inner = *context;
	char path[2 * NAME_MAX_BYTES], line[NAME_MAX_BYTES];

	if (context->depth > 0 || !is_plain_name(name) ||
	    snprintf(path, sizeof(path), "%s/%s/events/%s", context->root, context->pmu, name) >=
		    (int)sizeof(path) ||
	    read_line(path, line, sizeof(line), NULL) != CTX_OK)
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s has neither a field nor an event \"%s\"",
				   context->pmu, name);
	inner.depth++;
	return apply_terms(&inner, line, err);
}

static enum ctx_status apply_term(const struct term_context *context, const char *name, uint64_t value,
				  bool bare, struct ctx_err *err)
{
	char path[2 * NAME_MAX_BYTES], format[128];
	struct perf_event_attr *attr = &context->event->attr;

	if (!bare && strcmp(name, "config") == 0)
		attr->config = value;
	else if (!bare && strcmp(name, "config1") == 0)
		attr->config1 = value;
	else if (!bare && strcmp(name, "config2") == 0)
		attr->config2 = value;
	else if (!bare && strcmp(name, "period") == 0)
		context->event->period = value;
	else if (!bare && strcmp(name, "freq") == 0)
		context->event->frequency_hz = value;
	else if (is_plain_name(name) &&
		 snprintf(path, sizeof(path), "%s/%s/format/%s", context->root, context->pmu, name) <
			 (int)sizeof(path) &&
		 read_line(path, format, sizeof(format), NULL) == CTX_OK)
		return apply_format(format, value, attr, err);
	else if (bare)
		return apply_alias(context, name, err);
	else
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s has no field \"%s\"", context->pmu, name);
	return CTX_OK;
}

static enum ctx_status apply_terms(const struct term_context *context, char *terms, struct ctx_err *err)
{
	char *rest = terms;

	while (rest != NULL) {
		char *term = strsep(&rest, ",");
		char *equals = strchr(term, '=');
		uint64_t value = 1;
		enum ctx_status status;

		if (*term == '\0')
			continue;
		if (equals != NULL) {
			*equals = '\0';
			if (!parse_u64(equals + 1, 0, &value))
				return ctx_err_set(err, CTX_E_ARG, "%s: \"%s\" is not a number", term,
						   equals + 1);
		}
		status = apply_term(context, term, value, equals == NULL, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

/* period=N or freq=N: the terms of an event that is no unit's. `terms` is modified. */
static enum ctx_status set_own_rate(const char *name, char *terms, struct ctx_perf_event *event,
				    struct ctx_err *err)
{
	char *rest = terms;

	while (rest != NULL) {
		char *term = strsep(&rest, ",");
		bool is_period = strncmp(term, "period=", 7) == 0;
		uint64_t *rate = is_period ? &event->period : &event->frequency_hz;

		if (*term == '\0')
			continue;
		if (!is_period && strncmp(term, "freq=", 5) != 0)
			return ctx_err_set(err, CTX_E_NOTFOUND,
					   "\"%s\" between slashes: %s takes period=N or freq=N", term, name);
		if (!parse_u64(strchr(term, '=') + 1, 0, rate) || *rate == 0 || *rate > INT64_MAX)
			return ctx_err_set(err, CTX_E_ARG, "%s is not a number above 0", term);
	}
	if (event->period != 0 && event->frequency_hz != 0)
		return ctx_err_set(err, CTX_E_ARG, "either period or freq");
	return CTX_OK;
}

/* pmu/terms/ */
static enum ctx_status set_pmu(char *name, const struct ctx_perf_roots *roots, struct ctx_perf_event *event,
			       struct ctx_err *err)
{
	char *terms = strchr(name, '/');
	struct term_context context = {.root = roots->event_sources, .pmu = name, .event = event, .depth = 0};
	uint64_t type;
	enum ctx_status status;

	*terms++ = '\0';
	if (!is_plain_name(name))
		return ctx_err_set(err, CTX_E_ARG, "no unit before the slash");
	status = read_number(&type, err, "%s/%s/type", roots->event_sources, name);
	if (status == CTX_E_NOTFOUND)
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s/%s does not exist", roots->event_sources, name);
	if (status != CTX_OK)
		return status;
	event->attr.type = (uint32_t)type;
	return apply_terms(&context, terms, err);
}

static enum ctx_status set_tracepoint(char *name, const struct ctx_perf_roots *roots,
				      struct perf_event_attr *attr, struct ctx_err *err)
{
	char list[NAME_MAX_BYTES];
	char *colon = strchr(name, ':');
	uint64_t id;
	enum ctx_status status;

	*colon++ = '\0';
	if (!is_plain_name(name) || !is_plain_name(colon))
		return ctx_err_set(err, CTX_E_ARG, "not a tracepoint's name");
	status = read_number(&id, err, "%s/events/%s/%s/id", roots->tracefs, name, colon);
	snprintf(list, sizeof(list), "%s/events", roots->tracefs);
	if (status != CTX_OK && access(list, R_OK | X_OK) != 0)
		return ctx_err_set(
			err, CTX_E_PERM,
			"tracepoints are listed in %s, which is not mounted or not readable by this user",
			list);
	if (status == CTX_E_NOTFOUND)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no such tracepoint in %s/events", roots->tracefs);
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = status == CTX_OK ? id : 0;
	return status;
}

/* u, k: only samples in user or kernel mode; p: precise, up to three. */
static enum ctx_status apply_modifiers(const char *modifiers, struct perf_event_attr *attr,
				       struct ctx_err *err)
{
	bool user = false, kernel = false;
	unsigned precise = 0;

	for (const char *at = modifiers; *at != '\0'; at++) {
		if (*at == 'u')
			user = true;
		else if (*at == 'k')
			kernel = true;
		else if (*at == 'p' && precise < 3)
			precise++;
		else
			return ctx_err_set(err, CTX_E_ARG, "modifiers are u, k and p, not \"%s\"", modifiers);
	}
	if (user != kernel) {
		attr->exclude_kernel = user;
		attr->exclude_user = kernel;
		attr->exclude_hv = 1;
	}
	attr->precise_ip = precise & 3;
	return CTX_OK;
}

/* The kinds of accesses after the second colon; the length where there is none is that of perf. */
static bool set_accesses(const char *kinds, struct perf_event_attr *attr)
{
	for (const char *at = kinds; *at != '\0'; at++) {
		uint32_t kind = *at == 'r'   ? HW_BREAKPOINT_R
				: *at == 'w' ? HW_BREAKPOINT_W
				: *at == 'x' ? HW_BREAKPOINT_X
					     : 0;

		if (kind == 0 || (attr->bp_type & kind) != 0)
			return false;
		attr->bp_type |= kind;
	}
	if (*kinds == '\0')
		attr->bp_type = HW_BREAKPOINT_RW;
	return attr->bp_type == HW_BREAKPOINT_X || (attr->bp_type & HW_BREAKPOINT_X) == 0;
}

/* mem:ADDRESS[/LENGTH][:KINDS][:MODIFIERS]: a breakpoint, whose every hit counts. `name` is modified. */
static enum ctx_status set_breakpoint(char *name, struct ctx_perf_event *event, struct ctx_err *err)
{
	struct perf_event_attr *attr = &event->attr;
	char *rest = name + strlen(BREAKPOINT);
	char *place = strsep(&rest, ":");
	/* What is no kind is a modifier already. */
	char *kinds = rest != NULL && strchr("uk", *rest) == NULL ? strsep(&rest, ":") : NULL;
	char *address = strsep(&place, "/");
	uint64_t value, length = 0;

	if (!parse_u64(address, 0, &value) || (place != NULL && !parse_u64(place, 0, &length)) ||
	    (place != NULL && length != 1 && length != 2 && length != 4 && length != 8))
		return ctx_err_set(
			err, CTX_E_ARG,
			"breakpoints are mem:ADDRESS[/LENGTH][:r|w|rw|x], with a length of 1, 2, 4 or 8; "
			"a variable's name is for --indicator");
	if (!set_accesses(kinds != NULL ? kinds : "", attr))
		return ctx_err_set(err, CTX_E_ARG, "a breakpoint is for r, w, rw or x, not \"%s\"", kinds);
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_addr = value;
	attr->bp_len = attr->bp_type == HW_BREAKPOINT_X ? sizeof(long)
		       : length != 0			? length
							: HW_BREAKPOINT_LEN_4;
	event->period = 1;
	return rest != NULL ? apply_modifiers(rest, attr, err) : CTX_OK;
}

/* Whether what is before the slash is an event and no unit: a known name, a raw one, a tracepoint. */
static bool is_no_unit(char *name, char *slash)
{
	struct perf_event_attr unused = {0};
	bool is;

	*slash = '\0';
	is = set_known(name, &unused) || set_cache(name, &unused) || set_raw(name, &unused) ||
	     strchr(name, ':') != NULL;
	*slash = '/';
	return is;
}

/* `name` is a private copy and is modified. */
static enum ctx_status set_event(char *name, const struct ctx_perf_roots *roots, struct ctx_perf_event *event,
				 struct ctx_err *err)
{
	struct perf_event_attr *attr = &event->attr;
	char *slash = strchr(name, '/'), *last_slash = strrchr(name, '/'), *colon = strchr(name, ':');
	char *modifiers = NULL;
	enum ctx_status status = CTX_OK;

	if (strncmp(name, BREAKPOINT, strlen(BREAKPOINT)) == 0)
		return set_breakpoint(name, event, err);
	if (slash != NULL) {
		if (slash == last_slash)
			return ctx_err_set(err, CTX_E_ARG, "no closing slash");
		modifiers = last_slash + 1 + (last_slash[1] == ':');
		*last_slash = '\0';
		if (!is_no_unit(name, slash)) {
			status = set_pmu(name, roots, event, err);
			return status == CTX_OK ? apply_modifiers(modifiers, attr, err) : status;
		}
		*slash = '\0';
		status = set_own_rate(name, slash + 1, event, err);
		if (status == CTX_OK)
			status = apply_modifiers(modifiers, attr, err);
		if (status != CTX_OK)
			return status;
		modifiers = NULL;
		colon = strchr(name, ':');
	}
	if (colon != NULL) {
		*colon = '\0';
		modifiers = colon + 1;
	}
	if (set_known(name, attr) || set_cache(name, attr) || set_raw(name, attr))
		return modifiers != NULL ? apply_modifiers(modifiers, attr, err) : CTX_OK;
	if (colon == NULL)
		return ctx_err_set(
			err, CTX_E_ARG,
			"unknown; events are cpu-clock, cycles, instructions, cache-misses, page-faults, "
			"context-switches, L1-dcache-load-misses, rNNN, pmu/event=..,umask=../, mem:ADDRESS, "
			"system:tracepoint");
	*colon = ':';
	modifiers = strchr(colon + 1, ':');
	if (modifiers != NULL)
		*modifiers++ = '\0';
	status = set_tracepoint(name, roots, attr, err);
	return status == CTX_OK && modifiers != NULL ? apply_modifiers(modifiers, attr, err) : status;
}

static enum ctx_status parse_one(struct ctx_perf_events *events, const char *text, size_t n,
				 const struct ctx_perf_roots *roots, struct ctx_err *err)
{
	struct ctx_perf_event event = {.attr = {.size = sizeof(struct perf_event_attr)}};
	char work[NAME_MAX_BYTES];
	enum ctx_status status;

	if (n == 0)
		return ctx_err_set(err, CTX_E_ARG, "event name is empty");
	if (n >= sizeof(work))
		return ctx_err_set(err, CTX_E_ARG, "event name is too long");
	memcpy(work, text, n);
	work[n] = '\0';
	status = set_event(work, roots, &event, err);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "event \"%.*s\"", (int)n, text);
	event.is_clock =
		event.attr.type == PERF_TYPE_SOFTWARE && (event.attr.config == PERF_COUNT_SW_CPU_CLOCK ||
							  event.attr.config == PERF_COUNT_SW_TASK_CLOCK);
	status = ctx_grow(&events->items, &events->cap, events->n + 1, err);
	if (status != CTX_OK)
		return status;
	event.name = ctx_memdup0(text, n);
	if (event.name == NULL)
		return ctx_err_nomem(err);
	events->items[events->n++] = event;
	return CTX_OK;
}

enum ctx_status ctx_perf_events_parse(struct ctx_perf_events *events, const char *list,
				      const struct ctx_perf_roots *roots, struct ctx_err *err)
{
	const char *begin = list;
	bool in_slashes = false;

	for (const char *at = list;; at++) {
		enum ctx_status status;

		if (*at == '/' && strncmp(begin, BREAKPOINT, strlen(BREAKPOINT)) != 0)
			in_slashes = !in_slashes;
		if (*at != '\0' && (*at != ',' || in_slashes))
			continue;
		status = parse_one(events, begin, (size_t)(at - begin), roots, err);
		if (status != CTX_OK || *at == '\0')
			return status;
		begin = at + 1;
	}
}

/* Whether there are some of the event for each nanosecond that a program runs. */
static bool is_frequent(const struct perf_event_attr *attr)
{
	static const uint64_t frequent[] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
					    PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BUS_CYCLES,
					    PERF_COUNT_HW_REF_CPU_CYCLES};
	bool is = false;

	for (size_t i = 0; i < CTX_COUNT_OF(frequent); i++)
		is = is || (attr->type == PERF_TYPE_HARDWARE && attr->config == frequent[i]);
	return is;
}

static enum ctx_status check_rate(const struct ctx_perf_event *event, struct ctx_err *err)
{
	if (event->period == 0 && event->frequency_hz > HERTZ_MAX)
		return ctx_err_set(err, CTX_E_ARG,
				   "%s: %llu samples a second: more than %u would show the recorder, not the "
				   "target; try -F 4999",
				   event->name, (unsigned long long)event->frequency_hz, HERTZ_MAX);
	if (event->is_clock && event->period < CLOCK_MIN_PERIOD_NS)
		return ctx_err_set(
			err, CTX_E_ARG,
			"%s: a sample every %llu ns: clocks tick no faster than every %u ns; try -F "
			"4999, or give other events their own period: page-faults/period=1/",
			event->name, (unsigned long long)event->period, CLOCK_MIN_PERIOD_NS);
	if (event->period != 0 && event->period < COUNTER_MIN_PERIOD && is_frequent(&event->attr))
		return ctx_err_set(err, CTX_E_ARG,
				   "%s: a sample every %llu events is more than a million a second; try -c "
				   "1000000, or -F 4999",
				   event->name, (unsigned long long)event->period);
	return CTX_OK;
}

enum ctx_status ctx_perf_event_set_rate(struct ctx_perf_event *event, const struct ctx_perf_rate *asked,
					struct ctx_err *err)
{
	struct perf_event_attr *attr = &event->attr;
	enum ctx_status status;

	if (event->period == 0 && event->frequency_hz == 0) {
		event->period = asked->period;
		event->frequency_hz = asked->frequency_hz;
	}
	if (event->period == 0 && event->frequency_hz == 0) {
		event->period = attr->type == PERF_TYPE_TRACEPOINT;
		event->frequency_hz = event->period != 0 ? 0 : asked->default_hz;
	}
	if (event->is_clock && event->period == 0)
		event->period = 1000000000u / event->frequency_hz;
	if (event->period != 0)
		event->frequency_hz = 0;
	status = check_rate(event, err);
	if (status != CTX_OK)
		return status;
	/*
	 * PERF_SAMPLE_PERIOD together with a fixed period would make every hit of a software event
	 * a sample.
	 */
	event->has_period = event->period == 0;
	attr->freq = event->period == 0;
	if (event->period == 0)
		attr->sample_freq = event->frequency_hz;
	else
		attr->sample_period = event->period;
	return CTX_OK;
}

bool ctx_perf_event_can_have_address(const struct ctx_perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	switch (attr->type) {
	case PERF_TYPE_TRACEPOINT:
		return false;
	case PERF_TYPE_SOFTWARE:
		return attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
		       attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		       attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	case PERF_TYPE_BREAKPOINT:
		return attr->bp_type != HW_BREAKPOINT_X;
	default:
		return attr->precise_ip != 0;
	}
}

unsigned ctx_perf_event_operation(const struct ctx_perf_event *event, uint64_t data_source)
{
	if (event->attr.type == PERF_TYPE_SOFTWARE)
		return CTX_MEMORY_FAULT;
	/* The processor stops at reads and writes alike, or at writes. */
	if (event->attr.type == PERF_TYPE_BREAKPOINT)
		return event->attr.bp_type == HW_BREAKPOINT_W ? CTX_MEMORY_STORE : CTX_MEMORY_UNKNOWN;
	return ctx_data_operation_of(data_source);
}

const char *ctx_perf_event_unit(const struct ctx_perf_event *event)
{
	return event->is_clock ? "ns" : "events";
}
