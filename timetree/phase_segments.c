#include "timetree/phase_segments.h"

#include "base/mem.h"
#include "timetree/phase_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SEGMENTS 64u /* of which the description is made while merging */
#define ROUNDS 8u	  /* of moving borders */
#define LESS_NOISE 0.8	  /* of the dispersion of the scale before */

/* The segments while they are searched: a border is where one begins. */
struct search {
	struct ctx_phase_code code;
	size_t *begins; /* n of them, ascending, and the end of the last; room for every bin */
	size_t n;
	double *left, *right; /* scratch: counts by class */
};

/* ---- from single bins to the whole run ---- */

/* While merging: the segment that begins at a bin, in a list of them. */
struct run {
	size_t end, before; /* bins: where the next one begins, and the one before it */
	double cost;	    /* of merging it with the next one */
	bool dropped;
};

/* By how many bits one description of both is longer than two, their parameters being known: n * JSD. */
static double divergence_of(struct search *search, size_t begin, size_t middle, size_t end)
{
	double n_left = 0, n_right = 0, bits = 0;

	ctx_phase_code_counts(&search->code, begin, middle, search->left);
	ctx_phase_code_counts(&search->code, middle, end, search->right);
	for (size_t c = 0; c < search->code.n_classes; c++) {
		double a = search->left[c], b = search->right[c];

		bits += a > 0 && b > 0 ? a * log2(a) + b * log2(b) - (a + b) * log2(a + b) : 0;
		n_left += a;
		n_right += b;
	}
	if (n_left > 0 && n_right > 0)
		bits += (n_left + n_right) * log2(n_left + n_right) - n_left * log2(n_left) -
			n_right * log2(n_right);
	return bits > 0 ? bits : 0;
}

/* Ties: the shortest pair, so that equal neighbours become pairs like the nodes of the time tree. */
static bool is_better(const struct run *runs, size_t a, size_t b)
{
	size_t a_end = runs[runs[a].end].end, b_end = runs[runs[b].end].end;

	if (runs[a].cost != runs[b].cost)
		return runs[a].cost < runs[b].cost;
	return a_end - a < b_end - b;
}

static size_t cheapest_of(const struct run *runs, size_t n_bins)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; runs[i].end < n_bins; i = runs[i].end) {
		if (best == SIZE_MAX || is_better(runs, i, best))
			best = i;
	}
	return best;
}

static void cost_of(struct search *search, struct run *runs, size_t begin)
{
	size_t middle = runs[begin].end;

	if (middle < search->code.n_bins)
		runs[begin].cost = divergence_of(search, begin, middle, runs[middle].end);
}

static double bits_of_all(const struct search *search)
{
	double bits = 0;

	for (size_t i = 0; i < search->n; i++)
		bits += ctx_phase_code_segment(&search->code, search->begins[i], search->begins[i + 1]);
	return bits;
}

static void take_begins(struct search *search, const struct run *runs)
{
	search->n = 0;
	for (size_t i = 0; i < search->code.n_bins; i = runs[i].end)
		search->begins[search->n++] = i;
	search->begins[search->n] = search->code.n_bins;
}

/*
 * Merges until one is left, and keeps in search->begins the division whose description is the shortest.
 * `runs` has an item for each bin and one more.
 */
static void merge(struct search *search, struct run *runs, size_t *best)
{
	size_t n_bins = search->code.n_bins, n_best = 1, n = n_bins;
	double best_bits = INFINITY;

	for (size_t i = 0; i <= n_bins; i++)
		runs[i] = (struct run){.end = i + 1, .before = i - 1};
	for (size_t i = 0; i < n_bins; i++)
		cost_of(search, runs, i);
	for (;; n--) {
		size_t at;

		if (n <= MOST_SEGMENTS) {
			double bits;

			take_begins(search, runs);
			bits = bits_of_all(search);
			if (bits <= best_bits) {
				best_bits = bits;
				n_best = search->n;
				memcpy(best, search->begins, n_best * sizeof(*best));
			}
		}
		if (n == 1)
			break;
		at = cheapest_of(runs, n_bins);
		runs[at].end = runs[runs[at].end].end;
		if (runs[at].end < n_bins)
			runs[runs[at].end].before = at;
		cost_of(search, runs, at);
		if (at != 0)
			cost_of(search, runs, runs[at].before);
	}
	memcpy(search->begins, best, n_best * sizeof(*best));
	search->begins[n_best] = n_bins;
	search->n = n_best;
}

/* ---- borders one by one ---- */

static double pair_bits(const struct search *search, size_t begin, size_t middle, size_t end)
{
	return ctx_phase_code_segment(&search->code, begin, middle) +
	       ctx_phase_code_segment(&search->code, middle, end);
}

