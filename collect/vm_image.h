/*
 * The methods of a virtual machine and its compiled code, as its agent reported them.
 *
 *	messages --ctx_vm_image_take--> methods by id and by address, code by address
 *
 * Messages are kept as they came and are parsed again where a method is needed: few of the methods of a program run
 * often. Code at an address takes the place of what was there; it is valid up to its unloading.
 */
#ifndef CTX_COLLECT_VM_IMAGE_H
#define CTX_COLLECT_VM_IMAGE_H

#include "base/arena.h"
#include "base/map64.h"
#include "base/ranges.h"
#include "collect/vm_parse.h"

#define CTX_VM_IMAGE_BYTES_MAX ((size_t)512 << 20) /* of messages that are kept */

/* How a method runs. */
enum ctx_vm_run {
	CTX_VM_INTERPRETED,
	CTX_VM_COMPILED,
	CTX_VM_INLINED,
	CTX_VM_SOMEHOW, /* it is not known */
	CTX_VM_RUN_N,
};

struct ctx_vm_known_method {
	const uint8_t *class, *at, *end; /* where the message has them, and its end */
	uint32_t numbers[CTX_VM_RUN_N];	 /* as functions of the experiment; CTX_NONE: not yet */
};

/* Rows of a code, in a message that is kept. */
struct ctx_vm_kept_rows {
	struct ctx_vm_kept_rows *next;
	const uint8_t *at, *end;
	uint32_t n;
};

struct ctx_vm_known_code {
	uint64_t address, method;
	uint64_t begin_ns;  /* since when nothing else is there */
	uint64_t unload_ns; /* UINT64_MAX: it is there */
	const char *name;   /* of a stub; "" of a method */
	uint32_t bytes;
	bool is_complete, is_written;
	struct ctx_vm_kept_rows *rows, *last_rows;
	uint8_t *instructions; /* `bytes` of them, zeros where they were not reported; NULL: none were */
};

struct ctx_vm_image { /* all zero is empty */
	struct ctx_arena arena;
	struct ctx_vm_known_method *methods;
	size_t n_methods, methods_cap;
	struct ctx_map64 by_id, by_address;
	struct ctx_vm_known_code *codes;
	size_t n_codes, codes_cap;
	struct ctx_map64 code_of_number;
	struct ctx_ranges ranges;      /* index of the code */
	uint64_t code_begin, code_end; /* of all code */
	size_t instruction_bytes;
	uint64_t damaged;  /* messages that made no sense */
	uint64_t left_out; /* for lack of room */
};

void ctx_vm_image_deinit(struct ctx_vm_image *image);

/*
 * Takes a message of methods or code; others are ignored. *ret_code is the index of a code that is complete now, CTX_NONE: none.
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_vm_image_take(struct ctx_vm_image *image, const struct ctx_vm_head *head,
						 struct ctx_cursor *rest, uint32_t *ret_code,
						 struct ctx_err *err);

/* A known method; borrowed from the image. */
void ctx_vm_image_method(const struct ctx_vm_image *image, uint32_t index, struct ctx_vm_class *ret_class,
			 struct ctx_vm_method *ret);

/* The code at an address, also such as was unloaded and nothing came after it; NULL: none. O(log codes). */
struct ctx_vm_known_code *ctx_vm_image_code_at(const struct ctx_vm_image *image, uint64_t address);

/* They are not needed any more. */
void ctx_vm_image_forget_instructions(struct ctx_vm_image *image, struct ctx_vm_known_code *code);

#endif
