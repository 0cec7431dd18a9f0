#include "report/heap_ages.h"

void ctx_heap_ages_add(struct ctx_heap_ages *ages, uint64_t age_ns, uint64_t number, uint64_t bytes)
{
	unsigned row = 0;

	while (row + 2 < CTX_HEAP_AGES && age_ns >= ctx_heap_age_first_ns(row + 1))
		row++;
	ages->of[row].number += number;
	ages->of[row].bytes += bytes;
}

uint64_t ctx_heap_age_first_ns(unsigned row)
{
	uint64_t ns = 1000;

	if (row == 0)
		return 0;
	if (row + 1 >= CTX_HEAP_AGES)
		return UINT64_MAX;
	for (unsigned i = 1; i < row; i++)
		ns *= 10;
	return ns;
}

const char *ctx_heap_age_text(unsigned row)
{
	static const char *const texts[CTX_HEAP_AGES] = {
		"less than 1 us",  "less than 10 us",  "less than 100 us", "less than 1 ms",
		"less than 10 ms", "less than 100 ms", "less than 1 s",	   "less than 10 s",
		"less than 100 s", "less than 1000 s", "1000 s and more",  "not freed"};

	return texts[row];
}
