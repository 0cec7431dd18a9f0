/*
 * Code of the own process that has no call frame information: where it lies, and what its instructions say
 * (unwind/code_frame.h). JIT compilers write such code, and programs are built without tables.
 *
 * Code is what a loaded object has, and the areas in which memory was made executable. It is read only where the
 * kernel says that it can be. Async-signal-safe: nothing is allocated or locked.
 */
#ifndef CTX_RUNTIME_RT_CODE_H
#define CTX_RUNTIME_RT_CODE_H

#include "unwind/code_frame.h"

#include <stdbool.h>
#include <stdint.h>

#define CTX_RT_CODE_AREAS 32u
#define CTX_RT_CODE_NEAR (UINT64_C(256) << 20) /* bytes; memory no farther from an area is of it */
#define CTX_RT_CODE_STACK 32768u /* bytes that ctx_rt_code_at takes at most of the caller's stack */

/* Memory was made executable. Without a place for a further area it is not known as code. */
void ctx_rt_code_note(uint64_t begin, uint64_t size_bytes);

/* Whether the page of an address can be read: a system call. False also where the kernel may not be asked (rt_filter.h). errno is kept. */
bool ctx_rt_is_readable(uint64_t address);

/*
 * A number that changes where the code around a pc does. 0: it is of a loaded object, and stays as it is. Of 64 bytes
 * next to the pc, in its page; a system call.
 */
uint64_t ctx_rt_code_print(uint64_t pc);

/* What the code at a pc says; nothing is known where it is no code, or cannot be read. Some us. */
struct ctx_code_frame ctx_rt_code_at(uint64_t pc, enum ctx_code_depth depth);

#endif
