/*
 *	pc --rows--> summary --> CFA --> caller's pc and frame pointer --> again
 *	      |
 *	      |-- not seen before: _dl_find_object -> .eh_frame_hdr -> FDE -> its program up to the pc
 *	      `-- no such information: instructions at the pc -> proposals -> the one whose caller stands behind a call
 */
#include "runtime/rt_walk.h"

#include "elf/cfi_reader.h"
#include "runtime/rt_code.h"
#include "runtime/rt_filter.h"
#include "unwind/cfi_expr.h"
#include "unwind/x86_insn.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

/* DWARF's numbers of the registers. */
#if defined(__x86_64__)
#define MACHINE CTX_MACHINE_X86_64
#define HAS_RETURNS_OF_NO_CALL false
#define FP 6u
#define SP 7u
#define PC 16u
#elif defined(__i386__)
#define MACHINE CTX_MACHINE_I386
#define HAS_RETURNS_OF_NO_CALL true
#define FP 5u
#define SP 4u
#define PC 8u
#else
#error "the unwinder of the runtime is for x86-64 and i386"
#endif
#define WORD CTX_CFI_WORD
#define PAGES_MAX 63u /* of another stack than the thread's, behind the first: 256 KiB */
#define BIT(reg) (UINT64_C(1) << (reg))

#pragma weak _dl_find_object

static _Atomic uint32_t epoch;

void ctx_rt_forget_objects(void)
{
	atomic_fetch_add(&epoch, 1);
}

bool ctx_rt_can_walk(void)
{
	return _dl_find_object != NULL;
}

/* The header of .eh_frame_hdr as all linkers write it. */
struct frame_header {
	uint8_t version, pointer_encoding, count_encoding, table_encoding;
	int32_t frames; /* from this field */
	uint32_t n;
	struct {
		int32_t pc, fde; /* from the header */
	} entries[];
};

#define PCREL_SDATA4 0x1b
#define UDATA4 0x03
#define DATAREL_SDATA4 0x3b

/*
 * The end of the mapping of an object that has the address. Of a program with gaps between its segments
 * _dl_find_object says where the code is, and its tables lie elsewhere. 0: nowhere.
 */
static uint64_t end_of_mapping(const struct dl_find_object *found, uint64_t address)
{
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t n = headers != NULL ? getauxval(AT_PHNUM) : 0;
	uint64_t bias = 0;

	if (address >= (uintptr_t)found->dlfo_map_start && address < (uintptr_t)found->dlfo_map_end)
		return (uintptr_t)found->dlfo_map_end;
	for (size_t i = 0; i < n; i++) {
		if (headers[i].p_type == PT_PHDR)
			bias = (uintptr_t)headers - headers[i].p_vaddr;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t begin = bias + headers[i].p_vaddr;

		if (headers[i].p_type == PT_LOAD && address >= begin && address - begin < headers[i].p_memsz)
			return begin + headers[i].p_memsz;
	}
	return 0;
}

/* The section, and the offset in it of the FDE that may cover the address. */
static bool find_fde(uint64_t address, struct ctx_cfi_section *ret, size_t *ret_at)
{
	const struct frame_header *header;
	struct dl_find_object found;
	uint64_t end, begin;
	uint32_t low = 0, high;
	int64_t offset;

	if (_dl_find_object((void *)(uintptr_t)address, &found) != 0 || found.dlfo_eh_frame == NULL)
		return false;
	header = found.dlfo_eh_frame;
	if (header->version != 1 || header->pointer_encoding != PCREL_SDATA4 ||
	    header->count_encoding != UDATA4 || header->table_encoding != DATAREL_SDATA4 || header->n == 0)
		return false;
	offset = (int64_t)(address - (uintptr_t)header);
	high = header->n;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (header->entries[middle].pc <= offset)
			low = middle;
		else
			high = middle;
	}
	if (header->entries[low].pc > offset)
		return false;
	begin = (uintptr_t)&header->frames + (uint64_t)(int64_t)header->frames;
	end = end_of_mapping(&found, begin);
	if (end == 0)
		return false;
	ret->bytes = (const uint8_t *)(uintptr_t)begin;
	ret->n = (size_t)(end - begin);
	ret->address = begin;
	ret->is_eh = true;
	ret->is_32 = WORD == 4;
	*ret_at = (size_t)((const uint8_t *)header + header->entries[low].fde - ret->bytes);
	return *ret_at < ret->n;
}

