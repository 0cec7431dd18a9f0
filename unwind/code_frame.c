/*
 *	pc, state --step--> next pc, state --...--> ret: a rule
 *	   `--branch--> the other way is kept for later (struct target)
 *
 * The state is where the stack pointer is, relative to its value at the pc or to the frame
 * pointer's there, and what has become of the frame pointer.
 */
#include "unwind/code_frame.h"

#include "base/mem.h"
#include "unwind/x86_insn.h"

#include <string.h>

#define WAYS_MAX 48u
#define TARGETS_MAX 96u
#define WINDOW 2048u
#define WINDOW_BEFORE 512u
#define TOUCH_BYTES 7u /* "mov [rsp - N], eax" */
#define PAGE_BYTES 4096u
#define OVERLAP 32u /* with the next page, of which less may be in front of the pc */
#define FUNCTION_BYTES_MAX 65536u
#define FRAME_BYTES_MAX (1 << 24)
#define NEAR_STEPS 6u
#define ENOUGH_STEPS 100u /* after the first rule */

enum base {
	AT_SP, /* the stack pointer's value at the pc */
	AT_FP, /* the frame pointer's */
	LOST,
};

struct place {
	enum base base;
	int64_t offset;
};

enum fp {
	FP_SAME,   /* as at the pc */
	FP_LOADED, /* from fp_place */
	FP_IS,	   /* fp_place itself */
};

struct state {
	struct place sp, fp_place;
	enum fp fp;
	struct place saved; /* where FP_SAME was pushed on this way; LOST: it was not */
};

struct way {
	uint64_t pc;
	struct state state;
};

/* Where a jump leads. */
struct target {
	struct way way;
	bool is_followed;
};

struct search {
	const struct ctx_insn_reader *reader;
	struct ctx_code_frame *out;
	uint64_t near[4];	/* a bit for each target, by the last bits of its address */
	uint8_t ways[WAYS_MAX]; /* targets that are to be followed */
	size_t n_ways;
	size_t n_targets;
	size_t steps, steps_max;
	bool returns;	  /* a way returns, or was not followed to its end */
	bool jumps_away;  /* a way ends in an indirect jump */
	bool uses_fp;	  /* a way takes the stack pointer from the frame pointer of the pc */
	bool is_near_end; /* the first rule was found at once */
	bool makes_frame; /* a way makes a frame before it has changed anything */
	uint64_t window_at;
	size_t window_n;
	uint8_t window[WINDOW];
	struct target targets[TARGETS_MAX];
};

/* Reads the code around a pc: jumps go both ways, mostly near. What is in front may be missing. */
static size_t move_window(struct search *search, uint64_t pc)
{
	static const uint64_t in_front[] = {WINDOW_BEFORE, CTX_X86_LENGTH_MAX, 0};

	search->window_n = 0;
	for (size_t i = 0; i < CTX_COUNT_OF(in_front) && search->window_n <= pc - search->window_at; i++) {
		search->window_at = pc > in_front[i] ? pc - in_front[i] : 0;
		search->window_n = search->reader->read(search->reader->context, search->window_at,
							search->window, WINDOW);
	}
	return search->window_n > pc - search->window_at ? search->window_n : 0;
}

/* The instruction at a pc. */
static bool decode(struct search *search, uint64_t pc, struct ctx_x86_insn *ret)
{
	uint64_t at = pc - search->window_at;

	if (at >= search->window_n || search->window_n - at < CTX_X86_LENGTH_MAX) {
		search->window_n = move_window(search, pc);
		at = pc - search->window_at;
	}
	return at < search->window_n &&
	       ctx_x86_decode(search->window + at, (size_t)(search->window_n - at), ret);
}

static bool is_same_place(struct place a, struct place b)
{
	return a.base == b.base && a.base != LOST && a.offset == b.offset;
}

static bool is_same_state(const struct state *a, const struct state *b)
{
	return a->sp.base == b->sp.base && a->sp.offset == b->sp.offset && a->fp == b->fp &&
	       a->fp_place.base == b->fp_place.base && a->fp_place.offset == b->fp_place.offset &&
	       a->saved.base == b->saved.base && a->saved.offset == b->saved.offset;
}

