/*
 * Functions by name, and code that is in no file, of log.xml (exp_functions.h writes them).
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_LOG_CODE_H
#define CTX_FORMATS_EXPERIMENT_EXP_LOG_CODE_H

#include "base/arena.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "formats/experiment/exp_lines.h"
#include "model/event_source.h"

/* A line <function>. */
struct ctx_exp_function_row {
	const char *name, *module, *file; /* `file` NULL: unknown */
	uint32_t key;			  /* number in the files */
	uint32_t line;
	enum ctx_code_kind kind;
};

/* A line <code>. */
struct ctx_exp_code_line {
	uint32_t function; /* row */
	struct ctx_jit_places places;
	const uint8_t *instructions; /* NULL unknown */
	size_t n_instructions;
	uint16_t machine;
};

struct ctx_exp_code_lines { /* all zero is empty */
	struct ctx_arena arena;
	struct ctx_strtab strings;
	struct ctx_exp_function_row *functions;
	struct ctx_exp_code_line *codes;
	struct ctx_vm_info
		*vms; /* what is known of virtual machines, a row for each line; `process` is not set */
	size_t n_functions, functions_cap, n_codes, codes_cap, n_vms, vms_cap;
	struct ctx_map64 of_key; /* number in the files -> row */
};

void ctx_exp_code_lines_deinit(struct ctx_exp_code_lines *lines);

/* Reads a line <function>; *ret is its row. Fails with CTX_E_FORMAT (not usable), CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_code_lines_function(struct ctx_exp_code_lines *lines,
							   const struct ctx_exp_line *line, uint32_t *ret,
							   struct ctx_err *err);

/*
 * Reads what a line <code> says but for its process, time and place; *ret is its row. Fails with CTX_E_FORMAT (not usable, or of a
 * function that no line before describes), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_code_lines_code(struct ctx_exp_code_lines *lines,
						       const struct ctx_exp_line *line, uint32_t *ret,
						       struct ctx_err *err);

/* The events of rows. */
struct ctx_event_function ctx_exp_code_lines_event(const struct ctx_exp_code_lines *lines, uint32_t row);
struct ctx_map_event ctx_exp_code_lines_map(const struct ctx_exp_code_lines *lines, uint32_t row,
					    uint64_t address, uint64_t size);

#endif
