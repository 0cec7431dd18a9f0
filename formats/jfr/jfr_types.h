/*
 * The metadata of a chunk: its types, and the fields of each in the order of their bytes.
 *
 *	texts | element "root" > "metadata" > "class" (id, name) > "field" (name, class, constantPool, dimension) > "annotation"
 *
 * Events, and what constant pools hold, are read by these types: fields that are not known here are skipped, and those
 * that are known may stand in any order.
 */
#ifndef CTX_FORMATS_JFR_JFR_TYPES_H
#define CTX_FORMATS_JFR_JFR_TYPES_H

#include "base/map64.h"
#include "base/strtab.h"
#include "formats/jfr/jfr_wire.h"

/* Fields that are read, by their names in any type; jfr_types.c has the names. */
enum ctx_jfr_role {
	CTX_JFR_START, /* startTime */
	CTX_JFR_DURATION,
	CTX_JFR_EVENT_THREAD,
	CTX_JFR_SAMPLED_THREAD,
	CTX_JFR_THREAD,
	CTX_JFR_PREVIOUS_OWNER,
	CTX_JFR_STACK,
	CTX_JFR_STATE,
	CTX_JFR_SAMPLES,
	CTX_JFR_SAMPLING_PERIOD,
	CTX_JFR_OBJECT_CLASS,
	CTX_JFR_ALLOCATION_SIZE,
	CTX_JFR_TLAB_SIZE,
	CTX_JFR_WEIGHT,
	CTX_JFR_SIZE,
	CTX_JFR_ADDRESS,
	CTX_JFR_TIMED_OUT,
	CTX_JFR_ID,
	CTX_JFR_NAME,
	CTX_JFR_VALUE,
	CTX_JFR_CAUSE,
	CTX_JFR_OPERATION,
	CTX_JFR_JVM_USER,
	CTX_JFR_JVM_SYSTEM,
	CTX_JFR_MACHINE_TOTAL,
	CTX_JFR_HEAP_USED,
	CTX_JFR_JVM_NAME,
	CTX_JFR_JVM_VERSION,
	CTX_JFR_JVM_ARGUMENTS,
	CTX_JFR_JAVA_ARGUMENTS,
	CTX_JFR_JVM_START,
	CTX_JFR_PID,
	CTX_JFR_TRUNCATED,
	CTX_JFR_FRAMES,
	CTX_JFR_METHOD,
	CTX_JFR_LINE,
	CTX_JFR_TYPE,
	CTX_JFR_DESCRIPTOR,
	CTX_JFR_PACKAGE,
	CTX_JFR_MODULE,
	CTX_JFR_OS_NAME,
	CTX_JFR_OS_ID,
	CTX_JFR_JAVA_NAME,
	CTX_JFR_JAVA_ID,
	CTX_JFR_PATH,
	CTX_JFR_HOST,
	CTX_JFR_BYTES_READ,
	CTX_JFR_BYTES_WRITTEN,
	CTX_JFR_OLD_COLLECTOR,
	CTX_JFR_MAX_SIZE,
	CTX_JFR_LOADED_CLASSES,
	CTX_JFR_COMPILE_COUNT,
	CTX_JFR_TOTAL_TIME_SPENT,
	CTX_JFR_ROLES,
};

enum ctx_jfr_kind {
	CTX_JFR_STRUCT = 0,
	CTX_JFR_BOOLEAN,
	CTX_JFR_BYTE,
	CTX_JFR_CHAR,
	CTX_JFR_SHORT,
	CTX_JFR_INT,
	CTX_JFR_LONG,
	CTX_JFR_FLOAT,
	CTX_JFR_DOUBLE,
	CTX_JFR_STRING,
};

/* The unit of a time. */
enum ctx_jfr_unit {
	CTX_JFR_UNIT_NONE = 0,
	CTX_JFR_TICKS,
	CTX_JFR_NS,
	CTX_JFR_US,
	CTX_JFR_MS,
	CTX_JFR_S,
};

struct ctx_jfr_field {
	uint64_t class_id;
	uint32_t class;	  /* index of its type; UINT32_MAX: not in the metadata */
	uint8_t role;	  /* enum ctx_jfr_role; CTX_JFR_ROLES: not read */
	uint8_t unit;	  /* enum ctx_jfr_unit */
	bool is_constant; /* the number of an entry of the type's constant pool */
	bool is_array;
};

struct ctx_jfr_class {
	uint64_t id;
	const char *name; /* borrowed: of the types */
	uint32_t first_field, n_fields;
	uint32_t text_field; /* index from first_field of the one that names an entry; UINT32_MAX: none */
	uint8_t kind;	     /* enum ctx_jfr_kind */
	uint8_t depth;	     /* of types inside types; 0 not yet known */
	bool is_empty;	     /* its values have no bytes */
	bool is_bad;	     /* contains itself, or a type that is not known: its values cannot be read */
};

struct ctx_jfr_types { /* all zero is none */
	struct ctx_strtab names;
	struct ctx_jfr_class *classes; /* owned */
	size_t n_classes, classes_cap;
	struct ctx_jfr_field *fields; /* owned */
	size_t n_fields, fields_cap;
	struct ctx_map64 by_id; /* -> index of the class */
	uint32_t texts;		/* the class of java.lang.String; UINT32_MAX none */
};

void ctx_jfr_types_deinit(struct ctx_jfr_types *types);

/* Reads the metadata from behind the head of its event. CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_types_read(struct ctx_jfr_types *types, struct ctx_jfr_bytes *bytes,
						  struct ctx_err *err);

/* The index of a type; UINT32_MAX: none. */
static inline uint32_t ctx_jfr_types_find(const struct ctx_jfr_types *types, uint64_t id)
{
	return ctx_map64_get(&types->by_id, id);
}

/* Skips a value; errors stick to `bytes`. */
void ctx_jfr_skip_value(const struct ctx_jfr_types *types, const struct ctx_jfr_field *field,
			struct ctx_jfr_bytes *bytes);

/* Skips one item of a field that is an array, or the value of one that is none. */
void ctx_jfr_skip_item(const struct ctx_jfr_types *types, const struct ctx_jfr_field *field,
		       struct ctx_jfr_bytes *bytes);

/* Skips the fields of a type. */
void ctx_jfr_skip_class(const struct ctx_jfr_types *types, uint32_t class, struct ctx_jfr_bytes *bytes);

/* A number of that kind: of an integer with its sign; the bits of a double for both floats. */
uint64_t ctx_jfr_get_kind(enum ctx_jfr_kind kind, struct ctx_jfr_bytes *bytes);

#endif
