/*
 * Code that is in no file: functions that frames name, code that a virtual machine has made, and the virtual machines
 * themselves. Lines of log.xml, which is written before everything that refers to them.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_FUNCTIONS_H
#define CTX_FORMATS_EXPERIMENT_EXP_FUNCTIONS_H

#include "formats/experiment/exp_writer.h"
#include "model/code_kind.h"
#include "model/vm_info.h"

#define CTX_EXP_FUNCTIONS_MAX ((uint32_t)4 << 20)
#define CTX_EXP_CODE_ROWS_MAX 65536u /* of a code; so many sites as well */
#define CTX_EXP_CODE_BYTES_MAX ((size_t)1 << 20)

struct ctx_exp_function {
	const char *name;   /* as shown: "J.fib(int)" */
	const char *module; /* its container: "<Java methods>" */
	const char *file;   /* with its source; NULL unknown */
	uint32_t line;	    /* where it begins; 0 unknown */
	enum ctx_code_kind kind;
};

/*
 * The number of a function, for ctx_frame_named and code; equal ones have one. Positions of its frames are lines. Numbers are
 * dense over the whole experiment. CTX_NONE: there are too many.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_function(struct ctx_exp_writer *writer,
						const struct ctx_exp_function *function, uint32_t *ret,
						struct ctx_err *err);

/*
 * A number for a function that is known later: frames may have it at once. ctx_exp_function_define says which it is, once, before the end.
 * CTX_NONE: there are too many.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_function_reserve(struct ctx_exp_writer *writer, uint32_t *ret,
							struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_exp_function_define(struct ctx_exp_writer *writer, uint32_t number,
						       const struct ctx_exp_function *function,
						       struct ctx_err *err);

/* A place in the source; a place inlined somewhere has that place as caller. */
struct ctx_exp_code_site {
	uint32_t caller;   /* index of a site before it; CTX_NONE: it is not inlined */
	uint32_t function; /* its number; without a caller that of the code */
	uint32_t line;	   /* 0 unknown */
};

struct ctx_exp_code_row {
	uint32_t begin; /* offset; up to the next row's */
	uint32_t site;	/* CTX_NONE: only the function is known */
};

struct ctx_exp_code {
	uint32_t process;
	uint64_t
		time_ns; /* since when it may be there: other code at its addresses ends; 0: since its memory is */
	uint64_t address;
	uint32_t size;
	uint32_t function;		     /* its number */
	const struct ctx_exp_code_row *rows; /* by offset */
	const struct ctx_exp_code_site *sites;
	size_t n_rows, n_sites;
	const uint8_t *instructions; /* `size` bytes; NULL unknown */
};

/* Writes it; of more rows than CTX_EXP_CODE_ROWS_MAX or instructions than CTX_EXP_CODE_BYTES_MAX the rest is left out. */
CTX_MUST_CHECK enum ctx_status ctx_exp_code(struct ctx_exp_writer *writer, const struct ctx_exp_code *code,
					    struct ctx_err *err);

/* A virtual machine. */
struct ctx_exp_vm {
	uint32_t process;
	uint64_t time_ns;
	const char *name, *version, *collector, *command; /* "" unknown */
	uint64_t heap_max_bytes;			  /* 0 unknown */
};
CTX_MUST_CHECK enum ctx_status ctx_exp_vm(struct ctx_exp_writer *writer, const struct ctx_exp_vm *vm,
					  struct ctx_err *err);

/* What it says of itself later: what is known of `figures` (the rest is CTX_VM_UNKNOWN). */
struct ctx_exp_vm_figures {
	uint32_t process;
	uint64_t time_ns;
	bool is_end; /* it has ended */
	uint64_t figures[CTX_VM_FIGURE_N];
};
CTX_MUST_CHECK enum ctx_status ctx_exp_vm_figures(struct ctx_exp_writer *writer,
						  const struct ctx_exp_vm_figures *figures,
						  struct ctx_err *err);

#endif
