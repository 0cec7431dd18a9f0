#include "collect/vm_names.h"

#include "base/java_name.h"
#include "base/mem.h"
#include "formats/experiment/exp_functions.h"

#include <string.h>

#define JAVA_METHODS "<Java methods>"
#define JAVA_STUBS "<Java stubs>"
#define UNKNOWN_METHOD "<Unknown method>"

void ctx_vm_writing_deinit(struct ctx_vm_writing *writing)
{
	free(writing->rows);
	free(writing->sites);
	ctx_strtab_deinit(&writing->known);
	*writing = (struct ctx_vm_writing){0};
}

/* "java.lang.String.charAt(int)" */
static void put_name(struct ctx_buf *out, const struct ctx_vm_class *class,
		     const struct ctx_vm_method *method)
{
	ctx_java_put_class(out, class->name.at, class->name.n);
	ctx_buf_put_u8(out, '.');
	ctx_buf_put(out, method->name.at, method->name.n);
	ctx_java_put_parameters(out, method->signature.at, method->signature.n);
	ctx_buf_put_u8(out, 0);
}

/* "java/lang/String.java": the class's package is where its file is. */
static void put_file(struct ctx_buf *out, const struct ctx_vm_class *class)
{
	size_t n = 0;

	for (size_t i = 0; i < class->name.n; i++)
		n = class->name.at[i] == '/' ? i + 1 : n;
	ctx_buf_put(out, class->name.at, n);
	ctx_buf_put(out, class->file.at, class->file.n);
	ctx_buf_put_u8(out, 0);
}

struct described {
	struct ctx_buf name, file; /* owned */
	struct ctx_exp_function function;
};

static void described_deinit(struct described *described)
{
	ctx_buf_deinit(&described->name);
	ctx_buf_deinit(&described->file);
}

static enum ctx_code_kind kind_of(enum ctx_vm_run run, bool is_native)
{
	if (is_native)
		return CTX_CODE_JAVA_NATIVE;
	if (run == CTX_VM_SOMEHOW)
		return CTX_CODE_JAVA;
	return run == CTX_VM_INTERPRETED ? CTX_CODE_JAVA_INTERPRETED
	       : run == CTX_VM_INLINED	 ? CTX_CODE_JAVA_INLINED
					 : CTX_CODE_JAVA_COMPILED;
}

/* A method that runs in this way, as a function whose texts are in `name` and `file`. */
static enum ctx_status describe(const struct ctx_vm_target *target, uint32_t index, enum ctx_vm_run run,
				struct described *ret, struct ctx_err *err)
{
	struct ctx_vm_class class;
	struct ctx_vm_method method;
	enum ctx_status status;

	ctx_vm_image_method(target->image, index, &class, &method);
	put_name(&ret->name, &class, &method);
	put_file(&ret->file, &class);
	status = ctx_buf_check(&ret->name, err);
	if (status == CTX_OK)
		status = ctx_buf_check(&ret->file, err);
	ret->function =
		(struct ctx_exp_function){.name = (const char *)ret->name.bytes,
					  .module = JAVA_METHODS,
					  .file = class.file.n != 0 ? (const char *)ret->file.bytes : NULL,
					  .line = ctx_vm_line_of(&method, 0),
					  .kind = kind_of(run, method.is_native)};
	return status;
}

/* The number of a method that runs in this way; CTX_NONE: there are too many. */
static enum ctx_status number_of(const struct ctx_vm_target *target, uint32_t index, enum ctx_vm_run run,
				 uint32_t *ret, struct ctx_err *err)
{
	struct described described CTX_CLEANUP(described_deinit) = {0};
	uint32_t *known = &target->image->methods[index].numbers[run];
	enum ctx_status status = CTX_OK;

	if (*known == CTX_NONE)
		status = describe(target, index, run, &described, err);
	if (*known == CTX_NONE && status == CTX_OK)
		status = ctx_exp_function(target->writer, &described.function, known, err);
	*ret = *known;
	return status;
}

enum ctx_status ctx_vm_define(const struct ctx_vm_target *target, uint32_t number, uint32_t method,
			      struct ctx_err *err)
{
	const struct ctx_exp_function interpreter = {
		.name = CTX_VMS_INTERPRETER, .module = JAVA_STUBS, .kind = CTX_CODE_JVM};
	struct described described CTX_CLEANUP(described_deinit) = {0};
	enum ctx_status status;

