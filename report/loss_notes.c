#include "report/loss_notes.h"

#include "report/figures.h"

#include <inttypes.h>

#define PLACES_MAX 3u	      /* that a line names */
#define RINGS_MAX 4u	      /* that a place names */
#define FIRST_GAP_NS 1000000u /* between places that are joined first */

/* Losses that are close together. */
struct place {
	struct ctx_interval time;
	uint64_t count;
	int64_t rings[RINGS_MAX]; /* CPUs; of calls tids */
	unsigned n_rings;	  /* of more than RINGS_MAX, or an unknown one: RINGS_MAX + 1 */
};

bool ctx_loss_notes_of_run(const struct ctx_report_selection *selection)
{
	return selection->n_intervals == 0 ||
	       (selection->n_intervals == 1 &&
		ctx_interval_contains(selection->intervals[0], selection->profile->run));
}

bool ctx_loss_notes_touch(const struct ctx_report_selection *selection, const struct ctx_loss *loss)
{
	if (!loss->located)
		return true;
	for (size_t i = 0; i < selection->n_intervals; i++) {
		if (ctx_interval_overlaps(selection->intervals[i], loss->time))
			return true;
	}
	/* What was lost as the recording began or ended belongs to the whole run. */
	return ctx_loss_notes_of_run(selection);
}

/* Keeps them in order. */
static void insert_ring(struct place *place, int64_t ring)
{
	unsigned i = place->n_rings++;

	for (; i > 0 && place->rings[i - 1] > ring; i--)
		place->rings[i] = place->rings[i - 1];
	place->rings[i] = ring;
}

static void add_ring(struct place *place, int64_t ring)
{
	for (unsigned i = 0; i < place->n_rings && i < RINGS_MAX; i++) {
		if (place->rings[i] == ring)
			return;
	}
	if (ring < 0 || place->n_rings >= RINGS_MAX)
		place->n_rings = RINGS_MAX + 1;
	else
		insert_ring(place, ring);
}

/* -1: unknown. */
static int64_t ring_of(const struct ctx_profile *profile, const struct ctx_loss *loss)
{
	if (!ctx_loss_is_of_calls(loss))
		return loss->cpu;
	return loss->has_thread && loss->thread < profile->n_threads ? profile->threads[loss->thread].tid
								     : -1;
}

/* The places of what touches the selection, joined where they are at most `gap_ns` apart; returns how many there are. */
static size_t find_places(const struct ctx_report_selection *selection, bool calls, uint64_t gap_ns,
			  struct place places[PLACES_MAX])
{
	const struct ctx_profile_losses *losses = &selection->profile->losses;
	uint64_t end_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < losses->n_items; i++) {
		const struct ctx_loss *loss = &losses->items[i];

		if (!loss->located || ctx_loss_is_of_calls(loss) != calls ||
		    !ctx_loss_notes_touch(selection, loss))
			continue;
		if (n == 0 || (loss->time.begin_ns > end_ns && loss->time.begin_ns - end_ns > gap_ns)) {
			if (n < PLACES_MAX)
				places[n] = (struct place){.time = loss->time};
			n++;
		}
		if (end_ns < loss->time.end_ns)
			end_ns = loss->time.end_ns;
		if (n > PLACES_MAX)
			continue;
		places[n - 1].time.end_ns = end_ns;
		places[n - 1].count += loss->count;
		add_ring(&places[n - 1], ring_of(selection->profile, loss));
	}
	return n;
}

/* " on CPUs 0 and 1 between 312.000 and 340.000 ms", " in thread 812 between ..." */
static void put_place(const struct place *place, bool calls, struct ctx_buf *out)
{
	char begin[CTX_FIGURE_MAX], end[CTX_FIGURE_MAX];
	const char *one = calls ? " in thread " : " on CPU ", *several = calls ? " in threads " : " on CPUs ";

	for (unsigned i = 0; i < place->n_rings && place->n_rings <= RINGS_MAX; i++)
		ctx_buf_printf(out, "%s%" PRId64,
			       i == 0			 ? (place->n_rings == 1 ? one : several)
			       : i + 1 == place->n_rings ? " and "
							 : ", ",
			       place->rings[i]);
	ctx_figure_fixed(begin, place->time.begin_ns, 1000 * 1000, 3);
	ctx_figure_fixed(end, place->time.end_ns, 1000 * 1000, 3);
	ctx_buf_printf(out, " between %s and %s ms", begin, end);
}

