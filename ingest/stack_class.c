#include "ingest/stack_class.h"

#include "base/mem.h"

#include <string.h>

#define KNOWN 0x8000u  /* of a stack */
#define USER_FRAMES 4u /* that can tell of a lock where the kernel's part is missing */

/* What one function says; KNOWN_FUNCTION: it was judged. */
enum {
	KNOWN_FUNCTION = 1,
	SAYS_EXCEPTION = 2,
	SAYS_INTERRUPT = 4,
	SAYS_FUTEX = 8,
	SAYS_FAULT = 16, /* an exception for a page */
	SAYS_TEXT_FAULT = 32,
	SAYS_FAULT_INSIDE = 64, /* what a fault does, however it came about */
	SAYS_STOP = 128,
	SAYS_SCHEDULER = 256,
	SAYS_NOTHING = 512,	/* its name is not known */
	SAYS_RETURN = 1024,	/* the last before user mode: signals, other work; the thread's own again */
	SAYS_OF_PROGRAM = 2048, /* the exception is the program's, wherever the kernel was entered */
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
	uint16_t says;
} prefixes[] = {
	{"asm_exc_page_fault", SAYS_EXCEPTION | SAYS_FAULT},
	{"asm_exc_", SAYS_EXCEPTION},
	{"asm_sysvec_", SAYS_INTERRUPT},
	{"asm_common_interrupt", SAYS_INTERRUPT},
	{"asm_spurious_interrupt", SAYS_INTERRUPT},
	{"el0_ia", SAYS_EXCEPTION | SAYS_FAULT | SAYS_TEXT_FAULT | SAYS_OF_PROGRAM},
	{"el0_da", SAYS_EXCEPTION | SAYS_FAULT | SAYS_OF_PROGRAM},
	{"el1_abort", SAYS_EXCEPTION | SAYS_FAULT},
	{"el0t_64_irq", SAYS_INTERRUPT},
	{"el1h_64_irq", SAYS_INTERRUPT},
	{"el0_interrupt", SAYS_INTERRUPT},
	{"el1_interrupt", SAYS_INTERRUPT},
	{"irqentry_exit_to_user_mode", SAYS_RETURN},
	{"exit_to_user_mode", SAYS_RETURN}, /* _loop, _prepare */
	{"exit_to_usermode", SAYS_RETURN},
	{"prepare_exit_to_usermode", SAYS_RETURN},
	{"arch_do_signal_or_restart", SAYS_RETURN},
	{"do_notify_resume", SAYS_RETURN},
	{"handle_mm_fault", SAYS_FAULT_INSIDE},
	{"do_signal_stop", SAYS_STOP},
	{"ptrace_stop", SAYS_STOP},
	{"do_jobctl_trap", SAYS_STOP},
	{"__schedule", SAYS_SCHEDULER},
	{"schedule", SAYS_SCHEDULER}, /* schedule_timeout, schedule_hrtimeout_range, ... */
	{"io_schedule", SAYS_SCHEDULER},
	{"preempt_schedule", SAYS_SCHEDULER},
	{"__traceiter_sched_switch", SAYS_SCHEDULER},
	{"__traceiter_perf", SAYS_SCHEDULER},
	{"perf_trace_sched_switch", SAYS_SCHEDULER},
};

/* Entries of x86-64 before Linux 5.8, in recordings that come from there. */
static const struct {
	const char *name;
	uint16_t says;
} old_names[] = {
	{"page_fault", SAYS_EXCEPTION | SAYS_FAULT},
	{"async_page_fault", SAYS_EXCEPTION | SAYS_FAULT},
	{"general_protection", SAYS_EXCEPTION},
	{"device_not_available", SAYS_EXCEPTION},
	{"divide_error", SAYS_EXCEPTION},
	{"invalid_op", SAYS_EXCEPTION},
	{"int3", SAYS_EXCEPTION},
	{"apic_timer_interrupt", SAYS_INTERRUPT},
	{"ret_from_intr", SAYS_INTERRUPT},
	{"common_interrupt", SAYS_INTERRUPT},
	{"reschedule_interrupt", SAYS_INTERRUPT},
	{"call_function_interrupt", SAYS_INTERRUPT},
	{"call_function_single_interrupt", SAYS_INTERRUPT},
	{"irq_work_interrupt", SAYS_INTERRUPT},
	{"xen_hvm_callback_vector", SAYS_INTERRUPT},
	{"hyperv_callback_vector", SAYS_INTERRUPT},
};