static struct target *find_target(struct search *search, uint64_t pc)
{
	if ((search->near[pc / 64 % 4] >> pc % 64 & 1) == 0)
		return NULL;
	for (size_t i = 0; i < search->n_targets; i++) {
		if (search->targets[i].way.pc == pc)
			return &search->targets[i];
	}
	return NULL;
}

/* Notes where a jump leads; NULL: others have led there, or there are too many. */
static struct target *add_target(struct search *search, uint64_t pc, const struct state *state)
{
	struct target *target;

	if (find_target(search, pc) != NULL)
		return NULL;
	if (search->n_targets == TARGETS_MAX) {
		search->returns = true;
		return NULL;
	}
	search->near[pc / 64 % 4] |= UINT64_C(1) << pc % 64;
	target = &search->targets[search->n_targets++];
	*target = (struct target){.way = {pc, *state}};
	return target;
}

/* Notes a way to be followed later. */
static void keep_way(struct search *search, uint64_t pc, const struct state *state)
{
	struct target *target = add_target(search, pc, state);

	if (target == NULL)
		return;
	if (search->n_ways == WAYS_MAX) {
		search->returns = true;
		return;
	}
	search->ways[search->n_ways++] = (uint8_t)(target - search->targets);
}

/* Whether a jump has led to where this way has come, in the same state: it needs to be followed once. */
static bool is_known(struct search *search, const struct way *way)
{
	struct target *target = find_target(search, way->pc);
	bool is_known;

	if (target == NULL || !is_same_state(&target->way.state, &way->state))
		return false;
	is_known = target->is_followed;
	target->is_followed = true;
	return is_known;
}

static struct place add(struct place place, int64_t offset)
{
	place.offset += offset;
	return place;
}

/* The frame pointer as a place. */
static struct place fp_of(const struct state *state)
{
	if (state->fp == FP_SAME)
		return (struct place){AT_FP, 0};
	return state->fp == FP_IS ? state->fp_place : (struct place){LOST, 0};
}

static void load_fp(struct state *state, struct place from)
{
	if (is_same_place(from, state->saved)) {
		state->fp = FP_SAME;
	} else if (from.base == LOST || (from.base == AT_SP && from.offset < 0)) {
		state->fp = FP_IS;
		state->fp_place = (struct place){LOST, 0};
	} else {
		state->fp = FP_LOADED;
		state->fp_place = from;
	}
}

static void store_fp(struct state *state, struct place to)
{
	if (state->fp == FP_SAME)
		state->saved = to;
	else if (is_same_place(to, state->saved))
		state->saved = (struct place){LOST, 0};
}

/* What an instruction does to the stack pointer and the frame pointer. */
static void apply(struct state *state, const struct ctx_x86_insn *insn)
{
	switch (insn->kind) {
	case CTX_X86_PUSH_FP:
	case CTX_X86_PUSH:
		state->sp = add(state->sp, -8);
		if (insn->kind == CTX_X86_PUSH_FP)
			store_fp(state, state->sp);
		else if (is_same_place(state->sp, state->saved))
			state->saved = (struct place){LOST, 0};
		break;
	case CTX_X86_LEAVE:
		state->sp = fp_of(state);
		load_fp(state, state->sp);
		state->sp = add(state->sp, 8);
		break;
	case CTX_X86_POP_FP:
		load_fp(state, state->sp);
		state->sp = add(state->sp, 8);
		break;
	case CTX_X86_POP:
		state->sp = add(state->sp, 8);
		break;
	case CTX_X86_ADD_SP:
		state->sp = add(state->sp, insn->value);
		break;
	case CTX_X86_SP_FROM_FP:
		state->sp = add(fp_of(state), insn->value);
		break;
	case CTX_X86_FP_FROM_SP:
		state->fp_place = add(state->sp, insn->value);
		state->fp = FP_IS;
		break;
	case CTX_X86_STORE_FP:
		store_fp(state, add(state->sp, insn->value));
		break;
	case CTX_X86_LOAD_FP:
		load_fp(state, add(state->sp, insn->value));
		break;
	case CTX_X86_LOSE_SP:
	case CTX_X86_SWITCH_SP:
		state->sp = (struct place){LOST, 0};
		break;
	default:
		break;
	}
}

