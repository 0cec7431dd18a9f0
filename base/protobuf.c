#include "base/protobuf.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static const uint8_t *take(struct ctx_protobuf *in, uint64_t n)
{
	const uint8_t *bytes = in->at;

	if (in->failed || n > (size_t)(in->end - in->at)) {
		in->failed = true;
		return NULL;
	}
	in->at += n;
	return bytes;
}

static uint64_t take_fixed(struct ctx_protobuf *in, unsigned n)
{
	const uint8_t *bytes = take(in, n);
	uint64_t value = 0;

	for (unsigned i = 0; bytes != NULL && i < n; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

bool ctx_protobuf_next(struct ctx_protobuf *in, struct ctx_protobuf_field *ret)
{
	uint64_t tag, n;

	if (in->failed || in->at == in->end)
		return false;
	tag = ctx_protobuf_varint(in);
	*ret = (struct ctx_protobuf_field){.number = (uint32_t)(tag >> 3)};
	if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		in->failed = true;
	switch (tag & 7) {
	case VARINT:
		ret->value = ctx_protobuf_varint(in);
		break;
	case FIXED64:
		ret->value = take_fixed(in, 8);
		break;
	case FIXED32:
		ret->value = take_fixed(in, 4);
		break;
	case BYTES:
		n = ctx_protobuf_varint(in);
		ret->bytes = take(in, n);
		ret->is_bytes = true;
		ret->n = ret->bytes != NULL ? (size_t)n : 0;
		break;
	default: /* groups, which nobody writes any more */
		in->failed = true;
	}
	return !in->failed;
}