/* The place between two borders at which a border makes the shortest description. */
static size_t best_place(const struct search *search, size_t begin, size_t end, double *ret_bits)
{
	size_t best = begin + 1;

	*ret_bits = INFINITY;
	for (size_t i = begin + 1; i < end; i++) {
		double bits = pair_bits(search, begin, i, end);

		if (bits < *ret_bits) {
			*ret_bits = bits;
			best = i;
		}
	}
	return best;
}

static void drop(struct search *search, size_t border)
{
	memmove(search->begins + border, search->begins + border + 1,
		(search->n - border) * sizeof(*search->begins));
	search->n--;
}

/* Moves each border to its best place. */
static bool move_borders(struct search *search)
{
	bool changed = false;

	for (size_t i = 1; i < search->n; i++) {
		size_t begin = search->begins[i - 1], end = search->begins[i + 1];
		double bits, now = pair_bits(search, begin, search->begins[i], end);
		size_t place = best_place(search, begin, end, &bits);

		if (bits < now - 1e-9) {
			search->begins[i] = place;
			changed = true;
		}
	}
	return changed;
}

/* Takes out the borders without which the description is shorter. */
static bool drop_borders(struct search *search)
{
	bool changed = false;

	for (size_t i = 1; i < search->n;) {
		size_t begin = search->begins[i - 1], end = search->begins[i + 1];

		if (ctx_phase_code_segment(&search->code, begin, end) <=
		    pair_bits(search, begin, search->begins[i], end)) {
			drop(search, i);
			changed = true;
		} else {
			i++;
		}
	}
	return changed;
}

/* Puts a border into each segment that it makes shorter. */
static bool put_borders(struct search *search)
{
	bool changed = false;

	for (size_t i = 0; i < search->n && search->n < MOST_SEGMENTS; i++) {
		size_t begin = search->begins[i], end = search->begins[i + 1], place;
		double bits;

		if (end - begin < 2)
			continue;
		place = best_place(search, begin, end, &bits);
		if (bits >= ctx_phase_code_segment(&search->code, begin, end) - 1e-9)
			continue;
		memmove(search->begins + i + 2, search->begins + i + 1,
			(search->n - i) * sizeof(*search->begins));
		search->begins[i + 1] = place;
		search->n++;
		changed = true;
	}
	return changed;
}

/*
 * A block in which a border lies is like neither side. It is no phase: it goes to one of its neighbours, that
 * with which the description is shorter.
 */
static void drop_single_blocks(struct search *search)
{
	for (size_t i = 0; i < search->n && search->n > 1;) {
		size_t begin = search->begins[i], end = search->begins[i + 1];
		double left = INFINITY, right = INFINITY;

		if (end - begin > 1) {
			i++;
			continue;
		}
		if (i > 0)
			left = ctx_phase_code_segment(&search->code, search->begins[i - 1], end) -
			       ctx_phase_code_segment(&search->code, search->begins[i - 1], begin);
		if (i + 1 < search->n)
			right = ctx_phase_code_segment(&search->code, begin, search->begins[i + 2]) -
				ctx_phase_code_segment(&search->code, end, search->begins[i + 2]);
		drop(search, left <= right ? i : i + 1);
	}
}

static void refine(struct search *search)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		bool changed = put_borders(search);

		changed |= move_borders(search);
		changed |= drop_borders(search);
		if (!changed)
			return;
	}
}

/* ---- letters ---- */

struct letters {
	double *counts; /* by letter and class */
	uint32_t *of;	/* by segment */
	uint32_t n;
};

static double *counts_of(const struct search *search, const struct letters *letters, uint32_t letter)
{
	return letters->counts + letter * search->code.n_classes;
}

/* Whether one description of both is shorter than two, or they hardly differ. */
static bool is_same(struct search *search, const double *a, const double *b, double *ret_divergence)
{
	const struct ctx_phase_code *code = &search->code;

	*ret_divergence = ctx_phase_divergence(a, b, code->n_classes, code->dispersion);
	if (*ret_divergence < CTX_PHASE_LEAST_DIVERGENCE)
		return true;
	for (size_t c = 0; c < code->n_classes; c++)
		search->left[c] = a[c] + b[c];
	return ctx_phase_code_bits(code, search->left) <=
	       ctx_phase_code_bits(code, a) + ctx_phase_code_bits(code, b);
}

static void take_letter(struct search *search, struct letters *letters, size_t segment)
{
	double *counts = search->right, *all, nearest = INFINITY;
	uint32_t letter = letters->n;

	ctx_phase_code_counts(&search->code, search->begins[segment], search->begins[segment + 1], counts);
	for (uint32_t i = 0; i < letters->n; i++) {
		double divergence;

		if (is_same(search, counts_of(search, letters, i), counts, &divergence) &&
		    divergence < nearest) {
			nearest = divergence;
			letter = i;
		}
	}
	letters->n += letter == letters->n;
	letters->of[segment] = letter;
	all = counts_of(search, letters, letter);
	for (size_t c = 0; c < search->code.n_classes; c++)
		all[c] += counts[c];
}

