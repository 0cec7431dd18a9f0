/*
 *	registers --locate--> object, row --step--> registers of the caller --> again
 *
 * The first walk tracks pc, stack and frame pointer only, which suffices for nearly every frame.
 * When a rule needs another register, the walk restarts at the leaf and tracks all of them.
 */
#include "unwind/unwind.h"

#include "unwind/cfi_expr.h"
#include "unwind/cfi_lookup.h"
#include "unwind/cfi_memory.h"
#include "unwind/frame_chain.h"
#include "unwind/return_address.h"

/* Addresses of user space on aarch64; above them a return address may have its signature. */
#define AARCH64_ADDRESS ((UINT64_C(1) << 48) - 1)
#define AARCH64_LR 30

#define X86_64_RAX 0
#define SENDER_MAX 4096u /* bytes of arguments that an adapter of HotSpot may have put below a frame */

#define BIT(reg) (UINT64_C(1) << (reg))
#define X86_64_SAVED (BIT(3) | BIT(6) | BIT(12) | BIT(13) | BIT(14) | BIT(15))
#define AARCH64_SAVED (BIT(30) - BIT(19))

enum verdict {
	GO_ON,
	ENDED, /* walk->reason says why */
};

struct walk {
	const struct ctx_unwind_space *space;
	struct ctx_unwind_object object; /* the last one found; begin == end: none yet */
	const struct ctx_cfi_part *part; /* with the last rule */
	struct ctx_cfi_memory memory;
	enum ctx_machine machine;
	unsigned sp, fp, pc; /* numbers of registers */
	bool exact;	     /* pc is where the thread was, not a return address */
	bool full;	     /* all registers are tracked */
	bool begins_exact;   /* so is the pc that the walk begins with */
	bool needs_full;     /* a register that is not tracked was needed */
	uint64_t sender_at;  /* where the stack pointer may be `sender` as well */
	uint64_t sender;
	uint64_t valid;
	uint64_t value[CTX_USER_REGS_MAX];
	enum ctx_truncation reason;
	uint64_t code_pc;	    /* the last return address that was looked at, */
	struct ctx_code_frame code; /* and what its code says, if this is known */
};

static enum verdict end(struct walk *walk, enum ctx_truncation reason)
{
	walk->reason = reason;
	return ENDED;
}

/* A register that the rule needs is unknown; the frame that saved it may be outside the copy. */
static enum verdict end_without_register(struct walk *walk)
{
	walk->needs_full = !walk->full;
	return end(walk, CTX_TRUNCATED_BAD_CFA);
}

static enum verdict end_by_result(struct walk *walk, enum ctx_cfi_result result)
{
	if (result == CTX_CFI_UNKNOWN)
		return end_without_register(walk);
	return end(walk, result == CTX_CFI_OUTSIDE ? CTX_TRUNCATED_COPY : CTX_TRUNCATED_BAD_CFA);
}

static bool find_object(const struct walk *walk, uint64_t pc, struct ctx_unwind_object *ret)
{
	if (pc - walk->object.begin < walk->object.end - walk->object.begin) {
		*ret = walk->object;
		return true;
	}
	return pc != 0 && walk->space->find(walk->space->context, pc, ret);
}

static bool reads_code(const struct walk *walk)
{
	return walk->space->read_code != NULL && walk->machine == CTX_MACHINE_X86_64;
}

static struct ctx_code_frame code_at(const struct walk *walk, uint64_t pc, enum ctx_code_depth depth)
{
	return ctx_return_code(walk->space, &walk->object, pc, depth);
}

/* Can this be a return address? */
static enum ctx_return returns_to(struct walk *walk, uint64_t pc)
{
	struct ctx_unwind_object object;

	if (pc <= 1 || !find_object(walk, pc - 1, &object))
		return CTX_RETURN_NO;
	if (!reads_code(walk))
		return CTX_RETURN_MAYBE;
	walk->code_pc = pc;
	return ctx_return_check(walk->space, &object, pc, &walk->code);
}

