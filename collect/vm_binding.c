/*
 *	pid of a connection, time --> the process that had it
 */
#include "collect/vms_impl.h"

static enum ctx_status bind(struct ctx_vms *vms, size_t i, uint32_t process, struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&vms->of_process, process);

	if (place == NULL)
		return ctx_err_nomem(err);
	*place = (uint32_t)i;
	vms->items[i]->process = process;
	return CTX_OK;
}

enum ctx_status ctx_vms_bind_known(struct ctx_vms *vms, size_t i, uint64_t until_ns, struct ctx_err *err)
{
	const struct ctx_vm *vm = vms->items[i];
	uint32_t process, thread;

	if (vm->process != CTX_NONE || vm->since_ns > until_ns ||
	    !ctx_proctree_lookup(vms->tree, vm->pid, &process, &thread))
		return CTX_OK;
	return bind(vms, i, process, err);
}

struct ctx_vm *ctx_vms_vm_of(struct ctx_vms *vms, const struct ctx_vms_stack *stack, struct ctx_err *err,
			     enum ctx_status *ret)
{
	uint32_t known = ctx_map64_get(&vms->of_process, stack->process);

	*ret = CTX_OK;
	if (known != CTX_MAP64_NONE)
		return vms->items[known];
	for (size_t i = vms->n; i-- > 0;) {
		const struct ctx_vm *vm = vms->items[i];

		if (vm->process == CTX_NONE && vm->pid == stack->pid && vm->since_ns <= stack->time_ns) {
			*ret = bind(vms, i, stack->process, err);
			return *ret == CTX_OK ? vms->items[i] : NULL;
		}
	}
	return NULL;
}
