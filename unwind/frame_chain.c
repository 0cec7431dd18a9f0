#include "unwind/frame_chain.h"

#include "unwind/cfi_lookup.h"
#include "unwind/cfi_memory.h"

#include <string.h>

#define NOWHERE SIZE_MAX

static uint64_t entry(const struct ctx_unwind_chain *chain, size_t i)
{
	uint64_t word;

	memcpy(&word, chain->words + i * sizeof(word), sizeof(word));
	return word;
}

static bool is_framed(const struct ctx_cfi_summary *rule)
{
	return rule != NULL && rule->kind == CTX_CFI_FP && rule->cfa_offset == 16 && rule->fp_offset == -16 &&
	       !rule->signal;
}

/*
 * Whether a return address is the first instruction of a function: as a rule nothing was called in front of it, as with the
 * bottom of a coroutine and what a signal handler returns to.
 */
static bool is_placed(const struct ctx_unwind_object *object, uint64_t pc)
{
	uint64_t begin, end;

	return ctx_cfi_table_function(object->table, pc - object->bias, &begin, &end) &&
	       begin == pc - object->bias;
}

/* The rule at a pc, NULL: none that says how to go on. `object` is that of the last one. */
static const struct ctx_cfi_summary *rule_of(const struct ctx_unwind_space *space,
					     struct ctx_unwind_object *object, uint64_t pc, bool exact)
{
	uint64_t address = pc - !exact;
	const struct ctx_cfi_table *table;
	const struct ctx_cfi_part *part;
	uint32_t row;

	if (pc == 0 || (address - object->begin >= object->end - object->begin &&
			!space->find(space->context, address, object)))
		return NULL;
	table = object->table;
	if (table == NULL || table->machine != CTX_MACHINE_X86_64)
		return NULL;
	part = ctx_cfi_table_part(table, address - object->bias);
	row = ctx_cfi_part_row(part, address - object->bias);
	if (!exact && row + 1 < part->rows.n &&
	    part->rows.items[row + 1].pc == pc - object->bias - part->rows.base &&
	    (part->rules.summaries[part->rows.items[row + 1].rule].signal || is_placed(object, pc)))
		return NULL;
	return &part->rules.summaries[part->rows.items[row].rule];
}

/*
 * The index of the frame pointer among those that the kernel followed; its return address is the entry behind. What the copy
 * has of them must be as the kernel says: at the first instruction of a probed function it has an entry more.
 */
static size_t place_of(const struct ctx_unwind_chain *chain, const struct ctx_frame_chain_cut *cut)
{
	const struct ctx_user_regs *regs = &cut->state->regs;
	const struct ctx_cfi_memory memory = {.bytes = cut->state->stack,
					      .n = cut->state->stack_bytes,
					      .address = regs->value[ctx_machine_sp(regs->machine)]};
	uint64_t fp = regs->value[ctx_machine_fp(regs->machine)], next, pc;

	if (ctx_cfi_memory_read(&memory, memory.address, &pc) && chain->n > 1 && pc == entry(chain, 1))
		return NOWHERE;
	for (size_t i = 0; i + 1 < chain->n; i++) {
		if (fp == cut->fp)
			return i;
		if (!ctx_cfi_memory_read(&memory, fp, &next) || !ctx_cfi_memory_read(&memory, fp + 8, &pc) ||
		    pc != entry(chain, i + 1) || next <= fp)
			return NOWHERE;
		fp = next;
	}
	return NOWHERE;
}

static bool is_usable(const struct ctx_unwind_chain *chain, const struct ctx_user_regs *regs)
{
	uint64_t needed = UINT64_C(1) << ctx_machine_sp(regs->machine) |
			  UINT64_C(1) << ctx_machine_fp(regs->machine) |
			  UINT64_C(1) << ctx_machine_pc(regs->machine);

	return regs->machine == CTX_MACHINE_X86_64 && (regs->valid & needed) == needed && chain->n > 1 &&
	       entry(chain, 0) == regs->value[ctx_machine_pc(regs->machine)];
}

size_t ctx_frame_chain_follow(const struct ctx_unwind_space *space, const struct ctx_frame_chain_cut *cut,
			      struct ctx_unwind_frame *frames, size_t max, enum ctx_truncation *ret_end)
{
	const struct ctx_unwind_chain *chain = space->chain;
	struct ctx_unwind_object object = {0};
	size_t at, n = 0;

	*ret_end = CTX_TRUNCATED_COPY;
	if (!is_usable(chain, &cut->state->regs) || !is_framed(rule_of(space, &object, cut->pc, cut->exact)))
		return 0;
	at = place_of(chain, cut);
	if (at == NOWHERE)
		return 0;
	for (size_t i = at + 1; i < chain->n && n < max; i++) {
		uint64_t pc = entry(chain, i);
		const struct ctx_cfi_summary *rule = rule_of(space, &object, pc, false);

		if (rule == NULL)
			return 0;
		frames[n++] = (struct ctx_unwind_frame){.address = pc - 1};
		if (rule->kind == CTX_CFI_ROOT)
			*ret_end = CTX_TRUNCATED_NOT;
		if (!is_framed(rule))
			return n;
	}
	return 0;
}

bool ctx_frame_chain_has(const struct ctx_unwind_space *space, uint64_t address)
{
	struct ctx_unwind_object object = {0};

	return is_framed(rule_of(space, &object, address, true));
}
