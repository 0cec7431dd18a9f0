#include "ingest/chain_table.h"

#include "base/mem.h"
#include "base/xxh.h"

#include <string.h>

#define FIRST_CAP 64u

void ctx_chain_table_deinit(struct ctx_chain_table *table)
{
	free(table->slots);
	*table = (struct ctx_chain_table){0};
}

void ctx_chain_table_clear(struct ctx_chain_table *table)
{
	if (table->cap != 0)
		memset(table->slots, 0xff, table->cap * sizeof(*table->slots));
	table->n = 0;
}

/* The slot with this hash, or the free one where it would go. */
static struct ctx_chain_slot *find(const struct ctx_chain_table *table, uint64_t hash, uint32_t more_hash)
{
	size_t i = hash & (table->cap - 1);

	while (table->slots[i].raw != CTX_CHAIN_NONE &&
	       (table->slots[i].hash != hash || table->slots[i].more_hash != more_hash))
		i = (i + 1) & (table->cap - 1);
	return &table->slots[i];
}

static bool grow(struct ctx_chain_table *table)
{
	struct ctx_chain_table bigger = {.cap = table->cap != 0 ? table->cap * 2 : FIRST_CAP, .n = table->n};

	bigger.slots = ctx_alloc_large(bigger.cap * sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return false;
	memset(bigger.slots, 0xff, bigger.cap * sizeof(*bigger.slots));
	for (size_t i = 0; i < table->cap; i++) {
		const struct ctx_chain_slot *slot = &table->slots[i];

		if (slot->raw != CTX_CHAIN_NONE)
			*find(&bigger, slot->hash, slot->more_hash) = *slot;
	}
	free(table->slots);
	*table = bigger;
	return true;
}

uint32_t *ctx_chain_table_place(struct ctx_chain_table *table, const void *bytes, size_t n)
{
	struct ctx_chain_slot *slot;
	uint64_t hash, high;

	if (table->n * 8 >= table->cap * 5 && !grow(table))
		return NULL;
	hash = ctx_xxh3_128(bytes, n, &high);
	slot = find(table, hash, (uint32_t)high);
	if (slot->raw == CTX_CHAIN_NONE) {
		slot->hash = hash;
		slot->more_hash = (uint32_t)high;
		table->n++;
	}
	return &slot->raw;
}