struct search {
	struct ctx_rt_walker *walker;
	uint64_t address;
};

static enum ctx_status see_row(void *context, const struct ctx_cfi_state *state, uint64_t begin, uint64_t end,
			       struct ctx_err *err)
{
	const struct search *search = context;

	(void)state;
	(void)err;
	return search->address >= begin && search->address < end ? CTX_END : CTX_OK;
}

static enum ctx_status see_expression(void *context, const uint8_t *bytes, size_t n, int64_t *ret,
				      struct ctx_err *err)
{
	struct ctx_rt_walker *walker = ((struct search *)context)->walker;

	(void)err;
	if (walker->n_expressions == CTX_RT_EXPRESSIONS)
		return CTX_E_LIMIT;
	*ret = walker->n_expressions;
	walker->expressions[walker->n_expressions++] = (struct ctx_bytes){bytes, n};
	return CTX_OK;
}

struct function {
	struct ctx_cfi_section section;
	struct ctx_cfi_cie cie;
	struct ctx_cfi_fde fde;
};

static bool find_function(uint64_t address, struct function *ret)
{
	struct ctx_cfi_entry entry, cie_entry;
	size_t at, cie_at;

	ret->section = (struct ctx_cfi_section){0};
	if (!find_fde(address, &ret->section, &at) ||
	    ctx_cfi_entry_next(&ret->section, &at, &entry) != CTX_OK || entry.kind != CTX_CFI_ENTRY_FDE)
		return false;
	cie_at = entry.cie_offset;
	return ctx_cfi_entry_next(&ret->section, &cie_at, &cie_entry) == CTX_OK &&
	       cie_entry.kind == CTX_CFI_ENTRY_CIE &&
	       ctx_cfi_cie_read(&ret->section, &cie_entry, &ret->cie) &&
	       ctx_cfi_fde_read(&ret->section, &entry, &ret->cie, &ret->fde) && address >= ret->fde.begin &&
	       address < ret->fde.end;
}

/* Runs the programs of the address up to it: walker->machine.state is its state. */
static bool find_state(struct ctx_rt_walker *walker, uint64_t address)
{
	struct search search = {walker, address};
	const struct ctx_cfi_sink sink = {&search, see_row, see_expression};
	struct function function;

	if (!find_function(address, &function))
		return false;
	walker->n_expressions = 0;
	walker->machine.section = &function.section;
	walker->machine.sink = &sink;
	if (ctx_cfi_run_cie(&walker->machine, &function.cie, NULL) != CTX_OK)
		return false;
	walker->initial = walker->machine.state;
	return ctx_cfi_run_fde(&walker->machine, &function.cie, &walker->initial, &function.fde, NULL) ==
	       CTX_END;
}

/*
 * A return address to which no call returns: i386's makecontext puts the address of a part of itself there. False
 * also where the code cannot be read.
 */
static bool follows_no_call(uint64_t pc)
{
	struct dl_find_object found;

	return HAS_RETURNS_OF_NO_CALL && _dl_find_object((void *)(uintptr_t)(pc - 1), &found) == 0 &&
	       pc - (uintptr_t)found.dlfo_map_start > CTX_X86_CALL_MAX &&
	       !ctx_x86_ends_with_call((const uint8_t *)(uintptr_t)(pc - CTX_X86_CALL_MAX), CTX_X86_CALL_MAX);
}

