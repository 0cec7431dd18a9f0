/*
 * What a function of the kernel is entered for, by its name: "futex" for __x64_sys_futex, "page
 * fault" for asm_exc_page_fault. Names are those of Linux on x86-64 and aarch64.
 */
#ifndef CTX_REPORT_KERNEL_CALLS_H
#define CTX_REPORT_KERNEL_CALLS_H

#include <stdbool.h>

/*
 * The label of the kernel's frames that begin with this function; `*ret_tells`: it tells what was
 * called, while "system call" waits for a function below that does. NULL: only the kernel's name.
 * Borrowed from `function`, or constant.
 */
const char *ctx_kernel_call(const char *function, bool *ret_tells);

#endif
