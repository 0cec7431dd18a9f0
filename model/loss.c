#include "model/loss.h"

#include <stdlib.h>

#define FIRST_GAP_NS 1000u /* between losses that are joined first */

bool ctx_loss_hides_lives(const struct ctx_loss *loss)
{
	return loss->located && (!loss->has_kinds || loss->kinds[CTX_LOSS_OTHERS] != 0);
}

bool ctx_loss_hides_states(const struct ctx_loss *loss)
{
	return ctx_loss_hides_lives(loss) || (loss->located && loss->kinds[CTX_LOSS_CHANGES] != 0);
}

bool ctx_loss_is_of_calls(const struct ctx_loss *loss)
{
	return loss->has_kinds && loss->kinds[CTX_LOSS_CALLS] != 0;
}

/* Whose ring, as a number: of a CPU, or of a thread. */
static int64_t ring_of(const struct ctx_loss *loss)
{
	return ctx_loss_is_of_calls(loss)
		       ? (INT64_C(1) << 32) + (loss->has_thread ? (int64_t)loss->thread + 1 : 0)
		       : loss->cpu;
}

static int by_place(const void *left, const void *right)
{
	const struct ctx_loss *a = left, *b = right;

	if (a->located != b->located)
		return a->located - b->located;
	if (ring_of(a) != ring_of(b))
		return ring_of(a) < ring_of(b) ? -1 : 1;
	return (a->time.begin_ns > b->time.begin_ns) - (a->time.begin_ns < b->time.begin_ns);
}

static int by_begin(const void *left, const void *right)
{
	const struct ctx_loss *a = left, *b = right;

	if (a->located != b->located)
		return a->located - b->located;
	if (a->time.begin_ns != b->time.begin_ns)
		return a->time.begin_ns < b->time.begin_ns ? -1 : 1;
	return (ring_of(a) > ring_of(b)) - (ring_of(a) < ring_of(b));
}

void ctx_loss_join(struct ctx_loss *loss, const struct ctx_loss *next)
{
	loss->count += next->count;
	loss->has_kinds = loss->has_kinds && next->has_kinds;
	for (int i = 0; i < CTX_LOSS_KIND_N; i++)
		loss->kinds[i] += next->kinds[i];
	if (next->time.end_ns > loss->time.end_ns)
		loss->time.end_ns = next->time.end_ns;
}

/* Joins those of one CPU that are at most `gap_ns` apart; they are in order of place. */
static size_t join_close(struct ctx_loss *losses, size_t n, uint64_t gap_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct ctx_loss *last = kept != 0 ? &losses[kept - 1] : NULL;

		if (last != NULL && last->located == losses[i].located &&
		    ring_of(last) == ring_of(&losses[i]) &&
		    (!last->located || losses[i].time.begin_ns <= last->time.end_ns ||
		     losses[i].time.begin_ns - last->time.end_ns <= gap_ns))
			ctx_loss_join(last, &losses[i]);
		else
			losses[kept++] = losses[i];
	}
	return kept;
}

static size_t make_few(struct ctx_loss *losses, size_t n)
{
	uint64_t gap_ns = FIRST_GAP_NS;

	qsort(losses, n, sizeof(*losses), by_place);
	for (; n > CTX_LOSSES_MAX && gap_ns < UINT64_MAX / 2; gap_ns *= 2)
		n = join_close(losses, n, gap_ns);
	return n;
}

size_t ctx_losses_tidy(struct ctx_loss *losses, size_t n)
{
	if (n == 0)
		return 0;
	if (n > CTX_LOSSES_MAX)
		n = make_few(losses, n);
	/* So many CPUs and threads. */
	for (size_t i = 0; i < n && n > CTX_LOSSES_MAX; i++) {
		losses[i].cpu = -1;
		losses[i].has_thread = false;
	}
	if (n > CTX_LOSSES_MAX)
		n = make_few(losses, n);
	qsort(losses, n, sizeof(*losses), by_begin);
	return n;
}
