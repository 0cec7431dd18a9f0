#include "agents/jvm_methods.h"

#include "agents/jvm_hotspot.h"
#include "agents/jvm_send.h"

#include <jvmticmlr.h>
#include <stdatomic.h>
#include <string.h>

#define METHOD_BYTES 256u     /* of a message that must be left for another method without lines and names */
#define LINES_MAX 4000u	      /* of a method */
#define DEPTH_MAX 64u	      /* of inlined methods */
#define CODE_BYTES_MAX 524288 /* of a method's instructions that are sent */
#define CHUNK_BYTES 49152u
#define MODIFIER_NATIVE 0x0100

static _Atomic uint32_t n_codes;

/* A message with methods of a class, which is sent when it is full. */
struct reporting {
	jvmtiEnv *jvmti;
	const char *class, *file;
	struct ctx_jvm_message *message; /* NULL: none is begun */
	size_t count_at;
	uint32_t n;
};

static void send_methods(struct reporting *reporting)
{
	if (reporting->message == NULL)
		return;
	ctx_jvm_set_u32(reporting->message, reporting->count_at, reporting->n);
	ctx_jvm_send(reporting->message);
	reporting->message = NULL;
}

/* Room for a method of so many bytes. False: there is no memory. */
static bool make_room(struct reporting *reporting, size_t bytes)
{
	if (reporting->message != NULL && ctx_jvm_left(reporting->message) < bytes)
		send_methods(reporting);
	if (reporting->message != NULL)
		return true;
	reporting->message = ctx_jvm_begin(CTX_VM_METHODS);
	if (reporting->message == NULL)
		return false;
	ctx_jvm_put_text(reporting->message, reporting->class, strlen(reporting->class));
	ctx_jvm_put_text(reporting->message, reporting->file, strlen(reporting->file));
	reporting->count_at = reporting->message->n;
	ctx_jvm_put_u32(reporting->message, 0);
	reporting->n = 0;
	return true;
}

static void put_lines(struct ctx_jvm_message *message, const jvmtiLineNumberEntry *lines, jint n)
{
	size_t count_at = message->n;
	uint32_t n_put = 0;

	ctx_jvm_put_u32(message, 0);
	for (jint i = 0; i < n && n_put < LINES_MAX; i++) {
		if (lines[i].start_location < 0 || lines[i].start_location > UINT16_MAX)
			continue;
		ctx_jvm_put_u16(message, (uint16_t)lines[i].start_location);
		ctx_jvm_put_u16(message, (uint16_t)lines[i].line_number);
		n_put++;
	}
	ctx_jvm_set_u32(message, count_at, n_put);
}

struct method_texts {
	char *name, *signature;
	jvmtiLineNumberEntry *lines;
	jint n_lines;
};

static void put_method(struct reporting *reporting, jmethodID id, const struct method_texts *texts)
{
	const struct ctx_jvm_bytecode bytecode = ctx_jvm_hotspot_method(id);
	size_t n_name = strlen(texts->name), n_signature = strlen(texts->signature);
	struct ctx_jvm_message *message;
	jint modifiers = 0;

	if (!make_room(reporting, METHOD_BYTES + n_name + n_signature +
					  4 * (size_t)(texts->n_lines < (jint)LINES_MAX ? texts->n_lines
											: (jint)LINES_MAX)))
		return;
	(void)(*reporting->jvmti)->GetMethodModifiers(reporting->jvmti, id, &modifiers);
	message = reporting->message;
	ctx_jvm_put_u64(message, (uint64_t)(uintptr_t)id);
	ctx_jvm_put_u64(message, bytecode.method);
	ctx_jvm_put_u64(message, bytecode.begin);
	ctx_jvm_put_u32(message, bytecode.size);
	ctx_jvm_put_u32(message, (modifiers & MODIFIER_NATIVE) != 0);
	ctx_jvm_put_text(message, texts->name, n_name);
	ctx_jvm_put_text(message, texts->signature, n_signature);
	put_lines(message, texts->lines, texts->n_lines);
	reporting->n++;
}

static void report_method(struct reporting *reporting, jmethodID id)
{
	jvmtiEnv *jvmti = reporting->jvmti;
	struct method_texts texts = {0};

	if ((*jvmti)->GetMethodName(jvmti, id, &texts.name, &texts.signature, NULL) != JVMTI_ERROR_NONE)
		return;
	if ((*jvmti)->GetLineNumberTable(jvmti, id, &texts.n_lines, &texts.lines) != JVMTI_ERROR_NONE) {
		texts.n_lines = 0;
		texts.lines = NULL;
	}
	put_method(reporting, id, &texts);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)texts.name);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)texts.signature);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)texts.lines);
}

/* "Ljava/lang/String;" -> "java/lang/String", in place. */
static char *strip(char *signature)
{
	size_t n = strlen(signature);

	if (n < 2 || signature[0] != 'L' || signature[n - 1] != ';')
		return signature;
	signature[n - 1] = '\0';
	return signature + 1;
}