/*
 * Where a coroutine ends (makecontext) there is no caller: a function begins at the return address, or it has no
 * description and is none.
 */
static bool is_behind_root(uint64_t address)
{
	struct function function;

	return (find_function(address + 1, &function) && function.fde.begin == address + 1) ||
	       follows_no_call(address + 1);
}

/* Kinds of rows of code without call frame information. */
#define BY_CODE 0x40u /* the kind that is found in the code: the caller is looked at each time */
#define MADE 0x20u    /* besides: by no loaded object, so the code may change */
#define REFUSED 0x80u /* nothing led to a caller; cfa_offset counts how often it was tried */
#define TRIES 4	      /* then once in TRIES_APART */
#define TRIES_APART 256

#define BEHIND_ROOT ((struct ctx_cfi_summary){.kind = CTX_CFI_ROOT, .cfa_offset = 1})

static struct ctx_rt_row *row_of(struct ctx_rt_walker *walker, uint64_t address)
{
	return &walker->rows[(address ^ address >> 11) & (CTX_RT_ROWS - 1)];
}

static struct ctx_cfi_summary find_summary(struct ctx_rt_walker *walker, uint64_t address)
{
	struct ctx_rt_row *row = row_of(walker, address);

	if (__builtin_expect(row->address == address, 1))
		return row->summary;
	row->summary = find_state(walker, address) ? ctx_cfi_summarize(MACHINE, &walker->machine.state)
						   : (struct ctx_cfi_summary){.kind = CTX_CFI_NONE};
	if (row->summary.kind == CTX_CFI_NONE && is_behind_root(address))
		row->summary = BEHIND_ROOT;
	row->address = address;
	return row->summary;
}

static struct {
	uint64_t code; /* 0: none */
	uint64_t (*find)(uint64_t cfa);
} stand_in;

void ctx_rt_walk_stand_in(uint64_t code, uint64_t (*find)(uint64_t cfa))
{
	stand_in.find = find;
	stand_in.code = code;
}

/* The return address that a frame of this CFA has, where `pc` is at its place. */
static inline uint64_t true_return(uint64_t pc, uint64_t cfa)
{
	return __builtin_expect(pc == stand_in.code && pc != 0, 0) ? stand_in.find(cfa) : pc;
}

struct frame {
	struct ctx_rt_registers regs;
	bool exact;	/* pc is where the thread was, not a return address */
	uint64_t fp_at; /* where the frame pointer was read; 0: it was not, 1: as a summary cannot say */
	struct ctx_cfi_memory memory;
};

#define BY_STATE 1u

static enum ctx_truncation step_by_summary(struct frame *frame, struct ctx_cfi_summary summary)
{
	uint64_t base = summary.kind == CTX_CFI_SP ? frame->regs.sp : frame->regs.fp;
	uint64_t cfa = base + (uint64_t)(int64_t)summary.cfa_offset;

	if (cfa <= frame->regs.sp)
		return CTX_TRUNCATED_BAD_CFA;
	if (!ctx_cfi_memory_read(&frame->memory, cfa - WORD, &frame->regs.pc))
		return CTX_TRUNCATED_COPY;
	frame->regs.pc = true_return(frame->regs.pc, cfa);
	frame->fp_at = summary.fp_offset != 0 ? cfa + (uint64_t)(int64_t)summary.fp_offset : 0;
	if (frame->fp_at != 0 && !ctx_cfi_memory_read(&frame->memory, frame->fp_at, &frame->regs.fp))
		return CTX_TRUNCATED_COPY;
	frame->regs.sp = cfa;
	frame->exact = false;
	return CTX_TRUNCATED_NOT;
}

