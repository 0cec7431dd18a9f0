#include "formats/jfr/jfr_names.h"

#include "base/java_name.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 4096u
#define FRAMES_DEEP 1u /* room for the class and the mark beside the frames */

void ctx_jfr_names_deinit(struct ctx_jfr_names *names)
{
	ctx_map64_deinit(&names->stacks);
	ctx_map64_deinit(&names->methods);
	ctx_map64_deinit(&names->classes);
	ctx_map64_deinit(&names->threads_by_key);
	ctx_strtab_deinit(&names->all_stacks);
	ctx_strtab_deinit(&names->all_threads);
	ctx_strtab_deinit(&names->texts);
	ctx_buf_deinit(&names->text);
	ctx_buf_deinit(&names->file);
	free(names->threads);
	free(names->frames);
}

void ctx_jfr_names_restart(struct ctx_jfr_names *names)
{
	ctx_map64_clear(&names->stacks);
	ctx_map64_clear(&names->methods);
	ctx_map64_clear(&names->classes);
	ctx_map64_clear(&names->threads_by_key);
}

/* Keeps what was found for a constant; other values have no number. */
static enum ctx_status keep(struct ctx_map64 *map, const struct ctx_jfr_value *value, uint32_t found,
			    struct ctx_err *err)
{
	uint32_t *place;

	if (!value->field->is_constant)
		return CTX_OK;
	place = ctx_map64_place(map, value->number);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = found;
	return CTX_OK;
}

static uint32_t kept(const struct ctx_map64 *map, const struct ctx_jfr_value *value)
{
	return value->field->is_constant ? ctx_map64_get(map, value->number) : CTX_MAP64_NONE;
}

/* --- functions --- */

/* Appends the text of a value to names->text, and returns where it begins. */
static size_t add_text(struct ctx_jfr_names *names, const struct ctx_jfr_chunk *chunk,
		       const struct ctx_jfr_value *value)
{
	size_t at = names->text.n;

	ctx_jfr_text(chunk, value, &names->text);
	if (names->text.n - at > NAME_BYTES_MAX)
		names->text.n = at + NAME_BYTES_MAX;
	return at;
}

static const char *text_at(const struct ctx_jfr_names *names, size_t at)
{
	return names->text.bytes != NULL ? (const char *)names->text.bytes + at : "";
}

/* The file in which a class would be by the rules of Java: of the outermost class. */
static void put_file(struct ctx_buf *out, const char *class, size_t n)
{
	size_t simple = 0;

	for (size_t i = 0; i < n; i++)
		simple = class[i] == '.' ? i + 1 : simple;
	for (size_t i = 0; i < n && (class[i] != '$' || i <= simple); i++)
		ctx_buf_put_u8(out, class[i] == '.' ? '/' : (uint8_t) class[i]);
	ctx_buf_put_text(out, ".java");
	ctx_buf_put_u8(out, 0);
}

static bool ends_as_native(const struct ctx_buf *text, size_t at)
{
	size_t n = text->n - at;

	return n >= 4 && text->bytes[at] == '(' && memcmp(text->bytes + text->n - 3, ")L;", 3) == 0;
}

/* "java.base" of a class; false: its module has no name. */
static bool put_module(struct ctx_jfr_names *names, const struct ctx_jfr_chunk *chunk,
		       const struct ctx_jfr_object *class)
{
	struct ctx_jfr_object package, module;
	size_t at = names->text.n;

	if (ctx_jfr_object(chunk, &class->values[CTX_JFR_PACKAGE], &package) &&
	    ctx_jfr_object(chunk, &package.values[CTX_JFR_MODULE], &module))
		(void)add_text(names, chunk, &module.values[CTX_JFR_NAME]);
	return names->text.n != at;
}

/* Native functions, which async-profiler writes as methods of a library, returning nothing that is. */
static void native_function(struct ctx_jfr_names *names, size_t class_at, size_t method_at, size_t end,
			    struct ctx_named_function *ret)
{
	*ret = (struct ctx_named_function){.name = text_at(names, method_at),
					   .n_name = end - method_at,
					   .module = text_at(names, class_at),
					   .n_module = method_at - class_at};
	if (ret->n_module == 0) {
		bool is_kernel = end - method_at > 4 && memcmp(text_at(names, end - 4), "_[k]", 4) == 0;

		ret->module = is_kernel ? "[kernel]" : "<native>";
		ret->n_module = strlen(ret->module);
	}
}

