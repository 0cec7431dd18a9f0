#include "unwind/outer_chain.h"
#include "unwind/return_address.h"

#include <string.h>

#define CALL_BYTES 5u
#define CALL 0xe8
#define JUMP 0xe9
#define BND 0xf2
#define INDIRECT 0xff /* its next byte: */
#define CALL_RIP 0x15
#define JUMP_RIP 0x25
#define INDIRECT_BYTES 6u
#define PLT_BYTES 16u
#define CODE_MAX ((size_t)16 << 10) /* of a function, searched for jumps */

bool ctx_outer_chain_function(const struct ctx_unwind_space *space, uint64_t pc, uint64_t *ret_begin,
			      uint64_t *ret_end)
{
	struct ctx_unwind_object object;

	if (!space->find(space->context, pc, &object) || object.table == NULL ||
	    !ctx_cfi_table_function(object.table, pc - object.bias, ret_begin, ret_end))
		return false;
	*ret_begin += object.bias;
	*ret_end += object.bias;
	return true;
}

static uint64_t word_at(const struct ctx_outer_window *window, uint64_t address)
{
	uint64_t word;

	memcpy(&word, window->bytes + (address - window->address), sizeof(word));
	return word;
}

static uint64_t last_word(const struct ctx_outer_window *window)
{
	return window->address + window->n - 8;
}

/* The state of a thread whose callee has just returned by the word at `slot`. */
static struct ctx_user_state state_at(const struct ctx_outer_window *window, uint64_t slot)
{
	struct ctx_user_state state = {
		.regs.machine = CTX_MACHINE_X86_64,
		.stack = window->bytes + (slot + 8 - window->address),
		.stack_bytes = window->address + window->n - (slot + 8),
	};
	unsigned pc = ctx_machine_pc(CTX_MACHINE_X86_64), sp = ctx_machine_sp(CTX_MACHINE_X86_64);

	state.regs.value[pc] = word_at(window, slot);
	state.regs.value[sp] = slot + 8;
	state.regs.valid = UINT64_C(1) << pc | UINT64_C(1) << sp;
	return state;
}

bool ctx_outer_chain_root(const struct ctx_unwind_space *space, const struct ctx_outer_window *window,
			  uint64_t *ret_address)
{
	for (size_t i = window->n / 8; i-- > 0;) {
		uint64_t slot = window->address + 8 * i;
		struct ctx_user_state state = state_at(window, slot);
		struct ctx_unwind_frame frame;
		size_t n;

		if (!ctx_unwind_follows_call(space, word_at(window, slot)) ||
		    ctx_unwind_caller(space, &state, &frame, 1, &n) != CTX_TRUNCATED_NOT)
			continue;
		*ret_address = slot;
		return true;
	}
	return false;
}

/* A relative jump or call: where it goes to, if its displacement is at `at`. */
static uint64_t target_of(const uint8_t *at, uint64_t next)
{
	int32_t displacement;

	memcpy(&displacement, at, sizeof(displacement));
	return next + (uint64_t)(int64_t)displacement;
}

/* Whether a function jumps into another: it ends with a call of it, or continues there. */
static bool jumps_into(const struct ctx_unwind_space *space, uint64_t begin, uint64_t end,
		       const uint64_t into[2])
{
	uint8_t code[CODE_MAX];
	size_t n = end - begin < sizeof(code) ? (size_t)(end - begin) : sizeof(code);

	n = space->read_code(space->context, begin, code, n);
	for (size_t i = 0; i + CALL_BYTES <= n; i++) {
		bool conditional = i > 0 && code[i - 1] == 0x0f && (code[i] & 0xf0) == 0x80;
		uint64_t target;

		if (code[i] != JUMP && !conditional)
			continue;
		target = target_of(code + i + 1, begin + i + CALL_BYTES);
		if (target >= into[0] && target < into[1])
			return true;
	}
	return false;
}

/* The word that an instruction refers to relative to the next one; 0: it cannot be read. */
static uint64_t word_of(const struct ctx_outer_window *window, const uint8_t *displacement, uint64_t next)
{
	uint64_t word;

	return window->read_word != NULL &&
			       window->read_word(window->context, target_of(displacement, next), &word)
		       ? word
		       : 0;
}