/* The value of a register in the caller. */
static enum ctx_cfi_result value_of(const struct ctx_rt_walker *walker, const struct ctx_cfi_input *input,
				    unsigned reg, uint64_t cfa, uint64_t *ret)
{
	const struct ctx_cfi_place *place = &walker->machine.state.registers[reg];
	enum ctx_cfi_result result = CTX_CFI_OK;
	uint64_t at = cfa + (uint64_t)place->value;
	const struct ctx_bytes *expression;

	switch (place->how) {
	case CTX_CFI_UNSPECIFIED:
	case CTX_CFI_SAME:
		*ret = reg == SP ? cfa : input->registers[reg];
		return CTX_CFI_OK;
	case CTX_CFI_VAL_OFFSET:
		*ret = at;
		return CTX_CFI_OK;
	case CTX_CFI_OFFSET:
		break;
	case CTX_CFI_EXPRESSION:
	case CTX_CFI_VAL_EXPRESSION:
		expression = &walker->expressions[place->value];
		result = ctx_cfi_evaluate(expression->at, expression->n, input, &cfa, &at);
		if (result != CTX_CFI_OK || place->how == CTX_CFI_VAL_EXPRESSION) {
			*ret = at;
			return result;
		}
		break;
	default:
		return CTX_CFI_UNKNOWN;
	}
	return ctx_cfi_memory_read(&input->memory, at, ret) ? CTX_CFI_OK : CTX_CFI_OUTSIDE;
}

static enum ctx_truncation reason_of(enum ctx_cfi_result result)
{
	return result == CTX_CFI_OUTSIDE ? CTX_TRUNCATED_COPY : CTX_TRUNCATED_BAD_CFA;
}

static bool is_own(const struct ctx_rt_walker *walker, uint64_t sp)
{
	return sp >= walker->low && sp < walker->top;
}

/* The end of the pages of another stack that can be read from the stack pointer on. */
__attribute__((noinline)) static uint64_t try_pages(struct ctx_rt_walker *walker, uint64_t sp)
{
	uint64_t page = sp & ~(uint64_t)(CTX_RT_PAGE - 1), top = page;
	uint64_t running = (uintptr_t)__builtin_frame_address(0) & ~(uint64_t)(CTX_RT_PAGE - 1);

	if (page == running || ctx_rt_is_readable(page))
		top += CTX_RT_PAGE;
	for (uint32_t i = 0; i < walker->pages && top > page && ctx_rt_is_readable(top); i++)
		top += CTX_RT_PAGE;
	walker->all_tried =
		top < page + ((uint64_t)walker->pages + 1) * CTX_RT_PAGE || walker->pages >= PAGES_MAX;
	return top > sp ? top : sp;
}

/* From the stack pointer on, to the end of the thread's own stack or of what can be read of another. */
static inline struct ctx_cfi_memory memory_of(struct ctx_rt_walker *walker, uint64_t sp)
{
	uint64_t top = __builtin_expect(is_own(walker, sp), 1) ? walker->top : try_pages(walker, sp);

	return (struct ctx_cfi_memory){
		.bytes = (const uint8_t *)(uintptr_t)sp, .n = (size_t)(top - sp), .address = sp};
}

/* A frame that a summary cannot describe: of a signal, or whose CFA is an expression. */
__attribute__((noinline)) static enum ctx_truncation step_by_state(struct ctx_rt_walker *walker,
								   struct frame *frame)
{
	const struct ctx_cfi_state *state = &walker->machine.state;
	uint64_t values[CTX_USER_REGS_MAX] = {
		[FP] = frame->regs.fp, [SP] = frame->regs.sp, [PC] = frame->regs.pc};
	struct ctx_cfi_input input = {
		.registers = values, .valid = BIT(FP) | BIT(SP) | BIT(PC), .memory = frame->memory};
	enum ctx_cfi_result result = CTX_CFI_OK;
	struct ctx_rt_registers next;
	uint64_t cfa;

