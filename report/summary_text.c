/*
 * The layout of the first screen:
 *
 *	lock_convoy.er: ./lock_convoy 8
 *	1.052 s | 0.47 of 2 CPUs busy | 4 threads | 493 samples
 *	First look: waits (mutex) in add_to_total, 473 times, 25.2 % of 4 threads' time
 *	Ended by reporter in write_report; meanwhile 99.1 % there
 *	Where thread time went: 5.107 s in 5 threads
 *	  on a CPU           ███▎                             8.9 %     0.454 s
 *	  mutex              ███████▎                        20.3 %     1.037 s
 *	CPUs busy, of 2      ▂▂▃▃▂▂▂▂▃▃▃▂▂▂▂▂▂▂▂▂▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▏1.052 s
 *	Top function         letters of the rows of the table of functions
 *	tables: waits and functions (the more important first), commands or threads
 *	Hottest path, or that of the first wait
 *	! warning
 *	Next: command
 *
 * A plan divides the lines that are left between the tables first.
 */
#include "base/mem.h"
#include "report/names.h"
#include "report/part_cells.h"
#include "report/summary_omp_text.h"
#include "report/summary_plan.h"
#include "report/summary_tables.h"
#include "report/summary_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NARROW 80u
#define WIDEST 120u
#define WAIT_OF_FUNCTION 20u /* the hottest function's waits are told from one part of so many on */
#define SPUN 5u /* waiting in the runtime of OpenMP with one part of so many of the CPU time is said */
#define ROOM_OF_CALL 36u /* columns of a function and its callee */

static void take_text(void *context, const char *text)
{
	struct ctx_summary_texts *texts = context;

	texts->total++;
	if (texts->n == CTX_COUNT_OF(texts->items))
		return;
	texts->items[texts->n] = ctx_arena_strdup(texts->arena, text);
	texts->failed |= texts->items[texts->n] == NULL;
	texts->n += texts->items[texts->n] != NULL;
}

/* Prints the line, cut at its end. */
static void end_cut(struct ctx_summary_screen *screen)
{
	struct ctx_buf cut = {0}, *line = &screen->line;

	if (!line->failed)
		ctx_text_cut_end(&cut, (const char *)line->bytes, line->n, screen->width,
				 screen->out->options->ascii);
	ctx_buf_deinit(line);
	*line = cut;
	ctx_summary_end_line(screen);
}

/* "perf record -g -- ./app": what was recorded is the program. */
static const char *recorded_command(const struct ctx_summary *summary)
{
	const char *command = ctx_summary_command(summary);
	size_t n;
	const char *program = ctx_command_program(command, &n), *target = strstr(command, " -- ");

	return n == 4 && strncmp(program, "perf", n) == 0 && target != NULL ? target + 4 : command;
}

/* Prints the line; what does not fit is left out from a word on, and the report that has it is named. */
static void end_warning(struct ctx_summary_screen *screen)
{
	struct ctx_buf *line = &screen->line;
	const char *rest = screen->out->options->ascii ? ".. (-r header)" : "… (-r header)";
	size_t width = ctx_text_width(rest, strlen(rest)), n = 0;

	if (line->failed || ctx_text_width((const char *)line->bytes, line->n) <= screen->width) {
		ctx_summary_end_line(screen);
		return;
	}
	for (size_t i = 0; i < line->n; i++) {
		if (line->bytes[i] == ' ' &&
		    ctx_text_width((const char *)line->bytes, i) + width <= screen->width)
			n = i;
	}
	while (n > 0 && strchr(",:;", line->bytes[n - 1]) != NULL)
		n--;
	line->n = n;
	ctx_buf_put_text(line, rest);
	ctx_summary_end_line(screen);
}

static void put_title(struct ctx_summary_screen *screen)
{
	const char *command = recorded_command(screen->summary);
	bool ascii = screen->out->options->ascii;

	ctx_name_put_text(&screen->line, screen->summary->profile->name, ascii);
	if (*command != '\0') {
		ctx_buf_put_text(&screen->line, ": ");
		ctx_name_put_text(&screen->line, command, ascii);
	}
	end_cut(screen);
}

