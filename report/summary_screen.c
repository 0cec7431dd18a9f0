#include "report/summary_screen.h"

#include "report/function_names.h"
#include "report/names.h"
#include "report/part_cells.h"

#define NARROWEST 8u	 /* columns of a name */
#define LEAST_CALLEE 15u /* with the arrow before it */

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

	return ctx_summary_is_waiting(summary) && wait->waker != NULL && *wait->waker != '<' &&
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

void ctx_summary_put_name(struct ctx_summary_screen *screen, uint32_t function, size_t room,
			  struct ctx_buf *text)
{
	struct ctx_buf safe = {0};

	ctx_name_put_text(&safe, ctx_summary_name(screen, function), screen->out->options->ascii);
	if (safe.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		ctx_text_shorten(text, (const char *)safe.bytes, safe.n, room < NARROWEST ? NARROWEST : room,
				 screen->out->options->ascii);
	ctx_buf_deinit(&safe);
}

void ctx_summary_put_call(struct ctx_summary_screen *screen, const struct ctx_hot_function *row, size_t room,
			  struct ctx_buf *text)
{
	size_t begin = text->n, used;

	/* The function of the program matters more. */
	ctx_summary_put_name(screen, row->function, room > LEAST_CALLEE ? room - LEAST_CALLEE : 0, text);
	ctx_buf_put_text(text, screen->out->options->ascii ? " > " : " › ");
	if (text->failed)
		return;
	used = ctx_text_width((const char *)text->bytes + begin, text->n - begin);
	ctx_summary_put_name(screen, row->callee, room > used ? room - used : 0, text);
}