static bool has_rule(const struct ctx_code_frame *frame, const struct ctx_cfi_summary *rule)
{
	for (unsigned i = 0; i < frame->n_rules; i++) {
		if (memcmp(&frame->rules[i], rule, sizeof(*rule)) == 0)
			return true;
	}
	return false;
}

static void add_rule(struct ctx_code_frame *out, const struct ctx_cfi_summary *rule)
{
	if (!has_rule(out, rule) && out->n_rules < CTX_CODE_FRAMES_MAX)
		out->rules[out->n_rules++] = *rule;
}

/* The rule for the pc where the search began, if this state is that of a `ret`. False: none. */
static bool rule_of(const struct state *state, struct ctx_cfi_summary *ret)
{
	int64_t cfa = state->sp.offset + 8;
	int64_t saved = state->fp_place.offset - cfa;

	*ret = (struct ctx_cfi_summary){.kind = state->sp.base == AT_SP ? CTX_CFI_SP : CTX_CFI_FP};
	if (state->sp.base == LOST || cfa < 8 || cfa > INT32_MAX)
		return false;
	if (state->fp == FP_IS || (state->fp == FP_LOADED && state->fp_place.base != state->sp.base))
		return false;
	if (state->fp == FP_LOADED) {
		if (saved >= 0 || saved < INT16_MIN)
			return false;
		ret->fp_offset = (int16_t)saved;
	}
	ret->cfa_offset = (int32_t)cfa;
	return true;
}

static void take_return(struct search *search, const struct state *state)
{
	struct ctx_cfi_summary rule;

	search->returns = true;
	if (!rule_of(state, &rule))
		return;
	if (search->out->n_rules == 0)
		search->is_near_end = search->steps <= NEAR_STEPS;
	add_rule(search->out, &rule);
	if (search->steps_max > search->steps + ENOUGH_STEPS)
		search->steps_max = search->steps + ENOUGH_STEPS;
}

/* Whether a jump enters another function, which returns to this one's caller: its end says nothing new. */
static bool is_tail_call(const struct search *search, const struct state *state)
{
	struct ctx_cfi_summary rule;

	return search->out->n_rules != 0 && rule_of(state, &rule) && has_rule(search->out, &rule);
}

/* Whether the frame pointer is set, or room is made, behind a push of it. */
static bool begins_frame(struct search *search, uint64_t pc)
{
	struct ctx_x86_insn insn;

	return decode(search, pc, &insn) && ((insn.kind == CTX_X86_FP_FROM_SP && insn.value == 0) ||
					     (insn.kind == CTX_X86_ADD_SP && insn.value < 0));
}

/* Follows one instruction; false: this way ends. */
static bool follow(struct search *search, struct way *way, const struct ctx_x86_insn *insn)
{
	uint64_t next = way->pc + insn->length;
	uint64_t target = next + (uint64_t)(int64_t)insn->value;

	way->pc = next;
	switch (insn->kind) {
	case CTX_X86_RETURN:
		take_return(search, &way->state);
		return false;
	case CTX_X86_STOP:
		return false;
	case CTX_X86_JUMP_INDIRECT:
		search->jumps_away = true;
		return false;
	case CTX_X86_JUMP:
		way->pc = target;
		if (is_tail_call(search, &way->state))
			return false;
		return add_target(search, target, &way->state) != NULL;
	case CTX_X86_BRANCH:
		keep_way(search, target, &way->state);
		return true;
	case CTX_X86_CALL: /* "call 1f; 1: pop" reads the pc */
		if (target == next)
			way->state.sp = add(way->state.sp, -8);
		return true;
	case CTX_X86_PUSH_FP:
		if (way->state.sp.base == AT_SP && way->state.sp.offset == 0)
			search->makes_frame = search->makes_frame || begins_frame(search, way->pc);
		apply(&way->state, insn);
		return true;
	case CTX_X86_LEAVE:
	case CTX_X86_SP_FROM_FP:
		search->uses_fp = search->uses_fp || way->state.fp == FP_SAME;
		apply(&way->state, insn);
		return true;
	default:
		apply(&way->state, insn);
		return true;
	}
}

