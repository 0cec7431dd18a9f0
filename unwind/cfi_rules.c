/*
 *	state --key--> number of the rule --> summary (8 bytes, every step)
 *	                                 `--> whole rule --> saves (one for each register that was set)
 *
 * A key has only the touched registers, in 10 bytes each; expressions are numbers in it, so that
 * its length is bounded for any file.
 */
#include "unwind/cfi_rules.h"

#include "base/mem.h"

#include <string.h>

#define MAX_RULES ((size_t)1 << 20)
#define MAX_SAVES ((size_t)1 << 22)
#define MAX_EXPRESSION 512
#define MAX_EXPRESSIONS ((size_t)1 << 16)
#define KEY_BYTES (11 + 9 + 10 * CTX_USER_REGS_MAX)

struct key {
	uint8_t bytes[KEY_BYTES];
	size_t n;
};

static void key_put(struct key *key, uint8_t tag, const struct ctx_cfi_place *place)
{
	key->bytes[key->n] = tag;
	key->bytes[key->n + 1] = place->how;
	memcpy(key->bytes + key->n + 2, &place->value, sizeof(place->value));
	key->n += 10;
}

static void key_make(struct key *key, const struct ctx_cfi_state *state)
{
	key->n = 0;
	key->bytes[key->n++] = state->return_register;
	key->bytes[key->n++] = state->signal;
	key_put(key, (uint8_t)state->cfa_register, &state->cfa);
	for (uint64_t left = state->touched; left != 0; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);

		if (state->registers[reg].how != CTX_CFI_UNSPECIFIED)
			key_put(key, (uint8_t)reg, &state->registers[reg]);
	}
}

static enum ctx_status append(struct ctx_cfi_rules *rules, const struct ctx_cfi_rule *rule,
			      const struct ctx_cfi_summary *summary, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&rules->items, &rules->items_cap, rules->n + 1, err);

	if (status == CTX_OK)
		status = ctx_grow(&rules->summaries, &rules->summaries_cap, rules->n + 1, err);
	if (status != CTX_OK)
		return status;
	rules->items[rules->n] = *rule;
	rules->summaries[rules->n] = *summary;
	rules->n++;
	rules->n_full += summary->kind == CTX_CFI_FULL;
	return CTX_OK;
}

static enum ctx_status append_state(struct ctx_cfi_rules *rules, const struct ctx_cfi_state *state,
				    struct ctx_err *err)
{
	struct ctx_cfi_summary summary = ctx_cfi_summarize(rules->machine, state);
	struct ctx_cfi_rule rule = {.cfa = state->cfa,
				    .cfa_register = (uint8_t)state->cfa_register,
				    .return_register = state->return_register,
				    .signal = state->signal,
				    .first_save = (uint32_t)rules->n_saves};
	enum ctx_status status =
		ctx_grow(&rules->saves, &rules->saves_cap, rules->n_saves + CTX_USER_REGS_MAX, err);
	size_t at = rules->n_saves;

	if (status != CTX_OK)
		return status;
	for (uint64_t left = state->touched; left != 0; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);

		if (state->registers[reg].how != CTX_CFI_UNSPECIFIED)
			rules->saves[at++] =
				(struct ctx_cfi_save){.place = state->registers[reg], .reg = (uint8_t)reg};
	}
	rule.n_saves = (uint8_t)(at - rules->n_saves);
	status = append(rules, &rule, &summary, err);
	if (status == CTX_OK)
		rules->n_saves = at;
	return status;
}

enum ctx_status ctx_cfi_rules_init(struct ctx_cfi_rules *rules, enum ctx_machine machine, struct ctx_err *err)
{
	struct ctx_cfi_summary summary = {.kind = CTX_CFI_NONE};
	struct ctx_cfi_rule rule = {0};

	*rules = (struct ctx_cfi_rules){.machine = machine};
	return append(rules, &rule, &summary, err);
}

void ctx_cfi_rules_deinit(struct ctx_cfi_rules *rules)
{
	ctx_strtab_deinit(&rules->keys);
	ctx_strtab_deinit(&rules->expressions);
	free(rules->summaries);
	free(rules->items);
	free(rules->saves);
	*rules = (struct ctx_cfi_rules){0};
}

enum ctx_status ctx_cfi_rules_add(struct ctx_cfi_rules *rules, const struct ctx_cfi_state *state,
				  uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status;
	struct key key;
	uint32_t id;

	if (state->cfa.how == CTX_CFI_UNSPECIFIED ||
	    (state->cfa.how == CTX_CFI_REGISTER && state->cfa_register >= CTX_USER_REGS_MAX))
		return ctx_err_set(err, CTX_E_FORMAT, "no frame address");
	if (rules->n >= MAX_RULES || rules->n_saves >= MAX_SAVES)
		return ctx_err_set(err, CTX_E_LIMIT, "too many different rules");
	key_make(&key, state);
	status = ctx_strtab_add(&rules->keys, (const char *)key.bytes, key.n, &id, err);
	if (status != CTX_OK)
		return status;
	/* If memory runs out here, the key has a number without a rule: the whole table fails. */
	if (id + 1 == rules->n)
		status = append_state(rules, state, err);
	if (status == CTX_OK)
		*ret = id + 1;
	return status;
}

enum ctx_status ctx_cfi_rules_add_expression(struct ctx_cfi_rules *rules, const uint8_t *bytes, size_t n,
					     int64_t *ret, struct ctx_err *err)
{
	enum ctx_status status;
	uint32_t id;

	if (n > MAX_EXPRESSION || rules->expressions.n >= MAX_EXPRESSIONS)
		return ctx_err_set(err, CTX_E_LIMIT, "expression too long");
	status = ctx_strtab_add(&rules->expressions, (const char *)bytes, n, &id, err);
	if (status == CTX_OK)
		*ret = id;
	return status;
}

void ctx_cfi_rules_freeze(struct ctx_cfi_rules *rules)
{
	ctx_strtab_deinit(&rules->keys);
}

size_t ctx_cfi_rules_bytes(const struct ctx_cfi_rules *rules)
{
	size_t bytes = rules->n * (sizeof(*rules->summaries) + sizeof(*rules->items)) +
		       rules->n_saves * sizeof(*rules->saves);

	for (size_t i = 0; i < rules->expressions.n; i++)
		bytes += rules->expressions.lengths[i];
	return bytes;
}
