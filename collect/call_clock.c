#include "collect/call_clock.h"

#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define TRIES 5u
#define FIRST_NS 1000000u

#if defined(__x86_64__)
static bool kernel_uses_tsc(void)
{
	int fd = open(SOURCE, O_RDONLY | O_CLOEXEC);
	char name[8] = "";
	bool is_tsc = fd >= 0 && read(fd, name, sizeof(name) - 1) >= 4 && memcmp(name, "tsc\n", 4) == 0;

	if (fd >= 0)
		close(fd);
	return is_tsc;
}

static bool is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
}

static uint64_t read_ticks(void)
{
	return __rdtsc();
}
#else
static bool kernel_uses_tsc(void)
{
	return false;
}

static bool is_invariant(void)
{
	return false;
}

static uint64_t read_ticks(void)
{
	return ctx_clock_ns(CLOCK_MONOTONIC);
}
#endif

/* The time between two looks at the ticks; of some tries the one in which least passed. */
static struct ctx_call_pair read_both(const struct ctx_call_clock *clock)
{
	struct ctx_call_pair best = {0};
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = read_ticks(), ns = ctx_clock_ns(CLOCK_MONOTONIC), after = read_ticks();

		if (after - before < least) {
			least = after - before;
			best = (struct ctx_call_pair){before + (after - before) / 2, ns};
		}
	}
	if (!clock->has_tsc)
		best.ticks = best.ns;
	return best;
}

void ctx_call_clock_init(struct ctx_call_clock *clock)
{
	const struct timespec pause = {.tv_nsec = FIRST_NS};

	*clock = (struct ctx_call_clock){.has_tsc = kernel_uses_tsc() && is_invariant()};
	clock->pairs[clock->n++] = read_both(clock);
	(void)nanosleep(&pause, NULL);
	clock->pairs[clock->n++] = read_both(clock);
}

void ctx_call_clock_add(struct ctx_call_clock *clock, struct ctx_call_pair pair)
{
	struct ctx_call_pair *last = &clock->pairs[clock->n - 1];

	if (pair.ticks <= last->ticks || pair.ns <= last->ns)
		return;
	if (clock->n >= 2 && last->ns - last[-1].ns < CTX_CALL_CLOCK_STEP_NS) {
		*last = pair;
		return;
	}
	if (clock->n == CTX_CALL_CLOCK_PAIRS) {
		clock->n /= 2;
		memmove(clock->pairs, clock->pairs + CTX_CALL_CLOCK_PAIRS - clock->n,
			clock->n * sizeof(*clock->pairs));
		clock->at = 0;
	}
	clock->pairs[clock->n++] = pair;
}

void ctx_call_clock_look(struct ctx_call_clock *clock)
{
	ctx_call_clock_add(clock, read_both(clock));
}

/* n ticks of which `ticks` take `ns`. */
static uint64_t scale(uint64_t n, uint64_t ns, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)n * ns / ticks);
}

uint64_t ctx_call_clock_ns(struct ctx_call_clock *clock, uint64_t ticks)
{
	const struct ctx_call_pair *pair;
	uint64_t span_ns, span_ticks;

	if (!clock->has_tsc)
		return ticks;
	while (clock->at + 2 < clock->n && clock->pairs[clock->at + 1].ticks <= ticks)
		clock->at++;
	while (clock->at != 0 && clock->pairs[clock->at].ticks > ticks)
		clock->at--;
	pair = &clock->pairs[clock->at];
	span_ns = pair[1].ns - pair[0].ns;
	span_ticks = pair[1].ticks - pair[0].ticks;
	if (ticks >= pair->ticks)
		return pair->ns + scale(ticks - pair->ticks, span_ns, span_ticks);
	span_ns = scale(pair->ticks - ticks, span_ns, span_ticks);
	return span_ns < pair->ns ? pair->ns - span_ns : 0;
}

uint64_t ctx_call_clock_ticks(const struct ctx_call_clock *clock, uint64_t ns)
{
	const struct ctx_call_pair *first = &clock->pairs[0], *last = &clock->pairs[clock->n - 1];

	return clock->has_tsc ? scale(ns, last->ticks - first->ticks, last->ns - first->ns) : ns;
}
