/*
 * Code that counts the executions of a function's entry (x86-64). The entry jumps there, and it jumps back behind the bytes that did
 * nothing. It changes no register and no flag, and what lies behind the stack pointer is nobody's at an entry.
 *
 *		push site; call *SLOW; lea 8(%rsp), %rsp; jmp LEAVE		the thread has no block
 *	ENTRY:	push rcx; push rax
 *		mov %fs:TLS, %rcx; jrcxz; mov (%rcx), %rcx; jrcxz		to the part above
 *		lahf; seto %al
 *		incq COUNTER(%rcx)						for each site of the entry
 *		decq COUNTDOWN(%rcx); je RAISE					where it has a threshold
 *		add $0x7f, %al; sahf
 *	LEAVE:	pop rax; pop rcx
 *		jmp BACK
 *	RAISE:	push site; call *RAISE; lea 8(%rsp), %rsp; jmp behind the je
 *
 * The counter is changed by one instruction, so that a signal handler that executes the same function loses nothing.
 * What is called finds on the stack: where it returns to, the site, rax, rcx, and what was there at the entry.
 */
#ifndef CTX_RUNTIME_RT_COUNT_CODE_H
#define CTX_RUNTIME_RT_COUNT_CODE_H

#include <stddef.h>
#include <stdint.h>

struct ctx_rt_count_bump { /* of one site */
	uint32_t site;
	uint64_t counter, countdown; /* bytes from the block's begin; countdown 0: there is no threshold */
};

struct ctx_rt_count_code {
	uint64_t at;   /* where the code will be */
	uint64_t back; /* where it jumps to in the end */
	uint64_t
		slots; /* addresses of two words near it: what is called without a block, and at a threshold */
	int32_t tls;   /* of the thread's pointer to a pointer to its block, from %fs */
	const struct ctx_rt_count_bump *bumps;
	size_t n;
};

/* Bytes that are enough for `n` sites. */
#define CTX_RT_COUNT_CODE_BYTES(n) ((size_t)64 + 48 * (n))

/*
 * Writes the code to `out`, CTX_RT_COUNT_CODE_BYTES(n) bytes, and returns how many it is; *ret_entry is where the entry is in it. 0: a
 * jump or a counter is too far away.
 */
size_t ctx_rt_count_encode(const struct ctx_rt_count_code *code, uint8_t *out, size_t *ret_entry);

/* A jump of 5 bytes from `at`. Returns 0: too far away. */
size_t ctx_rt_count_jump(uint64_t at, uint64_t target, uint8_t out[5]);

#endif
