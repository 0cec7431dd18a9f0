#include "formats/experiment/exp_packed_frames.h"

#include "base/cursor.h"
#include "base/mem.h"
#include "formats/experiment/exp_streams.h"

#include <stdlib.h>

enum { PARENTS, LENGTHS, OLD_ADDRESSES, NEW_ADDRESSES, N };

struct unpacking {
	struct ctx_cursor streams[N];
	uint64_t *known; /* owned */
	size_t n_known;
	uint64_t last;
};

/* The addresses of one record. */
static bool unpack_addresses(struct unpacking *in, uint64_t n, struct ctx_buf *out)
{
	for (; n != 0; n--) {
		uint64_t number = ctx_cursor_get_varint(&in->streams[OLD_ADDRESSES]);
		uint64_t before = in->n_known != 0 ? in->known[in->n_known - 1] : 0, address;

		if (number == 0)
			in->known[in->n_known++] =
				before + (uint64_t)ctx_cursor_get_zigzag(&in->streams[NEW_ADDRESSES]);
		if (number > in->n_known || in->streams[OLD_ADDRESSES].failed ||
		    in->streams[NEW_ADDRESSES].failed)
			return false;
		address = in->known[(number != 0 ? (size_t)number : in->n_known) - 1];
		ctx_buf_put_zigzag(out, (int64_t)(address - in->last));
		in->last = address;
	}
	return true;
}

static bool unpack(struct unpacking *in, uint64_t id, struct ctx_buf *out)
{
	struct ctx_cursor *parents = &in->streams[PARENTS], *lengths = &in->streams[LENGTHS];

	ctx_buf_put_varint(out, id);
	while (ctx_cursor_left(parents) != 0) {
		uint64_t back = ctx_cursor_get_varint(parents), n = ctx_cursor_get_varint(lengths);

		/* Each node has a byte at least. */
		if (back > id || n > ctx_cursor_left(&in->streams[OLD_ADDRESSES]) || parents->failed ||
		    lengths->failed)
			return false;
		ctx_buf_put_varint(out, id - back);
		ctx_buf_put_varint(out, n);
		if (!unpack_addresses(in, n, out))
			return false;
		id += n;
	}
	return true;
}

enum ctx_status ctx_exp_unpack_frames(struct ctx_bytes packed, struct ctx_buf *out, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(packed.at, packed.n);
	uint64_t id = ctx_cursor_get_varint(&cursor), bytes[N];
	struct unpacking in = {.known = ctx_calloc(packed.n + 1, sizeof(*in.known))};
	bool fine;

	if (in.known == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < N; i++)
		bytes[i] = ctx_cursor_get_varint(&cursor);
	fine = ctx_exp_take_streams(&cursor, bytes, N, in.streams) && unpack(&in, id, out);
	free(in.known);
	return fine ? ctx_buf_check(out, err)
		    : ctx_err_set(err, CTX_E_FORMAT, "packed call stacks end early");
}
