#include "report/summary.h"

#include "base/mem.h"
#include "base/shellword.h"
#include "report/function_names.h"
#include "report/names.h"

#include <string.h>

/* Whether a person can type or copy it: as shown, it is itself. */
static bool is_safe(const char *word)
{
	struct ctx_buf shown = {0};
	bool same;

	ctx_name_put_text(&shown, word, false);
	ctx_buf_put_u8(&shown, '\0');
	same = !shown.failed && strcmp((const char *)shown.bytes, word) == 0;
	ctx_buf_deinit(&shown);
	return same && strchr(word, '\n') == NULL;
}

struct commands {
	const struct ctx_summary *summary;
	void (*put)(void *context, const char *command);
	void *context;
};

/*
 * "ctxan run.er -i 300:700 --hide std" and `rest`, with the selection as it was typed; a function's name
 * behind it, unless it is CTX_NONE.
 */
static void put_command(const struct commands *commands, const char *rest, uint32_t function)
{
	const struct ctx_report_selection *selection = &commands->summary->source->selection;
	struct ctx_buf command = {0}, name = {0};

	if (function != CTX_NONE)
		ctx_function_put_short(commands->summary->profile, function, &name);
	ctx_buf_put_u8(&name, '\0');
	ctx_buf_put_text(&command, "ctxan ");
	ctx_shellword_put(&command, selection->path);
	if (selection->options != NULL)
		ctx_buf_put_text(&command, selection->options);
	ctx_buf_put_text(&command, rest);
	if (!name.failed && function != CTX_NONE)
		ctx_shellword_put(&command, (const char *)name.bytes);
	ctx_buf_put_u8(&command, '\0');
	if (!command.failed && !name.failed && is_safe((const char *)command.bytes))
		commands->put(commands->context, (const char *)command.bytes);
	ctx_buf_deinit(&command);
	ctx_buf_deinit(&name);
}

/* Whether lines of its source are known. */
static bool has_lines(const struct ctx_summary *summary, uint32_t function)
{
	const struct ctx_code *code = summary->functions.code;

	for (size_t i = 0; function < summary->profile->n_functions && code != NULL && i < code->n_sites;
	     i++) {
		if (code->sites[i].function == function && code->sites[i].file != CTX_NONE)
			return true;
	}
	return false;
}

static bool has_name(const struct ctx_summary *summary, uint32_t function)
{
	return summary->profile->functions[function].kind == CTX_FUNCTION_ORDINARY &&
	       *summary->profile->functions[function].name != '<';
}

/* Who ended the first wait, the text of what held it up or else of what waits, all waits. */
static void put_waits(const struct commands *commands)
{
	const struct ctx_summary *summary = commands->summary;
	const struct ctx_wait_row *first = ctx_summary_first_wait(summary);
	uint32_t cause = ctx_summary_cause(summary);

	/* What a timer or a device ended has no waker to look at. */
	if (first->waker != NULL && *first->waker != '<' && first->caller != CTX_NONE)
		put_command(commands, " -r wakers=", first->caller);
	if (has_lines(summary, cause))
		put_command(commands, " -r source=", cause);
	else if (has_lines(summary, first->caller))
		put_command(commands, " -r source=", first->caller);
	put_command(commands, " -r waits", CTX_NONE);
}

/* Once. */
static void put_tree(const struct commands *commands, bool *ret_done)
{
	if (!*ret_done && !commands->summary->profile->losses.call_stacks)
		put_command(commands, " -r tree", CTX_NONE);
	*ret_done = true;
}

/* None for a function that has neither a text nor a name: then the call tree says more. */
static void put_function(const struct commands *commands, bool *ret_tree)
{
	const struct ctx_summary *summary = commands->summary;
	const struct ctx_hot_function *first = summary->functions.rows;
	uint32_t function = first->function;
	bool known = function < summary->profile->n_functions;

	if (known && first->file != CTX_NONE)
		put_command(commands, " -r source=", function);
	else if (known && summary->profile->losses.call_stacks)
		put_command(commands, " -r functions", CTX_NONE);
	else if (known && has_name(summary, function))
		put_command(commands, " -r callers-callees=", function);
	else
		put_tree(commands, ret_tree);
}

/*
 * "-r heap,leaks": the reports of what the recording traced, in one command. Nobody traces by chance, and
 * the rest of the screen shows none of it.
 */
static void put_traced(const struct commands *commands)
{
	static const struct {
		enum ctx_traced_kind kind;
		const char *reports;
	} rows[] = {
		{CTX_TRACED_OMP, "omp-regions"}, {CTX_TRACED_MARK, "marks"},
		{CTX_TRACED_CALL, "calls"},	 {CTX_TRACED_HEAP, "heap,leaks"},
		{CTX_TRACED_SYNC, "sync"},	 {CTX_TRACED_IO, "io"},
		{CTX_TRACED_BRANCH, "branches"}, {CTX_TRACED_MEMORY, "memory,cachelines"},
	};
	struct ctx_buf rest = {0};

	for (size_t i = 0; i < CTX_COUNT_OF(rows); i++) {
		if (commands->summary->profile->traced[rows[i].kind] == 0)
			continue;
		ctx_buf_put_text(&rest, rest.n == 0 ? " -r " : ",");
		ctx_buf_put_text(&rest, rows[i].reports);
	}
	if (rest.n != 0) {
		ctx_buf_put_u8(&rest, '\0');
		if (!rest.failed)
			put_command(commands, (const char *)rest.bytes, CTX_NONE);
	}
	ctx_buf_deinit(&rest);
}

void ctx_summary_next(const struct ctx_summary *summary, void (*put)(void *context, const char *command),
		      void *context)
{
	const struct commands commands = {summary, put, context};
	bool computes = summary->functions.n != 0 && summary->functions.weight != 0;
	bool has_processes = ctx_summary_short_processes(summary) != NULL, has_tree = false;

	/* First, for there is no room for all. */
	put_traced(&commands);
	if (ctx_summary_omp_is_first(&summary->waiting.omp, summary->thread_ns))
		put_command(&commands, " -r tree --metric omp-wait", CTX_NONE);
	if (!has_processes && ctx_summary_is_waiting(summary))
		put_waits(&commands);
	else if (computes)
		put_function(&commands, &has_tree);
	if (has_processes)
		put_command(&commands, " -r processes", CTX_NONE);
	if (computes)
		put_tree(&commands, &has_tree);
	put_command(&commands, " --export html -o run.html", CTX_NONE);
}
