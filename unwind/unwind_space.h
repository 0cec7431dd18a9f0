/*
 * What the unwinder works on: the code of an address space, the kernel's chain of a sample, and the frames that come out.
 */
#ifndef CTX_UNWIND_UNWIND_SPACE_H
#define CTX_UNWIND_UNWIND_SPACE_H

#include "model/user_regs.h"
#include "unwind/cfi_table.h"

/* What is mapped at a pc. */
struct ctx_unwind_object {
	uint64_t begin, end;		   /* of the executable mapping that contains it */
	const struct ctx_cfi_table *table; /* NULL: the object has none, or there is no object (JIT code) */
	uint64_t bias;			   /* pc - bias is the address in the table */
	/*
	 * Of its code: at equal pc - code_bias in code of equal numbers, which are not 0, are the same
	 * instructions, in whatever process and wherever they are mapped. 0: they may change at any time.
	 */
	uint64_t code, code_bias;
};

struct ctx_unwind_steps { /* frames by how they were left; the first two of code without call frame information */
	uint64_t by_code; /* as its instructions say */
	uint64_t by_frame_pointer;
	uint64_t by_chain; /* of any code: the last ones of the stack, from the kernel's chain */
};

/*
 * The pc and the return addresses that the kernel found by following frame pointers when it took the sample: words of
 * this machine, unaligned. Frames outside the copied stack are taken from it where call frame information says that they
 * have frame pointers (x86-64).
 */
struct ctx_unwind_chain {
	const uint8_t *words; /* borrowed */
	size_t n;
};

struct ctx_code_cache;

struct ctx_unwind_space {
	/* False: nothing executable is mapped there. Called once for each change of the object. */
	bool (*find)(void *context, uint64_t pc, struct ctx_unwind_object *ret);
	/*
	 * Reads up to `n` bytes of code, and returns how many; 0: it cannot be read. NULL: none can.
	 * Called for code without call frame information alone.
	 */
	size_t (*read_code)(void *context, uint64_t address, uint8_t *out, size_t n);
	void *context;
	struct ctx_code_cache *cache;	      /* borrowed; NULL: none (unwind/code_cache.h) */
	struct ctx_unwind_steps *steps;	      /* added to; NULL: not counted */
	const struct ctx_unwind_chain *chain; /* of the stack to unwind; borrowed; NULL: none */
};

struct ctx_unwind_frame {
	/*
	 * For lookups: the pc for the leaf and for frames that a signal interrupted, else inside
	 * the call (return address - 1).
	 */
	uint64_t address;
	/* Stack pointer before the call; 0 unknown. Equal (address, cfa) of one thread are the same
	 * frame. */
	uint64_t cfa;
};

#endif
