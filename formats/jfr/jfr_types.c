#include "formats/jfr/jfr_types.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENTS_DEEP 32u
#define TYPES_DEEP 16u
#define FIELDS_MAX 1024u /* of a type */
#define NONE UINT32_MAX

static const char *const roles[CTX_JFR_ROLES] = {
	[CTX_JFR_START] = "startTime",
	[CTX_JFR_DURATION] = "duration",
	[CTX_JFR_EVENT_THREAD] = "eventThread",
	[CTX_JFR_SAMPLED_THREAD] = "sampledThread",
	[CTX_JFR_THREAD] = "thread",
	[CTX_JFR_PREVIOUS_OWNER] = "previousOwner",
	[CTX_JFR_STACK] = "stackTrace",
	[CTX_JFR_STATE] = "state",
	[CTX_JFR_SAMPLES] = "samples",
	[CTX_JFR_SAMPLING_PERIOD] = "samplingPeriod",
	[CTX_JFR_OBJECT_CLASS] = "objectClass",
	[CTX_JFR_ALLOCATION_SIZE] = "allocationSize",
	[CTX_JFR_TLAB_SIZE] = "tlabSize",
	[CTX_JFR_WEIGHT] = "weight",
	[CTX_JFR_SIZE] = "size",
	[CTX_JFR_ADDRESS] = "address",
	[CTX_JFR_TIMED_OUT] = "timedOut",
	[CTX_JFR_ID] = "id",
	[CTX_JFR_NAME] = "name",
	[CTX_JFR_VALUE] = "value",
	[CTX_JFR_CAUSE] = "cause",
	[CTX_JFR_OPERATION] = "operation",
	[CTX_JFR_JVM_USER] = "jvmUser",
	[CTX_JFR_JVM_SYSTEM] = "jvmSystem",
	[CTX_JFR_MACHINE_TOTAL] = "machineTotal",
	[CTX_JFR_HEAP_USED] = "heapUsed",
	[CTX_JFR_JVM_NAME] = "jvmName",
	[CTX_JFR_JVM_VERSION] = "jvmVersion",
	[CTX_JFR_JVM_ARGUMENTS] = "jvmArguments",
	[CTX_JFR_JAVA_ARGUMENTS] = "javaArguments",
	[CTX_JFR_JVM_START] = "jvmStartTime",
	[CTX_JFR_PID] = "pid",
	[CTX_JFR_TRUNCATED] = "truncated",
	[CTX_JFR_FRAMES] = "frames",
	[CTX_JFR_METHOD] = "method",
	[CTX_JFR_LINE] = "lineNumber",
	[CTX_JFR_TYPE] = "type",
	[CTX_JFR_DESCRIPTOR] = "descriptor",
	[CTX_JFR_PACKAGE] = "package",
	[CTX_JFR_MODULE] = "module",
	[CTX_JFR_OS_NAME] = "osName",
	[CTX_JFR_OS_ID] = "osThreadId",
	[CTX_JFR_JAVA_NAME] = "javaName",
	[CTX_JFR_JAVA_ID] = "javaThreadId",
	[CTX_JFR_PATH] = "path",
	[CTX_JFR_HOST] = "host",
	[CTX_JFR_BYTES_READ] = "bytesRead",
	[CTX_JFR_BYTES_WRITTEN] = "bytesWritten",
	[CTX_JFR_OLD_COLLECTOR] = "oldCollector",
	[CTX_JFR_MAX_SIZE] = "maxSize",
	[CTX_JFR_LOADED_CLASSES] = "loadedClassCount",
	[CTX_JFR_COMPILE_COUNT] = "compileCount",
	[CTX_JFR_TOTAL_TIME_SPENT] = "totalTimeSpent",
};

static const char *const kinds[] = {
	[CTX_JFR_BOOLEAN] = "boolean", [CTX_JFR_BYTE] = "byte",	    [CTX_JFR_CHAR] = "char",
	[CTX_JFR_SHORT] = "short",     [CTX_JFR_INT] = "int",	    [CTX_JFR_LONG] = "long",
	[CTX_JFR_FLOAT] = "float",     [CTX_JFR_DOUBLE] = "double", [CTX_JFR_STRING] = "java.lang.String",
};

static const struct unit {
	const char *name;
	enum ctx_jfr_unit unit;
} units[] = {{"TICKS", CTX_JFR_TICKS},
	     {"NANOSECONDS", CTX_JFR_NS},
	     {"MICROSECONDS", CTX_JFR_US},
	     {"MILLISECONDS", CTX_JFR_MS},
	     {"MILLISECONDS_SINCE_EPOCH", CTX_JFR_MS},
	     {"SECONDS", CTX_JFR_S}};

