/*
 *	wait until there is an experiment
 *	.-> what is new --> live ingest
 *	|   a forked process: the window's database --> reports --> memory file
 *	|   draw it
 *	`-- wait for the next time, a key, or the end of the recording
 */
#include "ctxan/following.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "ctxan/answer.h"
#include "ctxan/live_screen.h"
#include "ctxan/terminal.h"
#include "formats/experiment/exp_follow.h"
#include "formats/experiment/exp_reader.h"
#include "ingest/live.h"
#include "report/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAST_NS UINT64_C(5000000000)
#define REFRESH_NS UINT64_C(1000000000)
#define LOOK_MS 100u /* the end of a recording is seen within this time */
#define ANSWER_MAX ((size_t)64 << 20)

struct following {
	const struct ctx_options *options;
	const char *path;    /* of the experiment */
	const char *lineage; /* of the only process; NULL: all */
	uint64_t last_ns, refresh_ns;
	bool has_screen, ascii;
	struct ctx_symbol_caches caches;
	struct ctx_event_source *source;
	struct ctx_live *live;
	struct ctx_exp_follow_state state;
	struct ctx_buf answer; /* the last one */
	uint64_t answered_ns;  /* the end of its interval; 0: there is none */
	size_t n_answers;
};

static uint64_t now_ms(void)
{
	return ctx_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/* Appends the name and the words as a line of text; zero-terminated. */
static void compose(const struct following *following, const char *words, struct ctx_buf *out)
{
	ctx_name_put_text(out, following->path, following->ascii);
	ctx_buf_printf(out, "%s", words);
	ctx_buf_put_u8(out, '\0');
}

static void say(const struct following *following, const char *words)
{
	struct ctx_buf line = {0};

	compose(following, words, &line);
	if (!line.failed && following->has_screen)
		ctx_live_screen_draw((const char *)following->answer.bytes, following->answer.n,
				     (const char *)line.bytes);
	else if (!line.failed && !following->options->quiet)
		fprintf(stderr, "ctxan: %s\n", (const char *)line.bytes);
	ctx_buf_deinit(&line);
}

static void draw(const struct following *following)
{
	char words[128];

	snprintf(words, sizeof(words), " is being recorded: the last %.3g of %.1f s; q quits",
		 (double)following->last_ns / 1e9, (double)following->answered_ns / 1e9);
	say(following, words);
}

/* ---- One answer ---- */

/* JSON is one line; nothing in it depends on its line breaks. */
static void join_lines(char *text, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		if (text[i] == '\n')
			text[i] = ' ';
	}
}

static enum ctx_status compute(const struct following *following, char **ret_text, size_t *ret_n,
			       struct ctx_err *err)
{
	struct ctx_options options = *following->options;
	uint64_t end_ns = following->state.until_ns;
	uint64_t begin_ns = end_ns > following->last_ns ? end_ns - following->last_ns : 0;
	char interval[64];
	const char *intervals[] = {interval};
	struct ctx_store *store;
	enum ctx_status status = ctx_live_end(following->live, &store, err);

	if (status != CTX_OK)
		return status;
	snprintf(interval, sizeof(interval), "%" PRIu64 "ns:%" PRIu64 "ns", begin_ns, end_ns);
	options.selection.intervals = intervals;
	options.selection.n_intervals = 1;
	options.selection.lineage = following->lineage;
	options.quiet = true;
	options.report.out = open_memstream(ret_text, ret_n);
	if (options.report.out == NULL)
		return ctx_err_nomem(err);
	ctx_terminal_choose(&options);
	status = ctx_answer(store, following->path, &options, err);
	if (fclose(options.report.out) != 0 && status == CTX_OK)
		status = ctx_err_nomem(err);
	if (status == CTX_OK && options.report.format == CTX_REPORT_JSON)
		join_lines(*ret_text, *ret_n);
	return status;
}