	if (method == CTX_NONE)
		return ctx_exp_function_define(target->writer, number, &interpreter, err);
	status = describe(target, method, CTX_VM_INTERPRETED, &described, err);
	return status == CTX_OK ? ctx_exp_function_define(target->writer, number, &described.function, err)
				: status;
}

enum ctx_status ctx_vm_name_frame(const struct ctx_vm_target *target, uint32_t method,
				  struct ctx_vm_frame *frame, struct ctx_err *err)
{
	uint32_t number;
	enum ctx_status status = number_of(target, method, CTX_VM_INTERPRETED, &number, err);

	if (status != CTX_OK || number == CTX_NONE)
		return status;
	frame->frame->address = ctx_frame_named(number, frame->line);
	frame->is_named = true;
	return CTX_OK;
}

enum ctx_status ctx_vm_frame_of_method(const struct ctx_vm_target *target, const struct ctx_vm_place *place,
				       uint64_t *ret, struct ctx_err *err)
{
	uint32_t index = ctx_map64_get(&target->image->by_id, place->method), number;
	struct ctx_vm_class class;
	struct ctx_vm_method method;
	enum ctx_status status;

	*ret = 0;
	if (index == CTX_MAP64_NONE)
		return CTX_OK;
	ctx_vm_image_method(target->image, index, &class, &method);
	status = number_of(target, index, CTX_VM_SOMEHOW, &number, err);
	if (status == CTX_OK && number != CTX_NONE)
		*ret = ctx_frame_named(
			number, ctx_vm_line_of(&method, place->bytecode > 0 ? (uint32_t)place->bytecode : 0));
	return status;
}

/* --- code --- */

static enum ctx_status site_of(struct ctx_vm_writing *writing, const struct ctx_exp_code_site *site,
			       uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&writing->sites, &writing->sites_cap, writing->known.n + 1, err);
	size_t n = writing->known.n;

	if (status == CTX_OK)
		status = ctx_strtab_add(&writing->known, (const char *)site, sizeof(*site), ret, err);
	if (status == CTX_OK && *ret == n)
		writing->sites[n] = *site;
	return status;
}

/* The innermost site of a row, CTX_NONE: nothing is known. */
static enum ctx_status site_of_row(struct ctx_vm_writing *writing, const struct ctx_vm_target *target,
				   const struct ctx_vm_row *row, uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret = CTX_NONE;
	for (uint32_t i = row->depth; i-- > 0 && status == CTX_OK;) {
		struct ctx_vm_place place = ctx_vm_place_of(row, i);
		uint32_t index = ctx_map64_get(&target->image->by_id, place.method);
		struct ctx_exp_code_site site = {.caller = *ret};
		struct ctx_vm_class class;
		struct ctx_vm_method method;

		if (index == CTX_MAP64_NONE)
			return CTX_OK;
		ctx_vm_image_method(target->image, index, &class, &method);
		/* Before its first bytecode, where it waits for a lock, it is at its begin. */
		site.line = ctx_vm_line_of(&method, place.bytecode > 0 ? (uint32_t)place.bytecode : 0);
		status = number_of(target, index, *ret == CTX_NONE ? CTX_VM_COMPILED : CTX_VM_INLINED,
				   &site.function, err);
		if (status == CTX_OK && site.function == CTX_NONE)
			return CTX_OK;
		if (status == CTX_OK)
			status = site_of(writing, &site, ret, err);
	}
	return status;
}

struct rows {
	size_t n;
	uint32_t end; /* of the last one */
};

static enum ctx_status add_row(struct ctx_vm_writing *writing, struct rows *rows, uint32_t site,
			       struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&writing->rows, &writing->rows_cap, rows->n + 1, err);

	if (status == CTX_OK)
		writing->rows[rows->n++] = (struct ctx_exp_code_row){rows->end, site};
	return status;
}

static enum ctx_status take_rows(struct ctx_vm_writing *writing, const struct ctx_vm_target *target,
				 const struct ctx_vm_kept_rows *kept, struct rows *rows, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(kept->at, (size_t)(kept->end - kept->at));
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < kept->n && status == CTX_OK; i++) {
		struct ctx_vm_row row;
		uint32_t site;

		if (!ctx_vm_parse_row(&cursor, &row))
			break;
		if (row.end <= rows->end)
			continue;
		status = site_of_row(writing, target, &row, &site, err);
		if (status == CTX_OK)
			status = add_row(writing, rows, site, err);
		rows->end = row.end;
	}
	return status;
}