void ctx_jfr_types_deinit(struct ctx_jfr_types *types)
{
	ctx_strtab_deinit(&types->names);
	ctx_map64_deinit(&types->by_id);
	free(types->classes);
	free(types->fields);
	*types = (struct ctx_jfr_types){0};
}

/* --- elements --- */

struct parsing {
	struct ctx_jfr_types *types;
	struct ctx_jfr_bytes *bytes;
	uint32_t *texts; /* owned; number in the metadata -> id in types->names */
	size_t n_texts, texts_cap;
	struct ctx_err *err;
};

static enum ctx_status read_texts(struct parsing *parsing)
{
	uint32_t n = ctx_jfr_get_count(parsing->bytes);
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < n && status == CTX_OK && !parsing->bytes->cursor.failed; i++) {
		uint64_t constant;

		ctx_buf_clear(&text);
		(void)ctx_jfr_get_text(parsing->bytes, &text, &constant);
		status = ctx_buf_check(&text, parsing->err);
		if (status == CTX_OK)
			status = ctx_grow(&parsing->texts, &parsing->texts_cap, parsing->n_texts + 1,
					  parsing->err);
		if (status == CTX_OK)
			status = ctx_strtab_add(&parsing->types->names, (const char *)text.bytes, text.n,
						&parsing->texts[parsing->n_texts++], parsing->err);
	}
	return status;
}

static const char *get_text(struct parsing *parsing)
{
	uint32_t number = ctx_jfr_get_count(parsing->bytes);

	if (number >= parsing->n_texts) {
		parsing->bytes->cursor.failed = true;
		return "";
	}
	return ctx_strtab_get(&parsing->types->names, parsing->texts[number]);
}

static uint64_t number_of(const char *text)
{
	return strtoull(text, NULL, 10);
}

static uint8_t role_of(const char *name)
{
	uint8_t role = 0;

	while (role < CTX_JFR_ROLES && strcmp(roles[role], name) != 0)
		role++;
	return role;
}

static uint8_t kind_of(const char *name)
{
	for (size_t i = CTX_JFR_BOOLEAN; i < CTX_COUNT_OF(kinds); i++) {
		if (strcmp(kinds[i], name) == 0)
			return (uint8_t)i;
	}
	return CTX_JFR_STRUCT;
}

static void set_class(struct ctx_jfr_class *class, const char *key, const char *value)
{
	if (strcmp(key, "id") == 0)
		class->id = number_of(value);
	if (strcmp(key, "name") == 0)
		class->name = value;
}

static void set_field(struct ctx_jfr_field *field, const char *key, const char *value)
{
	if (strcmp(key, "name") == 0)
		field->role = role_of(value);
	else if (strcmp(key, "class") == 0)
		field->class_id = number_of(value);
	else if (strcmp(key, "constantPool") == 0)
		field->is_constant = strcmp(value, "true") == 0;
	else if (strcmp(key, "dimension") == 0)
		field->is_array = number_of(value) != 0;
}

/* Annotations of times have their unit as value; no other one has these words. */
static void set_unit(struct ctx_jfr_field *field, const char *value)
{
	for (size_t i = 0; i < CTX_COUNT_OF(units); i++) {
		if (strcmp(units[i].name, value) == 0)
			field->unit = (uint8_t)units[i].unit;
	}
}

enum element {
	ELEMENT_OTHER,
	ELEMENT_CLASS,
	ELEMENT_FIELD,
	ELEMENT_ANNOTATION, /* of a field */
	ELEMENT_INNER,	    /* anything else inside one of these */
};

/* A class without members is the last one of the types, and so is a field of it. */
static enum ctx_status begin(struct parsing *parsing, enum element element)
{
	struct ctx_jfr_types *types = parsing->types;
	enum ctx_status status = CTX_OK;

	if (element == ELEMENT_CLASS) {
		status = ctx_grow(&types->classes, &types->classes_cap, types->n_classes + 1, parsing->err);
		if (status == CTX_OK)
			types->classes[types->n_classes++] = (struct ctx_jfr_class){
				.name = "", .first_field = (uint32_t)types->n_fields, .text_field = NONE};
	} else if (element == ELEMENT_FIELD) {
		status = ctx_grow(&types->fields, &types->fields_cap, types->n_fields + 1, parsing->err);
		if (status == CTX_OK)
			types->fields[types->n_fields++] =
				(struct ctx_jfr_field){.role = CTX_JFR_ROLES, .class = NONE};
		types->classes[types->n_classes - 1].n_fields += status == CTX_OK;
	}
	return status;
}

