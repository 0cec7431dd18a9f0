#include "base/strtab.h"

#include "base/mem.h"
#include "base/xxh.h"

#include <string.h>

#define FREE_SLOT UINT32_MAX
#define FIRST_CAP 256

void ctx_strtab_deinit(struct ctx_strtab *table)
{
	ctx_arena_deinit(&table->arena);
	free(table->strings);
	free(table->lengths);
	free(table->slots);
	*table = (struct ctx_strtab){0};
}

static uint32_t *find(const struct ctx_strtab *table, uint32_t *slots, size_t cap, const char *text, size_t n)
{
	size_t i = (size_t)ctx_xxh3(text, n) & (cap - 1);

	while (slots[i] != FREE_SLOT) {
		uint32_t id = slots[i];

		if (table->lengths[id] == n && (n == 0 || memcmp(table->strings[id], text, n) == 0))
			break;
		i = (i + 1) & (cap - 1);
	}
	return &slots[i];
}

static enum ctx_status grow_slots(struct ctx_strtab *table, struct ctx_err *err)
{
	size_t cap = table->slots_cap != 0 ? table->slots_cap * 2 : FIRST_CAP;
	uint32_t *slots = ctx_calloc(cap, sizeof(*slots));

	if (slots == NULL)
		return ctx_err_nomem(err);
	memset(slots, 0xff, cap * sizeof(*slots));
	for (uint32_t id = 0; id < table->n; id++)
		*find(table, slots, cap, table->strings[id], table->lengths[id]) = id;
	free(table->slots);
	table->slots = slots;
	table->slots_cap = cap;
	return CTX_OK;
}

enum ctx_status ctx_strtab_add(struct ctx_strtab *table, const char *text, size_t n, uint32_t *ret_id,
			       struct ctx_err *err)
{
	enum ctx_status status;
	const char *copy;
	uint32_t *slot;

	if (n >= UINT32_MAX || table->n >= FREE_SLOT - 1)
		return ctx_err_set(err, CTX_E_LIMIT, "string table is full");
	if (table->n * 2 >= table->slots_cap) {
		status = grow_slots(table, err);
		if (status != CTX_OK)
			return status;
	}
	slot = find(table, table->slots, table->slots_cap, text, n);
	if (*slot != FREE_SLOT) {
		*ret_id = *slot;
		return CTX_OK;
	}
	status = ctx_grow(&table->strings, &table->strings_cap, table->n + 1, err);
	if (status == CTX_OK)
		status = ctx_grow(&table->lengths, &table->lengths_cap, table->n + 1, err);
	if (status != CTX_OK)
		return status;
	copy = ctx_arena_strndup(&table->arena, text, n);
	if (copy == NULL)
		return ctx_err_nomem(err);
	table->strings[table->n] = copy;
	table->lengths[table->n] = (uint32_t)n;
	*slot = (uint32_t)table->n;
	*ret_id = (uint32_t)table->n++;
	return CTX_OK;
}

enum ctx_status ctx_strtab_add_text(struct ctx_strtab *table, const char *text, uint32_t *ret_id,
				    struct ctx_err *err)
{
	return ctx_strtab_add(table, text, strlen(text), ret_id, err);
}

uint32_t ctx_strtab_find(const struct ctx_strtab *table, const char *text, size_t n)
{
	return table->slots_cap != 0 ? *find(table, table->slots, table->slots_cap, text, n) : UINT32_MAX;
}

const char *ctx_strtab_get(const struct ctx_strtab *table, uint32_t id)
{
	return table->strings[id];
}
