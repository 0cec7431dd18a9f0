#include "formats/experiment/exp_functions.h"

#include "formats/experiment/exp_state.h"
#include "formats/experiment/exp_xml.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

/* The line that was begun ends; it is written with the next tick at the latest. */
static enum ctx_status end_line(struct ctx_exp_writer *writer, size_t before, struct ctx_err *err)
{
	writer->log_oldest_ns = 0;
	ctx_exp_describes(writer, &writer->log, before);
	return ctx_exp_log_end(writer, err);
}

static enum ctx_status key_of(const struct ctx_exp_function *function, struct ctx_buf *out,
			      struct ctx_err *err)
{
	const char *file = function->file != NULL ? function->file : "";

	ctx_buf_put(out, function->name, strlen(function->name) + 1);
	ctx_buf_put(out, function->module, strlen(function->module) + 1);
	ctx_buf_put(out, file, strlen(file) + 1);
	ctx_buf_put_u32(out, function->line);
	ctx_buf_put_u8(out, (uint8_t)function->kind);
	return ctx_buf_check(out, err);
}

enum ctx_status ctx_exp_function(struct ctx_exp_writer *writer, const struct ctx_exp_function *function,
				 uint32_t *ret, struct ctx_err *err)
{
	struct ctx_buf key CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_exp_check(writer, err);
	uint32_t n = (uint32_t)writer->functions.n;

	*ret = CTX_NONE;
	if (status == CTX_OK)
		status = key_of(function, &key, err);
	if (status != CTX_OK)
		return status;
	*ret = ctx_strtab_find(&writer->functions, (const char *)key.bytes, key.n);
	if (*ret != UINT32_MAX ||
	    !ctx_exp_may_describe(writer, CTX_EXP_DESCRIBED_NAME, n, CTX_EXP_FUNCTIONS_MAX))
		return CTX_OK;
	status = ctx_strtab_add(&writer->functions, (const char *)key.bytes, key.n, ret, err);
	return status == CTX_OK ? ctx_exp_function_define(writer, *ret, function, err) : status;
}

/* A key that no function has. */
enum ctx_status ctx_exp_function_reserve(struct ctx_exp_writer *writer, uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);
	uint32_t n = (uint32_t)writer->functions.n;

	*ret = CTX_NONE;
	if (status != CTX_OK || n >= CTX_EXP_FUNCTIONS_MAX)
		return status;
	return ctx_strtab_add(&writer->functions, (const char *)&n, sizeof(n), ret, err);
}

enum ctx_status ctx_exp_function_define(struct ctx_exp_writer *writer, uint32_t number,
					const struct ctx_exp_function *function, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);
	size_t before = writer->log.n;

	if (status != CTX_OK)
		return status;
	ctx_buf_put_text(&writer->log, "<function");
	ctx_exp_xml_number(&writer->log, "number", number);
	ctx_exp_xml_attribute(&writer->log, "name", function->name);
	ctx_exp_xml_attribute(&writer->log, "module", function->module);
	if (function->file != NULL)
		ctx_exp_xml_attribute(&writer->log, "file", function->file);
	if (function->line != 0)
		ctx_exp_xml_number(&writer->log, "line", function->line);
	ctx_exp_xml_attribute(&writer->log, "kind", ctx_code_kind_word(function->kind));
	return end_line(writer, before, err);
}

/* Of each site three numbers: 1 + its caller, or 0; its function; its line. */
static void put_sites(struct ctx_buf *out, const struct ctx_exp_code *code, size_t n)
{
	ctx_buf_put_text(out, " sites=\"");
	for (size_t i = 0; i < n; i++) {
		const struct ctx_exp_code_site *site = &code->sites[i];

		ctx_buf_printf(out, "%s%u,%u,%u", i != 0 ? " " : "",
			       site->caller != CTX_NONE ? site->caller + 1 : 0, site->function, site->line);
	}
	ctx_buf_put_text(out, "\"");
}

/* Of each row two numbers: its offset less that of the row before, and 1 + its site, or 0. */
static void put_rows(struct ctx_buf *out, const struct ctx_exp_code *code, size_t n)
{
	uint32_t before = 0;

	ctx_buf_put_text(out, " rows=\"");
	for (size_t i = 0; i < n; i++) {
		uint32_t site = code->rows[i].site;

		ctx_buf_printf(out, "%s%u,%u", i != 0 ? " " : "", code->rows[i].begin - before,
			       site < CTX_EXP_CODE_ROWS_MAX ? site + 1 : 0);
		before = code->rows[i].begin;
	}
	ctx_buf_put_text(out, "\"");
}