static void set(struct ctx_jfr_types *types, enum element element, const char *key, const char *value)
{
	if (element == ELEMENT_CLASS)
		set_class(&types->classes[types->n_classes - 1], key, value);
	else if (element == ELEMENT_FIELD)
		set_field(&types->fields[types->n_fields - 1], key, value);
	else if (element == ELEMENT_ANNOTATION && strncmp(key, "value", strlen("value")) == 0)
		set_unit(&types->fields[types->n_fields - 1], value);
}

static enum element element_of(const char *name, enum element parent)
{
	if (parent == ELEMENT_OTHER && strcmp(name, "class") == 0)
		return ELEMENT_CLASS;
	if (parent == ELEMENT_CLASS && strcmp(name, "field") == 0)
		return ELEMENT_FIELD;
	if (parent == ELEMENT_FIELD && strcmp(name, "annotation") == 0)
		return ELEMENT_ANNOTATION;
	return parent == ELEMENT_OTHER ? ELEMENT_OTHER : ELEMENT_INNER;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as ELEMENTS_DEEP */
static enum ctx_status read_element(struct parsing *parsing, enum element parent, unsigned depth)
{
	enum element element = element_of(get_text(parsing), parent);
	struct ctx_jfr_bytes *bytes = parsing->bytes;
	enum ctx_status status = begin(parsing, element);
	uint32_t n = ctx_jfr_get_count(bytes);

	for (uint32_t i = 0; i < n && status == CTX_OK && !bytes->cursor.failed; i++) {
		const char *key = get_text(parsing), *value = get_text(parsing);

		set(parsing->types, element, key, value);
	}
	n = ctx_jfr_get_count(bytes);
	if (n != 0 && depth == ELEMENTS_DEEP)
		bytes->cursor.failed = true;
	for (uint32_t i = 0; i < n && status == CTX_OK && !bytes->cursor.failed; i++)
		status = read_element(parsing, element, depth + 1);
	return status;
}

/* --- types inside types --- */

static uint32_t text_field(const struct ctx_jfr_types *types, const struct ctx_jfr_class *class)
{
	uint32_t found = NONE;

	for (uint32_t i = 0; i < class->n_fields; i++) {
		const struct ctx_jfr_field *field = &types->fields[class->first_field + i];

		if (field->role == CTX_JFR_NAME)
			return i;
		if (found == NONE && !field->is_array && field->class != NONE &&
		    (field->is_constant || types->classes[field->class].kind == CTX_JFR_STRING))
			found = i;
	}
	return found;
}

/* Follows the values inside values; `depth` is that of those around it. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as TYPES_DEEP */
static void resolve(struct ctx_jfr_types *types, uint32_t at, unsigned depth)
{
	struct ctx_jfr_class *class = &types->classes[at];
	unsigned deepest = 0;
	bool is_empty = true;

	if (class->depth != 0 || class->is_bad)
		return;
	if (depth == TYPES_DEEP || class->n_fields > FIELDS_MAX) {
		class->is_bad = true;
		return;
	}
	if (class->kind != CTX_JFR_STRUCT) {
		class->depth = 1;
		return;
	}
	for (uint32_t i = 0; i < class->n_fields && !class->is_bad; i++) {
		const struct ctx_jfr_field *field = &types->fields[class->first_field + i];
		const struct ctx_jfr_class *of;

		is_empty &= !field->is_constant && !field->is_array;
		if (field->is_constant)
			continue;
		if (field->class == NONE) {
			class->is_bad = true;
			break;
		}
		resolve(types, field->class, depth + 1);
		of = &types->classes[field->class];
		class->is_bad |= of->is_bad || of->depth >= TYPES_DEEP;
		is_empty &= of->is_empty;
		deepest = of->depth > deepest ? of->depth : deepest;
	}
	class->is_empty = is_empty;
	class->depth = (uint8_t)(deepest + 1);
	class->text_field = text_field(types, class);
}

static enum ctx_status link_types(struct ctx_jfr_types *types, struct ctx_err *err)
{
	types->texts = NONE;
	for (size_t i = 0; i < types->n_classes; i++) {
		uint32_t *place = ctx_map64_place(&types->by_id, types->classes[i].id);

		if (place == NULL)
			return ctx_err_nomem(err);
		if (*place == CTX_MAP64_NONE)
			*place = (uint32_t)i;
		types->classes[i].kind = kind_of(types->classes[i].name);
		if (types->classes[i].kind == CTX_JFR_STRING)
			types->texts = (uint32_t)i;
	}
	for (size_t i = 0; i < types->n_fields; i++)
		types->fields[i].class = ctx_jfr_types_find(types, types->fields[i].class_id);
	for (size_t i = 0; i < types->n_classes; i++)
		resolve(types, (uint32_t)i, 0);
	return CTX_OK;
}

enum ctx_status ctx_jfr_types_read(struct ctx_jfr_types *types, struct ctx_jfr_bytes *bytes,
				   struct ctx_err *err)
{
	struct parsing parsing = {.types = types, .bytes = bytes, .err = err};
	enum ctx_status status = read_texts(&parsing);

