#include "model/histogram.h"

#include "base/map64.h"
#include "base/mem.h"

#include <string.h>

#define FREE_SLOT UINT32_MAX
#define FIRST_CAP 64

void ctx_histogram_deinit(struct ctx_histogram *histogram)
{
	free(histogram->entries);
	free(histogram->slots);
	*histogram = (struct ctx_histogram){0};
}

void ctx_histogram_clear(struct ctx_histogram *histogram)
{
	if (histogram->slots_cap != 0)
		memset(histogram->slots, 0xff, histogram->slots_cap * sizeof(*histogram->slots));
	histogram->n = 0;
	histogram->weight = 0;
	histogram->samples = 0;
}

static uint32_t *find(const struct ctx_hist_entry *entries, uint32_t *slots, size_t cap, uint32_t stack)
{
	size_t i = (size_t)ctx_hash64(stack) & (cap - 1);

	while (slots[i] != FREE_SLOT && entries[slots[i]].stack != stack)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static enum ctx_status grow_slots(struct ctx_histogram *histogram, struct ctx_err *err)
{
	size_t cap = histogram->slots_cap != 0 ? histogram->slots_cap * 2 : FIRST_CAP;
	uint32_t *slots = ctx_calloc(cap, sizeof(*slots));

	if (slots == NULL)
		return ctx_err_nomem(err);
	memset(slots, 0xff, cap * sizeof(*slots));
	for (size_t i = 0; i < histogram->n; i++)
		*find(histogram->entries, slots, cap, histogram->entries[i].stack) = (uint32_t)i;
	free(histogram->slots);
	histogram->slots = slots;
	histogram->slots_cap = cap;
	return CTX_OK;
}

enum ctx_status ctx_histogram_add(struct ctx_histogram *histogram, uint32_t stack, uint64_t weight,
				  uint64_t samples, int64_t calls, struct ctx_err *err)
{
	struct ctx_hist_entry *entry;
	enum ctx_status status;
	uint32_t *slot;

	if (histogram->n * 2 >= histogram->slots_cap) {
		status = grow_slots(histogram, err);
		if (status != CTX_OK)
			return status;
	}
	slot = find(histogram->entries, histogram->slots, histogram->slots_cap, stack);
	if (*slot == FREE_SLOT) {
		status = ctx_grow(&histogram->entries, &histogram->cap, histogram->n + 1, err);
		if (status != CTX_OK)
			return status;
		histogram->entries[histogram->n] = (struct ctx_hist_entry){.stack = stack};
		*slot = (uint32_t)histogram->n++;
	}
	entry = &histogram->entries[*slot];
	entry->weight += weight;
	entry->samples += samples;
	entry->calls = (int64_t)((uint64_t)entry->calls + (uint64_t)calls); /* a damaged file may overflow it */
	histogram->weight += weight;
	histogram->samples += samples;
	return CTX_OK;
}

enum ctx_status ctx_histogram_merge(struct ctx_histogram *to, const struct ctx_histogram *from,
				    struct ctx_err *err)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct ctx_hist_entry *entry = &from->entries[i];
		enum ctx_status status =
			ctx_histogram_add(to, entry->stack, entry->weight, entry->samples, entry->calls, err);

		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

const struct ctx_hist_entry *ctx_histogram_get(const struct ctx_histogram *histogram, uint32_t stack)
{
	uint32_t slot;

	if (histogram->slots_cap == 0)
		return NULL;
	slot = *find(histogram->entries, histogram->slots, histogram->slots_cap, stack);
	return slot != FREE_SLOT ? &histogram->entries[slot] : NULL;
}
