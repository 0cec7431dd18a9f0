#include "ingest/stack_class.h"

#include "base/mem.h"

#include <string.h>

#define KNOWN 0x8000u  /* of a stack */
#define USER_FRAMES 4u /* searched for a lock where the kernel's part is missing */

/* Classes of one function; KNOWN_FUNCTION: it was classified. */
enum {
	KNOWN_FUNCTION = 1,
	IS_EXCEPTION = 2,
	IS_INTERRUPT = 4,
	IS_FUTEX = 8,
	IS_FAULT = 16, /* a page fault exception */
	IS_TEXT_FAULT = 32,
	IS_FAULT_INSIDE = 64, /* inside the handling of a fault, whatever its entry */
	IS_STOP = 128,
	IS_SCHEDULER = 256,
	IS_UNNAMED = 512,     /* its name is unknown */
	IS_RETURN = 1024,     /* the return to user mode: signals and other work of the thread itself */
	IS_OF_PROGRAM = 2048, /* the exception is the program's, wherever it is in the kernel's part */
};

void ctx_stack_classes_deinit(struct ctx_stack_classes *classes)
{
	free(classes->of_raw);
	free(classes->of_function);
	*classes = (struct ctx_stack_classes){0};
}

static bool begins_with(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static const struct {
	const char *prefix;
	uint16_t classes;
} prefixes[] = {
	{"asm_exc_page_fault", IS_EXCEPTION | IS_FAULT},
	{"asm_exc_", IS_EXCEPTION},
	{"asm_sysvec_", IS_INTERRUPT},
	{"asm_common_interrupt", IS_INTERRUPT},
	{"asm_spurious_interrupt", IS_INTERRUPT},
	{"el0_ia", IS_EXCEPTION | IS_FAULT | IS_TEXT_FAULT | IS_OF_PROGRAM},
	{"el0_da", IS_EXCEPTION | IS_FAULT | IS_OF_PROGRAM},
	{"el1_abort", IS_EXCEPTION | IS_FAULT},
	{"el0t_64_irq", IS_INTERRUPT},
	{"el1h_64_irq", IS_INTERRUPT},
	{"el0_interrupt", IS_INTERRUPT},
	{"el1_interrupt", IS_INTERRUPT},
	{"irqentry_exit_to_user_mode", IS_RETURN},
	{"exit_to_user_mode", IS_RETURN}, /* _loop, _prepare */
	{"exit_to_usermode", IS_RETURN},
	{"prepare_exit_to_usermode", IS_RETURN},
	{"arch_do_signal_or_restart", IS_RETURN},
	{"do_notify_resume", IS_RETURN},
	{"handle_mm_fault", IS_FAULT_INSIDE},
	{"do_signal_stop", IS_STOP},
	{"ptrace_stop", IS_STOP},
	{"do_jobctl_trap", IS_STOP},
	{"__schedule", IS_SCHEDULER},
	{"schedule", IS_SCHEDULER}, /* schedule_timeout, schedule_hrtimeout_range, ... */
	{"io_schedule", IS_SCHEDULER},
	{"preempt_schedule", IS_SCHEDULER},
	{"__traceiter_sched_switch", IS_SCHEDULER},
	{"__traceiter_perf", IS_SCHEDULER},
	{"perf_trace_sched_switch", IS_SCHEDULER},
};

/* Entries of x86-64 before Linux 5.8. */
static const struct {
	const char *name;
	uint16_t classes;
} old_names[] = {
	{"page_fault", IS_EXCEPTION | IS_FAULT},
	{"async_page_fault", IS_EXCEPTION | IS_FAULT},
	{"general_protection", IS_EXCEPTION},
	{"device_not_available", IS_EXCEPTION},
	{"divide_error", IS_EXCEPTION},
	{"invalid_op", IS_EXCEPTION},
	{"int3", IS_EXCEPTION},
	{"apic_timer_interrupt", IS_INTERRUPT},
	{"ret_from_intr", IS_INTERRUPT},
	{"common_interrupt", IS_INTERRUPT},
	{"reschedule_interrupt", IS_INTERRUPT},
	{"call_function_interrupt", IS_INTERRUPT},
	{"call_function_single_interrupt", IS_INTERRUPT},
	{"irq_work_interrupt", IS_INTERRUPT},
	{"xen_hvm_callback_vector", IS_INTERRUPT},
	{"hyperv_callback_vector", IS_INTERRUPT},
};

static uint16_t classify(const char *name)
{
	for (size_t i = 0; i < CTX_COUNT_OF(prefixes); i++) {
		if (begins_with(name, prefixes[i].prefix))
			return (uint16_t)(prefixes[i].classes | KNOWN_FUNCTION);
	}
	for (size_t i = 0; i < CTX_COUNT_OF(old_names); i++) {
		if (strcmp(name, old_names[i].name) == 0)
			return (uint16_t)(old_names[i].classes | KNOWN_FUNCTION);
	}
	if (strcmp(name, "<Unknown>") == 0)
		return IS_UNNAMED | KNOWN_FUNCTION;
	/*
	 * The kernel's futex_wait, do_futex, __x64_sys_futex; glibc's __futex_abstimed_wait_common,
	 * __lll_lock_wait.
	 */
	if (strstr(name, "futex") != NULL || strstr(name, "lll_lock_wait") != NULL)
		return IS_FUTEX | KNOWN_FUNCTION;
	return KNOWN_FUNCTION;
}

static enum ctx_status class_of_location(struct ctx_stack_classes *classes, uint32_t location, unsigned *ret,
					 struct ctx_err *err)
{
	uint32_t function = ctx_resolver_location_function(classes->resolver, location);
	enum ctx_status status;

	*ret = 0;
	if (function == CTX_NONE)
		return CTX_OK;
	if (function >= classes->n_functions) {
		status = ctx_grow(&classes->of_function, &classes->functions_cap, (size_t)function + 1, err);
		if (status != CTX_OK)
			return status;
		memset(classes->of_function + classes->n_functions, 0,
		       (classes->functions_cap - classes->n_functions) * sizeof(*classes->of_function));
		classes->n_functions = classes->functions_cap;
	}
	if (classes->of_function[function] == 0)
		classes->of_function[function] =
			classify(ctx_resolver_function_name(classes->resolver, function));
	*ret = classes->of_function[function];
	return CTX_OK;
}

/* Without the kernel's part, or its names, locks are recognised by the functions of the program. */
static enum ctx_status look_at_user(struct ctx_stack_classes *classes, uint32_t stack, unsigned *ret,
				    struct ctx_err *err)
{
	const struct ctx_trie *raw = classes->raw;
	*ret = 0;
	for (unsigned i = 0; i < USER_FRAMES && stack != CTX_TRIE_ROOT; i++, stack = raw->parent[stack]) {
		unsigned bits;
		enum ctx_status status = class_of_location(classes, raw->key[stack], &bits, err);

		if (status != CTX_OK)
			return status;
		if ((bits & IS_FUTEX) != 0)
			*ret |= CTX_STACK_FUTEX;
	}
	return CTX_OK;
}

/* The kernel's part, from the leaf to where the kernel was entered. */
static enum ctx_status look_at_kernel(struct ctx_stack_classes *classes, uint32_t stack, unsigned *ret,
				      struct ctx_err *err)
{
	const struct ctx_trie *raw = classes->raw;
	unsigned found = CTX_STACK_KERNEL, fault = 0;
	bool has_names = false, returns = false;
	enum ctx_status status;

	for (; stack != CTX_TRIE_ROOT && ctx_resolver_in_kernel(classes->resolver, raw->key[stack]);
	     stack = raw->parent[stack]) {
		unsigned bits;
		bool is_entry;

		status = class_of_location(classes, raw->key[stack], &bits, err);
		if (status != CTX_OK)
			return status;
		is_entry = raw->parent[stack] == CTX_TRIE_ROOT ||
			   !ctx_resolver_in_kernel(classes->resolver, raw->key[raw->parent[stack]]);
		has_names |= (bits & IS_UNNAMED) == 0;
		if ((bits & IS_FUTEX) != 0)
			found |= CTX_STACK_FUTEX;
		if ((bits & IS_STOP) != 0)
			found |= CTX_STACK_STOP;
		if ((bits & (IS_EXCEPTION | IS_INTERRUPT)) != 0)
			found |= CTX_STACK_TRAP;
		/*
		 * On the return to user mode a thread no longer works for the interrupt or fault
		 * that entered the kernel: it can end there by a signal.
		 */
		returns |= (bits & IS_RETURN) != 0;
		if (returns)
			continue;
		if ((bits & IS_INTERRUPT) != 0)
			found |= CTX_STACK_INTERRUPT;
		/* A fault right at the entry is the program's, one further in is the kernel's. */
		if ((bits & IS_FAULT) != 0 && (is_entry || (bits & IS_OF_PROGRAM) != 0))
			fault = CTX_STACK_FAULT | ((bits & IS_TEXT_FAULT) != 0 ? CTX_STACK_TEXT_FAULT : 0);
		else if ((bits & (IS_FAULT | IS_FAULT_INSIDE)) != 0)
			fault = CTX_STACK_KERNEL_FAULT;
	}
	*ret = found | fault;
	if (has_names)
		return CTX_OK;
	status = look_at_user(classes, stack, &found, err);
	*ret |= found;
	return status;
}

enum ctx_status ctx_stack_class_of(struct ctx_stack_classes *classes, uint32_t stack, unsigned *ret,
				   struct ctx_err *err)
{
	const struct ctx_trie *raw = classes->raw;
	enum ctx_status status;

	if (stack >= classes->n_raw) {
		status = ctx_grow(&classes->of_raw, &classes->raw_cap, raw->n, err);
		if (status != CTX_OK)
			return status;
		memset(classes->of_raw + classes->n_raw, 0,
		       (classes->raw_cap - classes->n_raw) * sizeof(*classes->of_raw));
		classes->n_raw = classes->raw_cap;
	}
	if (classes->of_raw[stack] == 0) {
		unsigned found = 0;

		status = stack == CTX_TRIE_ROOT ? CTX_OK
			 : ctx_resolver_in_kernel(classes->resolver, raw->key[stack])
				 ? look_at_kernel(classes, stack, &found, err)
				 : look_at_user(classes, stack, &found, err);
		if (status != CTX_OK)
			return status;
		classes->of_raw[stack] = (uint16_t)(found | KNOWN);
	}
	*ret = classes->of_raw[stack] & ~KNOWN;
	return CTX_OK;
}

uint32_t ctx_stack_user_part(const struct ctx_stack_classes *classes, uint32_t stack)
{
	const struct ctx_trie *raw = classes->raw;

	while (stack != CTX_TRIE_ROOT && ctx_resolver_in_kernel(classes->resolver, raw->key[stack]))
		stack = raw->parent[stack];
	return stack;
}

enum ctx_status ctx_stack_interrupt_entry(struct ctx_stack_classes *classes, uint32_t stack, uint32_t *ret,
					  struct ctx_err *err)
{
	const struct ctx_trie *raw = classes->raw;
	uint32_t entry = CTX_TRIE_ROOT;

	for (; stack != CTX_TRIE_ROOT && ctx_resolver_in_kernel(classes->resolver, raw->key[stack]);
	     stack = raw->parent[stack]) {
		unsigned bits;
		enum ctx_status status = class_of_location(classes, raw->key[stack], &bits, err);

		if (status != CTX_OK)
			return status;
		if ((bits & IS_RETURN) != 0)
			break;
		if ((bits & IS_INTERRUPT) != 0)
			entry = stack;
	}
	*ret = entry;
	return CTX_OK;
}

enum ctx_status ctx_stack_without_scheduler(struct ctx_stack_classes *classes, uint32_t stack, uint32_t *ret,
					    struct ctx_err *err)
{
	const struct ctx_trie *raw = classes->raw;
	for (; stack != CTX_TRIE_ROOT && raw->parent[stack] != CTX_TRIE_ROOT; stack = raw->parent[stack]) {
		unsigned bits;
		enum ctx_status status = CTX_OK;

		if (!ctx_resolver_in_kernel(classes->resolver, raw->key[stack]))
			break;
		status = class_of_location(classes, raw->key[stack], &bits, err);
		if (status != CTX_OK)
			return status;
		if ((bits & IS_SCHEDULER) == 0)
			break;
	}
	*ret = stack;
	return CTX_OK;
}
