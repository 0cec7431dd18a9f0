#include "model/heap_sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t ctx_heap_sample_bytes(const struct ctx_property *properties, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(properties[i].key, CTX_HEAP_SAMPLE_PROPERTY) == 0)
			return strtoull(properties[i].value, NULL, 10);
	}
	return 0;
}

double ctx_heap_sample_number(uint64_t sample_bytes, const struct ctx_traced *operation)
{
	if (sample_bytes == 0 || operation->kind != CTX_TRACED_HEAP ||
	    (operation->operation != CTX_HEAP_ALLOCATE && operation->operation != CTX_HEAP_REALLOCATE))
		return 1;
	return -1 / expm1(-(double)(operation->size != 0 ? operation->size : 1) / (double)sample_bytes);
}

uint64_t ctx_heap_sample_scale(uint64_t bytes, double number)
{
	double scaled = (double)bytes * number;

	return number == 1				? bytes
	       : scaled < (double)CTX_TRACED_WEIGHT_MAX ? (uint64_t)(scaled + 0.5)
							: CTX_TRACED_WEIGHT_MAX;
}
