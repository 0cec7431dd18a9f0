#include "formats/experiment/exp_packed_frames.h"

#include "base/cursor.h"
#include "base/map64.h"
#include "base/mem.h"
#include "formats/experiment/exp_streams.h"

#include <stdlib.h>

enum { PARENTS, LENGTHS, OLD_ADDRESSES, NEW_ADDRESSES, N = CTX_EXP_FRAMES_STREAMS };

struct packing {
	struct ctx_buf streams[N];
	struct ctx_map64 numbers; /* by address */
	uint64_t last_new;
};

static void packing_deinit(struct packing *packing)
{
	for (size_t i = 0; i < N; i++)
		ctx_buf_deinit(&packing->streams[i]);
	ctx_map64_deinit(&packing->numbers);
}

static enum ctx_status put_address(struct packing *packing, uint64_t address, struct ctx_err *err)
{
	uint32_t n = (uint32_t)packing->numbers.n, *number = ctx_map64_place(&packing->numbers, address);

	if (number == NULL)
		return ctx_err_nomem(err);
	if (*number != CTX_MAP64_NONE) {
		ctx_buf_put_varint(&packing->streams[OLD_ADDRESSES], *number);
		return CTX_OK;
	}
	*number = n + 1;
	ctx_buf_put_varint(&packing->streams[OLD_ADDRESSES], 0);
	ctx_buf_put_zigzag(&packing->streams[NEW_ADDRESSES], (int64_t)(address - packing->last_new));
	packing->last_new = address;
	return CTX_OK;
}

static enum ctx_status pack(struct packing *packing, struct ctx_cursor *in, uint64_t first,
			    struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	uint64_t id = first, address = 0;

	while (ctx_cursor_left(in) != 0 && status == CTX_OK) {
		uint64_t prefix = ctx_cursor_get_varint(in), n = ctx_cursor_get_varint(in);

		if (in->failed || prefix >= id || n > ctx_cursor_left(in))
			return ctx_err_set(err, CTX_E_FORMAT, "call stacks that cannot be packed");
		ctx_buf_put_varint(&packing->streams[PARENTS], id - prefix);
		ctx_buf_put_varint(&packing->streams[LENGTHS], n);
		id += n;
		for (; n != 0 && status == CTX_OK; n--) {
			address += (uint64_t)ctx_cursor_get_zigzag(in);
			status = put_address(packing, address, err);
		}
	}
	if (status == CTX_OK && in->failed)
		return ctx_err_set(err, CTX_E_FORMAT, "call stacks that cannot be packed");
	return status;
}

enum ctx_status ctx_exp_pack_frames(struct ctx_bytes payload, struct ctx_buf *out,
				    size_t ret_ends[CTX_EXP_FRAMES_STREAMS + 1], struct ctx_err *err)
{
	struct ctx_cursor in = ctx_cursor_make(payload.at, payload.n);
	uint64_t first = ctx_cursor_get_varint(&in);
	struct packing packing = {0};
	enum ctx_status status = pack(&packing, &in, first, err);

	ctx_buf_put_varint(out, first);
	ctx_exp_put_lengths(packing.streams, N, out);
	if (status == CTX_OK)
		status = ctx_exp_put_streams(packing.streams, N, out, ret_ends, err);
	packing_deinit(&packing);
	return status;
}

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