void ctx_jvm_report_class(jvmtiEnv *jvmti, jclass class)
{
	struct reporting reporting = {.jvmti = jvmti};
	char *signature = NULL, *file = NULL;
	jmethodID *methods = NULL;
	jint n = 0;

	if (!ctx_jvm_is_connected() ||
	    (*jvmti)->GetClassMethods(jvmti, class, &n, &methods) != JVMTI_ERROR_NONE)
		return;
	if (n != 0 && (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE) {
		if ((*jvmti)->GetSourceFileName(jvmti, class, &file) != JVMTI_ERROR_NONE)
			file = NULL;
		reporting.class = strip(signature);
		reporting.file = file != NULL ? file : "";
		for (jint i = 0; i < n; i++)
			report_method(&reporting, methods[i]);
		send_methods(&reporting);
		(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
		(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)file);
	}
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

/* --- code --- */

/* The rows of a code, over as many messages as it takes. */
struct rows {
	const struct ctx_jvm_code *code;
	uint32_t number;
	struct ctx_jvm_message *message;
	size_t count_at;
	uint32_t n;
};

static void send_rows(struct rows *rows)
{
	if (rows->message == NULL)
		return;
	ctx_jvm_set_u32(rows->message, rows->count_at, rows->n);
	ctx_jvm_send(rows->message);
	rows->message = NULL;
}

/* Begins a row; false: there is no memory, or the pc is none of the code. */
static bool begin_row(struct rows *rows, const void *pc, uint32_t depth)
{
	uintptr_t offset = (uintptr_t)pc - (uintptr_t)rows->code->address;

	if (offset > (uintptr_t)rows->code->size)
		return false;
	if (rows->message != NULL && ctx_jvm_left(rows->message) < 8 + 12 * (size_t)DEPTH_MAX)
		send_rows(rows);
	if (rows->message == NULL) {
		rows->message = ctx_jvm_begin(CTX_VM_CODE_ROWS);
		if (rows->message == NULL)
			return false;
		ctx_jvm_put_u32(rows->message, rows->number);
		rows->count_at = rows->message->n;
		ctx_jvm_put_u32(rows->message, 0);
		rows->n = 0;
	}
	ctx_jvm_put_u32(rows->message, (uint32_t)offset);
	ctx_jvm_put_u32(rows->message, depth);
	rows->n++;
	return true;
}

static void put_place(struct rows *rows, jmethodID method, jint bytecode)
{
	ctx_jvm_put_u64(rows->message, (uint64_t)(uintptr_t)method);
	ctx_jvm_put_u32(rows->message, (uint32_t)bytecode);
}

/* Of deeper places the outermost are left out, but for the method itself. */
static void put_stack(struct rows *rows, const PCStackInfo *info)
{
	uint32_t n = info->numstackframes > 0 ? (uint32_t)info->numstackframes : 0;
	uint32_t depth = n < DEPTH_MAX ? n : DEPTH_MAX;

	if (n == 0 || !begin_row(rows, info->pc, depth))
		return;
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t from = i + 1 == depth ? n - 1 : i;

		put_place(rows, info->methods[from], info->bcis[from]);
	}
}

static bool put_inlined(struct rows *rows)
{
	const jvmtiCompiledMethodLoadRecordHeader *record = rows->code->inlined;

	for (; record != NULL; record = record->next) {
		const jvmtiCompiledMethodLoadInlineRecord *inlined = (const void *)record;

		if (record->kind != JVMTI_CMLR_INLINE_INFO)
			continue;
		for (jint i = 0; i < inlined->numpcs; i++)
			put_stack(rows, &inlined->pcinfo[i]);
		return true;
	}
	return false;
}

static void put_line_rows(struct rows *rows)
{
	const struct ctx_jvm_code *code = rows->code;

	for (jint i = 0; i < code->n_lines; i++) {
		if (begin_row(rows, code->lines[i].start_address, 1))
			put_place(rows, code->method, (jint)code->lines[i].location);
	}
}

static void send_bytes(const struct ctx_jvm_code *code, uint32_t number)
{
	size_t n = code->size < CODE_BYTES_MAX ? (size_t)code->size : CODE_BYTES_MAX;

	for (size_t at = 0; at < n; at += CHUNK_BYTES) {
		struct ctx_jvm_message *message = ctx_jvm_begin(CTX_VM_CODE_BYTES);

		if (message == NULL)
			return;
		ctx_jvm_put_u32(message, number);
		ctx_jvm_put_u32(message, (uint32_t)at);
		ctx_jvm_put_bytes(message, (const uint8_t *)code->address + at,
				  n - at < CHUNK_BYTES ? n - at : CHUNK_BYTES);
		ctx_jvm_send(message);
	}
}

void ctx_jvm_report_code(const struct ctx_jvm_code *code)
{
	const char *name = code->name != NULL ? code->name : "";
	struct ctx_jvm_message *message = code->size > 0 ? ctx_jvm_begin(CTX_VM_CODE) : NULL;
	struct rows rows = {.code = code, .number = atomic_fetch_add(&n_codes, 1)};

	if (message == NULL)
		return;
	ctx_jvm_put_u32(message, rows.number);
	ctx_jvm_put_u64(message, (uint64_t)(uintptr_t)code->address);
	ctx_jvm_put_u32(message, (uint32_t)code->size);
	ctx_jvm_put_u64(message, (uint64_t)(uintptr_t)code->method);
	ctx_jvm_put_text(message, name, strlen(name));
	ctx_jvm_send(message);
	if (code->method != NULL) {
		if (!put_inlined(&rows))
			put_line_rows(&rows);
		send_rows(&rows);
		send_bytes(code, rows.number);
	}
	message = ctx_jvm_begin(CTX_VM_CODE_END);
	if (message == NULL)
		return;
	ctx_jvm_put_u32(message, rows.number);
	ctx_jvm_send(message);
}
