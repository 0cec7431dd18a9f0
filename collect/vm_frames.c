/*
 *	frame in the interpreter -> method, bytecode in the copied stack -> function by name
 *	frame in other code -> is written, once
 */
#include "collect/vm_frames.h"

#include "base/mem.h"
#include "collect/vms_impl.h"
#include "formats/experiment/exp_functions.h"
#include "model/jit_code.h"

#include <string.h>

#define PENDING_MAX 16384u

#define OTHER "<Virtual machine not of interest>"

/* In the frame of an interpreted method, from its frame pointer on (frame_x86.hpp); the CFA is 16 bytes above it. */
#define FRAME_BELOW_CFA 16u
#define METHOD_BELOW_FRAME 24u
#define LOCALS_BELOW_FRAME 56u
#define BYTECODE_BELOW_FRAME 64u
#define LOCALS_MAX                                                                                           \
	((uint64_t)1 << 20) /* bytes from the frame to its variables, which its caller has pushed */
#define X86_64_R13 13u	    /* has the bytecode's address where the interpreter runs */

static bool read_stack(const struct ctx_user_state *state, uint64_t address, uint64_t *ret)
{
	uint64_t at = address - state->regs.value[ctx_machine_sp(state->regs.machine)];

	if (state->stack_bytes < sizeof(*ret) || at > state->stack_bytes - sizeof(*ret))
		return false;
	memcpy(ret, state->stack + at, sizeof(*ret));
	return true;
}

/* The index of the bytecode at an address; UINT32_MAX: it is none of the method's. */
static uint32_t bytecode_of(const struct ctx_vm_method *method, uint64_t address)
{
	return method->code_begin != 0 && address - method->code_begin < method->code_bytes
		       ? (uint32_t)(address - method->code_begin)
		       : UINT32_MAX;
}

static enum ctx_status add_pending(struct ctx_vms *vms, struct ctx_vm_pending *pending, uint64_t address,
				   uint32_t *ret_index, struct ctx_err *err)
{
	struct ctx_vm_pending_method item = {.address = address};
	enum ctx_status status = ctx_grow(&pending->items, &pending->cap, pending->n + 1, err);
	uint32_t *place = status == CTX_OK ? ctx_map64_place(&pending->of_method, address) : NULL;

	if (place == NULL)
		return ctx_err_nomem(err);
	*place = *ret_index = (uint32_t)pending->n;
	status = ctx_exp_function_reserve(vms->writer, &item.number, err);
	item.is_defined = status != CTX_OK || item.number == CTX_NONE;
	if (item.is_defined)
		item.number = CTX_NONE;
	pending->n_defined += item.is_defined;
	pending->items[pending->n++] = item;
	return status;
}

/* A frame of a method that the agent has not reported yet: named by a number that is defined later. */
static enum ctx_status name_pending(struct ctx_vms *vms, struct ctx_vm *vm, uint64_t address,
				    struct ctx_vm_frame *frame, struct ctx_err *err)
{
	struct ctx_vm_pending *pending = &vm->pending;
	uint32_t index = ctx_map64_get(&pending->of_method, address);
	enum ctx_status status = CTX_OK;

	if (address == 0 || address % 8 != 0 || (index == CTX_MAP64_NONE && pending->n == PENDING_MAX))
		return CTX_OK;
	if (index == CTX_MAP64_NONE)
		status = add_pending(vms, pending, address, &index, err);
	if (status != CTX_OK || pending->items[index].number == CTX_NONE)
		return status;
	frame->frame->address = ctx_frame_named(pending->items[index].number, 0);
	frame->is_named = true;
	return CTX_OK;
}

/* An interpreted frame, by what the interpreter keeps in it. Other frames stay. */
static enum ctx_status name_interpreted(struct ctx_vms *vms, struct ctx_vm *vm,
					const struct ctx_vms_stack *stack, struct ctx_vm_frame *frame,
					struct ctx_err *err)
{
	const struct ctx_user_state *state = stack->state;
	uint64_t fp = frame->frame->cfa - FRAME_BELOW_CFA, locals, address, bytecode_at;
	struct ctx_vm_target target = {vms->writer, &vm->image, vm->process};
	uint32_t bytecode = UINT32_MAX, index;
	struct ctx_vm_class class;
	struct ctx_vm_method method;

	if (state->regs.machine != CTX_MACHINE_X86_64 || frame->frame->cfa == 0 ||
	    !read_stack(state, fp - LOCALS_BELOW_FRAME, &locals) || locals - fp >= LOCALS_MAX ||
	    !read_stack(state, fp - METHOD_BELOW_FRAME, &address))
		return CTX_OK;
	index = ctx_map64_get(&vm->image.by_address, address);
	if (index == CTX_MAP64_NONE)
		return name_pending(vms, vm, address, frame, err);
	ctx_vm_image_method(&vm->image, index, &class, &method);
	/* A frame that runs has it in a register, one that has called something where it is kept. */
	if (frame->is_leaf && (state->regs.valid >> X86_64_R13 & 1) != 0)
		bytecode = bytecode_of(&method, state->regs.value[X86_64_R13]);
	if (bytecode == UINT32_MAX && read_stack(state, fp - BYTECODE_BELOW_FRAME, &bytecode_at))
		bytecode = bytecode_of(&method, bytecode_at);
	frame->line = bytecode != UINT32_MAX ? ctx_vm_line_of(&method, bytecode) : 0;
	return ctx_vm_name_frame(&target, index, frame, err);
}

