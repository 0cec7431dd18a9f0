#include "report/kinds.h"

#include <string.h>

static const struct ctx_report_kind kinds[] = {
	{"header", "what was recorded, when, how, and how well", false, false, false, false,
	 ctx_report_header},
	{"overview", "resource use of the processes, second by second", false, false, false, false,
	 ctx_report_overview},
	{"functions", "functions by exclusive weight", true, false, false, false, ctx_report_functions},
	{"tree", "the call tree: level, recursion level, calls, base, cum", true, true, false, false,
	 ctx_report_tree},
	{"callers-callees", "for every function its callers and callees", true, true, false, false,
	 ctx_report_callers_callees},
	{"stacks", "the heaviest complete call stacks", true, false, false, false, ctx_report_stacks},
	{"threads", "threads with their lives and weights", true, false, false, true, ctx_report_threads},
	{"processes", "processes with their lives, exit status and weights", false, false, false, true,
	 ctx_report_processes},
	{"timeline", "the run from left to right: how busy, and with which function", true, false, true,
	 false, ctx_report_timeline},
	{NULL, NULL, false, false, false, false, NULL},
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