static bool is_return(struct walk *walk, uint64_t pc)
{
	return returns_to(walk, pc) != CTX_RETURN_NO;
}

__attribute__((noinline)) static bool locate_other(struct walk *walk, uint64_t address)
{
	struct ctx_unwind_object object;

	if (!walk->space->find(walk->space->context, address, &object))
		return false;
	if (object.table != NULL && object.table->machine != walk->machine)
		object.table = NULL;
	walk->object = object;
	return true;
}

static inline bool locate(struct walk *walk, uint64_t address)
{
	return address - walk->object.begin < walk->object.end - walk->object.begin ||
	       locate_other(walk, address);
}

/* Steps to the caller; registers without a rule become unknown. */
static enum verdict enter_caller(struct walk *walk, uint64_t pc, uint64_t cfa, uint64_t fp)
{
	walk->value[walk->pc] = pc;
	walk->value[walk->sp] = cfa;
	walk->value[walk->fp] = fp;
	walk->valid = BIT(walk->pc) | BIT(walk->sp) | BIT(walk->fp);
	walk->exact = false;
	return GO_ON;
}

/*
 * An interpreted method of HotSpot keeps its caller's stack pointer below its frame pointer: an
 * adapter may have moved it to make room for arguments.
 */
static void note_sender(struct walk *walk, uint64_t fp)
{
	uint64_t sender;

	walk->sender_at = 0;
	if (!ctx_cfi_memory_read(&walk->memory, fp - 8, &sender) || sender <= fp + 16 ||
	    sender - fp > SENDER_MAX || sender % 8 != 0)
		return;
	walk->sender_at = fp + 16;
	walk->sender = sender;
}

/*
 * The frame of code with frame pointers: [fp] is the caller's frame pointer, [fp + 8] the return
 * address.
 */
static bool try_frame_pointer(struct walk *walk, uint64_t *ret_cfa)
{
	uint64_t fp = walk->value[walk->fp];
	enum ctx_return returns;
	uint64_t saved, pc;

	if ((walk->valid & BIT(walk->fp)) == 0 || fp < walk->value[walk->sp] || fp % 8 != 0 ||
	    !ctx_cfi_memory_read(&walk->memory, fp, &saved) ||
	    !ctx_cfi_memory_read(&walk->memory, fp + 8, &pc))
		return false;
	if (walk->machine == CTX_MACHINE_AARCH64)
		pc &= AARCH64_ADDRESS;
	returns = returns_to(walk, pc);
	/* A caller without frame pointers may have anything in the register. */
	if (saved <= fp && saved != 0 && returns != CTX_RETURN_SURE)
		return false;
	if (returns == CTX_RETURN_NO && !(pc == 0 && saved == 0))
		return false;
	*ret_cfa = fp + 16;
	note_sender(walk, fp);
	(void)enter_caller(walk, pc, fp + 16, saved);
	if (walk->space->steps != NULL)
		walk->space->steps->by_frame_pointer++;
	return true;
}

/* A return address at [sp + offset]: the function has not set up its frame yet. */
static bool try_entry(struct walk *walk, uint64_t offset, uint64_t *ret_cfa)
{
	uint64_t at = walk->value[walk->sp] + offset;
	uint64_t pc;

	if (walk->machine == CTX_MACHINE_AARCH64) {
		pc = walk->value[AARCH64_LR] & AARCH64_ADDRESS;
		if ((walk->valid & BIT(AARCH64_LR)) == 0 || !is_return(walk, pc))
			return false;
		*ret_cfa = walk->value[walk->sp];
	} else {
		if (!ctx_cfi_memory_read(&walk->memory, at, &pc) || !is_return(walk, pc))
			return false;
		*ret_cfa = at + 8;
	}
	walk->value[walk->pc] = pc;
	walk->value[walk->sp] = *ret_cfa;
	walk->exact = false;
	return true;
}