/* In the forked process: writes the answer, or why there is none, into the file. Does not return. */
static _Noreturn void answer_and_exit(const struct following *following, int file)
{
	struct ctx_err err = {0}, ignored;
	char *text = NULL;
	size_t n = 0;
	enum ctx_status status;

	ctx_live_screen_disown();
	status = compute(following, &text, &n, &err);
	if (status == CTX_OK)
		status = ctx_file_write(file, "the answer", text, n, &err);
	if (status != CTX_OK)
		status = ctx_file_write(file, "the answer", err.msg, strlen(err.msg), &ignored) == CTX_OK
				 ? status
				 : CTX_E_IO;
	_exit(-(int)status);
}

/* What the forked process left: its answer, or its failure. */
static enum ctx_status take_answer(struct following *following, int file, int ended, struct ctx_err *err)
{
	struct ctx_buf text = {0};
	enum ctx_status status = lseek(file, 0, SEEK_SET) == 0
					 ? ctx_file_read_fd(file, "the answer", ANSWER_MAX, &text, err)
					 : ctx_err_errno(err, CTX_E_IO, "lseek");

	if (status == CTX_OK && (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)) {
		ctx_buf_put_u8(&text, '\0');
		status = !WIFEXITED(ended) || text.failed
				 ? ctx_err_set(err, CTX_E_INTERNAL,
					       "the answering process ended by signal %d", WTERMSIG(ended))
				 : ctx_err_set(err, (enum ctx_status) - WEXITSTATUS(ended), "%s",
					       (const char *)text.bytes);
	}
	if (status != CTX_OK) {
		ctx_buf_deinit(&text);
		return status;
	}
	ctx_buf_deinit(&following->answer);
	following->answer = text;
	return CTX_OK;
}

static enum ctx_status answer(struct following *following, struct ctx_err *err)
{
	int file CTX_AUTO_CLOSE = memfd_create("answer", MFD_CLOEXEC);
	enum ctx_status status;
	int ended = 0;
	pid_t pid;

	if (file < 0)
		return ctx_err_errno(err, CTX_E_IO, "memfd_create");
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		answer_and_exit(following, file);
	if (pid < 0)
		return ctx_err_errno(err, CTX_E_IO, "fork");
	while (waitpid(pid, &ended, 0) < 0) {
		if (errno != EINTR)
			return ctx_err_errno(err, CTX_E_IO, "waitpid");
	}
	status = take_answer(following, file, ended, err);
	if (status != CTX_OK)
		return status;
	following->answered_ns = following->state.until_ns;
	if (following->has_screen) {
		draw(following);
		return CTX_OK;
	}
	if (following->n_answers++ != 0 && following->options->report.format == CTX_REPORT_TEXT)
		status = ctx_file_write(STDOUT_FILENO, "standard output", "\f\n", 2, err);
	if (status == CTX_OK)
		status = ctx_file_write(STDOUT_FILENO, "standard output", following->answer.bytes,
					following->answer.n, err);
	return status;
}

/* ---- The recording ---- */

/* Waits until `until_ms`, or the recording has ended. CTX_END: the user wants no more. */
static enum ctx_status wait_for_more(struct following *following, uint64_t until_ms)
{
	for (uint64_t now = now_ms(); now < until_ms; now = now_ms()) {
		uint64_t left = until_ms - now;

		switch (ctx_live_screen_wait(left < LOOK_MS ? (unsigned)left : LOOK_MS)) {
		case CTX_SCREEN_QUIT:
			return CTX_END;
		case CTX_SCREEN_RESIZED:
			following->answered_ns = 0;
			return CTX_OK;
		case CTX_SCREEN_NOTHING:
			break;
		}
		if (following->source != NULL && !ctx_exp_is_recorded(following->path))
			return CTX_OK;
	}
	return CTX_OK;
}

static void forget(struct following *following)
{
	ctx_live_destroy(following->live);
	if (following->source != NULL)
		following->source->close(following->source);
	ctx_symbol_caches_deinit(&following->caches);
	following->source = NULL;
	following->live = NULL;
	following->answered_ns = 0;
}

/* Waits until there is an experiment. CTX_END: the user wants no more. */
static enum ctx_status begin(struct following *following, struct ctx_err *err)
{
	struct ctx_ingest_options options;
	bool is_said = false;
	enum ctx_status status;

