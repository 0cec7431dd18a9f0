#include "report/summary_omp_text.h"

#include "model/omp.h"
#include "report/names.h"

#include <string.h>

#define LEAST_PLACE 12u /* columns of a construct */

/* Appends "First look: OpenMP waits, 46.5 % of team time; most: implicit barrier in f:10, 41.2 %". */
static void put_omp_waits(struct ctx_summary_screen *screen, bool whole, struct ctx_buf *line)
{
	const struct ctx_summary_omp *omp = &screen->summary->waiting.omp;
	uint64_t teams_ns = omp->work_ns + omp->wait_ns;
	struct ctx_buf place = {0}, safe = {0}, share = {0};
	bool ascii = screen->out->options->ascii;
	size_t used;

	ctx_buf_put_text(line, "First look: OpenMP waits, ");
	ctx_summary_put_percent(line, omp->wait_ns, teams_ns);
	ctx_buf_put_text(line, whole ? " of team time; most: " : "; most: ");
	ctx_summary_omp_put_state(screen->summary->profile, omp->state, line);
	ctx_buf_put_text(line, " in ");
	ctx_buf_put_text(&share, ", ");
	ctx_summary_put_percent(&share, omp->most_ns, teams_ns);
	used = line->n + share.n;
	ctx_summary_omp_put_construct(screen->summary->profile, omp->construct, &place);
	ctx_buf_put_u8(&place, '\0');
	if (!place.failed)
		ctx_name_put_text(&safe, (const char *)place.bytes, ascii);
	if (place.failed || safe.failed || share.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		ctx_text_shorten(line, (const char *)safe.bytes, safe.n,
				 whole				      ? SIZE_MAX
				 : used + LEAST_PLACE < screen->width ? screen->width - used
								      : LEAST_PLACE,
				 ascii);
	ctx_buf_put(line, share.bytes, share.n);
	ctx_buf_deinit(&place);
	ctx_buf_deinit(&safe);
	ctx_buf_deinit(&share);
}

void ctx_summary_put_first_omp(struct ctx_summary_screen *screen)
{
	put_omp_waits(screen, true, &screen->line);
	if (ctx_text_width((const char *)screen->line.bytes, screen->line.n) > screen->width) {
		ctx_buf_clear(&screen->line);
		put_omp_waits(screen, false, &screen->line);
	}
	ctx_summary_end_line(screen);
}

/* Not what the runtime works itself. */
static bool is_wait(const struct ctx_function_info *function)
{
	static const enum ctx_omp_state works[] = {CTX_OMP_REDUCTION, CTX_OMP_OVERHEAD,
						   CTX_OMP_TASK_DISPATCH};

	if (function->code_kind != CTX_CODE_OMP_STATE && function->code_kind != CTX_CODE_OMP_SPAN)
		return false;
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++) {
		if (strcmp(function->name, ctx_omp_state_function(works[i])) == 0)
			return false;
	}
	return true;
}

uint64_t ctx_summary_omp_spun(const struct ctx_summary *summary)
{
	const struct ctx_hot_functions *functions = &summary->functions;
	uint64_t spun = 0;

	if (!ctx_metric_is_time(&summary->metric) ||
	    !ctx_metric_shows_running(summary->metric.kind, summary->metric.name))
		return 0;
	for (size_t i = 0; i < functions->n; i++) {
		uint32_t function = functions->rows[i].function;

		if (function < summary->profile->n_functions &&
		    is_wait(&summary->profile->functions[function]))
			spun += functions->rows[i].with_callees;
	}
	return spun;
}