/* Between "push fp" and "mov sp, fp": the top of the stack is the frame pointer itself. */
static bool has_just_pushed(const struct walk *walk)
{
	uint64_t top;

	return walk->machine == CTX_MACHINE_X86_64 && (walk->valid & BIT(walk->fp)) != 0 &&
	       ctx_cfi_memory_read(&walk->memory, walk->value[walk->sp], &top) &&
	       top == walk->value[walk->fp];
}

enum attempt {
	REFUSED, /* no call stands before the return address */
	OUTSIDE, /* it would be outside the copied stack */
	TAKEN,
};

struct caller {
	uint64_t pc, cfa, fp;
	bool has_fp;
};

/* The caller's registers by a rule, if a call stands before the return address. */
static enum attempt try_rule(struct walk *walk, const struct ctx_cfi_summary *rule, uint64_t sp,
			     struct caller *ret)
{
	unsigned reg = rule->kind == CTX_CFI_SP ? walk->sp : walk->fp;
	uint64_t base = rule->kind == CTX_CFI_SP ? sp : walk->value[reg];
	uint64_t cfa = base + (uint64_t)(int64_t)rule->cfa_offset;

	if ((walk->valid & BIT(reg)) == 0 || cfa <= sp || cfa % 8 != 0)
		return REFUSED;
	*ret = (struct caller){
		.cfa = cfa, .fp = walk->value[walk->fp], .has_fp = (walk->valid & BIT(walk->fp)) != 0};
	if (!ctx_cfi_memory_read(&walk->memory, cfa - 8, &ret->pc))
		return OUTSIDE;
	if (returns_to(walk, ret->pc) != CTX_RETURN_SURE)
		return REFUSED;
	if (rule->fp_offset != 0)
		ret->has_fp = ctx_cfi_memory_read(&walk->memory, cfa + (uint64_t)(int64_t)rule->fp_offset,
						  &ret->fp);
	return TAKEN;
}

/* By the only rule that leads to a call; of two that do, none is taken. */
static enum attempt try_rules(struct walk *walk, const struct ctx_code_frame *code, uint64_t sp,
			      uint64_t *ret_cfa)
{
	enum attempt all = REFUSED;
	struct caller caller = {0}, other;

	for (unsigned i = 0; i < code->n_rules; i++) {
		enum attempt one = try_rule(walk, &code->rules[i], sp, &other);

		if (one == TAKEN && all == TAKEN && (other.cfa != caller.cfa || other.fp != caller.fp))
			return REFUSED;
		if (one > all) {
			caller = other;
			all = one;
		}
	}
	if (all != REFUSED)
		*ret_cfa = caller.cfa;
	if (all != TAKEN)
		return all;
	(void)enter_caller(walk, caller.pc, caller.cfa, caller.fp);
	if (!caller.has_fp)
		walk->valid &= ~BIT(walk->fp);
	if (walk->space->steps != NULL)
		walk->space->steps->by_code++;
	return TAKEN;
}

/* A new thread or process before its first instruction: the kernel returns 0 from clone. */
static bool is_clone_child(const struct walk *walk, const struct ctx_code_frame *code)
{
	return walk->exact && code->is_after_syscall && (walk->valid & BIT(X86_64_RAX)) != 0 &&
	       walk->value[X86_64_RAX] == 0;
}

/* The first code of a process: the kernel has cleared the frame pointer, and it does not return. */
static bool is_entry(const struct walk *walk, const struct ctx_code_frame *code)
{
	return code->has_no_return && (walk->valid & BIT(walk->fp)) != 0 && walk->value[walk->fp] == 0;
}