/* Neighbours with the same letter are one segment: then letters are given again. */
static void take_letters(struct search *search, struct letters *letters)
{
	bool changed = true;

	while (changed) {
		changed = false;
		letters->n = 0;
		memset(letters->counts, 0, search->n * search->code.n_classes * sizeof(*letters->counts));
		for (size_t i = 0; i < search->n; i++)
			take_letter(search, letters, i);
		for (size_t i = search->n; i-- > 1;) {
			if (letters->of[i] == letters->of[i - 1]) {
				drop(search, i);
				changed = true;
			}
		}
	}
}

static enum ctx_status take_similarity(const struct search *search, const struct letters *letters,
				       struct ctx_phase_segments *ret, struct ctx_err *err)
{
	uint32_t n = letters->n;

	ret->n_letters = n;
	ret->similarity = ctx_calloc((size_t)n * n, sizeof(*ret->similarity));
	if (ret->similarity == NULL)
		return ctx_err_nomem(err);
	for (uint32_t a = 0; a < n; a++) {
		ret->similarity[a * n + a] = 1;
		for (uint32_t b = a + 1; b < n; b++) {
			double divergence = ctx_phase_divergence(
				counts_of(search, letters, a), counts_of(search, letters, b),
				search->code.n_classes, search->code.dispersion);

			ret->similarity[a * n + b] = ret->similarity[b * n + a] = 1 - divergence;
		}
	}
	return CTX_OK;
}

static enum ctx_status take_segments(struct search *search, struct ctx_phase_segments *ret,
				     struct ctx_err *err)
{
	uint32_t *of CTX_AUTO_FREE = ctx_calloc(search->n, sizeof(*of));
	double *counts CTX_AUTO_FREE = ctx_calloc(search->n, search->code.n_classes * sizeof(*counts));
	struct letters letters = {.counts = counts, .of = of};

	if (of == NULL || counts == NULL)
		return ctx_err_nomem(err);
	take_letters(search, &letters);
	ret->items = ctx_calloc(search->n, sizeof(*ret->items));
	if (ret->items == NULL)
		return ctx_err_nomem(err);
	ret->n = search->n;
	for (size_t i = 0; i < search->n; i++)
		ret->items[i] = (struct ctx_phase_segment){search->begins[i], search->begins[i + 1], of[i]};
	ret->bits = bits_of_all(search);
	return take_similarity(search, &letters, ret, err);
}

/* ---- scales ---- */

/* Counts of blocks of so many bins each; bins that are left over at the end are in the last one. */
static void join_bins(const struct ctx_phase_counts *counts, size_t block, double *cells,
		      struct ctx_phase_counts *ret)
{
	size_t n = counts->n_classes, n_blocks = counts->n_bins / block;

	for (size_t i = 0; i < n_blocks * n; i++)
		cells[i] = 0;
	for (size_t i = 0; i < counts->n_bins; i++) {
		size_t at = i / block < n_blocks ? i / block : n_blocks - 1;

		for (size_t c = 0; c < n; c++)
			cells[at * n + c] += counts->cells[i * n + c];
	}
	*ret = (struct ctx_phase_counts){cells, n_blocks, n};
}

/* Room for the search at any scale. */
struct room {
	double *cells, *scratch;
	size_t *begins, *best, *kept;
	struct run *runs;
};

static void room_deinit(struct room *room)
{
	free(room->cells);
	free(room->scratch);
	free(room->begins);
	free(room->best);
	free(room->kept);
	free(room->runs);
}

static enum ctx_status room_init(struct room *room, const struct ctx_phase_counts *counts,
				 struct ctx_err *err)
{
	size_t n = counts->n_bins;

	*room = (struct room){
		.cells = ctx_calloc(n, counts->n_classes * sizeof(*room->cells)),
		.scratch = ctx_calloc(counts->n_classes, 2 * sizeof(*room->scratch)),
		.begins = ctx_calloc(n + 2, sizeof(*room->begins)),
		.best = ctx_calloc(n + 2, sizeof(*room->best)),
		.kept = ctx_calloc(n + 2, sizeof(*room->kept)),
		.runs = ctx_calloc(n + 1, sizeof(*room->runs)),
	};
	if (room->cells != NULL && room->scratch != NULL && room->begins != NULL && room->best != NULL &&
	    room->kept != NULL && room->runs != NULL)
		return CTX_OK;
	return ctx_err_nomem(err);
}