	if (status == CTX_OK && !bytes->cursor.failed)
		status = read_element(&parsing, ELEMENT_OTHER, 0);
	free(parsing.texts);
	if (status == CTX_OK && (bytes->cursor.failed || types->n_classes >= UINT32_MAX / 2))
		return ctx_err_set(err, CTX_E_FORMAT, "damaged metadata");
	return status == CTX_OK ? link_types(types, err) : status;
}

/* --- values --- */

uint64_t ctx_jfr_get_kind(enum ctx_jfr_kind kind, struct ctx_jfr_bytes *bytes)
{
	uint64_t ret;
	uint32_t bits;
	double number;
	float single;

	switch (kind) {
	case CTX_JFR_BOOLEAN:
		return ctx_cursor_get_u8(&bytes->cursor) != 0;
	case CTX_JFR_BYTE:
		return (uint64_t)(int8_t)ctx_cursor_get_u8(&bytes->cursor);
	case CTX_JFR_CHAR:
		return (uint16_t)ctx_jfr_get(bytes, 2);
	case CTX_JFR_SHORT:
		return (uint64_t)(int16_t)ctx_jfr_get(bytes, 2);
	case CTX_JFR_INT:
		return (uint64_t)(int32_t)ctx_jfr_get(bytes, 4);
	case CTX_JFR_LONG:
		return ctx_jfr_get(bytes, 8);
	case CTX_JFR_FLOAT:
		bits = (uint32_t)ctx_jfr_get_fixed(&bytes->cursor, 4);
		memcpy(&single, &bits, sizeof(single));
		number = (double)single;
		break;
	case CTX_JFR_DOUBLE:
		return ctx_jfr_get_fixed(&bytes->cursor, 8);
	default:
		return 0;
	}
	memcpy(&ret, &number, sizeof(ret));
	return ret;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as TYPES_DEEP */
void ctx_jfr_skip_class(const struct ctx_jfr_types *types, uint32_t class, struct ctx_jfr_bytes *bytes)
{
	const struct ctx_jfr_class *of = &types->classes[class];

	if (of->is_bad)
		bytes->cursor.failed = true;
	if (of->kind == CTX_JFR_STRING)
		ctx_jfr_skip_text(bytes);
	else if (of->kind != CTX_JFR_STRUCT)
		(void)ctx_jfr_get_kind((enum ctx_jfr_kind)of->kind, bytes);
	if (of->kind != CTX_JFR_STRUCT || of->is_empty)
		return;
	for (uint32_t i = 0; i < of->n_fields && !bytes->cursor.failed; i++)
		ctx_jfr_skip_value(types, &types->fields[of->first_field + i], bytes);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as TYPES_DEEP */
void ctx_jfr_skip_item(const struct ctx_jfr_types *types, const struct ctx_jfr_field *field,
		       struct ctx_jfr_bytes *bytes)
{
	if (field->is_constant)
		(void)ctx_jfr_get(bytes, 8);
	else
		ctx_jfr_skip_class(types, field->class, bytes);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as TYPES_DEEP */
void ctx_jfr_skip_value(const struct ctx_jfr_types *types, const struct ctx_jfr_field *field,
			struct ctx_jfr_bytes *bytes)
{
	uint32_t n = 1;

	if (field->is_array)
		n = ctx_jfr_get_count(bytes);
	if (!field->is_constant && types->classes[field->class].is_empty)
		return;
	for (uint32_t i = 0; i < n && !bytes->cursor.failed; i++)
		ctx_jfr_skip_item(types, field, bytes);
}
