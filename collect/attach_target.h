/*
 * A running process that the runtime is to be loaded into: whether it can have it, what it has mapped, and where the
 * functions are that are called in it.
 *
 *	/proc/PID --check--> refused, with the reason
 *	          --open---> maps --> files --> tables for unwinding, symbols of the C library
 *
 * Everything is read from outside; the process does not notice. Files are those that are mapped: by /proc/PID/map_files,
 * or by their path below the process's root, with the build id that is in its memory.
 */
#ifndef CTX_COLLECT_ATTACH_TARGET_H
#define CTX_COLLECT_ATTACH_TARGET_H

#include "base/err.h"
#include "collect/attach_place.h"
#include "unwind/unwind_space.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the library of a path can be loaded into a process. Fails with CTX_E_NOTFOUND (there is no such process),
 * CTX_E_ARG (it cannot; the message says why), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_attach_target_check(int64_t pid, const char *library, struct ctx_err *err);

/* Functions of the C library, in the process. */
enum ctx_attach_function {
	CTX_ATTACH_DLOPEN,
	CTX_ATTACH_DLSYM,
	CTX_ATTACH_DLERROR,
	CTX_ATTACH_MMAP,
	CTX_ATTACH_MUNMAP,
	CTX_ATTACH_ERRNO,
	CTX_ATTACH_FUNCTIONS,
};

struct ctx_attach_map;
struct ctx_attach_symbol;

struct ctx_attach_target {
	int64_t pid;
	struct ctx_attach_map *maps; /* owned; executable ones, by address */
	size_t n_maps, maps_cap;
	struct ctx_attach_symbol *symbols; /* owned; of the C library, by address */
	size_t n_symbols, symbols_cap;
	uint64_t functions[CTX_ATTACH_FUNCTIONS];
	uint8_t *stack; /* owned: room for a copy of one */
};

/*
 * Reads maps, tables and symbols; close it whatever the result. Costs as much as reading the call frame information of
 * all that is mapped: 10 to 100 ms. Fails as above, and with CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_attach_target_open(struct ctx_attach_target *target, int64_t pid,
						      struct ctx_err *err);
void ctx_attach_target_close(struct ctx_attach_target *target);

/*
 * Whether a thread with these registers is at a safe place, by its whole stack. False also where that cannot be followed
 * to its root.
 */
bool ctx_attach_target_is_safe(const struct ctx_attach_target *target, const struct ctx_user_regs *regs);

/* A number in a status file, "Name:\tvalue", of the given base; `otherwise` if it is not there. */
uint64_t ctx_attach_status_number(const char *status, const char *name, int base, uint64_t otherwise);

#endif
