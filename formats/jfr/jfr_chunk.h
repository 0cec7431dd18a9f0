/*
 * One chunk of a JFR file: a recording of its own, with its types, constant pools and events.
 *
 *	header (68 bytes) | events: size, type, fields ...            numbers: jfr_wire.h
 *	                  | type 0: metadata, the types of all others
 *	                  | type 1: checkpoint, entries of constant pools: type, number of entries, (key, value) ...
 *
 * All checkpoints of the chunk are used, whatever the links between them say; of two entries with one key the later
 * one counts. Entries are found at once, and read when they are needed. A chunk that is cut, or was not finished, is
 * read as far as its events are whole.
 */
#ifndef CTX_FORMATS_JFR_JFR_CHUNK_H
#define CTX_FORMATS_JFR_JFR_CHUNK_H

#include "formats/jfr/jfr_types.h"

#define CTX_JFR_HEADER_BYTES 68u
#define CTX_JFR_TYPE_METADATA 0u
#define CTX_JFR_TYPE_CHECKPOINT 1u

struct ctx_jfr_header {
	uint16_t major, minor;
	uint64_t size; /* bytes, with the header; 0: not finished */
	uint64_t metadata_at;
	uint64_t start_ns; /* since 1970 */
	uint64_t duration_ns;
	uint64_t start_ticks;
	uint64_t ticks_per_second;
	bool compressed;
};

/* From CTX_JFR_HEADER_BYTES bytes; false: not a header. */
bool ctx_jfr_header_read(const uint8_t *bytes, struct ctx_jfr_header *ret);

struct ctx_jfr_chunk { /* all zero is none */
	struct ctx_jfr_header header;
	const uint8_t *bytes; /* borrowed; from the header on */
	size_t n;
	size_t end; /* of the events that are whole */
	struct ctx_jfr_types types;
	struct ctx_map64 *pools; /* owned; by class: key -> index in `entries` */
	uint64_t *entries;	 /* owned; where the value begins */
	size_t n_entries, entries_cap;
	uint64_t damaged; /* checkpoints that are not read to their end */
};

/*
 * Reads types and finds the entries of pools. `chunk->header`, `bytes` and `n` are set. CTX_E_FORMAT: it has no
 * metadata that can be read; CTX_E_NOMEM. To be deinitialised in any case.
 */
CTX_MUST_CHECK enum ctx_status ctx_jfr_chunk_open(struct ctx_jfr_chunk *chunk, struct ctx_err *err);
void ctx_jfr_chunk_deinit(struct ctx_jfr_chunk *chunk);

struct ctx_jfr_event {
	uint32_t class;
	struct ctx_jfr_bytes fields;
};

/*
 * The next event from *at (first CTX_JFR_HEADER_BYTES), but for metadata, checkpoints and events of types that are
 * not in the metadata. False: none.
 */
bool ctx_jfr_chunk_next(const struct ctx_jfr_chunk *chunk, size_t *at, struct ctx_jfr_event *ret);

struct ctx_jfr_value {
	const struct ctx_jfr_field *field; /* NULL: it has no such field */
	uint64_t number;		   /* of a number; the key of a constant */
	const uint8_t *at;		   /* its bytes */
};

struct ctx_jfr_object {
	struct ctx_jfr_value values[CTX_JFR_ROLES];
};

/*
 * Reads the fields of a type that have a role; the others of `object` are none. False: they are damaged.
 */
bool ctx_jfr_read(const struct ctx_jfr_chunk *chunk, uint32_t class, struct ctx_jfr_bytes *bytes,
		  struct ctx_jfr_object *object);

/* The object that a value is, or is the constant of. False: none, or damaged. */
bool ctx_jfr_object(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_value *value,
		    struct ctx_jfr_object *ret);

/* The next item of an array: `bytes` is behind the number of items. */
bool ctx_jfr_item(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_field *field,
		  struct ctx_jfr_bytes *bytes, struct ctx_jfr_object *ret);

/*
 * Appends the text of a value: of a text, a constant of one, or of the field that names an entry, "name" or its first
 * text. Nothing where there is none.
 */
void ctx_jfr_text(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_value *value, struct ctx_buf *out);

/* A time of the chunk's clock in ns since 1970; before 1970 is 1970. */
uint64_t ctx_jfr_time_ns(const struct ctx_jfr_chunk *chunk, uint64_t ticks);

/* A duration or period in its field's unit, in ns; ticks where it has none; negative ones are 0. */
uint64_t ctx_jfr_span_ns(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_value *value);

/* Of a number of either kind, a thousand times it; 0 where there is none, or it is none or too large. */
int64_t ctx_jfr_thousandths(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_value *value);

/* The bytes of a chunk from a place in it. */
struct ctx_jfr_bytes ctx_jfr_bytes_at(const struct ctx_jfr_chunk *chunk, const uint8_t *at);

#endif