/* Where an entry of a PLT leads to ("endbr64", "bnd" or neither, "jmp [address]"); else the address. */
static uint64_t behind_plt(const struct ctx_unwind_space *space, const struct ctx_outer_window *window,
			   uint64_t address)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[PLT_BYTES] = {0};
	size_t at = 0;

	(void)space->read_code(space->context, address, code, sizeof(code));
	if (memcmp(code, endbr64, sizeof(endbr64)) == 0)
		at += sizeof(endbr64);
	at += code[at] == BND;
	return code[at] == INDIRECT && code[at + 1] == JUMP_RIP
		       ? word_of(window, code + at + 2, address + at + INDIRECT_BYTES)
		       : address;
}

/* What the call in front of a return address enters, as far as it says it; 0: not known. */
static uint64_t called_by(const struct ctx_unwind_space *space, const struct ctx_outer_window *window,
			  uint64_t next)
{
	uint8_t code[INDIRECT_BYTES];

	if (space->read_code(space->context, next - sizeof(code), code, sizeof(code)) != sizeof(code))
		return 0;
	if (code[0] == INDIRECT && code[1] == CALL_RIP)
		return word_of(window, code + 2, next);
	return code[1] == CALL ? behind_plt(space, window, target_of(code + 2, next)) : 0;
}

/*
 * Whether the call in front of a caller's return address can have entered the function of the frame
 * inside it. Only a call of the first address of a function says anything.
 */
static bool call_fits(const struct ctx_unwind_space *space, const struct ctx_outer_window *window,
		      const struct ctx_unwind_frame *caller, const struct ctx_unwind_frame *callee)
{
	uint64_t target = called_by(space, window, caller->address + 1), begin, end, inside[2];

	if (target == 0 || !ctx_outer_chain_function(space, target, &begin, &end) || begin != target ||
	    !ctx_outer_chain_function(space, callee->address, &inside[0], &inside[1]))
		return true;
	return inside[0] == begin || jumps_into(space, begin, end, inside);
}

static bool all_fit(const struct ctx_unwind_space *space, const struct ctx_outer_window *window,
		    const struct ctx_unwind_frame *frames, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (!ctx_unwind_follows_call(space, frames[i].address + 1) ||
		    !call_fits(space, window, &frames[i], &frames[i - 1]))
			return false;
	}
	return true;
}

/* The chain from the return address at `slot`; 0: it does not lead to the root. */
static size_t try_chain(const struct ctx_unwind_space *space, const struct ctx_outer_window *window,
			const struct ctx_user_state *state, struct ctx_unwind_frame *frames, size_t max)
{
	uint64_t root = last_word(window);
	size_t n;

	if (ctx_unwind_caller(space, state, frames, max, &n) != CTX_TRUNCATED_NOT || n == 0)
		return 0;
	if (n == 1 ? state->stack_bytes != 0 : frames[n - 2].cfa != root + 8)
		return 0;
	return all_fit(space, window, frames, n) ? n : 0;
}

/*
 * The frame pointer of the caller at `slot` is not known. If its callee has begun with saving it, it is
 * in front of the return address.
 */
static size_t try_slot(const struct ctx_unwind_space *space, const struct ctx_outer_window *window,
		       uint64_t slot, struct ctx_unwind_frame *frames, size_t max)
{
	struct ctx_user_state state = state_at(window, slot);
	unsigned fp = ctx_machine_fp(CTX_MACHINE_X86_64);
	uint64_t saved = slot > window->address ? word_at(window, slot - 8) : 0;
	size_t n = 0;

	if (saved > slot && saved < last_word(window) && saved % 8 == 0) {
		state.regs.value[fp] = saved;
		state.regs.valid |= UINT64_C(1) << fp;
		n = try_chain(space, window, &state, frames, max);
		state.regs.valid &= ~(UINT64_C(1) << fp);
	}
	return n != 0 ? n : try_chain(space, window, &state, frames, max);
}

size_t ctx_outer_chain_find(const struct ctx_unwind_space *space, const struct ctx_outer_window *window,
			    struct ctx_unwind_frame *frames, size_t max)
{
	unsigned tries = 0;

	if (space->read_code == NULL)
		return 0;
	for (size_t i = 0; i < window->n / 8 && tries < CTX_OUTER_CHAIN_TRIES; i++) {
		uint64_t slot = window->address + 8 * i;
		size_t n;

		if (!ctx_unwind_follows_call(space, word_at(window, slot)))
			continue;
		tries++;
		n = try_slot(space, window, slot, frames, max);
		if (n != 0)
			return n;
	}
	return 0;
}
