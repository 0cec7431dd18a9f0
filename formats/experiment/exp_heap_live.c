#include "formats/experiment/exp_heap_live.h"

#include <stddef.h>

#define GROUP CTX_EXP_HEAP_LIVE_GROUP

/* The bits of a word below bit `n`; n is below 64. */
static uint64_t below(uint64_t word, uint32_t n)
{
	return word & ((UINT64_C(1) << n) - 1);
}

static uint32_t bits(uint64_t word)
{
	return (uint32_t)__builtin_popcountll(word);
}

/* Living ones in [begin, end). */
static uint32_t count(const struct ctx_exp_heap_live *live, uint32_t begin, uint32_t end)
{
	uint32_t word = begin / 64, last = end / 64, n = 0;

	if (word == last)
		return bits(below(live->words[word] >> begin % 64, end - begin));
	n = bits(live->words[word++] >> begin % 64);
	while (word < last) {
		if (word % GROUP == 0 && last - word >= GROUP) {
			n += live->sums[word / GROUP];
			word += GROUP;
		} else {
			n += bits(live->words[word++]);
		}
	}
	return end % 64 != 0 ? n + bits(below(live->words[last], end % 64)) : n;
}

/* The youngest one; there must be one. */
static uint32_t youngest(const struct ctx_exp_heap_live *live)
{
	uint32_t word = (live->n - 1) / 64;

	while (live->words[word] == 0) {
		if (word % GROUP == GROUP - 1 && live->sums[word / GROUP] == 0)
			word -= GROUP;
		else
			word--;
	}
	return word * 64 + 63 - (uint32_t)__builtin_clzll(live->words[word]);
}

uint64_t ctx_exp_heap_live_distance(const struct ctx_exp_heap_live *live, uint32_t mark, uint32_t i)
{
	if (i == youngest(live))
		return 0;
	if (i >= mark)
		return 1 + 2 * (uint64_t)count(live, mark, i);
	return 2 * (uint64_t)count(live, i, mark);
}

/* Bit number `n` of those that are set, from the lowest on; there are more than n. */
static uint32_t nth(uint64_t word, uint32_t n)
{
	while (n-- != 0)
		word &= word - 1;
	return (uint32_t)__builtin_ctzll(word);
}

/* The living one with `n` others from `mark` on below it. */
static bool upwards(const struct ctx_exp_heap_live *live, uint32_t mark, uint32_t n, uint32_t *ret)
{
	uint32_t word = mark / 64, here;
	uint64_t set = live->words[word] & ~below(UINT64_MAX, mark % 64);

	while ((here = bits(set)) <= n) {
		n -= here;
		word++;
		while (word % GROUP == 0 && word < CTX_EXP_HEAP_LIVE_WORDS && live->sums[word / GROUP] <= n) {
			n -= live->sums[word / GROUP];
			word += GROUP;
		}
		if (word >= CTX_EXP_HEAP_LIVE_WORDS)
			return false;
		set = live->words[word];
	}
	*ret = word * 64 + nth(set, n);
	return true;
}

/* The living one below `mark` with `n` others between them. */
static bool downwards(const struct ctx_exp_heap_live *live, uint32_t mark, uint32_t n, uint32_t *ret)
{
	uint32_t word = mark / 64, here;
	uint64_t set = below(live->words[word], mark % 64);

	while ((here = bits(set)) <= n) {
		n -= here;
		while (word % GROUP == 0 && word != 0 && live->sums[word / GROUP - 1] <= n) {
			n -= live->sums[word / GROUP - 1];
			word -= GROUP;
		}
		if (word == 0)
			return false;
		set = live->words[--word];
	}
	*ret = word * 64 + nth(set, here - 1 - n);
	return true;
}

bool ctx_exp_heap_live_at(const struct ctx_exp_heap_live *live, uint32_t mark, uint64_t distance,
			  uint32_t *ret)
{
	if (distance > 2 * (uint64_t)live->n_live || live->n_live == 0)
		return false;
	if (distance == 0) {
		*ret = youngest(live);
		return true;
	}
	return distance % 2 == 1 ? upwards(live, mark, (uint32_t)(distance / 2), ret)
				 : downwards(live, mark, (uint32_t)(distance / 2) - 1, ret);
}
