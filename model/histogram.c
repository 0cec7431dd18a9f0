#include "model/histogram.h"

#include "base/mem.h"

#include <string.h>

#define FREE_SLOT UINT64_MAX
#define FIRST_CAP 64

void ctx_histogram_deinit(struct ctx_histogram *histogram)
{
	free(histogram->entries);
	free(histogram->slots);
	free(histogram->direct);
	*histogram = (struct ctx_histogram){0};
}

void ctx_histogram_clear(struct ctx_histogram *histogram)
{
	if (histogram->slots_cap != 0)
		memset(histogram->slots, 0xff, histogram->slots_cap * sizeof(*histogram->slots));
	for (size_t i = 0; histogram->direct != NULL && i < histogram->n; i++)
		histogram->direct[histogram->entries[i].stack] = 0;
	histogram->n = 0;
	histogram->weight = 0;
	histogram->samples = 0;
}

/*
 * The slot of a stack, or the free one for it. Ids are dense: one multiplication is a sufficient
 * hash.
 */
static uint64_t *find(uint64_t *slots, size_t cap, unsigned shift, uint32_t stack)
{
	size_t i = (size_t)(stack * UINT64_C(0x9e3779b97f4a7c15) >> shift);

	while (slots[i] != FREE_SLOT && (uint32_t)(slots[i] >> 32) != stack)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static uint64_t slot_of(uint32_t stack, size_t entry)
{
	return (uint64_t)stack << 32 | entry;
}

static enum ctx_status grow_slots(struct ctx_histogram *histogram, struct ctx_err *err)
{
	size_t cap = histogram->slots_cap != 0 ? histogram->slots_cap * 2 : FIRST_CAP;
	unsigned shift = 64 - (unsigned)__builtin_ctzll(cap);
	uint64_t *slots = ctx_calloc(cap, sizeof(*slots));

	if (slots == NULL)
		return ctx_err_nomem(err);
	memset(slots, 0xff, cap * sizeof(*slots));
	for (size_t i = 0; i < histogram->n; i++)
		*find(slots, cap, shift, histogram->entries[i].stack) =
			slot_of(histogram->entries[i].stack, i);
	free(histogram->slots);
	histogram->slots = slots;
	histogram->slots_cap = cap;
	histogram->shift = shift;
	return CTX_OK;
}

enum ctx_status ctx_histogram_index(struct ctx_histogram *histogram, uint32_t n_stacks, struct ctx_err *err)
{
	uint32_t *direct = ctx_calloc(n_stacks, sizeof(*direct));

	if (direct == NULL)
		return ctx_err_nomem(err);
	free(histogram->direct);
	histogram->direct = direct;
	histogram->n_direct = n_stacks;
	return CTX_OK;
}

static enum ctx_status append(struct ctx_histogram *histogram, uint32_t stack, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&histogram->entries, &histogram->cap, histogram->n + 1, err);

	if (status != CTX_OK)
		return status;
	histogram->entries[histogram->n++] = (struct ctx_hist_entry){.stack = stack};
	return CTX_OK;
}

/* The entry of `stack`, created if it is new; NULL and a status in `*ret` on failure. */
static struct ctx_hist_entry *place_direct(struct ctx_histogram *histogram, uint32_t stack,
					   enum ctx_status *ret, struct ctx_err *err)
{
	if (stack >= histogram->n_direct) {
		*ret = ctx_err_set(err, CTX_E_FORMAT, "no call stack %u: there are %u", stack,
				   histogram->n_direct);
		return NULL;
	}
	if (histogram->direct[stack] == 0) {
		*ret = append(histogram, stack, err);
		if (*ret != CTX_OK)
			return NULL;
		histogram->direct[stack] = (uint32_t)histogram->n;
	}
	return &histogram->entries[histogram->direct[stack] - 1];
}

static inline struct ctx_hist_entry *place_hashed(struct ctx_histogram *histogram, uint32_t stack,
						  enum ctx_status *ret, struct ctx_err *err)
{
	uint64_t *slot;

	if (histogram->n * 2 >= histogram->slots_cap) {
		*ret = grow_slots(histogram, err);
		if (*ret != CTX_OK)
			return NULL;
	}
	slot = find(histogram->slots, histogram->slots_cap, histogram->shift, stack);
	if (*slot == FREE_SLOT) {
		*ret = append(histogram, stack, err);
		if (*ret != CTX_OK)
			return NULL;
		*slot = slot_of(stack, histogram->n - 1);
	}
	return &histogram->entries[(uint32_t)*slot];
}

static inline struct ctx_hist_entry *place(struct ctx_histogram *histogram, uint32_t stack,
					   enum ctx_status *ret, struct ctx_err *err)
{
	return histogram->direct != NULL ? place_direct(histogram, stack, ret, err)
					 : place_hashed(histogram, stack, ret, err);
}