/* Code without call frame information, by its frame pointer. */
static enum verdict step_by_guess(struct walk *walk, uint64_t *ret_cfa)
{
	if (walk->exact && has_just_pushed(walk) && try_entry(walk, 8, ret_cfa))
		return GO_ON;
	if (try_frame_pointer(walk, ret_cfa))
		return walk->value[walk->pc] == 0 ? end(walk, CTX_TRUNCATED_NOT) : GO_ON;
	if (walk->exact)
		return try_entry(walk, 0, ret_cfa) ? GO_ON : end(walk, CTX_TRUNCATED_NO_TABLE);
	if ((walk->valid & BIT(walk->fp)) != 0 && walk->value[walk->fp] == 0)
		return end(walk, CTX_TRUNCATED_NOT); /* the ABI's marker of the outermost frame */
	return end(walk, CTX_TRUNCATED_NO_TABLE);
}

/*
 * Compilers do not record that an epilogue has popped a register: its slot is then below the stack
 * pointer, and it has its old value already.
 */
static bool is_popped(const struct walk *walk, uint64_t address)
{
	return walk->exact && address < walk->value[walk->sp];
}

static void restore_fp(struct walk *walk, uint64_t address, uint64_t *fp)
{
	if (is_popped(walk, address))
		return;
	if (ctx_cfi_memory_read(&walk->memory, address, fp))
		walk->valid |= BIT(walk->fp);
	else
		walk->valid &= ~BIT(walk->fp);
}

/* The frame of most x86-64 functions. */
static enum verdict step_by_summary(struct walk *walk, const struct ctx_cfi_summary *summary,
				    uint64_t *ret_cfa)
{
	unsigned reg = summary->kind == CTX_CFI_SP ? walk->sp : walk->fp;
	uint64_t cfa = walk->value[reg] + (uint64_t)(int64_t)summary->cfa_offset;
	uint64_t fp = walk->value[walk->fp];
	uint64_t pc;

	if ((walk->valid & BIT(reg)) == 0)
		return end_without_register(walk);
	if (cfa <= walk->value[walk->sp])
		return end(walk, CTX_TRUNCATED_BAD_CFA);
	*ret_cfa = cfa;
	if (!ctx_cfi_memory_read(&walk->memory, cfa - 8, &pc))
		return end(walk, CTX_TRUNCATED_COPY);
	if (summary->fp_offset != 0)
		restore_fp(walk, cfa + (uint64_t)(int64_t)summary->fp_offset, &fp);
	walk->valid &= BIT(walk->fp);
	walk->valid |= BIT(walk->sp) | BIT(walk->pc);
	walk->value[walk->fp] = fp;
	walk->value[walk->sp] = cfa;
	walk->value[walk->pc] = pc;
	walk->exact = false;
	return pc == 0 ? end(walk, CTX_TRUNCATED_NOT) : GO_ON;
}

static struct ctx_cfi_input input_of(const struct walk *walk)
{
	return (struct ctx_cfi_input){.registers = walk->value, .valid = walk->valid, .memory = walk->memory};
}

static enum ctx_cfi_result evaluate(const struct walk *walk, int64_t expression, const uint64_t *first,
				    uint64_t *ret)
{
	const struct ctx_strtab *expressions = &walk->part->rules.expressions;
	struct ctx_cfi_input input = input_of(walk);

	return ctx_cfi_evaluate((const uint8_t *)expressions->strings[expression],
				expressions->lengths[expression], &input, first, ret);
}

static enum ctx_cfi_result get_register(const struct walk *walk, uint64_t reg, int64_t offset, uint64_t *ret)
{
	if (reg >= CTX_USER_REGS_MAX || (walk->valid & BIT(reg)) == 0)
		return CTX_CFI_UNKNOWN;
	*ret = walk->value[reg] + (uint64_t)offset;
	return CTX_CFI_OK;
}