/* The function of a code: its method, or a stub. */
static enum ctx_status function_of(const struct ctx_vm_target *target, const struct ctx_vm_known_code *code,
				   uint32_t *ret, struct ctx_err *err)
{
	struct ctx_exp_function stub = {.name = code->name, .module = JAVA_STUBS, .kind = CTX_CODE_JVM};
	uint32_t index = ctx_map64_get(&target->image->by_id, code->method);

	if (code->method != 0 && index != CTX_MAP64_NONE)
		return number_of(target, index, CTX_VM_COMPILED, ret, err);
	if (code->method != 0)
		stub = (struct ctx_exp_function){
			.name = UNKNOWN_METHOD, .module = JAVA_METHODS, .kind = CTX_CODE_JAVA_COMPILED};
	return ctx_exp_function(target->writer, &stub, ret, err);
}

enum ctx_status ctx_vm_write_code(struct ctx_vm_writing *writing, const struct ctx_vm_target *target,
				  struct ctx_vm_known_code *code, struct ctx_err *err)
{
	struct ctx_exp_code out = {.process = target->process,
				   .time_ns = code->begin_ns,
				   .address = code->address,
				   .size = code->bytes,
				   .instructions = code->instructions};
	enum ctx_status status = function_of(target, code, &out.function, err);
	struct rows rows = {0};

	for (const struct ctx_vm_kept_rows *kept = code->rows; kept != NULL && status == CTX_OK;
	     kept = kept->next)
		status = take_rows(writing, target, kept, &rows, err);
	if (status == CTX_OK && rows.n != 0 && rows.end < code->bytes)
		status = add_row(writing, &rows, CTX_NONE, err);
	if (status == CTX_OK && out.function != CTX_NONE) {
		out.rows = writing->rows;
		out.sites = writing->sites;
		out.n_rows = rows.n;
		out.n_sites = writing->known.n;
		status = ctx_exp_code(target->writer, &out, err);
	}
	ctx_strtab_deinit(&writing->known);
	ctx_vm_image_forget_instructions(target->image, code);
	return status;
}

/* --- the virtual machine --- */

enum ctx_status ctx_vm_write_hello(const struct ctx_vm_target *target, const struct ctx_vm_hello *hello,
				   uint64_t time_ns, struct ctx_err *err)
{
	const struct ctx_vm_text texts[] = {hello->name, hello->version, hello->collector, hello->command};
	struct ctx_buf room CTX_AUTO_BUF = {0};
	size_t at[CTX_COUNT_OF(texts)];
	struct ctx_exp_vm vm = {
		.process = target->process, .time_ns = time_ns, .heap_max_bytes = hello->heap_max_bytes};
	enum ctx_status status;

	for (size_t i = 0; i < CTX_COUNT_OF(texts); i++) {
		at[i] = room.n;
		ctx_buf_put(&room, texts[i].at, texts[i].n);
		ctx_buf_put_u8(&room, 0);
	}
	status = ctx_buf_check(&room, err);
	if (status != CTX_OK)
		return status;
	vm.name = (const char *)room.bytes + at[0];
	vm.version = (const char *)room.bytes + at[1];
	vm.collector = (const char *)room.bytes + at[2];
	vm.command = (const char *)room.bytes + at[3];
	return ctx_exp_vm(target->writer, &vm, err);
}

enum ctx_status ctx_vm_write_bye(const struct ctx_vm_target *target, const struct ctx_vm_bye *bye,
				 uint64_t time_ns, struct ctx_err *err)
{
	struct ctx_exp_vm_figures end = {.process = target->process, .time_ns = time_ns, .is_end = true};

	for (size_t i = 0; i < CTX_VM_FIGURE_N; i++)
		end.figures[i] = CTX_VM_UNKNOWN;
	end.figures[CTX_VM_HEAP_USED] = bye->heap_used_bytes;
	end.figures[CTX_VM_HEAP_MAX] = bye->heap_max_bytes;
	end.figures[CTX_VM_CLASSES] = bye->classes;
	end.figures[CTX_VM_COMPILATIONS] = bye->compilations;
	return ctx_exp_vm_figures(target->writer, &end, err);
}