static enum ctx_status begin_search(struct search *search, const struct room *room,
				    const struct ctx_phase_counts *counts, double dispersion,
				    struct ctx_err *err)
{
	*search = (struct search){
		.begins = room->begins, .left = room->scratch, .right = room->scratch + counts->n_classes};
	return ctx_phase_code_init(counts, dispersion, &search->code, err);
}

/* A division of blocks of 2^scale bins. */
struct division {
	size_t *begins; /* bins */
	size_t n;
	size_t scale;
	double saved; /* bits, against one segment; each scale in its own dispersion */
};

/* What is searched at several scales. */
struct scales {
	const struct room *room;
	const struct ctx_phase_counts *counts;
	const struct ctx_phase_noise *noise;
};

/* Divides at a scale; takes it if it saves more than the best so far. */
static enum ctx_status try_scale(const struct scales *scales, size_t scale, struct division *best,
				 struct ctx_err *err)
{
	const struct room *room = scales->room;
	struct ctx_phase_counts blocks;
	struct search search;
	enum ctx_status status;
	double saved;

	join_bins(scales->counts, (size_t)1 << scale, room->cells, &blocks);
	status = begin_search(&search, room, &blocks, scales->noise->of[scale], err);
	if (status != CTX_OK)
		return status;
	merge(&search, room->runs, room->best);
	refine(&search);
	drop_single_blocks(&search);
	saved = ctx_phase_code_segment(&search.code, 0, blocks.n_bins) - bits_of_all(&search);
	if (best->n == 0 || saved > best->saved) {
		best->n = search.n;
		best->scale = scale;
		best->saved = saved;
		for (size_t i = 0; i < search.n; i++)
			best->begins[i] = search.begins[i] << scale;
	}
	ctx_phase_code_deinit(&search.code);
	return CTX_OK;
}

/* Borders of blocks to those of bins: each to its best place within a block. */
static void sharpen(struct search *search, size_t block)
{
	for (size_t i = 1; i < search->n; i++) {
		size_t at = search->begins[i], begin = search->begins[i - 1], end = search->begins[i + 1];
		size_t from = at > begin + block ? at - block : begin + 1;
		size_t to = at + block < end ? at + block : end - 1;
		double least = pair_bits(search, begin, at, end);

		for (size_t place = from; place <= to; place++) {
			double bits = pair_bits(search, begin, place, end);

			if (bits < least) {
				least = bits;
				search->begins[i] = place;
			}
		}
	}
}

static enum ctx_status find(const struct scales *scales, struct ctx_phase_segments *ret, struct ctx_err *err)
{
	const struct ctx_phase_counts *counts = scales->counts;
	const struct ctx_phase_noise *noise = scales->noise;
	struct division best = {.begins = scales->room->kept};
	struct search search;
	enum ctx_status status = CTX_OK;

	for (size_t scale = 0; scale < noise->n && status == CTX_OK; scale++) {
		/* A scale on which there is no less noise than on the one before shows nothing more. */
		if (scale == 0 || noise->of[scale] < noise->of[scale - 1] * LESS_NOISE)
			status = try_scale(scales, scale, &best, err);
	}
	if (status != CTX_OK)
		return status;
	ret->dispersion = noise->of[best.scale];
	status = begin_search(&search, scales->room, counts, ret->dispersion, err);
	if (status != CTX_OK)
		return status;
	memcpy(search.begins, best.begins, best.n * sizeof(*best.begins));
	search.begins[best.n] = counts->n_bins;
	search.n = best.n;
	if (best.scale != 0)
		sharpen(&search, (size_t)1 << best.scale);
	status = take_segments(&search, ret, err);
	ctx_phase_code_deinit(&search.code);
	return status;
}

enum ctx_status ctx_phases_find(const struct ctx_phase_counts *counts, struct ctx_phase_segments *ret,
				struct ctx_err *err)
{
	struct ctx_phase_segments found = {0};
	struct ctx_phase_noise noise;
	struct room room CTX_CLEANUP(room_deinit) = {0};
	enum ctx_status status;

	*ret = (struct ctx_phase_segments){0};
	if (counts->n_bins == 0 || counts->n_classes == 0)
		return CTX_OK;
	status = ctx_phase_noise(counts, &noise, err);
	if (status == CTX_OK)
		status = room_init(&room, counts, err);
	if (status == CTX_OK)
		status = find(&(struct scales){&room, counts, &noise}, &found, err);
	if (status != CTX_OK)
		ctx_phase_segments_deinit(&found);
	else
		*ret = found;
	return status;
}

void ctx_phase_segments_deinit(struct ctx_phase_segments *segments)
{
	free(segments->items);
	free(segments->similarity);
	*segments = (struct ctx_phase_segments){0};
}