static enum ctx_cfi_result get_saved(const struct walk *walk, const struct ctx_cfi_save *save, uint64_t cfa,
				     uint64_t *ret)
{
	uint64_t address = cfa + (uint64_t)save->place.value;
	enum ctx_cfi_result result;

	switch (save->place.how) {
	case CTX_CFI_SAME:
		return get_register(walk, save->reg, 0, ret);
	case CTX_CFI_REGISTER:
		return get_register(walk, (uint64_t)save->place.value, 0, ret);
	case CTX_CFI_VAL_OFFSET:
		*ret = address;
		return CTX_CFI_OK;
	case CTX_CFI_VAL_EXPRESSION:
		return evaluate(walk, save->place.value, &cfa, ret);
	case CTX_CFI_EXPRESSION:
		result = evaluate(walk, save->place.value, &cfa, &address);
		if (result != CTX_CFI_OK)
			return result;
		break;
	case CTX_CFI_OFFSET:
		if (is_popped(walk, address))
			return get_register(walk, save->reg, 0, ret);
		break;
	default:
		return CTX_CFI_UNKNOWN;
	}
	return ctx_cfi_memory_read(&walk->memory, address, ret) ? CTX_CFI_OK : CTX_CFI_OUTSIDE;
}

/* Restores the registers of a rule; `lost` is why the return address is missing, if it is. */
static void restore(const struct walk *walk, const struct ctx_cfi_rule *rule, uint64_t cfa, struct walk *next,
		    enum ctx_cfi_result *ret_lost)
{
	const struct ctx_cfi_save *saves = walk->part->rules.saves + rule->first_save;

	for (unsigned i = 0; i < rule->n_saves; i++) {
		const struct ctx_cfi_save *save = &saves[i];
		enum ctx_cfi_result result = get_saved(walk, save, cfa, &next->value[save->reg]);

		if (result == CTX_CFI_OK)
			next->valid |= BIT(save->reg);
		else
			next->valid &= ~BIT(save->reg);
		if (save->reg == rule->return_register)
			*ret_lost = result;
	}
}

/*
 * A leaf whose return address is in a register needs no stack: on aarch64, and in vfork, which pops
 * it because the child will return first.
 */
static bool needs_no_stack(const struct walk *walk, const struct ctx_cfi_rule *rule)
{
	const struct ctx_cfi_save *saves = walk->part->rules.saves + rule->first_save;

	if (!walk->exact || walk->machine == CTX_MACHINE_AARCH64)
		return walk->exact;
	for (unsigned i = 0; i < rule->n_saves; i++) {
		if (saves[i].reg == rule->return_register)
			return saves[i].place.how == CTX_CFI_REGISTER;
	}
	return false;
}

static enum verdict step_by_rule(struct walk *walk, const struct ctx_cfi_rule *rule, uint64_t *ret_cfa)
{
	enum ctx_cfi_result result;
	struct walk next = *walk;
	uint64_t cfa;

	result = rule->cfa.how == CTX_CFI_REGISTER
			 ? get_register(walk, rule->cfa_register, rule->cfa.value, &cfa)
			 : evaluate(walk, rule->cfa.value, NULL, &cfa);
	if (result != CTX_CFI_OK)
		return end_by_result(walk, result);
	if (!rule->signal &&
	    (cfa < walk->value[walk->sp] || (cfa == walk->value[walk->sp] && !needs_no_stack(walk, rule))))
		return end(walk, CTX_TRUNCATED_BAD_CFA);
	*ret_cfa = cfa;
	next.valid &= walk->machine == CTX_MACHINE_X86_64 ? X86_64_SAVED : AARCH64_SAVED;
	next.value[walk->sp] = cfa;
	next.valid |= BIT(walk->sp);
	/* Without a rule for it, the return address is still in its register. */
	result = get_register(walk, rule->return_register, 0, &next.value[rule->return_register]);
	if (rule->return_register == walk->pc)
		result = CTX_CFI_BAD;
	restore(walk, rule, cfa, &next, &result);
	if (result != CTX_CFI_OK)
		return end_by_result(walk, result);
	next.value[walk->pc] = next.value[rule->return_register];
	if (walk->machine == CTX_MACHINE_AARCH64) {
		next.value[walk->pc] &= AARCH64_ADDRESS;
		if (!rule->signal)
			next.valid &= ~BIT(AARCH64_LR);
	}
	next.valid |= BIT(walk->pc);
	next.exact = rule->signal;
	*walk = next;
	return walk->value[walk->pc] == 0 && !walk->exact ? end(walk, CTX_TRUNCATED_NOT) : GO_ON;
}

