/*
 * Writes what virtual machines report to the experiment: methods as functions, code with its lines, their begin and end.
 */
#ifndef CTX_COLLECT_VM_NAMES_H
#define CTX_COLLECT_VM_NAMES_H

#include "collect/vm_image.h"
#include "formats/experiment/exp_writer.h"
#include "unwind/unwind_space.h"

#define CTX_VMS_INTERPRETER "Interpreter" /* the name of its code */

struct ctx_vm_target {
	struct ctx_exp_writer *writer;
	struct ctx_vm_image *image;
	uint32_t process;
};

/* Scratch of ctx_vm_write_code. All zero is valid. */
struct ctx_vm_writing {
	struct ctx_exp_code_row *rows;
	struct ctx_exp_code_site *sites;
	size_t rows_cap, sites_cap;
	struct ctx_strtab known; /* sites of the code: the site -> its number */
};

void ctx_vm_writing_deinit(struct ctx_vm_writing *writing);

/* Writes a code, whose process is known. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_vm_write_code(struct ctx_vm_writing *writing,
						 const struct ctx_vm_target *target,
						 struct ctx_vm_known_code *code, struct ctx_err *err);

struct ctx_vm_frame {
	struct ctx_unwind_frame *frame;
	bool is_leaf;
	uint32_t line;		       /* 0 unknown */
	bool is_interpreter, is_named; /* out */
};

/* Makes a frame that of an interpreted method at its line. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_vm_name_frame(const struct ctx_vm_target *target, uint32_t method,
						 struct ctx_vm_frame *frame, struct ctx_err *err);

/* The frame of a method at a place, however it runs; 0: it is not known. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_vm_frame_of_method(const struct ctx_vm_target *target,
						      const struct ctx_vm_place *place, uint64_t *ret,
						      struct ctx_err *err);

/*
 * Defines a number of ctx_exp_function_reserve as an interpreted method; CTX_NONE: it was never reported, the function is the interpreter.
 */
CTX_MUST_CHECK enum ctx_status ctx_vm_define(const struct ctx_vm_target *target, uint32_t number,
					     uint32_t method, struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_vm_write_hello(const struct ctx_vm_target *target,
						  const struct ctx_vm_hello *hello, uint64_t time_ns,
						  struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_vm_write_bye(const struct ctx_vm_target *target,
						const struct ctx_vm_bye *bye, uint64_t time_ns,
						struct ctx_err *err);

#endif