	if (!find_state(walker, frame->regs.pc - !frame->exact))
		return CTX_TRUNCATED_NO_TABLE;
	if (state->cfa.how == CTX_CFI_VAL_EXPRESSION) {
		const struct ctx_bytes *expression = &walker->expressions[state->cfa.value];

		result = ctx_cfi_evaluate(expression->at, expression->n, &input, NULL, &cfa);
	} else if (state->cfa_register == SP || state->cfa_register == FP) {
		cfa = values[state->cfa_register] + (uint64_t)state->cfa.value;
	} else {
		result = CTX_CFI_UNKNOWN;
	}
	if (result == CTX_CFI_OK)
		result = value_of(walker, &input, PC, cfa, &next.pc);
	if (result == CTX_CFI_OK)
		result = value_of(walker, &input, SP, cfa, &next.sp);
	if (result == CTX_CFI_OK)
		result = value_of(walker, &input, FP, cfa, &next.fp);
	if (result != CTX_CFI_OK)
		return reason_of(result);
	if (!state->signal && next.sp <= frame->regs.sp)
		return CTX_TRUNCATED_BAD_CFA;
	next.pc = true_return(next.pc, cfa);
	frame->exact = state->signal;
	frame->fp_at = BY_STATE;
	frame->regs = next;
	/* The handler had a stack of its own. */
	if (state->signal && next.sp - frame->memory.address >= frame->memory.n)
		frame->memory = memory_of(walker, next.sp);
	return CTX_TRUNCATED_NOT;
}

/* Code without call frame information */

/* Following instructions takes stack, of which other stacks than the thread's own may have little. */
static bool has_stack(const struct ctx_rt_walker *walker)
{
	uint64_t sp = (uintptr_t)__builtin_frame_address(0);

	return is_own(walker, sp) && sp - walker->low >= 2 * CTX_RT_CODE_STACK;
}

/* Whether a pc can be a return address: behind a call, of a signal's trampoline, or the bottom of a coroutine. */
static bool is_return(struct ctx_rt_walker *walker, uint64_t pc)
{
	uint64_t *kept = &walker->returns[(pc ^ pc >> 9) & (CTX_RT_RETURNS - 1)];
	struct function function;
	struct ctx_code_frame code;

	if (*kept == pc)
		return true;
	code = ctx_rt_code_at(pc, CTX_CODE_CALL);
	if (!code.is_known)
		return false;
	if (!code.is_returned_to && !(find_function(pc, &function) && function.cie.signal)) {
		if (has_stack(walker))
			code = ctx_rt_code_at(pc, CTX_CODE_END);
		if (!code.is_returned_to && !code.is_bottom)
			return false;
	}
	*kept = pc;
	return true;
}

/* The caller's registers by a rule, if they are those of one. */
static bool try_rule(struct ctx_rt_walker *walker, const struct frame *frame, struct ctx_cfi_summary rule,
		     struct frame *ret)
{
	uint64_t base = rule.kind == CTX_CFI_SP ? frame->regs.sp : frame->regs.fp;

	*ret = *frame;
	return (base + (uint64_t)(int64_t)rule.cfa_offset) % 8 == 0 &&
	       step_by_summary(ret, rule) == CTX_TRUNCATED_NOT && is_return(walker, ret->regs.pc);
}

#define SENDER_MAX 1024u

/*
 * An interpreted method of HotSpot keeps its caller's stack pointer below its frame pointer: an adapter may have
 * moved it to make room for arguments.
 */
static void note_sender(struct ctx_rt_walker *walker, const struct frame *left)
{
	uint64_t fp = left->regs.fp, sender;

	walker->sender_at = 0;
	if (!ctx_cfi_memory_read(&left->memory, fp - 8, &sender) || sender <= fp + 16 ||
	    sender - fp > SENDER_MAX || sender % 8 != 0)
		return;
	walker->sender_at = fp + 16;
	walker->sender = sender;
}

