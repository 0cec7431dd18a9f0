#include "report/summary.h"

#include "report/function_names.h"
#include "report/names.h"

#include <inttypes.h>
#include <string.h>

/* Threads that are named one by one. */
#define THREADS 4u

/* Appends a word as a shell reads it. */
static void put_word(struct ctx_buf *command, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (*word != '\0' && word[strspn(word, plain)] == '\0') {
		ctx_buf_put_text(command, word);
		return;
	}
	ctx_buf_put_u8(command, '\'');
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			ctx_buf_put_text(command, "'\\''");
		else
			ctx_buf_put_u8(command, (uint8_t)*word);
	}
	ctx_buf_put_u8(command, '\'');
}

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

static void put_ms(struct ctx_buf *command, uint64_t ns)
{
	ctx_buf_printf(command, "%" PRIu64, ns / 1000000);
	if (ns % 1000000 != 0)
		ctx_buf_printf(command, ".%06" PRIu64, ns % 1000000);
}

/*
 * "ctxan run.er -i 300:700 -t 12": the intervals and a few threads are selected again; other filters
 * are not known as they were typed.
 */
static void put_begin(const struct ctx_report_selection *selection, struct ctx_buf *command)
{
	ctx_buf_put_text(command, "ctxan ");
	put_word(command, selection->path);
	for (size_t i = 0; i < selection->n_intervals && !ctx_head_is_whole_run(selection); i++) {
		ctx_buf_put_text(command, " -i ");
		put_ms(command, selection->intervals[i].begin_ns);
		ctx_buf_put_u8(command, ':');
		put_ms(command, selection->intervals[i].end_ns);
	}
	for (size_t i = 0;
	     selection->threads != NULL && i < selection->n_threads && selection->n_threads <= THREADS; i++)
		ctx_buf_printf(command, i == 0 ? " -t %" PRId64 : ",%" PRId64,
			       ctx_head_tid(selection->profile, selection->threads[i]));
}

/* Appends the name without what says that it is inlined. */
static void put_plain_name(const struct ctx_function_info *function, struct ctx_buf *name)
{
	ctx_buf_put(name, function->name, ctx_function_plain_length(function));
}

struct commands {
	const struct ctx_summary *summary;
	void (*put)(void *context, const char *command);
	void *context;
};

/* "ctxan run.er" and `rest`; a function's name behind it, unless it is CTX_NONE. */
static void put_command(const struct commands *commands, const char *rest, uint32_t function)
{
	const struct ctx_report_selection *selection = &commands->summary->source->selection;
	struct ctx_buf command = {0}, name = {0};

	if (function != CTX_NONE)
		put_plain_name(&commands->summary->profile->functions[function], &name);
	ctx_buf_put_u8(&name, '\0');
	put_begin(selection, &command);
	ctx_buf_put_text(&command, rest);
	if (!name.failed && function != CTX_NONE)
		put_word(&command, (const char *)name.bytes);
	ctx_buf_put_u8(&command, '\0');
	if (!command.failed && !name.failed && is_safe((const char *)name.bytes))
		commands->put(commands->context, (const char *)command.bytes);
	ctx_buf_deinit(&command);
	ctx_buf_deinit(&name);
}

static void put_waits(const struct commands *commands)
{
	const struct ctx_summary *summary = commands->summary;
	const struct ctx_wait_row *first = ctx_summary_first_wait(summary);

	if (first->waker != NULL && first->caller != CTX_NONE)
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