/* The bottom of the stack of a thread, process or coroutine. */
static bool is_bottom(const struct walk *walk, const struct ctx_code_frame *code)
{
	if (walk->exact)
		return is_clone_child(walk, code) || is_entry(walk, code);
	return code->is_bottom;
}

/* Whether the function at the pc may have a frame pointer, which its beginning says. */
static bool uses_fp(const struct walk *walk, const struct ctx_code_frame *code)
{
	if (ctx_code_depth_of(&walk->object) == CTX_CODE_WHOLE)
		return code->uses_fp;
	return code_at(walk, walk->value[walk->pc], CTX_CODE_WHOLE).uses_fp;
}

/*
 * Code without call frame information, as far as its instructions say how it is left. A pc that no
 * call stands before, in front of code that does not return, was put on the stack as its bottom:
 * what a coroutine returns to.
 */
static enum verdict step_by_code(struct walk *walk, const struct ctx_code_frame *code,
				 struct ctx_unwind_frame *frame)
{
	static const struct ctx_code_frame none_yet = {.rules = {{.kind = CTX_CFI_SP, .cfa_offset = 8}},
						       .n_rules = 1};
	uint64_t sp = walk->value[walk->sp];
	enum attempt attempt;

	if (walk->exact && code->makes_frame && try_rules(walk, &none_yet, sp, &frame->cfa) == TAKEN)
		return GO_ON;
	attempt = try_rules(walk, code, sp, &frame->cfa);

	if (attempt != TAKEN && !walk->exact && walk->sender_at == sp &&
	    try_rules(walk, code, walk->sender, &frame->cfa) == TAKEN)
		return GO_ON;
	if (attempt == TAKEN)
		return GO_ON;
	if (is_bottom(walk, code))
		return end(walk, CTX_TRUNCATED_NOT);
	if (attempt == OUTSIDE)
		return end(walk, CTX_TRUNCATED_COPY);
	if (uses_fp(walk, code))
		return step_by_guess(walk, &frame->cfa);
	return end(walk, CTX_TRUNCATED_NO_TABLE);
}

/* Not inlined: the way of code with tables stays short. */
__attribute__((noinline)) static enum verdict step_without_rule(struct walk *walk,
								struct ctx_unwind_frame *frame)
{
	uint64_t pc = walk->value[walk->pc];
	struct ctx_code_frame code = walk->code;

	if (!reads_code(walk))
		return step_by_guess(walk, &frame->cfa);
	if (walk->code_pc != pc || !code.is_known)
		code = code_at(walk, pc, ctx_code_depth_of(&walk->object));
	if (!code.is_known)
		return step_by_guess(walk, &frame->cfa);
	if (!walk->exact && !code.is_returned_to)
		frame->address = pc;
	return step_by_code(walk, &code, frame);
}

/*
 * Whether a pc is the first of a function and no call stands before it, although the function
 * before it reaches up to there.
 */
__attribute__((noinline)) static bool is_placed(const struct walk *walk, uint64_t pc)
{
	uint64_t begin, end;
	struct ctx_code_frame code;

	if (!reads_code(walk) ||
	    !ctx_cfi_table_function(walk->object.table, pc - walk->object.bias, &begin, &end) ||
	    begin != pc - walk->object.bias)
		return false;
	code = code_at(walk, pc, CTX_CODE_CALL);
	return code.is_known && !code.is_returned_to;
}

/*
 * The row of a pc. A return address belongs to the preceding call, unless there was no call: a
 * handler returns to the beginning of the signal trampoline. *ret_address is the address for
 * looking up the frame.
 */