/* The frame of a method at line 0. Names stand one after the other in names->text. */
static enum ctx_status method_frame(struct ctx_jfr_names *names, const struct ctx_jfr_chunk *chunk,
				    const struct ctx_jfr_object *method, uint64_t *ret, struct ctx_err *err)
{
	struct ctx_jfr_object class = {0};
	struct ctx_named_function function;
	struct ctx_buf name CTX_AUTO_BUF = {0};
	size_t method_at, signature_at, module_at, class_n;
	enum ctx_status status;

	ctx_buf_clear(&names->text);
	ctx_buf_clear(&names->file);
	(void)ctx_jfr_object(chunk, &method->values[CTX_JFR_TYPE], &class);
	(void)add_text(names, chunk, &class.values[CTX_JFR_NAME]);
	method_at = add_text(names, chunk, &method->values[CTX_JFR_NAME]);
	signature_at = add_text(names, chunk, &method->values[CTX_JFR_DESCRIPTOR]);
	module_at = names->text.n;
	if (ends_as_native(&names->text, signature_at)) {
		native_function(names, 0, method_at, signature_at, &function);
	} else {
		bool has_module = put_module(names, chunk, &class);

		ctx_java_put_class(&name, text_at(names, 0), method_at);
		class_n = name.n;
		if (class_n != 0)
			put_file(&names->file, (const char *)name.bytes, class_n);
		ctx_buf_put_text(&name, class_n != 0 ? "." : "");
		ctx_buf_put(&name, text_at(names, method_at), signature_at - method_at);
		ctx_java_put_parameters(&name, text_at(names, signature_at), module_at - signature_at);
		function = (struct ctx_named_function){
			.name = name.n != 0 ? (const char *)name.bytes : "<Unknown>",
			.n_name = name.n != 0 ? name.n : strlen("<Unknown>"),
			.module = has_module ? text_at(names, module_at) : "<Java methods>",
			.n_module = has_module ? names->text.n - module_at : strlen("<Java methods>"),
			.file = class_n != 0 ? (const char *)names->file.bytes : NULL};
	}
	status = ctx_buf_check(&names->text, err);
	if (status == CTX_OK)
		status = ctx_buf_check(&name, err);
	if (status == CTX_OK)
		status = ctx_buf_check(&names->file, err);
	return status == CTX_OK ? ctx_named_frame(names->named, &function, 0, ret, err) : status;
}

/* The frame of an item of a stack. */
static enum ctx_status frame_of(struct ctx_jfr_names *names, const struct ctx_jfr_chunk *chunk,
				const struct ctx_jfr_object *frame, uint64_t *ret, struct ctx_err *err)
{
	const struct ctx_jfr_value *value = &frame->values[CTX_JFR_METHOD];
	uint64_t line = frame->values[CTX_JFR_LINE].number;
	struct ctx_jfr_object method = {0};
	enum ctx_status status;
	uint32_t function;
	uint64_t named;

	line = line < CTX_FRAME_POSITIONS ? line : 0;
	function = value->field != NULL ? kept(&names->methods, value) : CTX_MAP64_NONE;
	if (function != CTX_MAP64_NONE) {
		*ret = ctx_frame_named(function, (uint32_t)line);
		return CTX_OK;
	}
	names->missing += !ctx_jfr_object(chunk, value, &method);
	status = method_frame(names, chunk, &method, &named, err);
	if (status != CTX_OK)
		return status;
	*ret = ctx_frame_named(ctx_frame_function(named), (uint32_t)line);
	return value->field != NULL ? keep(&names->methods, value, ctx_frame_function(named), err) : CTX_OK;
}

