#include "report/summary_plan.h"

#include "base/mem.h"
#include "report/summary_time.h"

#define LINES 23u
#define SHARES 5u
#define WARNINGS 2u
#define COMMANDS 3u
#define LITTLE_CPU 10u /* below one part of so much of the threads' time functions matter less than waits */

static size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

/* Rows of a table: what is worth showing, up to --limit. */
static size_t limited(const struct ctx_summary *summary, size_t n)
{
	return summary->options->limit != 0 ? at_most(n, summary->options->limit) : n;
}

static size_t worth_functions(const struct ctx_summary *summary)
{
	const struct ctx_hot_functions *functions = &summary->functions;
	size_t n = 0;

	while (n < functions->n && n < CTX_SUMMARY_ROWS && functions->rows[n].with_callees != 0 &&
	       functions->rows[n].with_callees >= functions->weight / CTX_SUMMARY_SMALL)
		n++;
	return n == 0 && functions->n != 0 && functions->rows[0].with_callees != 0 ? at_most(functions->n, 3)
										   : n;
}

static size_t worth_waits(const struct ctx_summary *summary)
{
	size_t n = 0, most = at_most(summary->waits.n, CTX_SUMMARY_ROWS);

	while (n < most && summary->waits.rows[summary->wait_order[n].index].wait_ns >=
				   summary->thread_ns / CTX_SUMMARY_SMALL)
		n++;
	return n;
}

/* Regions of OpenMP, if teams are a large part of the run. */
static size_t worth_regions(const struct ctx_summary *summary)
{
	const struct ctx_summary_omp *omp = &summary->waiting.omp;
	size_t n = 0;

	if (!ctx_summary_omp_is_large(omp, summary->thread_ns))
		return 0;
	while (n < omp->n_regions && omp->regions[n].work_ns + omp->regions[n].wait_ns >=
					     (omp->work_ns + omp->wait_ns) / CTX_SUMMARY_SMALL)
		n++;
	return n;
}

/* With its heading. */
static size_t table_lines(size_t rows)
{
	return rows != 0 ? rows + 1 : 0;
}

/* Lines of the plan, without blank ones; `*ret_blanks` is how many those would be. */
static size_t plan_lines(const struct ctx_summary_screen *screen, const struct ctx_summary_plan *plan,
			 size_t *ret_blanks)
{
	bool whole = ctx_head_is_whole_run(&screen->summary->source->selection);
	bool strip = screen->summary->n_slices != 0;

	*ret_blanks = 2u + (plan->shares != 0) + strip + (plan->functions != 0) + (plan->waits != 0) +
		      (plan->regions != 0) + (plan->groups != 0);
	return 4u + ctx_summary_has_ender(screen) + !whole + strip + plan->letters + plan->phases +
	       table_lines(plan->shares) + table_lines(plan->functions) + table_lines(plan->waits) +
	       table_lines(plan->regions) + table_lines(plan->groups) + plan->warnings + plan->commands;
}

/* Takes rows away where they are least missed, until everything fits. */
static void make_fit(const struct ctx_summary_screen *screen, struct ctx_summary_plan *plan)
{
	bool waits_first = ctx_summary_is_waiting(screen->summary);
	size_t *first = waits_first ? &plan->waits : &plan->functions;
	size_t *second = waits_first ? &plan->functions : &plan->waits;
	const struct {
		size_t *rows, least;
	} steps[] = {
		{second, 3},	      {&plan->shares, 4},   {&plan->groups, 3}, {first, 4},
		{&plan->commands, 2}, {&plan->groups, 2},   {second, 2},	{first, 2},
		{&plan->regions, 2},  {&plan->warnings, 1}, {&plan->groups, 0},
	};
	size_t blanks, i = 0;

	while (i < CTX_COUNT_OF(steps) && plan_lines(screen, plan, &blanks) > LINES) {
		if (*steps[i].rows > steps[i].least)
			(*steps[i].rows)--;
		else
			i++;
	}
}

struct ctx_summary_plan ctx_summary_make_plan(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	bool little = ctx_summary_is_waiting(summary) && summary->cpu_ns < summary->thread_ns / LITTLE_CPU;
	size_t blanks;
	struct ctx_summary_plan plan = {
		.shares = at_most(summary->n_shares, SHARES),
		.functions = limited(summary, worth_functions(summary)),
		.regions = limited(summary, worth_regions(summary)),
		.waits = limited(summary, worth_waits(summary)),
		.groups = limited(summary, at_most(summary->n_groups, 4)),
		.warnings = at_most(screen->warnings.n, WARNINGS),
		.commands = at_most(screen->commands.n, COMMANDS),
	};

	/* The table of regions has these waits. */
	if (plan.regions != 0 && ctx_summary_omp_is_first(&summary->waiting.omp, summary->thread_ns))
		plan.waits = 0;
	if (little)
		plan.functions = at_most(plan.functions, 2);
	screen->plan = plan;
	plan.phases = summary->phases != NULL && summary->n_slices != 0;
	plan.letters = !little && ctx_summary_has_letters(screen);
	make_fit(screen, &plan);
	plan.blanks = plan_lines(screen, &plan, &blanks) + blanks <= LINES;
	return plan;
}
