/*
 * Reading of Protocol Buffers' wire format: the fields of one message, in the order of the bytes.
 *
 *	struct ctx_protobuf at = ctx_protobuf_make(bytes, n);
 *	struct ctx_protobuf_field field;
 *
 *	while (ctx_protobuf_next(&at, &field))
 *		field.number, and field.value, or field.bytes and field.n
 *	if (at.failed) ...
 *
 * Nothing is copied or allocated. A field that does not fit into the bytes ends the reading with
 * `failed`. Source: protobuf.dev, "Encoding".
 */
#ifndef CTX_BASE_PROTOBUF_H
#define CTX_BASE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_protobuf {
	const uint8_t *at, *end; /* borrowed */
	bool failed;
};

struct ctx_protobuf_field {
	uint32_t number;
	bool is_bytes;	      /* a text, a message, packed numbers: `bytes`; else `value` */
	uint64_t value;	      /* integers as they are stored: not zigzag decoded */
	const uint8_t *bytes; /* borrowed */
	size_t n;
};

/* `bytes` may be NULL where n is 0: a message without fields. */
static inline struct ctx_protobuf ctx_protobuf_make(const void *bytes, size_t n)
{
	return (struct ctx_protobuf){.at = bytes, .end = n != 0 ? (const uint8_t *)bytes + n : bytes};
}

/* A varint, also of packed numbers; 0 and `failed` where there is none. */
static inline uint64_t ctx_protobuf_varint(struct ctx_protobuf *in)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		uint8_t byte = *in->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	in->failed = true;
	return 0;
}

/* False: the end of the message, or `failed`. */
bool ctx_protobuf_next(struct ctx_protobuf *in, struct ctx_protobuf_field *ret);

#endif