/* A class as the leaf of what was allocated of it. */
static enum ctx_status class_frame(struct ctx_jfr_names *names, const struct ctx_jfr_chunk *chunk,
				   const struct ctx_jfr_value *value, uint64_t *ret, struct ctx_err *err)
{
	struct ctx_named_function function = {.module = "<Java classes>",
					      .n_module = strlen("<Java classes>")};
	struct ctx_buf name CTX_AUTO_BUF = {0};
	uint32_t id = kept(&names->classes, value);
	enum ctx_status status;

	if (id != CTX_MAP64_NONE) {
		*ret = ctx_frame_named(id, 0);
		return CTX_OK;
	}
	ctx_buf_clear(&names->text);
	(void)add_text(names, chunk, value);
	if (names->text.n != 0)
		ctx_java_put_class(&name, text_at(names, 0), names->text.n);
	else
		ctx_buf_put_text(&name, "<Unknown>");
	status = ctx_buf_check(&names->text, err);
	if (status == CTX_OK)
		status = ctx_buf_check(&name, err);
	if (status != CTX_OK)
		return status;
	function.name = (const char *)name.bytes;
	function.n_name = name.n;
	status = ctx_named_frame(names->named, &function, 0, ret, err);
	return status == CTX_OK ? keep(&names->classes, value, ctx_frame_function(*ret), err) : status;
}

/* --- stacks --- */

static enum ctx_status add_frame(struct ctx_jfr_names *names, size_t n, uint64_t frame, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&names->frames, &names->frames_cap, n + 1, err);

	if (status == CTX_OK)
		names->frames[n] = frame;
	return status;
}

/* Appends the frames of a stack to names->frames, which has *n. */
static enum ctx_status add_frames(struct ctx_jfr_names *names, const struct ctx_jfr_chunk *chunk,
				  const struct ctx_jfr_object *stack, size_t *n, struct ctx_err *err)
{
	const struct ctx_jfr_value *frames = &stack->values[CTX_JFR_FRAMES];
	bool is_cut = stack->values[CTX_JFR_TRUNCATED].number != 0;
	enum ctx_status status = CTX_OK;
	struct ctx_jfr_bytes bytes;
	struct ctx_jfr_object item;
	uint32_t count;

	if (frames->field == NULL || !frames->field->is_array)
		return CTX_OK;
	bytes = ctx_jfr_bytes_at(chunk, frames->at);
	count = ctx_jfr_get_count(&bytes);
	if (count > CTX_JFR_STACK_FRAMES_MAX) {
		count = CTX_JFR_STACK_FRAMES_MAX;
		is_cut = true;
	}
	for (uint32_t i = 0; i < count && status == CTX_OK; i++) {
		uint64_t frame;

		if (!ctx_jfr_item(chunk, frames->field, &bytes, &item))
			break;
		status = frame_of(names, chunk, &item, &frame, err);
		if (status == CTX_OK)
			status = add_frame(names, (*n)++, frame, err);
	}
	if (status == CTX_OK && is_cut)
		status = add_frame(names, (*n)++, ctx_frame_truncated(CTX_TRUNCATED_DEPTH), err);
	return status;
}

/* Number 0 is the empty stack. */
static enum ctx_status number_of(struct ctx_jfr_names *names, size_t n, uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (names->all_stacks.n == 0)
		status = ctx_strtab_add(&names->all_stacks, "", 0, ret, err);
	return status == CTX_OK ? ctx_strtab_add(&names->all_stacks, (const char *)names->frames,
						 n * sizeof(*names->frames), ret, err)
				: status;
}

enum ctx_status ctx_jfr_names_stack(struct ctx_jfr_names *names, const struct ctx_jfr_chunk *chunk,
				    const struct ctx_jfr_object *event, uint32_t *ret, struct ctx_err *err)
{
	const struct ctx_jfr_value *value = &event->values[CTX_JFR_STACK];
	const struct ctx_jfr_value *type = &event->values[CTX_JFR_OBJECT_CLASS];
	bool is_plain = value->field != NULL && type->field == NULL;
	enum ctx_status status = ctx_grow(&names->frames, &names->frames_cap, FRAMES_DEEP, err);
	struct ctx_jfr_object stack;
	size_t n = 0;

	if (is_plain && kept(&names->stacks, value) != CTX_MAP64_NONE) {
		*ret = kept(&names->stacks, value);
		return CTX_OK;
	}
	if (status == CTX_OK && type->field != NULL) {
		uint64_t frame;

		status = class_frame(names, chunk, type, &frame, err);
		if (status == CTX_OK)
			status = add_frame(names, n++, frame, err);
	}
	if (status == CTX_OK && value->field != NULL) {
		if (ctx_jfr_object(chunk, value, &stack))
			status = add_frames(names, chunk, &stack, &n, err);
		else
			names->missing += !value->field->is_constant || value->number != 0;
	}
	if (status == CTX_OK)
		status = number_of(names, n, ret, err);
	return status == CTX_OK && is_plain ? keep(&names->stacks, value, *ret, err) : status;
}