static void run(struct search *search, struct way way)
{
	for (;;) {
		struct ctx_x86_insn insn;

		if (is_known(search, &way))
			return;
		if (search->steps++ >= search->steps_max || !decode(search, way.pc, &insn)) {
			search->returns = true;
			return;
		}
		if (!follow(search, &way, &insn))
			return;
	}
}

/*
 * Where an interpreted caller goes on in HotSpot: its address was pushed, not left by a call. The
 * code takes the stack pointer from the frame, either "mov rsp, [rbp - 16]" or, since it is
 * relative, "mov rcx, [rbp - 16]; lea rsp, [rbp + 8 * rcx]".
 */
static bool is_interpreter(const uint8_t *code, size_t n)
{
	static const uint8_t absolute[] = {0x48, 0x8b, 0x65, 0xf0};
	static const uint8_t relative[] = {0x48, 0x8b, 0x4d, 0xf0, 0x48, 0x8d, 0x64, 0xcd, 0x00};

	return (n >= sizeof(absolute) && memcmp(code, absolute, sizeof(absolute)) == 0) ||
	       (n >= sizeof(relative) && memcmp(code, relative, sizeof(relative)) == 0);
}

/*
 * How a compiled method of HotSpot begins: it touches the stack as far down as it may need it, "mov
 * [rsp - N], eax", and makes its frame, "push rbp; (mov rbp, rsp;) sub rsp, N". A method that is no
 * longer to be entered has a jump where the touch was. `code` is at the push. Returns the bytes of
 * the frame below the saved frame pointer; 0: it is something else.
 */
static int32_t frame_of_hotspot(const uint8_t *code, size_t n)
{
	static const uint8_t touch[] = {0x89, 0x84, 0x24}, end_of_touch[] = {0xfe, 0xff};
	const uint8_t *before = code - TOUCH_BYTES;
	struct ctx_x86_insn insn;
	size_t at = 1;

	if (memcmp(code - sizeof(end_of_touch), end_of_touch, sizeof(end_of_touch)) != 0 ||
	    (memcmp(before, touch, sizeof(touch)) != 0 && before[0] != 0xe9))
		return 0;
	if (ctx_x86_decode(code + at, n - at, &insn) && insn.kind == CTX_X86_FP_FROM_SP)
		at += insn.length;
	if (!ctx_x86_decode(code + at, n - at, &insn) || insn.kind != CTX_X86_ADD_SP || insn.value >= 0 ||
	    insn.value < -FRAME_BYTES_MAX)
		return 0;
	return -insn.value;
}

/*
 * The same of a method that calls nothing: "sub rsp, N; mov [rsp + N - 8], rbp". `code` is at the
 * first of them.
 */
static int32_t frame_of_hotspot_leaf(const uint8_t *code, size_t n)
{
	struct ctx_x86_insn sub, store;

	if (code[0] != 0x48 || !ctx_x86_decode(code, n, &sub) || sub.kind != CTX_X86_ADD_SP ||
	    sub.value >= 0 || sub.value < -FRAME_BYTES_MAX ||
	    !ctx_x86_decode(code + sub.length, n - sub.length, &store) || store.kind != CTX_X86_STORE_FP ||
	    store.value != -sub.value - 8)
		return 0;
	return store.value;
}

/* "push rbp; mov rbp, rsp", in both encodings of the latter. */
static bool sets_frame_pointer(const uint8_t *code, size_t n)
{
	return n >= 4 && code[1] == 0x48 &&
	       ((code[2] == 0x89 && code[3] == 0xe5) || (code[2] == 0x8b && code[3] == 0xec));
}

/*
 * The nearest beginning of a function in front of the pc, of the kinds that can be recognised: it
 * says how the frame was made where the way to its end is too long, or does not exist. A beginning of
 * HotSpot is better than a far end: its methods jump into code of others. False: there is none.
 */
static bool find_beginning(const struct ctx_insn_reader *reader, uint64_t pc, bool is_near_end,
			   struct ctx_code_frame *out)
{
	uint8_t code[PAGE_BYTES + OVERLAP];
	uint64_t end = pc; /* page by page: the one before may not exist */