/* "1.043 s | 0.47 of 2 CPUs busy | 9 threads in 2 processes | 245 samples" */
static void put_numbers(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	struct ctx_buf *line = &screen->line;
	char text[CTX_FIGURE_MAX], count[CTX_HEAD_COUNT_MAX];
	bool is_whole = ctx_head_is_whole_run(&summary->source->selection);

	ctx_summary_put_time(line, summary->elapsed_ns);
	if (ctx_summary_has_load(summary)) {
		ctx_figure_fixed(text, summary->cpu_ns, summary->elapsed_ns != 0 ? summary->elapsed_ns : 1,
				 2);
		ctx_buf_printf(line, " | %s", text);
		if (summary->cpus != 0)
			ctx_buf_printf(line, " of %" PRIu64, summary->cpus);
		ctx_buf_put_text(line, " CPUs busy");
	}
	ctx_count_text(summary->n_threads, "threads", count);
	ctx_buf_printf(line, " | %s", count);
	if (summary->n_processes > 1)
		ctx_buf_printf(line, " in %" PRIu32 " processes", summary->n_processes);
	if (!ctx_metric_has_exact_calls(&summary->metric) || !is_whole) {
		ctx_head_count(&screen->out->head, summary->functions.samples, count);
		ctx_buf_printf(line, " | %s", count);
	}
	if (is_whole && summary->profile->traced[CTX_TRACED_CALL] != 0 &&
	    !summary->profile->losses.call_log) {
		ctx_count_text(summary->profile->traced[CTX_TRACED_CALL], "traced calls", count);
		ctx_buf_printf(line, " | %s", count);
	}
	if (!ctx_metric_is_time(&summary->metric)) {
		ctx_buf_put_text(line, " of ");
		ctx_name_put_text(line, summary->metric.name, screen->out->options->ascii);
	}
	ctx_summary_end_line(screen);
}

