#include "report/kernel_calls.h"

#include "base/mem.h"

#include <string.h>

/* The system call's name is behind them. */
static const char *const calls[] = {
	"__x64_sys_",
	"__ia32_sys_",
	"__x64_compat_sys_",
	"__ia32_compat_sys_",
	"__arm64_sys_",
	"__arm64_compat_sys_",
	"__riscv_sys_",
	"__s390x_sys_",
	"__se_compat_sys_",
	"__do_compat_sys_",
	"__se_sys_",
	"__do_sys_",
	"compat_SyS_",
	"compat_sys_",
	"SyS_",
	"ksys_",
	"sys_",
};

/* Beginnings of names; more special ones come first. */
static const struct {
	const char *begin, *label;
	bool tells;
} entries[] = {
	{"asm_exc_page_fault", "page fault", true},
	{"exc_page_fault", "page fault", true},
	{"do_user_addr_fault", "page fault", true},
	{"do_translation_fault", "page fault", true},
	{"do_page_fault", "page fault", true},
	{"__do_page_fault", "page fault", true},
	{"async_page_fault", "page fault", true},
	{"page_fault", "page fault", true},
	{"do_mem_abort", "page fault", true},
	{"el0_da", "page fault", true},
	{"el0_ia", "page fault", true},
	{"asm_sysvec_", "interrupt", true},
	{"sysvec_", "interrupt", true},
	{"asm_common_interrupt", "interrupt", true},
	{"common_interrupt", "interrupt", true},
	{"apic_timer_interrupt", "interrupt", true},
	{"smp_apic_timer_interrupt", "interrupt", true},
	{"ret_from_intr", "interrupt", true},
	{"do_IRQ", "interrupt", true},
	{"asm_exc_nmi", "interrupt", true},
	{"el0t_64_irq", "interrupt", true},
	{"el0_interrupt", "interrupt", true},
	{"el0_irq", "interrupt", true},
	{"asm_exc_", "exception", true},
	{"entry_SYSCALL", "system call", false},
	{"entry_SYSENTER", "system call", false},
	{"entry_INT80", "system call", false},
	{"do_syscall_64", "system call", false},
	{"do_fast_syscall_32", "system call", false},
	{"do_int80_syscall_32", "system call", false},
	{"x64_sys_call", "system call", false},
	{"ia32_sys_call", "system call", false},
	{"el0t_64_sync", "system call", false},
	{"el0t_32_sync", "system call", false},
	{"el0_sync", "system call", false},
	{"el0_svc", "system call", false},
	{"do_el0_svc", "system call", false},
	{"invoke_syscall", "system call", false},
	{"system_call", "system call", false},
	{"syscall_", "system call", false},
};

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

const char *ctx_kernel_call(const char *function, bool *ret_tells)
{
	*ret_tells = true;
	for (size_t i = 0; i < CTX_COUNT_OF(calls); i++) {
		if (begins(function, calls[i]) && function[strlen(calls[i])] != '\0')
			return function + strlen(calls[i]);
	}
	for (size_t i = 0; i < CTX_COUNT_OF(entries); i++) {
		*ret_tells = entries[i].tells;
		if (begins(function, entries[i].begin))
			return entries[i].label;
	}
	*ret_tells = false;
	/* <Unknown> */
	return *function == '<' || *function == '[' ? NULL : function;
}
