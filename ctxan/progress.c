#include "ctxan/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIRST_NS UINT64_C(1000000000)
#define EVERY_NS UINT64_C(200000000)
#define BAR 30

struct ctx_progress ctx_progress_start(const char *what, bool quiet)
{
	return (struct ctx_progress){.what = what,
				     .enabled = !quiet && isatty(STDERR_FILENO),
				     .start_ns = ctx_clock_ns(CLOCK_MONOTONIC)};
}

void ctx_progress_update(void *context, uint64_t done, uint64_t total, uint64_t samples)
{
	struct ctx_progress *progress = context;
	uint64_t now = progress->enabled ? ctx_clock_ns(CLOCK_MONOTONIC) : 0;
	double share = total != 0 ? (double)done / (double)total : 0;
	double seconds;
	char bar[BAR + 1];
	int filled;

	if (!progress->enabled || now - progress->start_ns < FIRST_NS || now - progress->last_ns < EVERY_NS)
		return;
	progress->last_ns = now;
	progress->shown = true;
	share = share > 1 ? 1 : share;
	filled = (int)(share * BAR);
	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)filled);
	bar[BAR] = '\0';
	seconds = (double)(now - progress->start_ns) / 1e9;
	fprintf(stderr, "\r%s [%s] %3.0f %%  %.2f M samples/s  %.0f s left \033[K", progress->what, bar,
		share * 100, (double)samples / seconds / 1e6, share > 0 ? seconds / share - seconds : 0);
	fflush(stderr);
}

void ctx_progress_end(struct ctx_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}