/* Whether it may be code that a virtual machine makes: between its parts there are libraries. */
static bool is_in_anonymous(const struct ctx_vms *vms, const struct ctx_vm *vm, uint64_t address)
{
	const struct ctx_exp_map_entry *entry =
		ctx_exp_map_list_find(ctx_exp_maps(vms->writer, vm->process), address);

	return entry != NULL &&
	       ctx_jit_code_is(ctx_exp_objects_path(ctx_exp_all_objects(vms->writer), entry->object));
}

static enum ctx_status note_missed(struct ctx_vm *vm, uint64_t address, struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&vm->is_missed, address);
	uint64_t *item;

	if (vm->missed == NULL)
		vm->missed = ctx_calloc(CTX_VM_MISSED_N, sizeof(*vm->missed));
	if (place == NULL || vm->missed == NULL)
		return ctx_err_nomem(err);
	if (*place != CTX_MAP64_NONE)
		return CTX_OK;
	*place = 1;
	item = &vm->missed[vm->n_missed++ % CTX_VM_MISSED_N];
	if (*item != 0)
		ctx_map64_remove(&vm->is_missed, *item);
	*item = address;
	return CTX_OK;
}

static enum ctx_status note_code(struct ctx_vms *vms, struct ctx_vm *vm, uint64_t address,
				 struct ctx_err *err)
{
	struct ctx_vm_known_code *code = ctx_vm_image_code_at(&vm->image, address);

	if (code == NULL)
		return is_in_anonymous(vms, vm, address) ? note_missed(vm, address, err) : CTX_OK;
	return code->is_written ? CTX_OK : ctx_vms_write_code(vms, vm, code, err);
}

/*
 * The interpreter calls into the virtual machine by a call of its own: of two of its frames next to each other where only
 * the outer one is that of a method, the inner one is that call.
 */
static enum ctx_status name_frame(struct ctx_vms *vms, struct ctx_vm *vm, const struct ctx_vms_stack *stack,
				  struct ctx_vm_frame *frame, struct ctx_err *err)
{
	uint64_t address = frame->frame->address;
	enum ctx_status status = CTX_OK;

	if (address < vm->image.code_begin || address >= vm->image.code_end)
		return CTX_OK;
	frame->is_interpreter = address >= vm->interpreter_begin && address < vm->interpreter_end;
	if (frame->is_interpreter)
		status = name_interpreted(vms, vm, stack, frame, err);
	return status == CTX_OK && !frame->is_named ? note_code(vms, vm, address, err) : status;
}

enum ctx_status ctx_vms_name(struct ctx_vms *vms, const struct ctx_vms_stack *stack,
			     struct ctx_vms_frames *frames, struct ctx_err *err)
{
	enum ctx_status status;
	struct ctx_vm *vm = ctx_vms_vm_of(vms, stack, err, &status);
	bool is_call = false; /* the frame before is the interpreter's, of no method */
	size_t n = 0;

	frames->n_named = 0;
	for (size_t i = 0; vm != NULL && i < frames->n && status == CTX_OK; i++) {
		struct ctx_vm_frame frame = {.frame = &frames->items[i], .is_leaf = i == 0};

		status = name_frame(vms, vm, stack, &frame, err);
		n -= is_call && frame.is_named;
		is_call = frame.is_interpreter && !frame.is_named;
		frames->n_named += frame.is_named;
		frames->items[n++] = frames->items[i];
	}
	if (vm != NULL && status == CTX_OK)
		frames->n = n;
	return status;
}

static bool has(const struct ctx_vm_turns *turns, uint64_t time_ns)
{
	for (size_t i = turns->n; i-- > 0;) {
		if (time_ns >= turns->items[i].begin_ns)
			return time_ns < turns->items[i].end_ns;
	}
	return false;
}

enum ctx_status ctx_vms_leaves_out(struct ctx_vms *vms, const struct ctx_vms_stack *stack,
				   uint64_t *ret_frame, struct ctx_err *err)
{
	static const struct ctx_exp_function function = {.name = OTHER, .module = OTHER};
	uint32_t *number = &vms->interest.function;
	enum ctx_status status;
	const struct ctx_vm *vm;

	*ret_frame = 0;
	if (!vms->interest.is_on)
		return CTX_OK;
	vm = ctx_vms_vm_of(vms, stack, err, &status);
	if (status != CTX_OK || vm == NULL || !vm->has_hello || stack->time_ns < vm->hello_ns ||
	    has(&vm->turns, stack->time_ns))
		return status;
	if (*number == CTX_NONE)
		status = ctx_exp_function(vms->writer, &function, number, err);
	if (status == CTX_OK && *number != CTX_NONE)
		*ret_frame = ctx_frame_named(*number, 0);
	return status;
}