/* By the only rule that leads to a call; of two that do not agree none is taken. */
static bool try_rules(struct ctx_rt_walker *walker, const struct frame *frame,
		      const struct ctx_code_frame *code, struct ctx_cfi_summary *ret_rule, struct frame *ret)
{
	struct frame next;
	bool taken = false;

	for (unsigned i = 0; i < code->n_rules; i++) {
		if (!try_rule(walker, frame, code->rules[i], &next))
			continue;
		if (taken && (next.regs.sp != ret->regs.sp || next.regs.fp != ret->regs.fp))
			return false;
		*ret_rule = code->rules[i];
		*ret = next;
		taken = true;
	}
	return taken;
}

/* The frame pointer's frame: [fp] is the caller's frame pointer, [fp + 8] the return address. */
static const struct ctx_cfi_summary by_frame_pointer = {
	.kind = CTX_CFI_FP, .cfa_offset = 16, .fp_offset = -16};

enum way_out {
	NONE,
	CALLER,
	BOTTOM,
};

static enum way_out find_way(struct ctx_rt_walker *walker, const struct frame *frame,
			     struct ctx_cfi_summary *ret_rule, struct frame *ret)
{
	static const struct ctx_code_frame none_yet = {.rules = {{.kind = CTX_CFI_SP, .cfa_offset = 8}},
						       .n_rules = 1};
	struct ctx_code_frame code = {.uses_fp = true};

	if (WORD != 8) /* the instructions of 64 bits are known alone */
		return NONE;
	if (has_stack(walker))
		code = ctx_rt_code_at(frame->regs.pc, CTX_CODE_WHOLE);
	if (!code.is_known)
		code.uses_fp = true;
	if (frame->exact && code.makes_frame && try_rules(walker, frame, &none_yet, ret_rule, ret))
		return CALLER;
	if (try_rules(walker, frame, &code, ret_rule, ret))
		return CALLER;
	if (code.is_bottom && !frame->exact)
		return BOTTOM;
	if (code.has_no_return && frame->exact && frame->regs.fp == 0)
		return BOTTOM;
	if (!code.uses_fp)
		return NONE;
	*ret_rule = by_frame_pointer;
	if (try_rule(walker, frame, by_frame_pointer, ret))
		return CALLER;
	/* What the ABI says of the outermost frame. */
	return frame->regs.fp == 0 || (ret->regs.pc == 0 && ret->regs.fp == 0) ? BOTTOM : NONE;
}

/* The caller by what is kept of the pc, or else by what its code says. */
static enum way_out find_caller(struct ctx_rt_walker *walker, const struct frame *frame,
				struct ctx_cfi_summary *rule, struct frame *ret)
{
	struct frame moved;
	bool is_moved = walker->sender_at == frame->regs.sp && !frame->exact;

	if (is_moved) {
		moved = *frame;
		moved.regs.sp = walker->sender;
	}
	if ((rule->kind & BY_CODE) != 0) {
		rule->kind &= (uint8_t) ~(BY_CODE | MADE);
		if (try_rule(walker, frame, *rule, ret) || (is_moved && try_rule(walker, &moved, *rule, ret)))
			return CALLER;
	}
	if (is_moved) {
		enum way_out way = find_way(walker, frame, rule, ret);

		return way != NONE ? way : find_way(walker, &moved, rule, ret);
	}
	return find_way(walker, frame, rule, ret);
}

/* Leaves a frame of code without call frame information. */
__attribute__((noinline)) static enum ctx_truncation step_by_code(struct ctx_rt_walker *walker,
								  struct frame *frame, bool *is_root)
{
	uint64_t address = frame->regs.pc - !frame->exact;
	struct ctx_rt_row *row = row_of(walker, address);
	struct ctx_cfi_summary rule = row->summary;
	uint64_t *print = &walker->prints[row - walker->rows], seen = 0;
	enum way_out way;
	struct frame next;