static void put_selected(struct ctx_summary_screen *screen)
{
	struct ctx_buf text = {0};

	if (ctx_head_is_whole_run(&screen->summary->source->selection))
		return;
	ctx_head_put_summary(&screen->out->head, &text);
	ctx_buf_put_u8(&text, '\0');
	ctx_buf_put_text(&screen->line, "Selected: ");
	if (text.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		ctx_name_put_text(&screen->line, (const char *)text.bytes, screen->out->options->ascii);
	ctx_summary_end_line(screen);
	ctx_buf_deinit(&text);
}

/* ---- In one line ---- */

/* "(app.c:12)", "in [kernel]": where it is, if that is not clear. */
static void put_place(struct ctx_summary_screen *screen, const struct ctx_hot_function *row,
		      struct ctx_buf *text)
{
	const struct ctx_hot_functions *functions = &screen->summary->functions;
	const struct ctx_profile *profile = screen->summary->profile;
	const struct ctx_cell cell = ctx_function_cell(&screen->summary->fold.profile, row->function);
	bool ascii = screen->out->options->ascii;
	struct ctx_buf program = {0};

	ctx_summary_put_program(screen, row, &program);
	/* "<static>@0x15990" tells nothing alone. */
	if (row->file != CTX_NONE) {
		ctx_buf_put_text(text, " (");
		ctx_name_put_text(text, ctx_name_of_path(functions->code->files[row->file].path), ascii);
		ctx_buf_printf(text, ":%" PRIu32 ")", row->line);
	} else if (program.n != 0) {
		/* A row with a callee has it behind the name. */
		if (!ctx_hot_function_calls(row))
			ctx_buf_put(text, program.bytes, program.n);
	} else if (cell.object != NULL && *cell.object != '\0' && row->function < profile->n_functions &&
		   (profile->functions[row->function].kind != CTX_FUNCTION_ORDINARY || *cell.name == '<')) {
		ctx_buf_put_text(text, " in ");
		ctx_name_put_text(text, ctx_name_of_path(cell.object), ascii);
	}
	text->failed |= program.failed;
	ctx_buf_deinit(&program);
}

/* Time of the threads that wait in the first wait. */
static uint64_t waiting_ns(const struct ctx_summary *summary)
{
	return summary->waiting.waiters.n != 0 ? summary->waiting.waiters.wall_ns : summary->thread_ns;
}

/* "87.2 % of svc-d's time", "91.7 % of 6 threads' time": of those that wait there. */
static void put_waiters(struct ctx_summary_screen *screen, uint64_t ns, struct ctx_buf *text)
{
	const struct ctx_summary *summary = screen->summary;
	const struct ctx_wait_waiters *waiters = &summary->waiting.waiters;

	ctx_summary_put_percent(text, ns, waiting_ns(summary));
	ctx_buf_put_text(text, " of ");
	if (waiters->n == 1) {
		ctx_summary_put_waker(screen, summary->profile->threads[waiters->one].name, text);
		ctx_buf_put_text(text, "'s time");
	} else if (waiters->n != 0) {
		ctx_buf_printf(text, "%" PRIu32 " threads' time", waiters->n);
	} else {
		ctx_buf_put_text(text, "thread time");
	}
}

/* ", 1520 × 0.612 ms, 93.1 % of 4 threads' time": a loop that polls is seen by its number and length. */
static void put_sizes(struct ctx_summary_screen *screen, const struct ctx_wait_row *wait, bool times,
		      struct ctx_buf *text)
{
	if (times && wait->kind == CTX_WAIT_KIND_TIMER) {
		ctx_buf_printf(text, ", %" PRIu64 " %s ", wait->waits,
			       screen->out->options->ascii ? "x" : "×");
		ctx_summary_put_time(text, ctx_wait_row_mean(wait));
	} else if (times) {
		ctx_buf_printf(text, ", %" PRIu64 " times", wait->waits);
	}
	ctx_buf_put_text(text, ", ");
	put_waiters(screen, wait->wait_ns, text);
}

/* Columns of the name of a wait's caller. */
static size_t caller_width(struct ctx_summary_screen *screen, const struct ctx_wait_row *wait)
{
	const char *name = wait->caller != CTX_NONE ? ctx_summary_name(screen, wait->caller) : "";

	return ctx_text_width(name, strlen(name));
}

/* Columns of the line with " in " and the sizes. */
static size_t width_with(const struct ctx_summary_screen *screen, const struct ctx_buf *sizes)
{
	return ctx_text_width((const char *)screen->line.bytes, screen->line.n) +
	       ctx_text_width((const char *)sizes->bytes, sizes->n) + sizeof(" in ") - 1;
}

static void put_first_wait(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	const struct ctx_wait_row *wait = ctx_summary_first_wait(summary);
	struct ctx_buf sizes = {0};
	size_t used;

	if (wait->kind == CTX_WAIT_KIND_TIMER)
		ctx_buf_put_text(&screen->line, "First look: sleeps");
	else
		ctx_buf_printf(&screen->line, "First look: waits (%s)", ctx_summary_kind_word(wait->kind));
	/* How often matters more than the whole name for sleeps alone. */
	put_sizes(screen, wait, wait->waits > 1, &sizes);
	used = width_with(screen, &sizes);
	if (wait->kind != CTX_WAIT_KIND_TIMER && used + caller_width(screen, wait) > screen->width) {
		ctx_buf_clear(&sizes);
		put_sizes(screen, wait, false, &sizes);
		used = width_with(screen, &sizes);
	}
	if (wait->caller != CTX_NONE && used < screen->width) {
		ctx_buf_put_text(&screen->line, " in ");
		ctx_summary_put_name(screen, wait->caller, screen->width - used, &screen->line);
	}
	if (sizes.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		ctx_buf_put(&screen->line, sizes.bytes, sizes.n);
	ctx_summary_end_line(screen);
	ctx_buf_deinit(&sizes);
}

/*
 * "Ended by receiver in add_order; meanwhile 87.2 % in verify_signature": where the cause of the first
 * wait is.
 */
static void put_ender(struct ctx_summary_screen *screen)
{
	const struct ctx_wait_row *wait = ctx_summary_first_wait(screen->summary);
	const struct ctx_wait_during *during = &screen->summary->during;
	struct ctx_buf waker = {0};
	size_t room = screen->width - CTX_SUMMARY_WAKER - 36;

	if (!ctx_summary_has_ender(screen))
		return;
	ctx_summary_put_waker(screen, wait->waker, &waker);
	ctx_buf_put_text(&screen->line, "Ended by ");
	ctx_buf_put(&screen->line, waker.bytes, waker.n);
	ctx_buf_deinit(&waker);
	if (wait->waker_function != CTX_NONE) {
		ctx_buf_put_text(&screen->line, " in ");
		ctx_summary_put_name(screen, wait->waker_function, room / 2, &screen->line);
	}
	if (during->function != CTX_NONE) {
		ctx_buf_put_text(&screen->line, "; meanwhile ");
		ctx_summary_put_percent(&screen->line, during->ns, during->waker_ns);
		ctx_buf_put_text(&screen->line, during->function == wait->waker_function ? " there" : " in ");
		if (during->function != wait->waker_function)
			ctx_summary_put_name(screen, during->function, room / 2, &screen->line);
	}
	ctx_summary_end_line(screen);
}

/* "First look: 501 processes, 500 of true, 1.284 ms each, started by job-1" */
static void put_short_processes(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	const struct ctx_summary_group *group = ctx_summary_short_processes(summary);
	bool ascii = screen->out->options->ascii;
	const char *parent;
	size_t n;

	ctx_buf_printf(&screen->line, "First look: %" PRIu32 " processes%s, %" PRIu32 " of ",
		       summary->n_processes, summary->profile->has_states ? "" : " with samples", group->n);
	ctx_name_put_text(&screen->line, group->name, ascii);
	ctx_buf_put_text(&screen->line, ", ");
	ctx_summary_put_time(&screen->line, group->life_ns / group->n);
	ctx_buf_put_text(&screen->line, " each");
	if (group->parent < summary->profile->n_processes) {
		parent = ctx_command_program(summary->profile->processes[group->parent].command, &n);
		parent = ctx_out_format(screen->out, "%.*s", (int)n, parent);
		ctx_buf_put_text(&screen->line, ", started by ");
		ctx_name_put_text(&screen->line, parent, ascii);
	}
	end_cut(screen);
}

/* Whether one command of several has nearly all the time, and no function of it much. */
static bool is_flat_command(const struct ctx_summary *summary)
{
	const struct ctx_hot_functions *functions = &summary->functions;

	return summary->groups_are_commands && summary->n_groups > 1 &&
	       summary->groups[0].cpu >= functions->weight / 10 * 8 &&
	       functions->rows[0].with_callees <= functions->weight / 4;
}

/* "17 threads on 2 CPUs; ", "cc1, 99.4 %; ": what matters besides the function. */
static void put_crowd(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;

	if (is_flat_command(summary)) {
		ctx_summary_put_waker(screen, summary->groups[0].name, &screen->line);
		ctx_buf_put_text(&screen->line, ", ");
		ctx_summary_put_percent(&screen->line, summary->groups[0].cpu, summary->functions.weight);
		ctx_buf_put_text(&screen->line, "; ");
		return;
	}
	/* Its own threads wait for each other's processors, not for those of other programs. */
	if (summary->n_processes >= CTX_SUMMARY_PROCESSES)
		ctx_buf_printf(&screen->line, "%" PRIu32 " processes; ", summary->n_processes);
	else if (summary->cpus != 0 && summary->n_threads > summary->cpus &&
		 summary->states[CTX_STATE_WAIT_CPU] > summary->cpu_ns && !ctx_summary_is_kept_off(summary))
		ctx_buf_printf(&screen->line, "%" PRIu32 " threads on %" PRIu64 " CPUs; ", summary->n_threads,
			       summary->cpus);
}

/* The longest wait with this caller that is worth a row; NULL: none. */
static const struct ctx_wait_row *wait_of(const struct ctx_summary *summary, uint32_t caller)
{
	const struct ctx_wait_row *longest = NULL;

	for (size_t i = 0; i < summary->waits.n; i++) {
		const struct ctx_wait_row *row = &summary->waits.rows[i];

		if (row->caller == caller && row->wait_ns >= summary->thread_ns / WAIT_OF_FUNCTION &&
		    (longest == NULL || row->wait_ns > longest->wait_ns))
			longest = row;
	}
	return longest;
}

/* Of a recording of one process, which counted them; 0: not known. */
static uint64_t count_faults(const struct ctx_summary *summary)
{
	const struct ctx_profile *profile = summary->profile;
	const struct ctx_usage_info *usage = profile->usage;
	uint64_t begin = 0, end;

	if (profile->n_usage == 0 || profile->n_processes != 1 ||
	    !ctx_head_is_whole_run(&summary->source->selection))
		return 0;
	if (ctx_usage_is_start(profile, usage))
		begin = usage->minor_faults;
	end = usage[profile->n_usage - 1].minor_faults;
	return end > begin ? end - begin : 0;
}

static bool is_page_fault(const struct ctx_summary *summary, const struct ctx_hot_function *row)
{
	return ctx_hot_function_calls(row) && row->callee < summary->fold.profile.n_functions &&
	       strcmp(summary->fold.profile.functions[row->callee].name, "[kernel] page fault") == 0;
}

/* ", 1580 waits", ", 659301 faults": how often, if that was recorded. Behind the share, which is not theirs. */
static void put_count(const struct ctx_summary *summary, const struct ctx_hot_function *row,
		      struct ctx_buf *text)
{
	const struct ctx_wait_row *wait = wait_of(summary, row->function);
	uint64_t faults = is_page_fault(summary, row) ? count_faults(summary) : 0;

	if (wait != NULL && wait->waits > 1)
		ctx_buf_printf(text, ", %" PRIu64 " waits", wait->waits);
	else if (faults > 1)
		ctx_buf_printf(text, ", %" PRIu64 " faults", faults);
}

/* " (text.cc:33), 75.0 % of CPU time, 1580 waits" */
static void put_share(struct ctx_summary_screen *screen, const struct ctx_hot_function *row, bool place,
		      struct ctx_buf *text)
{
	ctx_buf_clear(text);
	if (place)
		put_place(screen, row, text);
	ctx_buf_put_text(text, ", ");
	ctx_summary_put_percent(text, row->with_callees, screen->summary->functions.weight);
	ctx_summary_put_of(screen, text);
	put_count(screen->summary, row, text);
}

/* Columns that the line of the first look leaves to names. */
static size_t first_room(const struct ctx_summary_screen *screen, const struct ctx_buf *share)
{
	size_t used = screen->line.n + ctx_text_width((const char *)share->bytes, share->n);

	return used < screen->width ? screen->width - used : 0;
}

/* "First look: render_statement › memcpy (text.cc:33), 75.0 % of CPU time"; the place gives way to names. */
static void put_first_function(struct ctx_summary_screen *screen)
{
	const struct ctx_hot_function *first = screen->summary->functions.rows;
	struct ctx_buf share = {0};

	ctx_buf_put_text(&screen->line, "First look: ");
	put_crowd(screen);
	put_share(screen, first, true, &share);
	if (ctx_hot_function_calls(first) && !share.failed && first_room(screen, &share) < ROOM_OF_CALL)
		put_share(screen, first, false, &share);
	if (share.failed) {
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	} else {
		if (ctx_hot_function_calls(first))
			ctx_summary_put_call(screen, first, first_room(screen, &share), &screen->line);
		else
			ctx_summary_put_name(screen, first->function, first_room(screen, &share),
					     &screen->line);
		ctx_buf_put(&screen->line, share.bytes, share.n);
	}
	ctx_summary_end_line(screen);
	ctx_buf_deinit(&share);
}

/* "Others wait for it: condition variable in take_order, 96.1 % of 4 threads' time" */
static void put_waited_for(struct ctx_summary_screen *screen)
{
	const struct ctx_wait_row *wait = ctx_summary_first_wait(screen->summary);
	struct ctx_buf sizes = {0};
	size_t used;

	if (!ctx_summary_has_ender(screen))
		return;
	put_sizes(screen, wait, false, &sizes);
	ctx_buf_printf(&screen->line, "Others wait for it: %s", ctx_wait_kind_text(wait->kind));
	used = width_with(screen, &sizes);
	if (wait->caller != CTX_NONE && used < screen->width) {
		ctx_buf_put_text(&screen->line, " in ");
		ctx_summary_put_name(screen, wait->caller, screen->width - used, &screen->line);
	}
	if (sizes.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		ctx_buf_put(&screen->line, sizes.bytes, sizes.n);
	ctx_summary_end_line(screen);
	ctx_buf_deinit(&sizes);
}

/* The one place that says most about where the time went. */
static void put_first_look(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;

	if (ctx_summary_short_processes(summary) != NULL) {
		put_short_processes(screen);
	} else if (ctx_summary_omp_is_first(&summary->waiting.omp, summary->thread_ns)) {
		ctx_summary_put_first_omp(screen);
	} else if (ctx_summary_is_waiting(summary)) {
		put_first_wait(screen);
		put_ender(screen);
	} else if (summary->functions.n != 0 && summary->functions.weight != 0) {
		put_first_function(screen);
		put_waited_for(screen);
	}
}

/* ---- The path, warnings, commands ---- */

struct path {
	const char *title;
	uint32_t node; /* folded */
	uint32_t last; /* the function it ends with; CTX_NONE: all of it */
	uint64_t part, whole;
};

/* Whether a frame is before the program's first one: of the C library, or _start. */
static bool is_preamble(const struct ctx_summary *summary, const struct ctx_fold_frame *frame)
{
	return !ctx_wait_kinds_is_program(&summary->kinds, frame->function) ||
	       strcmp(frame->name, "_start") == 0;
}

/* Cuts what is before the program, and after `last`. At least one frame stays. */
static size_t cut_path(const struct ctx_summary *summary, const struct path *path,
		       const struct ctx_fold_frame *frames, size_t *n)
{
	size_t first = 0;

	while (first + 1 < *n && is_preamble(summary, &frames[first]))
		first++;
	for (size_t i = *n; path->last != CTX_NONE && i > first; i--) {
		if (frames[i - 1].function == path->last) {
			*n = i;
			break;
		}
	}
	return first;
}

struct frames {
	struct ctx_fold_frame *frames;
	size_t n;
	const char *object; /* of the frame before; NULL: none, or shown again */
};

/* The number of frames up to the program's innermost; `n` without any. */
static size_t count_own(const struct ctx_summary *summary, const struct frames *path)
{
	for (size_t i = path->n; i > 0; i--) {
		if (ctx_wait_kinds_is_program(&summary->kinds, path->frames[i - 1].function))
			return i;
	}
	return path->n;
}

/* Appends the frames; its columns. */
static size_t put_part(const struct ctx_summary_screen *screen, const struct frames *part, size_t width,
		       struct ctx_buf *text)
{
	size_t begin = text->n;

	ctx_fold_line(text, part->frames, part->n,
		      &(struct ctx_fold_line_style){
			      .width = width, .ascii = screen->out->options->ascii, .object = part->object});
	return text->failed ? 0 : ctx_text_width((const char *)text->bytes + begin, text->n - begin);
}

/* In two parts: the frame of the program that leads into a library is shown, as the last one is. */
static void put_parts(struct ctx_summary_screen *screen, const struct frames *path, size_t own, size_t width)
{
	const struct frames program = {path->frames, own, NULL};
	const struct frames library = {path->frames + own, path->n - own, path->frames[own - 1].object};
	struct ctx_buf first = {0}, last = {0};
	size_t used;

	for (size_t i = 0; i < own; i++)
		path->frames[i].name = ctx_summary_name(screen, path->frames[i].function);
	used = put_part(screen, &program, width / 2, &first);
	used = put_part(screen, &library, width - used - 3, &last);
	/* What the library does not need. */
	(void)put_part(screen, &program, width - used - 3, &screen->line);
	ctx_buf_put_text(&screen->line, screen->out->options->ascii ? " > " : " › ");
	ctx_buf_put(&screen->line, last.bytes, last.n);
	if (first.failed || last.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	ctx_buf_deinit(&first);
	ctx_buf_deinit(&last);
}

static void put_frames(struct ctx_summary_screen *screen, const struct frames *path, size_t width)
{
	size_t own = count_own(screen->summary, path);
	struct ctx_buf whole = {0};

	if (own == path->n || put_part(screen, path, SIZE_MAX, &whole) <= width)
		(void)put_part(screen, path, width, &screen->line);
	else
		put_parts(screen, path, own, width);
	if (whole.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	ctx_buf_deinit(&whole);
}

static void put_path(struct ctx_summary_screen *screen, const struct path *path)
{
	const struct ctx_summary *summary = screen->summary;
	struct ctx_fold_frame *frames CTX_AUTO_FREE = NULL;
	size_t n, first, used;

	ctx_out_fail(screen->out, ctx_fold_path(&summary->fold, path->node, &frames, &n, NULL));
	if (screen->out->status != CTX_OK || n == 0)
		return;
	ctx_summary_put_blank(screen);
	first = cut_path(summary, path, frames, &n);
	ctx_buf_printf(&screen->line, "%s, ", path->title);
	ctx_summary_put_percent(&screen->line, path->part, path->whole);
	ctx_buf_put_text(&screen->line, ": ");
	used = ctx_text_width((const char *)screen->line.bytes, screen->line.n);
	put_frames(screen, &(struct frames){frames + first, n - first, NULL}, screen->width - used);
	ctx_summary_end_line(screen);
}

/* Of the first wait to its caller, or of the heaviest stacks. */
static void put_hottest(struct ctx_summary_screen *screen)
{
	struct ctx_summary *summary = screen->summary;
	const struct ctx_hot_functions *functions = &summary->functions;
	const struct ctx_wait_row *wait = ctx_summary_first_wait(summary);
	struct path path = {"Hottest path", functions->hottest, CTX_NONE, functions->hottest_weight,
			    functions->weight};

	if (ctx_summary_is_waiting(summary)) {
		path = (struct path){"Wait path", CTX_NONE, wait->caller, wait->stack_ns,
				     waiting_ns(summary)};
		ctx_out_fail(screen->out, ctx_fold_find(&summary->fold, wait->stack, &path.node, NULL));
	}
	if (path.node != CTX_NONE && !summary->profile->losses.call_stacks)
		put_path(screen, &path);
}

/* The first ones; how many there are if not all are shown. */
static void put_warnings(struct ctx_summary_screen *screen)
{
	const struct ctx_summary_texts *warnings = &screen->warnings;
	size_t shown = screen->plan.warnings;

	for (size_t i = 0; i < shown; i++) {
		ctx_buf_put_text(&screen->line, "! ");
		if (i == 0 && warnings->total > shown)
			ctx_buf_printf(&screen->line, "%zu of %zu warnings (-r header): ", shown,
				       warnings->total);
		ctx_name_put_text(&screen->line, warnings->items[i], screen->out->options->ascii);
		end_warning(screen);
	}
}

static void put_commands(struct ctx_summary_screen *screen)
{
	if (screen->plan.commands != 0)
		ctx_summary_put_blank(screen);
	for (size_t i = 0; i < screen->plan.commands; i++) {
		ctx_buf_put_text(&screen->line, i == 0 ? "Next: " : "      ");
		ctx_name_put_text(&screen->line, screen->commands.items[i], screen->out->options->ascii);
		ctx_buf_put_u8(&screen->line, '\0');
		if (screen->line.failed)
			ctx_out_fail(screen->out, CTX_E_NOMEM);
		else
			ctx_out_whole_line(screen->out, (const char *)screen->line.bytes);
		ctx_buf_clear(&screen->line);
	}
}

/* The binaries without which functions have no names. */
static void take_missing(struct ctx_summary_screen *screen)
{
	const struct ctx_missing_objects *missing = &screen->summary->missing;
	struct ctx_buf text = {0};

	ctx_missing_objects_put(missing, screen->summary->profile, &text);
	ctx_buf_put_u8(&text, '\0');
	if (text.failed)
		screen->warnings.failed = true;
	else if (missing->n != 0)
		take_text(&screen->warnings, (const char *)text.bytes);
	ctx_buf_deinit(&text);
}

/* The program does not cause it, and the shares of CPU time do not show it. */
static void take_kept_off(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	char text[96];

	if (!ctx_summary_is_kept_off(summary))
		return;
	snprintf(text, sizeof(text),
		 "waits for a CPU: %.1f times its CPU time; other programs, a quota or affinity",
		 (double)summary->states[CTX_STATE_WAIT_CPU] / (double)summary->cpu_ns);
	take_text(&screen->warnings, text);
}

/* What idle threads do with processors is no work. */
static void take_spinning(struct ctx_summary_screen *screen)
{
	char text[128], figure[CTX_FIGURE_MAX];
	const struct ctx_summary *summary = screen->summary;
	uint64_t spun = ctx_summary_omp_spun(summary);

	if (spun == 0 || spun < summary->functions.weight / SPUN)
		return;
	ctx_figure_percent(figure, spun, summary->functions.weight, 1);
	snprintf(text, sizeof(text), "OpenMP spins while it waits, %s %% of CPU time (OMP_WAIT_POLICY)",
		 figure);
	take_text(&screen->warnings, text);
}

void ctx_summary_print(struct ctx_summary *summary, struct ctx_out *out)
{
	unsigned width = out->options->width;
	struct ctx_arena arena = {0};
	struct ctx_summary_screen screen = {
		.summary = summary,
		.out = out,
		.width = width == 0 || width > WIDEST ? WIDEST
			 : width < NARROW / 2	      ? NARROW / 2
						      : width,
		.warnings = {.arena = &arena},
		.commands = {.arena = &arena},
	};

	take_spinning(&screen);
	take_kept_off(&screen);
	take_missing(&screen);
	ctx_head_warnings(&out->head, take_text, &screen.warnings);
	ctx_summary_next(summary, take_text, &screen.commands);
	if (screen.warnings.failed || screen.commands.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	screen.plan = ctx_summary_make_plan(&screen);
	put_title(&screen);
	put_numbers(&screen);
	put_selected(&screen);
	put_first_look(&screen);
	ctx_summary_put_shares(&screen);
	ctx_summary_put_strip(&screen);
	ctx_summary_put_regions(&screen);
	if (ctx_summary_is_waiting(summary))
		ctx_summary_put_waits(&screen);
	ctx_summary_put_functions(&screen);
	if (!ctx_summary_is_waiting(summary))
		ctx_summary_put_waits(&screen);
	ctx_summary_put_groups(&screen);
	put_hottest(&screen);
	put_warnings(&screen);
	put_commands(&screen);
	ctx_buf_deinit(&screen.line);
	ctx_arena_deinit(&arena);
}
