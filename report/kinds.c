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
	 .print = ctx_report_overview},
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
	 .print = ctx_report_states},
	{.name = "wakers",
	 .summary = "who ended the waits: wakers=FUNCTION, of waits in it",
	 .needs_wakers = true,
	 .any_metric = true,
	 .takes_subject = true,
	 .print = ctx_report_wakers},
	{.name = "threads",
	 .summary = "threads with their lives and weights",
	 .needs_parts = true,
	 .needs_thread_sums = true,
	 .print = ctx_report_threads},
	{.name = "processes",
	 .summary = "processes with their lives, exit status and weights",
	 .needs_thread_sums = true,
	 .print = ctx_report_processes},
	{.name = "timeline",
	 .summary = "the run from left to right: how busy, and with which function",
	 .needs_parts = true,
	 .needs_slices = true,
	 .print = ctx_report_timeline},
	{.name = "index",
	 .summary = "weight by thread, process, cpu, second, state or any expression (--by)",
	 .needs_index = true,
	 .many_metrics = true,
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