struct sums {
	uint64_t all, unlocated;
	bool only_samples;
};

static struct sums add_up(const struct ctx_report_selection *selection, bool calls)
{
	const struct ctx_profile_losses *losses = &selection->profile->losses;
	struct sums sums = {.only_samples = losses->n_items != 0};

	/* A source that counts them without more. */
	if (losses->n_items == 0 && !calls)
		sums.all = sums.unlocated = losses->samples;
	for (size_t i = 0; i < losses->n_items; i++) {
		const struct ctx_loss *loss = &losses->items[i];

		if (ctx_loss_is_of_calls(loss) != calls || !ctx_loss_notes_touch(selection, loss))
			continue;
		sums.all += loss->count;
		sums.unlocated += loss->located ? 0 : loss->count;
		sums.only_samples =
			sums.only_samples && loss->has_kinds && loss->kinds[CTX_LOSS_SAMPLES] == loss->count;
	}
	return sums;
}

static void put(const struct ctx_report_selection *selection, bool calls, struct ctx_buf *out)
{
	struct place places[PLACES_MAX];
	struct sums sums = add_up(selection, calls);
	uint64_t gap_ns = FIRST_GAP_NS;
	size_t n;

	if (sums.all == 0)
		return;
	while ((n = find_places(selection, calls, gap_ns, places)) > PLACES_MAX)
		gap_ns = gap_ns < UINT64_MAX / 2 ? gap_ns * 2 : UINT64_MAX;
	if (calls)
		ctx_buf_printf(out, "%" PRIu64 " begin%s of calls %s lost", sums.all,
			       sums.all == 1 ? " or end" : "s and ends", sums.all == 1 ? "was" : "were");
	else
		ctx_buf_printf(out, "%" PRIu64 " %s%s lost", sums.all,
			       sums.only_samples ? "sample" : "record", sums.all == 1 ? " was" : "s were");
	for (size_t i = 0; i < n; i++) {
		if (n > 1 || sums.unlocated != 0)
			ctx_buf_printf(out, ", %" PRIu64, places[i].count);
		put_place(&places[i], calls, out);
	}
	if (sums.unlocated != 0 && n != 0)
		ctx_buf_printf(out, ", %" PRIu64 " at an unknown time", sums.unlocated);
	ctx_buf_put_text(out, calls ? ": the time there is <Lost-calls>" : ": the kernel's buffer was full");
}

void ctx_loss_notes_put(const struct ctx_report_selection *selection, struct ctx_buf *out)
{
	put(selection, false, out);
}

void ctx_loss_notes_put_calls(const struct ctx_report_selection *selection, struct ctx_buf *out)
{
	put(selection, true, out);
}

uint64_t ctx_loss_notes_count(const struct ctx_profile *profile, struct ctx_interval time)
{
	const struct ctx_profile_losses *losses = &profile->losses;
	double sum = 0;

	for (size_t i = 0; i < losses->n_items; i++) {
		const struct ctx_loss *loss = &losses->items[i];
		uint64_t begin_ns = loss->time.begin_ns, end_ns = loss->time.end_ns;

		if (!loss->located || loss->count == 0 || !ctx_interval_overlaps(loss->time, time))
			continue;
		begin_ns = begin_ns > time.begin_ns ? begin_ns : time.begin_ns;
		end_ns = end_ns < time.end_ns ? end_ns : time.end_ns;
		sum += (double)loss->count * (double)(end_ns - begin_ns) /
		       (double)(loss->time.end_ns - loss->time.begin_ns);
		if (sum < 1)
			sum = 1;
	}
	return (uint64_t)sum;
}
