#include "report/summary_screen.h"

#include "report/function_names.h"
#include "report/names.h"
#include "report/part_cells.h"

#include <string.h>

#define NARROWEST 8u	 /* columns of a name */
#define MOST_CPUS 8192u	 /* of a machine, where they are not known */
#define LEAST_CALLEE 12u /* columns */

void ctx_summary_end_line(struct ctx_summary_screen *screen)
{
	struct ctx_buf *line = &screen->line;

	while (line->n > 0 && line->bytes[line->n - 1] == ' ')
		line->n--;
	ctx_buf_put_u8(line, '\0');
	if (line->failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		ctx_out_line(screen->out, (const char *)line->bytes);
	ctx_buf_clear(line);
}

void ctx_summary_put_blank(struct ctx_summary_screen *screen)
{
	if (screen->plan.blanks)
		ctx_out_line(screen->out, "");
}

void ctx_summary_put_time(struct ctx_buf *line, uint64_t ns)
{
	char text[CTX_FIGURE_MAX];

	if (ns >= 100 * 1000 * 1000) {
		ctx_figure_fixed(text, ns, UINT64_C(1000) * 1000 * 1000, 3);
		ctx_buf_printf(line, "%s s", text);
	} else {
		ctx_figure_fixed(text, ns, 1000 * 1000, 3);
		ctx_buf_printf(line, "%s ms", text);
	}
}

void ctx_summary_put_percent(struct ctx_buf *line, uint64_t part, uint64_t whole)
{
	char text[CTX_FIGURE_MAX];

	ctx_figure_percent(text, part, whole, 1);
	ctx_buf_printf(line, "%s %%", text);
}

void ctx_summary_put_waker(struct ctx_summary_screen *screen, const char *waker, struct ctx_buf *text)
{
	bool ascii = screen->out->options->ascii;
	struct ctx_buf safe = {0};

	ctx_name_put_text(&safe, waker, ascii);
	if (safe.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		ctx_text_cut(text, (const char *)safe.bytes, safe.n, CTX_SUMMARY_WAKER, ascii);
	ctx_buf_deinit(&safe);
}

bool ctx_summary_has_ender(const struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	const struct ctx_wait_row *wait = ctx_summary_first_wait(summary);

	if (ctx_summary_omp_is_first(&summary->waiting.omp, summary->thread_ns))
		return false;
	if (!ctx_summary_is_waiting(summary))
		return ctx_summary_is_waited_for(summary) && ctx_summary_short_processes(summary) == NULL;
	return wait->waker != NULL && *wait->waker != '<' &&
	       (wait->waker_function != CTX_NONE || summary->during.function != CTX_NONE);
}

void ctx_summary_put_of(struct ctx_summary_screen *screen, struct ctx_buf *text)
{
	const struct ctx_metric_info *metric = &screen->summary->metric;

	ctx_buf_put_text(text, " of ");
	if (ctx_metric_is_time(metric) && ctx_metric_shows_running(metric->kind, metric->name))
		ctx_buf_put_text(text, "CPU time");
	else
		ctx_name_put_text(text, metric->name, screen->out->options->ascii);
}

/* Without " [constprop.0]", which says how it was compiled. */
static size_t without_part(const char *name, size_t n)
{
	size_t at = n;

	if (n == 0 || name[n - 1] != ']')
		return n;
	while (at > 0 && name[at - 1] != '[')
		at--;
	return at >= 3 && name[at - 2] == ' ' ? at - 2 : n;
}

const char *ctx_summary_name(struct ctx_summary_screen *screen, uint32_t function)
{
	const struct ctx_profile *profile = &screen->summary->fold.profile;
	const char *name;

	if (function >= profile->n_functions)
		return ctx_function_cell(profile, function).name;
	name = profile->functions[function].name;
	return ctx_out_format(
		screen->out, "%.*s",
		(int)without_part(name, ctx_function_plain_length(&profile->functions[function])), name);
}

static const char *left_out(bool ascii)
{
	return ascii ? "(..)" : "(…)";
}

/* Whether it ends with parameters that were left out. */
static bool has_no_parameters(const struct ctx_buf *name, const char *gap)
{
	size_t n = strlen(gap);

	return name->n > n && memcmp(name->bytes + name->n - n, gap, n) == 0;
}

void ctx_summary_put_name(struct ctx_summary_screen *screen, uint32_t function, size_t room,
			  struct ctx_buf *text)
{
	bool ascii = screen->out->options->ascii;
	const char *gap = left_out(ascii);
	struct ctx_buf safe = {0}, name = {0};

	room = room < NARROWEST ? NARROWEST : room;
	ctx_name_put_text(&safe, ctx_summary_name(screen, function), ascii);
	if (!safe.failed)
		ctx_text_shorten(&name, (const char *)safe.bytes, safe.n,
				 room + ctx_text_width(gap, strlen(gap)), ascii);
	/* That there are parameters is not worth its columns. */
	if (!name.failed && has_no_parameters(&name, gap)) {
		ctx_buf_put(text, name.bytes, name.n - strlen(gap));
	} else if (!safe.failed) {
		ctx_text_shorten(text, (const char *)safe.bytes, safe.n, room, ascii);
	}
	if (safe.failed || name.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	ctx_buf_deinit(&safe);
	ctx_buf_deinit(&name);
}

bool ctx_summary_has_load(const struct ctx_summary *summary)
{
	uint64_t cpus = summary->cpus != 0 ? summary->cpus : MOST_CPUS;

	return summary->has_cpu && summary->cpu_ns / cpus / 2 <= summary->elapsed_ns;
}

/* Columns of a name without its scopes and parameters, which is not cut. */
static size_t least_width(struct ctx_summary_screen *screen, uint32_t function)
{
	bool ascii = screen->out->options->ascii;
	struct ctx_buf safe = {0}, least = {0};
	size_t width = 0;

	ctx_name_put_text(&safe, ctx_summary_name(screen, function), ascii);
	if (!safe.failed)
		ctx_text_collapse(&least, (const char *)safe.bytes, safe.n, CTX_TEXT_NO_SCOPES, ascii);
	if (safe.failed || least.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		width = ctx_text_width((const char *)least.bytes, least.n);
	if (width > 3 && has_no_parameters(&least, left_out(ascii)))
		width -= ctx_text_width(left_out(ascii), strlen(left_out(ascii)));
	ctx_buf_deinit(&safe);
	ctx_buf_deinit(&least);
	return width;
}

void ctx_summary_put_program(struct ctx_summary_screen *screen, const struct ctx_hot_function *row,
			     struct ctx_buf *text)
{
	const struct ctx_summary *summary = screen->summary;
	const char *object = ctx_function_cell(&summary->fold.profile, row->function).object, *first, *base;
	size_t n;

	if (!summary->groups_are_commands || summary->n_groups <= 1 || object == NULL)
		return;
	first = ctx_command_program(ctx_summary_command(summary), &n);
	base = ctx_name_of_path(object);
	if (strlen(base) != n || memcmp(base, first, n) != 0)
		ctx_name_put_object(text, object, screen->out->options->ascii);
}

/* The function of the program matters more: its callee is left out rather than cut to nothing. */
void ctx_summary_put_call(struct ctx_summary_screen *screen, const struct ctx_hot_function *row, size_t room,
			  struct ctx_buf *text)
{
	size_t least = least_width(screen, row->function), callee = least_width(screen, row->callee);
	size_t begin = text->n, used;
	struct ctx_buf program = {0};

	ctx_summary_put_program(screen, row, &program);
	used = ctx_text_width((const char *)program.bytes, program.n);
	if (room < least + used + 3 + (callee < LEAST_CALLEE ? callee : LEAST_CALLEE)) {
		ctx_summary_put_name(screen, row->function, room, text);
		ctx_buf_deinit(&program);
		return;
	}
	ctx_summary_put_name(screen, row->function,
			     least + used + callee + 3 < room ? room - used - callee - 3 : least, text);
	ctx_buf_put(text, program.bytes, program.n);
	if (program.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	ctx_buf_deinit(&program);
	ctx_buf_put_text(text, screen->out->options->ascii ? " > " : " › ");
	if (text->failed)
		return;
	used = ctx_text_width((const char *)text->bytes + begin, text->n - begin);
	ctx_summary_put_name(screen, row->callee, room > used ? room - used : 0, text);
}
