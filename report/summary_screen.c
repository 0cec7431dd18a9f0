#include "report/summary_screen.h"

#include "report/function_names.h"
#include "report/names.h"
#include "report/part_cells.h"

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

void ctx_summary_put_of(struct ctx_summary_screen *screen)
{
	const struct ctx_metric_info *metric = &screen->summary->metric;

	ctx_buf_put_text(&screen->line, " of ");
	if (ctx_metric_is_time(metric) && ctx_metric_shows_running(metric->kind, metric->name))
		ctx_buf_put_text(&screen->line, "CPU time");
	else
		ctx_name_put_text(&screen->line, metric->name, screen->out->options->ascii);
}

const char *ctx_summary_name(struct ctx_summary_screen *screen, uint32_t function)
{
	const struct ctx_profile *profile = &screen->summary->fold.profile;

	if (function >= profile->n_functions)
		return ctx_function_cell(profile, function).name;
	return ctx_out_format(screen->out, "%.*s",
			      (int)ctx_function_plain_length(&profile->functions[function]),
			      profile->functions[function].name);
}