	while (pc - end < FUNCTION_BYTES_MAX && end != 0) {
		uint64_t begin = (end - 1) / PAGE_BYTES * PAGE_BYTES;
		size_t page = end == pc ? (size_t)(end - begin) : PAGE_BYTES;
		size_t want = end == pc ? page : sizeof(code);
		size_t n = reader->read(reader->context, begin, code, want);
		size_t i = n < PAGE_BYTES + TOUCH_BYTES ? n : PAGE_BYTES + TOUCH_BYTES;

		if (n < page)
			return false;
		end = begin;
		while (i-- > TOUCH_BYTES) {
			int32_t frame = code[i] == 0x55 ? frame_of_hotspot(code + i, n - i)
							: frame_of_hotspot_leaf(code + i, n - i);

			if (frame != 0 && !is_near_end)
				out->n_rules = 0;
			if (frame != 0)
				add_rule(out, &(struct ctx_cfi_summary){.kind = CTX_CFI_SP,
									.cfa_offset = frame + 16,
									.fp_offset = -16});
			out->uses_fp = frame == 0 && code[i] == 0x55 && sets_frame_pointer(code + i, n - i);
			if (frame != 0 || out->uses_fp)
				return true;
		}
	}
	return false;
}

/* Whether a call stands in front of the pc; there may be no code in front of it. */
static struct ctx_code_frame find_call(const struct ctx_insn_reader *reader, uint64_t pc)
{
	uint8_t code[CTX_X86_CALL_MAX];
	size_t n = pc < sizeof(code) ? (size_t)pc : sizeof(code);

	if (reader->read(reader->context, pc - n, code, n) == n)
		return (struct ctx_code_frame){.is_known = true,
					       .is_returned_to = ctx_x86_ends_with_call(code, n)};
	return (struct ctx_code_frame){.is_known = reader->read(reader->context, pc, code, 1) == 1};
}

struct ctx_code_frame ctx_code_frame_find(const struct ctx_insn_reader *reader, uint64_t pc,
					  enum ctx_code_depth depth)
{
	struct search search; /* most of it need not be cleared */
	const struct state state = {.sp = {AT_SP, 0}, .fp_place = {LOST, 0}, .saved = {LOST, 0}};
	struct ctx_code_frame out = {0};
	bool is_at_interpreter;
	const uint8_t *at;
	size_t before;

	if (depth == CTX_CODE_CALL)
		return find_call(reader, pc);
	memset(&search, 0, offsetof(struct search, window));
	search.reader = reader;
	search.out = &out;
	search.window_at = pc;
	search.steps_max = CTX_CODE_FRAME_STEPS;
	if (move_window(&search, pc) == 0)
		return out;
	before = (size_t)(pc - search.window_at);
	at = search.window + before;
	out.is_known = true;
	is_at_interpreter = is_interpreter(at, search.window_n - before);
	out.is_returned_to = is_at_interpreter || ctx_x86_ends_with_call(search.window, before);
	out.is_after_syscall = before >= 2 && at[-2] == 0x0f && at[-1] == 0x05;
	run(&search, (struct way){pc, state});
	while (search.n_ways != 0 && search.steps < search.steps_max)
		run(&search, search.targets[search.ways[--search.n_ways]].way);
	out.has_no_return = !search.returns && search.n_ways == 0;
	out.makes_frame = search.makes_frame;
	if (is_at_interpreter || depth == CTX_CODE_END ||
	    !find_beginning(reader, pc, search.is_near_end, &out))
		out.uses_fp = search.uses_fp || out.n_rules == 0;
	out.is_bottom = out.has_no_return && !search.jumps_away && !out.is_returned_to && search.steps > 1;
	return out;
}

bool ctx_code_frame_switches_stack(const struct ctx_insn_reader *reader, uint64_t begin, uint64_t pc)
{
	uint8_t code[WINDOW];
	size_t n = pc - begin < WINDOW ? (size_t)(pc - begin) : WINDOW;
	struct ctx_x86_insn insn;

	n = reader->read(reader->context, begin, code, n);
	for (size_t at = 0; at < n && ctx_x86_decode(code + at, n - at, &insn); at += insn.length) {
		if (insn.kind == CTX_X86_SWITCH_SP)
			return true;
	}
	return false;
}