	if (rule.kind == REFUSED && ++row->summary.cfa_offset > TRIES &&
	    row->summary.cfa_offset % TRIES_APART != 0)
		return CTX_TRUNCATED_NO_TABLE;
	if ((rule.kind & MADE) != 0 || (rule.kind & BY_CODE) == 0)
		seen = ctx_rt_code_print(frame->regs.pc);
	if ((rule.kind & MADE) != 0 && *print != seen)
		rule.kind = CTX_CFI_NONE; /* other code than then */
	way = find_caller(walker, frame, &rule, &next);
	if (way == NONE && row->summary.kind != REFUSED)
		row->summary = (struct ctx_cfi_summary){.kind = REFUSED};
	*is_root = way == BOTTOM;
	if (way != CALLER)
		return *is_root ? CTX_TRUNCATED_NOT : CTX_TRUNCATED_NO_TABLE;
	if (!frame->exact) { /* a pc that was interrupted may be returned to later, with another frame */
		row->summary = rule;
		row->summary.kind |= seen != 0 ? BY_CODE | MADE : BY_CODE;
		*print = seen;
	}
	if (rule.kind == CTX_CFI_FP && rule.cfa_offset == by_frame_pointer.cfa_offset)
		note_sender(walker, frame);
	*frame = next;
	return CTX_TRUNCATED_NOT;
}

static void forget_old_rows(struct ctx_rt_walker *walker)
{
	uint32_t now = atomic_load_explicit(&epoch, memory_order_relaxed);

	if (__builtin_expect(walker->epoch == now, 1))
		return;
	memset(walker->rows, 0, sizeof(walker->rows));
	memset(walker->returns, 0, sizeof(walker->returns));
	walker->epoch = now;
	walker->depth = 0;
}

static inline uint64_t word_at(uint64_t address)
{
	return *(const uintptr_t *)(uintptr_t)address;
}

/*
 * Are the frames of the last stack from `at` on, which is like the current frame, still the same? Returns
 * the first one that is not; CTX_RT_FRAMES_MAX: all are.
 */
static uint32_t find_change(const struct ctx_rt_walker *walker, const struct ctx_cfi_memory *memory,
			    uint32_t at)
{
	const struct ctx_rt_frame *frame = &walker->last[at], *end = &walker->last[CTX_RT_FRAMES_MAX];
	uint64_t low = memory->address, top = memory->address + memory->n;

	for (; frame + 1 < end; frame++) {
		/* They were read within the bounds of then; the stack may be another one now. */
		if (frame->fp_at == BY_STATE || frame[1].sp < low + WORD || frame[1].sp > top ||
		    true_return(word_at(frame[1].sp - WORD), frame[1].sp) != frame[1].pc)
			break;
		if (frame->fp_at != 0 ? frame->fp_at < low || frame->fp_at > top - WORD ||
						word_at(frame->fp_at) != frame[1].fp
				      : frame->fp != frame[1].fp)
			break;
	}
	return frame + 1 < end ? (uint32_t)(frame - walker->last) + 1 : CTX_RT_FRAMES_MAX;
}

/*
 * Leaves the current frame, which `fresh` has already. CTX_TRUNCATED_NOT: there is a caller, or `*is_root`.
 */
static enum ctx_truncation step(struct ctx_rt_walker *walker, struct frame *frame, bool *is_root)
{
	struct ctx_cfi_summary summary = find_summary(walker, frame->regs.pc - !frame->exact);

	*is_root = summary.kind == CTX_CFI_ROOT;
	frame->exact = frame->exact || (*is_root && summary.cfa_offset == BEHIND_ROOT.cfa_offset);
	if (summary.kind == CTX_CFI_SP || summary.kind == CTX_CFI_FP)
		return step_by_summary(frame, summary);
	if (summary.kind == CTX_CFI_FULL)
		return step_by_state(walker, frame);
	return *is_root ? CTX_TRUNCATED_NOT : step_by_code(walker, frame, is_root);
}

