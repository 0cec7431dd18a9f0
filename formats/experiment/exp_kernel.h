/*
 * Which of the kernel's functions a recording has: decides whether the list of them, which takes
 * longer to read than everything else at the end of a short recording, can be one that was read
 * before (exp_store.h).
 *
 * The kernel's own functions stay where they are until the machine boots again, a module's until it
 * is loaded again. What lies elsewhere (BPF programs, trampolines) comes and goes: a recording with
 * frames there reads the list anew.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_KERNEL_H
#define CTX_FORMATS_EXPERIMENT_EXP_KERNEL_H

#include "base/map64.h"
#include "formats/experiment/exp_store.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_exp_kernel { /* all zero: no address was seen */
	bool is_seen;
	bool has_more;		/* than can be kept */
	struct ctx_map64 pages; /* that may not be the kernel's own code */
	uint32_t n_pages;
};

void ctx_exp_kernel_deinit(struct ctx_exp_kernel *kernel);

/* An address of the kernel. O(1). */
void ctx_exp_kernel_see(struct ctx_exp_kernel *kernel, uint64_t address);

/* What the answer is made of; tests have their own. */
struct ctx_exp_kernel_texts {
	const char *boot_id, *modules, *kallsyms; /* paths; of the last one only the begin is read */
};

struct ctx_exp_kernel_texts ctx_exp_kernel_texts_default(void);

/* The key of the list, "" if it has to be read anew. Reads some tens of KB. */
void ctx_exp_kernel_key(const struct ctx_exp_kernel *kernel, const struct ctx_exp_kernel_texts *texts,
			char ret[CTX_EXP_STORE_KEY]);

#endif
