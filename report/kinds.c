#include "report/kinds.h"

#include <string.h>

static const struct ctx_report_kind kinds[] = {
	{.name = "header",
	 .summary = "what was recorded, when, how, and how well",
	 .needs_parts = true,
	 .any_metric = true,
	 .print = ctx_report_header},
	{.name = "overview",
	 .summary = "resource use of the processes, second by second",
	 .any_metric = true,
	 .any_function = true,
	 .print = ctx_report_overview},
	{.name = "samples",
	 .summary = "the same for each record of resource use, numbered",
	 .any_metric = true,
	 .any_function = true,
	 .print = ctx_report_samples},
	{.name = "functions",
	 .summary = "functions by exclusive weight",
	 .needs_parts = true,
	 .many_metrics = true,
	 .print = ctx_report_functions},
	{.name = "objects",
	 .summary = "load objects: exclusive and inclusive weight, build id, where symbols came from",
	 .needs_parts = true,
	 .print = ctx_report_objects},
	{.name = "lines",
	 .summary = "source lines by exclusive weight",
	 .needs_code = true,
	 .print = ctx_report_lines},
	{.name = "pcs",
	 .summary = "instructions by exclusive weight",
	 .needs_code = true,
	 .print = ctx_report_pcs},
	{.name = "source",
	 .summary = "annotated source: source=FUNCTION, source=FILE",
	 .needs_code = true,
	 .takes_subject = true,
	 .print = ctx_report_source},
	{.name = "disasm",
	 .summary = "annotated disassembly: disasm=FUNCTION",
	 .needs_code = true,
	 .takes_subject = true,
	 .print = ctx_report_disasm},
	{.name = "tree",
	 .summary = "the call tree: level, recursion level, calls, base, cum",
	 .needs_parts = true,
	 .many_metrics = true,
	 .needs_calls = true,
	 .print = ctx_report_tree},
	{.name = "callers-callees",
	 .summary = "for every function its callers and callees",
	 .needs_parts = true,
	 .many_metrics = true,
	 .needs_calls = true,
	 .print = ctx_report_callers_callees},
	{.name = "stacks",
	 .summary = "the heaviest complete call stacks",
	 .needs_parts = true,
	 .print = ctx_report_stacks},
	{.name = "states",
	 .summary = "threads by what they did: on a CPU, waiting for one, a lock, a page, anything else",
	 .needs_states = true,
	 .any_metric = true,
	 .any_function = true,
	 .print = ctx_report_states},
	{.name = "wakers",
	 .summary = "who ended the waits: wakers=FUNCTION, of waits in it",
	 .needs_states = true,
	 .needs_wakers = true,
	 .any_metric = true,
	 .takes_subject = true,
	 .print = ctx_report_wakers},
	{.name = "heap",
	 .summary = "allocations by call stack, who held the most at the peak, sizes",
	 .needs_traced = 1u << CTX_TRACED_HEAP,
	 .any_metric = true,
	 .print = ctx_report_heap},
	{.name = "leaks",
	 .summary = "allocations that were never freed, by call stack",
	 .needs_traced = 1u << CTX_TRACED_HEAP,
	 .any_metric = true,
	 .print = ctx_report_leaks},
	{.name = "sync",
	 .summary = "traced waits by object and by call stack",
	 .needs_traced = 1u << CTX_TRACED_SYNC,
	 .any_metric = true,
	 .print = ctx_report_sync},
	{.name = "io",
	 .summary = "input and output by file, descriptor, call stack, size and time",
	 .needs_traced = 1u << CTX_TRACED_IO,
	 .any_metric = true,
	 .print = ctx_report_io},
	{.name = "threads",
	 .summary = "threads with their lives and weights",
	 .needs_parts = true,
	 .needs_thread_sums = true,
	 .any_function = true,
	 .print = ctx_report_threads},
	{.name = "processes",
	 .summary = "processes with their lives, exit status and weights",
	 .needs_thread_sums = true,
	 .any_function = true,
	 .print = ctx_report_processes},
	{.name = "timeline",
	 .summary = "the run from left to right: how busy, and with which function",
	 .needs_parts = true,
	 .needs_slices = true,
	 .any_function = true,
	 .print = ctx_report_timeline},
	{.name = "index",
	 .summary = "weight by thread, process, cpu, second, state or any expression (--by)",
	 .needs_index = true,
	 .many_metrics = true,
	 .any_function = true,
	 .print = ctx_report_index},
	{.name = NULL},
};

const struct ctx_report_kind *ctx_report_kinds(void)
{
	return kinds;
}

const struct ctx_report_kind *ctx_report_find(const char *name)
{
	for (const struct ctx_report_kind *kind = kinds; kind->name != NULL; kind++) {
		if (strcmp(kind->name, name) == 0)
			return kind;
	}
	return NULL;
}

/* What gprofng and Solaris Studio call them; '_' is '-'. */
static const struct alias {
	const char *name, *report;
	bool takes_function; /* "csingle=FUNC": with --function FUNC */
} aliases[] = {
	{"calltree", "tree", false},
	{"ctree", "tree", false},
	{"gprof", "callers-callees", false},
	{"csingle", "callers-callees", true},
	{"callers-callees-single", "callers-callees", true},
	{"fsummary", "functions", false},
	{"lsummary", "lines", false},
	{"psummary", "pcs", false},
	{"fsingle", "functions", true},
	{"func", "functions", false},
	{"src", "source", false},
	{"dis", "disasm", false},
	{"objects-list", "objects", false},
	{"object-list", "objects", false},
	{"allocs", "heap", false},
	{"heapstat", "heap", false},
	{"synctrace", "sync", false},
	{"iostat", "io", false},
	{"ioactivity", "io", false},
	{"iodetail", "io", false},
	{"iocallstack", "io", false},
	{"statistics", "overview", false},
	{"sample-list", "samples", false},
	{"sample-detail", "samples", false},
	{"thread-list", "threads", false},
	{"lwps", "threads", false},
	{"lwp-list", "threads", false},
	{"experiment-list", "header", false},
	{"exp-list", "header", false},
	{"experiments", "header", false},
	{"metric-list", "header", false},
	{"cmetric-list", "header", false},
	{"gmetric-list", "header", false},
	{"indx-metric-list", "header", false},
};

static bool same_name(const char *a, const char *b)
{
	for (; *a != '\0' && (*a == '_' ? '-' : *a) == *b; a++)
		b++;
	return *a == *b;
}

const struct ctx_report_kind *ctx_report_find_alias(const char *name, bool *ret_takes_function)
{
	*ret_takes_function = false;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (!same_name(name, aliases[i].name))
			continue;
		*ret_takes_function = aliases[i].takes_function;
		return ctx_report_find(aliases[i].report);
	}
	for (const struct ctx_report_kind *kind = kinds; kind->name != NULL; kind++) {
		if (same_name(name, kind->name))
			return kind;
	}
	return NULL;
}

const char *ctx_report_alias(size_t i, const char **ret_report)
{
	if (i >= sizeof(aliases) / sizeof(aliases[0]))
		return NULL;
	*ret_report = aliases[i].report;
	return aliases[i].name;
}
