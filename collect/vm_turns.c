#include "collect/vms_impl.h"

#include "base/clock.h"
#include "base/mem.h"
#include "model/traced.h"

#include <stdio.h>
#include <string.h>

#define PID_DIGITS 24

/* The first word. */
static size_t main_length(const char *command)
{
	return strcspn(command, " ");
}

static enum ctx_status compare(struct ctx_vms *vms, struct ctx_vm *vm, const struct ctx_vm_hello *hello,
			       struct ctx_err *err)
{
	const struct ctx_vm_text said[] = {hello->name, hello->command, hello->command, hello->version,
					   hello->collector};
	const char *texts[CTX_VM_KEY_N] = {0};
	struct ctx_buf room CTX_AUTO_BUF = {0};
	size_t at[CTX_COUNT_OF(said)];
	char pid[PID_DIGITS];
	enum ctx_status status;

	for (size_t i = 0; i < CTX_COUNT_OF(said); i++) {
		at[i] = room.n;
		ctx_buf_put(&room, said[i].at, said[i].n);
		ctx_buf_put_u8(&room, 0);
	}
	status = ctx_buf_check(&room, err);
	if (status != CTX_OK)
		return status;
	snprintf(pid, sizeof(pid), "%lld", (long long)vm->pid);
	texts[CTX_VM_KEY_PID] = pid;
	for (size_t i = 0; i < CTX_COUNT_OF(said); i++)
		texts[CTX_VM_KEY_NAME + i] = (const char *)room.bytes + at[i];
	room.bytes[at[1] + main_length((const char *)room.bytes + at[1])] = '\0';
	vm->turns.fits = ctx_vm_rules_fit(&vms->interest.rules, texts);
	return CTX_OK;
}

static enum ctx_status add_mark(struct ctx_vm *vm, const char *name, enum ctx_mark_operation operation,
				uint64_t time_ns, struct ctx_err *err)
{
	const struct ctx_vm_mark mark = {
		.time_ns = time_ns, .tid = vm->pid, .name = name, .operation = (uint8_t)operation};
	enum ctx_status status = ctx_vm_marks_add(&vm->marks, &mark, err);

	vm->damaged += status == CTX_E_LIMIT;
	return status == CTX_E_LIMIT ? CTX_OK : status;
}

enum ctx_status ctx_vms_turns_hello(struct ctx_vms *vms, struct ctx_vm *vm, const struct ctx_vm_hello *hello,
				    struct ctx_err *err)
{
	vm->turns.lives = vm->turns.is_new = true;
	vm->turns.is_chosen = !vms->interest.is_on;
	if (vms->interest.is_on && compare(vms, vm, hello, err) != CTX_OK)
		return CTX_E_NOMEM;
	return add_mark(vm, CTX_VM_NAME_LIFE, CTX_MARK_BEGIN, vm->hello_ns, err);
}

/* Who is chosen as soon as it has said hello is of interest from its begin on. */
static enum ctx_status begin_turn(struct ctx_vm *vm, uint64_t now_ns, bool is_first, struct ctx_err *err)
{
	struct ctx_vm_turns *turns = &vm->turns;
	enum ctx_status status = ctx_grow(&turns->items, &turns->cap, turns->n + 1, err);

	if (status != CTX_OK)
		return status;
	turns->items[turns->n++] = (struct ctx_interval){is_first ? 0 : now_ns, UINT64_MAX};
	return add_mark(vm, CTX_VM_NAME_TURN, CTX_MARK_BEGIN, is_first ? vm->hello_ns : now_ns, err);
}

static enum ctx_status end_turn(struct ctx_vm *vm, uint64_t time_ns, struct ctx_err *err)
{
	struct ctx_vm_turns *turns = &vm->turns;

	if (turns->n == 0 || turns->items[turns->n - 1].end_ns != UINT64_MAX)
		return CTX_OK;
	turns->items[turns->n - 1].end_ns = time_ns;
	return add_mark(vm, CTX_VM_NAME_TURN, CTX_MARK_END, time_ns, err);
}

static bool has_ended(const struct ctx_vm *vm)
{
	return vm->is_closed || vm->goodbye_ns != 0;
}

static enum ctx_status change(struct ctx_vms *vms, size_t i, uint64_t now_ns, struct ctx_err *err)
{
	struct ctx_vm *vm = vms->items[i];
	bool is_chosen = vms->interest.candidates[i].is_chosen;
	bool is_new = vm->turns.is_new;

	vm->turns.is_new = false;
	if (is_chosen == vm->turns.is_chosen)
		return CTX_OK;
	vm->turns.is_chosen = is_chosen;
	/* The turn of what has ended lasts up to its end (ctx_vms_turns_end). */
	if (has_ended(vm))
		return CTX_OK;
	ctx_vm_listener_order(vms->listener, i, is_chosen ? CTX_VM_ORDER_REPORT : CTX_VM_ORDER_REST);
	return is_chosen ? begin_turn(vm, now_ns, is_new, err) : end_turn(vm, now_ns, err);
}

enum ctx_status ctx_vms_turns_update(struct ctx_vms *vms, struct ctx_err *err)
{
	struct ctx_vms_interest *interest = &vms->interest;
	uint64_t now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	enum ctx_status status = CTX_OK;

	if (!interest->is_on || vms->n == 0)
		return CTX_OK;
	status = ctx_grow(&interest->candidates, &interest->cap, vms->n, err);
	for (size_t i = 0; i < vms->n && status == CTX_OK; i++) {
		const struct ctx_vm *vm = vms->items[i];

		interest->candidates[i] = (struct ctx_vm_candidate){
			.is_there = vm->turns.fits && !has_ended(vm), .is_chosen = vm->turns.is_chosen};
	}
	if (status == CTX_OK)
		ctx_vm_choice_update(&interest->choice, interest->candidates, vms->n, now_ns);
	for (size_t i = 0; i < vms->n && status == CTX_OK; i++)
		status = change(vms, i, now_ns, err);
	return status;
}

enum ctx_status ctx_vms_turns_end(struct ctx_vm *vm, uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status;

	if (!vm->turns.lives)
		return CTX_OK;
	vm->turns.lives = false;
	if (time_ns == UINT64_MAX)
		time_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	if (vm->goodbye_ns != 0 && vm->goodbye_ns < time_ns)
		time_ns = vm->goodbye_ns;
	status = end_turn(vm, time_ns, err);
	return status == CTX_OK ? add_mark(vm, CTX_VM_NAME_LIFE, CTX_MARK_END, time_ns, err) : status;
}