static uint32_t find_rule(struct walk *walk, uint64_t *ret_address)
{
	uint64_t pc = walk->value[walk->pc], bias = walk->object.bias;
	uint64_t address = walk->exact ? pc : pc - 1;
	const struct ctx_cfi_part *part = ctx_cfi_table_part(walk->object.table, address - bias);
	uint32_t row = ctx_cfi_part_row(part, address - bias);
	uint32_t rule = part->rows.items[row].rule;

	walk->part = part;
	*ret_address = address;
	if (walk->exact)
		return rule;
	if (part->rules.summaries[rule].signal) {
		*ret_address = pc;
	} else if (row + 1 < part->rows.n && part->rows.items[row + 1].pc == pc - bias - part->rows.base) {
		uint32_t next = part->rows.items[row + 1].rule;

		if (part->rules.summaries[next].signal) {
			*ret_address = pc;
			rule = next;
		} else if (rule != CTX_CFI_RULE_NONE && is_placed(walk, pc)) {
			rule = CTX_CFI_RULE_NONE;
		}
	}
	return rule;
}

static enum verdict step(struct walk *walk, struct ctx_unwind_frame *frame)
{
	const struct ctx_cfi_rules *rules;
	uint32_t rule;

	if (walk->object.table == NULL)
		return step_without_rule(walk, frame);
	rule = find_rule(walk, &frame->address);
	rules = &walk->part->rules;
	switch (rules->summaries[rule].kind) {
	case CTX_CFI_SP:
	case CTX_CFI_FP:
		if (!walk->full)
			return step_by_summary(walk, &rules->summaries[rule], &frame->cfa);
		return step_by_rule(walk, &rules->items[rule], &frame->cfa);
	case CTX_CFI_FULL:
		return step_by_rule(walk, &rules->items[rule], &frame->cfa);
	case CTX_CFI_ROOT:
		return end(walk, CTX_TRUNCATED_NOT);
	default:
		return step_without_rule(walk, frame);
	}
}

/*
 * A call to an invalid address: the pc is outside all code, but the call has pushed its return
 * address.
 */
static enum verdict step_from_nowhere(struct walk *walk, struct ctx_unwind_frame *frame)
{
	return try_entry(walk, 0, &frame->cfa) ? GO_ON : end(walk, CTX_TRUNCATED_NO_MAP);
}

static size_t run(struct walk *walk, struct ctx_unwind_frame *frames, size_t max)
{
	enum verdict verdict;
	size_t n = 0;

	do {
		uint64_t address = walk->value[walk->pc] - !walk->exact;
		bool mapped = locate(walk, address);

		if (!mapped && !walk->exact) {
			walk->reason = CTX_TRUNCATED_NO_MAP;
			break;
		}
		if (n == max) {
			walk->reason = CTX_TRUNCATED_DEPTH;
			break;
		}
		frames[n] = (struct ctx_unwind_frame){.address = address};
		verdict = mapped ? step(walk, &frames[n]) : step_from_nowhere(walk, &frames[n]);
		n++;
	} while (verdict == GO_ON);
	return n;
}

static void begin(struct walk *walk, const struct ctx_user_state *state)
{
	walk->exact = walk->begins_exact;
	walk->needs_full = false;
	walk->valid = state->regs.valid;
	memcpy(walk->value, state->regs.value, sizeof(walk->value));
	walk->memory = (struct ctx_cfi_memory){
		.bytes = state->stack, .n = state->stack_bytes, .address = walk->value[walk->sp]};
}

/* Whether the function of a return address has changed to this stack: its caller is on another. */
static bool switches_stack(struct walk *walk, uint64_t pc)
{
	const struct ctx_insn_reader reader = {.read = walk->space->read_code,
					       .context = walk->space->context};
	uint64_t begin, end;

	return locate(walk, pc - 1) && walk->object.table != NULL &&
	       ctx_cfi_table_function(walk->object.table, pc - 1 - walk->object.bias, &begin, &end) &&
	       ctx_code_frame_switches_stack(&reader, begin + walk->object.bias, pc);
}

/*
 * Where a return address is in no code, the stack may have ended before: with the first address of a
 * function, which nothing has called, or with a function that changed stacks, as systemstack and
 * mcall of Go do, which may have a stale caller.
 */