static inline enum ctx_status add(struct ctx_histogram *histogram, const struct ctx_hist_entry *more,
				  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	struct ctx_hist_entry *entry = place(histogram, more->stack, &status, err);

	if (entry == NULL)
		return status;
	entry->weight += more->weight;
	entry->samples += more->samples;
	/* Unsigned, since values of a damaged file can overflow. */
	entry->calls = (int64_t)((uint64_t)entry->calls + (uint64_t)more->calls);
	histogram->weight += more->weight;
	histogram->samples += more->samples;
	return CTX_OK;
}

enum ctx_status ctx_histogram_add(struct ctx_histogram *histogram, struct ctx_hist_entry more,
				  struct ctx_err *err)
{
	return add(histogram, &more, err);
}

/* Items whose entries are looked up together: their memory accesses overlap. */
#define BATCH 64u

static enum ctx_status add_batch(struct ctx_histogram *histogram, const struct ctx_hist_item *items, size_t n,
				 struct ctx_err *err)
{
	struct ctx_hist_entry *entries;
	uint32_t at[BATCH];

	for (size_t i = 0; i < n; i++) {
		uint32_t stack = items[i].stack;

		if (stack >= histogram->n_direct)
			return ctx_err_set(err, CTX_E_FORMAT, "no call stack %u: there are %u", stack,
					   histogram->n_direct);
		if (histogram->direct[stack] == 0) {
			enum ctx_status status = append(histogram, stack, err);

			if (status != CTX_OK)
				return status;
			histogram->direct[stack] = (uint32_t)histogram->n;
		}
		at[i] = histogram->direct[stack] - 1;
	}
	entries = histogram->entries;
	for (size_t i = 0; i < n; i++) {
		entries[at[i]].weight += items[i].weight;
		entries[at[i]].samples += items[i].samples;
		histogram->weight += items[i].weight;
		histogram->samples += items[i].samples;
	}
	return CTX_OK;
}

enum ctx_status ctx_histogram_add_many(struct ctx_histogram *histogram, const struct ctx_hist_item *items,
				       size_t n, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; status == CTX_OK && i < n; i += BATCH) {
		size_t some = n - i < BATCH ? n - i : BATCH;

		if (histogram->direct != NULL) {
			status = add_batch(histogram, items + i, some, err);
			continue;
		}
		for (size_t j = i; status == CTX_OK && j < i + some; j++)
			status = add(histogram,
				     &(struct ctx_hist_entry){.weight = items[j].weight,
							      .samples = items[j].samples,
							      .stack = items[j].stack},
				     err);
	}
	return status;
}

/* The deepest stack shared by a sample and the one before. */
static uint32_t kept_of(const struct ctx_sample *sample, const struct ctx_trie *cct)
{
	if (sample->kept_stack != 0 || sample->kept_depth == 0)
		return sample->kept_stack;
	return ctx_trie_ancestor(cct, sample->stack, sample->kept_depth);
}

enum ctx_status ctx_histogram_add_samples(struct ctx_histogram *histogram, const struct ctx_trie *cct,
					  const struct ctx_sample *samples, size_t n, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n; i++) {
		const struct ctx_sample *sample = &samples[i];
		bool entered = cct != NULL && sample->kept_depth < cct->depth[sample->stack];
		struct ctx_hist_entry *entry = place(histogram, sample->stack, &status, err);

		if (entry == NULL)
			return status;
		entry->weight += sample->weight;
		entry->samples++;
		histogram->weight += sample->weight;
		histogram->samples++;
		if (!entered)
			continue;
		entry->calls = (int64_t)((uint64_t)entry->calls + 1 + sample->more_calls);
		entry = place(histogram, kept_of(sample, cct), &status, err);
		if (entry == NULL)
			return status;
		entry->calls = (int64_t)((uint64_t)entry->calls - 1 - sample->more_calls);
	}
	return CTX_OK;
}

enum ctx_status ctx_histogram_merge(struct ctx_histogram *to, const struct ctx_histogram *from,
				    struct ctx_err *err)
{
	for (size_t i = 0; i < from->n; i++) {
		enum ctx_status status = add(to, &from->entries[i], err);

		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

static struct ctx_hist_entry *find_entry(const struct ctx_histogram *histogram, uint32_t stack)
{
	uint64_t slot;

	if (histogram->direct != NULL && (stack >= histogram->n_direct || histogram->direct[stack] == 0))
		return NULL;
	if (histogram->direct != NULL)
		return &histogram->entries[histogram->direct[stack] - 1];
	if (histogram->slots_cap == 0)
		return NULL;
	slot = *find(histogram->slots, histogram->slots_cap, histogram->shift, stack);
	return slot != FREE_SLOT ? &histogram->entries[(uint32_t)slot] : NULL;
}

const struct ctx_hist_entry *ctx_histogram_get(const struct ctx_histogram *histogram, uint32_t stack)
{
	return find_entry(histogram, stack);
}

uint64_t ctx_histogram_subtract(struct ctx_histogram *histogram, uint32_t stack, uint64_t weight)
{
	struct ctx_hist_entry *entry = find_entry(histogram, stack);
	uint64_t taken = 0;

	if (entry != NULL)
		taken = weight < entry->weight ? weight : entry->weight;
	if (taken != 0)
		entry->weight -= taken;
	histogram->weight -= taken;
	return taken;
}