	while ((status = ctx_exp_follow_open(following->path, &following->source, err)) == CTX_END) {
		if (!is_said)
			say(following, ": waiting for a recording");
		is_said = true;
		if (wait_for_more(following, now_ms() + LOOK_MS) == CTX_END)
			return CTX_END;
	}
	if (status == CTX_OK && following->has_screen)
		say(following, ": reading");
	if (status == CTX_OK)
		status = ctx_opening_ingest_options(following->path, &following->options->opening,
						    &following->caches, &options, err);
	return status == CTX_OK ? ctx_live_create(following->source, &options, &following->live, err)
				: status;
}

/* Takes what is new, and answers if anything is. */
static enum ctx_status look(struct following *following, struct ctx_err *err)
{
	struct ctx_exp_follow_state *state = &following->state;
	enum ctx_status status = ctx_exp_follow_update(following->source, state, err);
	uint64_t end_ns = state->until_ns;

	if (status != CTX_OK || state->is == CTX_EXP_REPLACED)
		return status;
	if (state->is == CTX_EXP_REMOVED)
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s: was removed", following->path);
	status = ctx_live_read(following->live, end_ns > following->last_ns ? end_ns - following->last_ns : 0,
			       err);
	if (status == CTX_OK && end_ns != following->answered_ns)
		status = answer(following, err);
	return status;
}

static enum ctx_status follow(struct following *following, struct ctx_err *err)
{
	enum ctx_status status = begin(following, err);

	while (status == CTX_OK) {
		uint64_t since_ms = now_ms(), next_ms = since_ms + following->refresh_ns / 1000000;

		status = look(following, err);
		/* A large answer leaves half of the time to others. */
		if (next_ms < 2 * now_ms() - since_ms)
			next_ms = 2 * now_ms() - since_ms;
		if (status != CTX_OK)
			break;
		if (following->state.is == CTX_EXP_REPLACED) {
			forget(following);
			say(following, ": is a new recording");
			status = begin(following, err);
			continue;
		}
		if (following->state.is != CTX_EXP_RECORDED)
			break;
		status = wait_for_more(following, next_ms);
	}
	return status;
}

/* On the terminal's own screen: the last answer stays. */
static enum ctx_status finish(struct following *following, enum ctx_status status, struct ctx_err *err)
{
	bool is_over = status == CTX_OK;

	if (following->has_screen) {
		ctx_live_screen_close();
		following->has_screen = false;
		if ((status == CTX_OK || status == CTX_END) && following->answer.n != 0)
			status = ctx_file_write(STDOUT_FILENO, "standard output", following->answer.bytes,
						following->answer.n, err);
	}
	if (is_over)
		say(following, following->state.is == CTX_EXP_ENDED ? ": the recording has ended"
								    : ": the recorder was killed");
	return status == CTX_END ? CTX_OK : status;
}

enum ctx_status ctx_following(const struct ctx_options *options, struct ctx_err *err)
{
	char *newest CTX_AUTO_FREE = NULL, *experiment CTX_AUTO_FREE = NULL, *lineage CTX_AUTO_FREE = NULL;
	struct following following = {
		.options = options,
		.last_ns = options->follow.last_ns != 0 ? options->follow.last_ns : LAST_NS,
		.refresh_ns = options->follow.refresh_ns != 0 ? options->follow.refresh_ns : REFRESH_NS,
	};
	struct ctx_options chosen = *options; /* the width is chosen for each answer */
	enum ctx_status status = CTX_OK;

	ctx_terminal_choose(&chosen);
	following.ascii = chosen.report.ascii;
	if (options->n_inputs == 0)
		status = ctx_opening_newest(".", &newest, err);
	following.path = newest != NULL ? newest : options->n_inputs != 0 ? options->inputs[0] : "";
	if (status == CTX_OK)
		status = ctx_opening_split(following.path, &experiment, &lineage, err);
	if (status != CTX_OK)
		return status;
	if (experiment != NULL)
		following.path = experiment;
	following.lineage = lineage;
	following.has_screen = options->report.format == CTX_REPORT_TEXT && ctx_terminal_is_output(options);
	if (following.has_screen)
		ctx_live_screen_open();
	status = follow(&following, err);
	status = finish(&following, status, err);
	forget(&following);
	ctx_buf_deinit(&following.answer);
	return status;
}