static uint16_t classify(const char *name)
{
	for (size_t i = 0; i < CTX_COUNT_OF(prefixes); i++) {
		if (begins_with(name, prefixes[i].prefix))
			return (uint16_t)(prefixes[i].says | KNOWN_FUNCTION);
	}
	for (size_t i = 0; i < CTX_COUNT_OF(old_names); i++) {
		if (strcmp(name, old_names[i].name) == 0)
			return (uint16_t)(old_names[i].says | KNOWN_FUNCTION);
	}
	if (strcmp(name, "<Unknown>") == 0)
		return SAYS_NOTHING | KNOWN_FUNCTION;
	/* The kernel's futex_wait, do_futex, __x64_sys_futex; glibc's __futex_abstimed_wait_common, __lll_lock_wait. */
	if (strstr(name, "futex") != NULL || strstr(name, "lll_lock_wait") != NULL)
		return SAYS_FUTEX | KNOWN_FUNCTION;
	return KNOWN_FUNCTION;
}

static enum ctx_status says(struct ctx_stack_classes *classes, uint32_t location, unsigned *ret,
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

/* Without the kernel's part, or its names, what the program called tells of locks. */
static enum ctx_status look_at_user(struct ctx_stack_classes *classes, uint32_t stack, unsigned *ret,
				    struct ctx_err *err)
{
	const struct ctx_trie *raw = classes->raw;
	*ret = 0;
	for (unsigned i = 0; i < USER_FRAMES && stack != CTX_TRIE_ROOT; i++, stack = raw->parent[stack]) {
		unsigned bits;
		enum ctx_status status = says(classes, raw->key[stack], &bits, err);

		if (status != CTX_OK)
			return status;
		if ((bits & SAYS_FUTEX) != 0)
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

		status = says(classes, raw->key[stack], &bits, err);
		if (status != CTX_OK)
			return status;
		is_entry = raw->parent[stack] == CTX_TRIE_ROOT ||
			   !ctx_resolver_in_kernel(classes->resolver, raw->key[raw->parent[stack]]);
		has_names |= (bits & SAYS_NOTHING) == 0;
		if ((bits & SAYS_FUTEX) != 0)
			found |= CTX_STACK_FUTEX;
		if ((bits & SAYS_STOP) != 0)
			found |= CTX_STACK_STOP;
		if ((bits & (SAYS_EXCEPTION | SAYS_INTERRUPT)) != 0)
			found |= CTX_STACK_TRAP;
		/* On its way back to the program a thread does nothing for the interrupt or the fault that it came for: a
		 * signal ends it there. */
		returns |= (bits & SAYS_RETURN) != 0;
		if (returns)
			continue;
		if ((bits & SAYS_INTERRUPT) != 0)
			found |= CTX_STACK_INTERRUPT;
		/* A fault right at the entry is the program's, one further in is the kernel's. */
		if ((bits & SAYS_FAULT) != 0 && (is_entry || (bits & SAYS_OF_PROGRAM) != 0))
			fault = CTX_STACK_FAULT | ((bits & SAYS_TEXT_FAULT) != 0 ? CTX_STACK_TEXT_FAULT : 0);
		else if ((bits & (SAYS_FAULT | SAYS_FAULT_INSIDE)) != 0)
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
		enum ctx_status status = says(classes, raw->key[stack], &bits, err);

		if (status != CTX_OK)
			return status;
		if ((bits & SAYS_RETURN) != 0)
			break;
		if ((bits & SAYS_INTERRUPT) != 0)
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
		status = says(classes, raw->key[stack], &bits, err);
		if (status != CTX_OK)
			return status;
		if ((bits & SAYS_SCHEDULER) == 0)
			break;
	}
	*ret = stack;
	return CTX_OK;
}
