#include "report/summary.h"

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

static void put_waits(const struct commands *commands)
{
	const struct ctx_summary *summary = commands->summary;
	const struct ctx_wait_row *first = ctx_summary_first_wait(summary);

	/* What a timer or a device ended has no waker to look at. */
	if (first->waker != NULL && *first->waker != '<' && first->caller != CTX_NONE)
		put_command(commands, " -r wakers=", first->caller);
	put_command(commands, " -r waits", CTX_NONE);
}

static void put_function(const struct commands *commands)
{
	const struct ctx_summary *summary = commands->summary;
	const struct ctx_hot_function *first = summary->functions.rows;
	uint32_t function = first->function;

	if (function >= summary->profile->n_functions)
		return;
	if (first->file != CTX_NONE)
		put_command(commands, " -r source=", function);
	else if (summary->profile->losses.call_stacks)
		put_command(commands, " -r functions", CTX_NONE);
	else if (summary->profile->functions[function].kind == CTX_FUNCTION_ORDINARY)
		put_command(commands, " -r callers-callees=", function);
}

void ctx_summary_next(const struct ctx_summary *summary, void (*put)(void *context, const char *command),
		      void *context)
{
	const struct commands commands = {summary, put, context};
	bool computes = summary->functions.n != 0 && summary->functions.weight != 0;

	if (ctx_summary_is_waiting(summary))
		put_waits(&commands);
	if (computes) {
		put_function(&commands);
		if (!summary->profile->losses.call_stacks)
			put_command(&commands, " -r tree", CTX_NONE);
	}
	put_command(&commands, " --export html -o run.html", CTX_NONE);
}