__attribute__((noinline)) static size_t settle_bottom(struct walk *walk, struct ctx_unwind_frame *frames,
						      size_t n)
{
	if (n < 2 || !reads_code(walk))
		return n;
	for (size_t i = n; i-- > 1 && i + 2 >= n;) {
		uint64_t pc = frames[i].address + 1;

		if (locate(walk, pc) && walk->object.table != NULL && is_placed(walk, pc))
			frames[i] = (struct ctx_unwind_frame){.address = pc};
		else if (!switches_stack(walk, pc))
			continue;
		walk->reason = CTX_TRUNCATED_NOT;
		return i + 1;
	}
	return n;
}

struct room {
	struct ctx_unwind_frame *frames;
	size_t max;
};

static void prepare(struct walk *walk, const struct ctx_unwind_space *space, enum ctx_machine machine)
{
	walk->machine = machine;
	walk->space = space;
	walk->object = (struct ctx_unwind_object){0};
	walk->sp = ctx_machine_sp(machine);
	walk->fp = ctx_machine_fp(machine);
	walk->pc = ctx_machine_pc(machine);
	walk->full = false;
	walk->sender_at = 0;
	walk->code_pc = 0;
}

/* Behind the end of the copy. */
static size_t follow_chain(struct walk *walk, const struct ctx_user_state *state, struct room room)
{
	const struct ctx_frame_chain_cut cut = {state, walk->value[walk->pc], walk->value[walk->fp],
						walk->exact};
	size_t n = 0;

	if ((walk->valid & BIT(walk->fp)) != 0)
		n = ctx_frame_chain_follow(walk->space, &cut, room.frames, room.max, &walk->reason);
	if (walk->space->steps != NULL)
		walk->space->steps->by_chain += n;
	return n;
}

static enum ctx_truncation unwind(const struct ctx_unwind_space *space, const struct ctx_user_state *state,
				  bool exact, struct room room, size_t *ret_n)
{
	struct ctx_unwind_steps steps = {0};
	struct ctx_unwind_frame *frames = room.frames;
	struct walk walk;

	prepare(&walk, space, state->regs.machine);
	walk.begins_exact = exact;
	*ret_n = 0;
	if (walk.machine == CTX_MACHINE_UNKNOWN || (state->regs.valid & BIT(walk.pc)) == 0)
		return CTX_TRUNCATED_UNKNOWN;
	if ((state->regs.valid & BIT(walk.sp)) == 0) {
		frames[0] = (struct ctx_unwind_frame){.address = state->regs.value[walk.pc]};
		*ret_n = 1;
		return CTX_TRUNCATED_BAD_CFA;
	}
	if (space->steps != NULL)
		steps = *space->steps;
	begin(&walk, state);
	*ret_n = run(&walk, frames, room.max);
	if (walk.needs_full) {
		if (space->steps != NULL)
			*space->steps = steps;
		walk.full = true;
		begin(&walk, state);
		*ret_n = run(&walk, frames, room.max);
	}
	if (walk.reason == CTX_TRUNCATED_NO_MAP)
		*ret_n = settle_bottom(&walk, frames, *ret_n);
	else if (walk.reason == CTX_TRUNCATED_COPY && space->chain != NULL)
		*ret_n += follow_chain(&walk, state, (struct room){frames + *ret_n, room.max - *ret_n});
	return walk.reason;
}

enum ctx_truncation ctx_unwind(const struct ctx_unwind_space *space, const struct ctx_user_state *state,
			       struct ctx_unwind_frame *frames, size_t max, size_t *ret_n)
{
	return unwind(space, state, true, (struct room){frames, max}, ret_n);
}

enum ctx_truncation ctx_unwind_caller(const struct ctx_unwind_space *space,
				      const struct ctx_user_state *state, struct ctx_unwind_frame *frames,
				      size_t max, size_t *ret_n)
{
	return unwind(space, state, false, (struct room){frames, max}, ret_n);
}
