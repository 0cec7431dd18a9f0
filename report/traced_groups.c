#include "report/traced_groups.h"

#include "base/mem.h"
#include "model/heap_sampling.h"

#include <stdlib.h>
#include <string.h>

void ctx_traced_groups_deinit(struct ctx_traced_groups *groups)
{
	free(groups->items);
	ctx_map64_deinit(&groups->map);
	*groups = (struct ctx_traced_groups){0};
}

struct ctx_traced_group *ctx_traced_group_at(struct ctx_traced_groups *groups, uint64_t key)
{
	uint32_t at = ctx_map64_get(&groups->map, key), *place;

	if (at != CTX_MAP64_NONE)
		return &groups->items[at];
	if (groups->n >= CTX_MAP64_NONE ||
	    ctx_grow(&groups->items, &groups->cap, groups->n + 1, NULL) != CTX_OK)
		return NULL;
	place = ctx_map64_place(&groups->map, key);
	if (place == NULL)
		return NULL;
	*place = (uint32_t)groups->n;
	groups->items[groups->n] = (struct ctx_traced_group){.key = key};
	return &groups->items[groups->n++];
}

struct ctx_traced_group *ctx_traced_stack_group(struct ctx_traced_groups *groups, uint32_t stack)
{
	struct ctx_traced_group *group = ctx_traced_group_at(groups, stack);

	if (group != NULL)
		group->stack = stack;
	return group;
}

static int by_text(const void *left, const void *right)
{
	const struct ctx_traced_group *a = left, *b = right;
	int order = strcmp(a->text, b->text);

	return order != 0 ? order : a->key < b->key ? -1 : a->key > b->key;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_sums(struct ctx_traced_sums *to, const struct ctx_traced_sums *from)
{
	if (from->longest_ns > to->longest_ns)
		to->longest_stack = from->longest_stack;
	to->count += from->count;
	to->bytes += from->bytes;
	to->largest = larger(to->largest, from->largest);
	to->time_ns += from->time_ns;
	to->longest_ns = larger(to->longest_ns, from->longest_ns);
	to->leaks += from->leaks;
	to->leaked_bytes += from->leaked_bytes;
	to->largest_leak = larger(to->largest_leak, from->largest_leak);
	to->held += from->held;
	to->held_bytes += from->held_bytes;
	to->held_at_end += from->held_at_end;
	to->held_at_end_bytes += from->held_at_end_bytes;
	to->first_bytes += from->first_bytes;
	to->temporary += from->temporary;
	to->shift = from->shift > to->shift ? from->shift : to->shift;
	to->count_variance += from->count_variance;
	to->bytes_variance += from->bytes_variance;
	for (unsigned i = 0; i < CTX_TRACED_CALLS; i++) {
		to->calls[i] += from->calls[i];
		to->call_ns[i] += from->call_ns[i];
		to->call_bytes[i] += from->call_bytes[i];
	}
}

void ctx_traced_groups_merge(struct ctx_traced_groups *groups)
{
	size_t n = 0;

	ctx_map64_deinit(&groups->map);
	if (groups->n > 1)
		qsort(groups->items, groups->n, sizeof(*groups->items), by_text);
	for (size_t i = 0; i < groups->n; i++) {
		if (n != 0 && strcmp(groups->items[n - 1].text, groups->items[i].text) == 0)
			add_sums(&groups->items[n - 1].sums, &groups->items[i].sums);
		else
			groups->items[n++] = groups->items[i];
	}
	groups->n = n;
}

void ctx_traced_add(struct ctx_traced_sums *to, const struct ctx_traced *operation)
{
	unsigned call = operation->failed		       ? CTX_TRACED_ERROR
			: operation->operation <= CTX_IO_OTHER ? operation->operation
							       : CTX_IO_OTHER;
	bool moves = operation->kind != CTX_TRACED_IO || call == CTX_IO_READ || call == CTX_IO_WRITE;
	uint64_t bytes = moves ? operation->size : 0;

	to->count++;
	to->bytes += bytes;
	to->largest = larger(to->largest, bytes);
	to->time_ns += operation->duration_ns;
	if (to->count == 1 || operation->duration_ns > to->longest_ns) {
		to->longest_ns = operation->duration_ns;
		to->longest_stack = operation->stack;
	}
	if (operation->leaked) {
		to->leaks++;
		to->leaked_bytes += operation->leaked_size;
		to->largest_leak = larger(to->largest_leak, operation->leaked_size);
	}
	to->calls[call]++;
	to->call_ns[call] += operation->duration_ns;
	to->call_bytes[call] += bytes;
}

void ctx_traced_add_sampled(struct ctx_traced_sums *to, const struct ctx_traced *operation,
			    uint64_t sample_bytes)
{
	double number = ctx_heap_sample_number(sample_bytes, operation);
	struct ctx_traced_sums one = {.shift = CTX_TRACED_SHIFT};

	if (sample_bytes == 0) {
		ctx_traced_add(to, operation);
		return;
	}
	ctx_traced_add(&one, operation);
	one.count = ctx_traced_fixed(&one, number);
	one.bytes = ctx_heap_sample_scale(one.bytes, number);
	one.leaks = operation->leaked ? one.count : 0;
	one.leaked_bytes = ctx_heap_sample_scale(one.leaked_bytes, number);
	one.count_variance = ctx_heap_sample_variance(1, number);
	one.bytes_variance = ctx_heap_sample_variance((double)operation->size, number);
	add_sums(to, &one);
}

uint32_t ctx_traced_number(struct ctx_map64 *map, uint64_t value)
{
	uint32_t *place = ctx_map64_place(map, value);

	if (place == NULL)
		return CTX_MAP64_NONE;
	if (*place == CTX_MAP64_NONE)
		*place = (uint32_t)(map->n - 1);
	return *place;
}

unsigned ctx_traced_bucket(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

uint64_t ctx_traced_bucket_first(unsigned bucket)
{
	return bucket == 0 ? 0 : UINT64_C(1) << (bucket - 1);
}

uint64_t ctx_traced_bucket_last(unsigned bucket)
{
	return bucket == 0 ? 0 : ctx_traced_bucket_first(bucket) - 1 + ctx_traced_bucket_first(bucket);
}
