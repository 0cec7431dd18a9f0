#include "ctxan/perf_habits.h"

#include "base/mem.h"

#include <string.h>
#include <unistd.h>

/* They ask for what is done anyway. */
static const char *const harmless[] = {"--stdio", "--stdio2", "--no-children", "--show-nr-samples"};

static const struct {
	const char *word, *advice;
} options[] = {
	{"-g", "-r tree has the call graph, -r callers-callees the callers of each function"},
	{"-G", "-r callers-callees has the callers of each function"},
	{"--call-graph", "-r tree has the call graph, -r callers-callees the callers of each function"},
	{"--children", "-r functions --sort inclusive does that"},
	{"--percent-limit", "-r tree --min-percent P does that, --limit N for lists"},
	{"--header-only", "-r header does that"},
	{"--header", "-r header does that"},
	{"--symbol", "--function NAME does that"},
	{"--symbols", "--function NAME does that"},
	{"--symbol-filter", "--filter 'LEAF IN \"NAME\"' does that"},
	{"--comm", "--process NAME does that"},
	{"--comms", "--process NAME does that"},
	{"--dso", "-r objects shows load objects; --filter 'LEAF IN LNAME(\"...\")' keeps some"},
	{"--dsos", "-r objects shows load objects; --filter 'LEAF IN LNAME(\"...\")' keeps some"},
	{"--pid", "--process PID does that"},
	{"--tid", "--thread tid:N does that"},
	{"--time", "--interval BEGIN:END does that"},
	{"--tasks", "-r processes,threads does that"},
	{"--tui", "text goes through a pager on a terminal; --export html makes a page"},
	{"--gtk", "--export html makes a page"},
	{"--input", "recordings are arguments: ctxan perf.data"},
	{"--fields", "columns are fixed; --format csv has all of them"},
	{"--no-inline", "--no-inlines does that"},
	{"-s", "--by comm,dso,sym does that, --sort COLUMN orders the rows of a report"},
	{"-v", "--explain says how the answer was made"},
};

/* perf's commands. */
static const struct {
	const char *word, *advice;
} commands[] = {
	{"report", "ctxan perf.data shows the usual reports, -r functions the list of functions"},
	{"annotate", "ctxan perf.data -r source=FUNCTION or -r disasm=FUNCTION does that"},
	{"script", "ctxan perf.data --sql 'select * from sample_names' lists samples"},
	{"record", "ctxrec COMMAND records"},
	{"top", "ctxrec COMMAND records, ctxan shows it"},
	{"stat", "ctxan perf.data -r overview shows the use of resources"},
	{"sched", "ctxan perf.data -r states,wakers shows what threads waited for"},
	{"lock", "ctxan perf.data -r waits shows what threads waited for"},
};

static bool is_harmless(const char *word)
{
	for (size_t i = 0; i < CTX_COUNT_OF(harmless); i++) {
		if (strcmp(word, harmless[i]) == 0)
			return true;
	}
	return false;
}

/* "--call-graph" and "--call-graph=caller" */
static bool is_option(const char *text, const char *word)
{
	size_t n = strlen(word);

	return strncmp(text, word, n) == 0 && (text[n] == '\0' || (text[n] == '=' && word[1] == '-'));
}

static enum ctx_status check_word(const char *text, struct ctx_err *err)
{
	for (size_t i = 0; i < CTX_COUNT_OF(options); i++) {
		if (is_option(text, options[i].word))
			return ctx_err_set(err, CTX_E_ARG, "no option '%s' here: %s", options[i].word,
					   options[i].advice);
	}
	return CTX_OK;
}

enum ctx_status ctx_perf_habits_check(int *argc, char **argv, struct ctx_err *err)
{
	int n = 1, i = 1;

	for (size_t j = 0; *argc > 1 && j < CTX_COUNT_OF(commands); j++) {
		if (strcmp(argv[1], commands[j].word) == 0 && access(argv[1], F_OK) != 0)
			return ctx_err_set(err, CTX_E_ARG, "no command '%s' here: %s", commands[j].word,
					   commands[j].advice);
	}
	for (; i < *argc && strcmp(argv[i], "--") != 0; i++) {
		enum ctx_status status = check_word(argv[i], err);

		if (status != CTX_OK)
			return status;
		if (!is_harmless(argv[i]))
			argv[n++] = argv[i];
	}
	for (; i < *argc; i++)
		argv[n++] = argv[i];
	argv[n] = NULL;
	*argc = n;
	return CTX_OK;
}

bool ctx_perf_habits_is_sort(const char *sort)
{
	static const char *const keys[] = {"comm", "dso", "sym",     "symbol", "pid",
					   "tid",  "cpu", "srcline", "time"};

	for (;; sort++) {
		size_t n = strcspn(sort, ","), i = 0;

		while (i < CTX_COUNT_OF(keys) && (strlen(keys[i]) != n || strncmp(sort, keys[i], n) != 0))
			i++;
		if (i == CTX_COUNT_OF(keys))
			return false;
		sort += n;
		if (*sort == '\0')
			return true;
	}
}