enum ctx_status ctx_jfr_names_frames(struct ctx_jfr_names *names, uint32_t stack, struct ctx_named_stack *ret,
				     struct ctx_err *err)
{
	size_t bytes = stack < names->all_stacks.n ? names->all_stacks.lengths[stack] : 0;
	enum ctx_status status =
		ctx_grow(&names->frames, &names->frames_cap, bytes / sizeof(*names->frames) + 1, err);

	if (status != CTX_OK)
		return status;
	if (bytes != 0)
		memcpy(names->frames, ctx_strtab_get(&names->all_stacks, stack), bytes);
	*ret = (struct ctx_named_stack){names->frames, (uint32_t)(bytes / sizeof(*names->frames))};
	return CTX_OK;
}

/* --- threads --- */

enum ctx_status ctx_jfr_names_add_thread(struct ctx_jfr_names *names, const struct ctx_jfr_thread *thread,
					 uint32_t *ret, struct ctx_err *err)
{
	struct ctx_buf key CTX_AUTO_BUF = {0};
	size_t n_before = names->all_threads.n;
	uint32_t name;
	enum ctx_status status = ctx_strtab_add_text(&names->texts, thread->name, &name, err);

	ctx_buf_put_u32(&key, thread->vm);
	ctx_buf_put_u64(&key, (uint64_t)thread->tid);
	ctx_buf_put_u32(&key, thread->life);
	if (status == CTX_OK)
		status = ctx_buf_check(&key, err);
	if (status == CTX_OK)
		status = ctx_grow(&names->threads, &names->threads_cap, n_before + 1, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(&names->all_threads, (const char *)key.bytes, key.n, ret, err);
	if (status != CTX_OK)
		return status;
	if (*ret == n_before)
		names->threads[*ret] = *thread;
	names->threads[*ret].name = ctx_strtab_get(&names->texts, name);
	return CTX_OK;
}

enum ctx_status ctx_jfr_names_thread(struct ctx_jfr_names *names, const struct ctx_jfr_owner *owner,
				     const struct ctx_jfr_value *value, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_jfr_thread thread = {.vm = owner->vm};
	struct ctx_jfr_object object;
	enum ctx_status status;

	*ret = CTX_JFR_NONE;
	if (value->field == NULL)
		return CTX_OK;
	*ret = kept(&names->threads_by_key, value);
	if (*ret != CTX_MAP64_NONE)
		return CTX_OK;
	if (!ctx_jfr_object(owner->chunk, value, &object)) {
		names->missing += !value->field->is_constant || value->number != 0;
		return CTX_OK;
	}
	thread.tid = (int64_t)object.values[CTX_JFR_OS_ID].number;
	thread.life = (uint32_t)object.values[CTX_JFR_JAVA_ID].number & 0xffffff;
	if (thread.tid <= 0 || thread.tid > INT32_MAX)
		thread.tid = (int64_t)(object.values[CTX_JFR_JAVA_ID].number & INT32_MAX);
	ctx_buf_clear(&names->text);
	(void)add_text(names, owner->chunk, &object.values[CTX_JFR_JAVA_NAME]);
	if (names->text.n == 0)
		(void)add_text(names, owner->chunk, &object.values[CTX_JFR_OS_NAME]);
	ctx_buf_put_u8(&names->text, 0);
	status = ctx_buf_check(&names->text, err);
	if (status != CTX_OK)
		return status;
	thread.name = (const char *)names->text.bytes;
	status = ctx_jfr_names_add_thread(names, &thread, ret, err);
	return status == CTX_OK ? keep(&names->threads_by_key, value, *ret, err) : status;
}