static void put_instructions(struct ctx_buf *out, const struct ctx_exp_code *code)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = code->size < CTX_EXP_CODE_BYTES_MAX ? code->size : CTX_EXP_CODE_BYTES_MAX;
	uint8_t *room;

	ctx_buf_put_text(out, " text=\"");
	room = ctx_buf_reserve(out, 2 * n);
	for (size_t i = 0; room != NULL && i < n; i++) {
		room[2 * i] = (uint8_t)digits[code->instructions[i] >> 4];
		room[2 * i + 1] = (uint8_t)digits[code->instructions[i] & 15];
	}
	out->n += room != NULL ? 2 * n : 0;
	ctx_buf_put_text(out, "\"");
}

enum ctx_status ctx_exp_code(struct ctx_exp_writer *writer, const struct ctx_exp_code *code,
			     struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, code->process, err);
	struct ctx_exp_proc *proc = ctx_exp_proc(writer, code->process);
	const struct ctx_exp_map_entry *map;
	struct ctx_buf *out = &writer->log;
	size_t before = out->n;
	uint64_t since_ns;

	if (status != CTX_OK || proc == NULL ||
	    !ctx_exp_may_describe(writer, CTX_EXP_DESCRIBED_MAP, proc->n_map_lines,
				  CTX_EXP_MAPS_OF_PROCESS_MAX))
		return status;
	proc->n_map_lines++;
	/* The memory is mapped before code is put into it. */
	map = ctx_exp_map_list_find(proc->maps, code->address);
	since_ns = ctx_exp_relative(writer, code->time_ns);
	if (since_ns == 0 && map != NULL)
		since_ns = map->time_ns + 1;
	ctx_buf_put_text(out, "<code");
	ctx_exp_xml_time(out, "tstamp", since_ns);
	ctx_exp_xml_number(out, "process", code->process);
	ctx_exp_xml_hex(out, "address", code->address);
	ctx_exp_xml_hex(out, "size", code->size);
	ctx_exp_xml_number(out, "function", code->function);
	if (code->instructions != NULL)
		ctx_exp_xml_number(out, "machine", MACHINE);
	if (code->n_rows != 0) {
		put_sites(out, code,
			  code->n_sites < CTX_EXP_CODE_ROWS_MAX ? code->n_sites : CTX_EXP_CODE_ROWS_MAX);
		put_rows(out, code,
			 code->n_rows < CTX_EXP_CODE_ROWS_MAX ? code->n_rows : CTX_EXP_CODE_ROWS_MAX);
	}
	if (code->instructions != NULL)
		put_instructions(out, code);
	return end_line(writer, before, err);
}

enum ctx_status ctx_exp_vm(struct ctx_exp_writer *writer, const struct ctx_exp_vm *vm, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, vm->process, err);
	size_t before = writer->log.n;
	struct ctx_buf *out;

	if (status != CTX_OK || !ctx_exp_may_describe(writer, CTX_EXP_DESCRIBED_PROCESS, 0, 1))
		return status;
	out = ctx_exp_log_event(writer, "vm", vm->time_ns);
	ctx_exp_xml_number(out, "process", vm->process);
	ctx_exp_xml_attribute(out, "name", vm->name);
	ctx_exp_xml_attribute(out, "version", vm->version);
	ctx_exp_xml_attribute(out, "collector", vm->collector);
	ctx_exp_xml_attribute(out, "command", vm->command);
	ctx_exp_xml_number(out, "heap_max", vm->heap_max_bytes);
	return end_line(writer, before, err);
}

enum ctx_status ctx_exp_vm_figures(struct ctx_exp_writer *writer, const struct ctx_exp_vm_figures *figures,
				   struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, figures->process, err);
	struct ctx_buf *out;

	if (status != CTX_OK)
		return status;
	out = ctx_exp_log_event(writer, figures->is_end ? "vm-end" : "vm-figures", figures->time_ns);
	ctx_exp_xml_number(out, "process", figures->process);
	for (size_t i = 0; i < CTX_VM_FIGURE_N; i++) {
		if (figures->figures[i] != CTX_VM_UNKNOWN)
			ctx_exp_xml_number(out, ctx_vm_figure_name((enum ctx_vm_figure)i),
					   figures->figures[i]);
	}
	return ctx_exp_log_end(writer, err);
}