bool ctx_rt_walk_has(const struct ctx_rt_walker *walker, const void *function)
{
	struct function found;

	for (uint32_t at = CTX_RT_FRAMES_MAX - walker->depth; at < CTX_RT_FRAMES_MAX; at++) {
		if (find_function(walker->last[at].pc - 1, &found) && found.fde.begin == (uintptr_t)function)
			return true;
	}
	return false;
}

/* The place in the last stack of a frame like this; CTX_RT_FRAMES_MAX: none. `*at` moves to the root. */
static uint32_t find_like(const struct ctx_rt_walker *walker, const struct frame *frame, uint32_t *at)
{
	const struct ctx_rt_frame *last = walker->last;

	while (*at < CTX_RT_FRAMES_MAX && last[*at].sp < frame->regs.sp)
		++*at;
	if (*at < CTX_RT_FRAMES_MAX && !frame->exact && last[*at].sp == frame->regs.sp &&
	    last[*at].pc == frame->regs.pc && last[*at].fp == frame->regs.fp)
		return *at;
	return CTX_RT_FRAMES_MAX;
}

/* Puts the fresh frames in front of the last stack's from `at` on. */
static struct ctx_rt_stack finish(struct ctx_rt_walker *walker, uint32_t n, uint32_t at, const uint64_t *room)
{
	struct ctx_rt_stack stack = {
		.frames = room, .n = n, .kept = CTX_RT_FRAMES_MAX - at, .end = walker->end};

	for (uint32_t i = 0; i < n; i++)
		walker->last[at - n + i] = walker->fresh[i];
	walker->depth = n + stack.kept;
	return stack;
}

/* False: the stack is another one than the thread's, and goes on behind the pages that were tried. */
static inline bool try_walk(struct ctx_rt_walker *walker, const struct ctx_rt_registers *caller,
			    uint64_t *room, struct ctx_rt_stack *ret)
{
	struct frame frame = {.regs = *caller, .memory = memory_of(walker, caller->sp)};
	enum ctx_truncation end = CTX_TRUNCATED_NOT;
	uint32_t n = 0, at = CTX_RT_FRAMES_MAX - walker->depth, like;
	bool is_root = false;

	walker->sender_at = 0;
	while (end == CTX_TRUNCATED_NOT && !is_root && frame.regs.pc != 0) {
		like = find_like(walker, &frame, &at);
		if (like != CTX_RT_FRAMES_MAX && n <= like) {
			/* Up to a change nothing is compared again. */
			at = find_change(walker, &frame.memory, like);
			if (at == CTX_RT_FRAMES_MAX) {
				*ret = finish(walker, n, like, room);
				return true;
			}
		}
		if (n == CTX_RT_FRAMES_MAX) {
			end = CTX_TRUNCATED_DEPTH;
			break;
		}
		room[n] = frame.regs.pc - !frame.exact;
		walker->fresh[n++] =
			(struct ctx_rt_frame){.pc = frame.regs.pc, .sp = frame.regs.sp, .fp = frame.regs.fp};
		end = step(walker, &frame, &is_root);
		if (is_root)
			room[n - 1] = frame.regs.pc - !frame.exact;
		walker->fresh[n - 1].fp_at = frame.exact ? BY_STATE : frame.fp_at;
	}
	if (end == CTX_TRUNCATED_COPY && !is_own(walker, frame.regs.sp) && !walker->all_tried)
		return false;
	walker->end = end;
	*ret = finish(walker, n, CTX_RT_FRAMES_MAX, room);
	return true;
}

__attribute__((hot)) struct ctx_rt_stack ctx_rt_walk(struct ctx_rt_walker *walker,
						     const struct ctx_rt_registers *caller, uint64_t *room)
{
	struct ctx_rt_stack stack;

	forget_old_rows(walker);
	if (walker->end == CTX_TRUNCATED_DEPTH) /* its root is not where this one's may be */
		walker->depth = 0;
	while (__builtin_expect(!try_walk(walker, caller, room, &stack), 0))
		walker->pages = walker->pages * 4 + 3;
	return stack;
}
