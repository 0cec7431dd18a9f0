/*
 * Payload of a block of synchronisation: the columns of samples, whose last two are operation and duration,
 * then the objects, then what else an operation has (enum ctx_sync_operation):
 *
 *	waits, block	thread that had the object, or waited for it, + 1; 0 unknown
 *	hold		the operation of a wait for it
 *	order		the address of the lock that is held, as difference to the object
 */
#include "formats/experiment/exp_block.h"

#include "model/traced.h"

void ctx_exp_encode_sync(const struct ctx_exp_packet *packets, const struct ctx_exp_sync_rest *rests,
			 size_t n, struct ctx_buf *out)
{
	uint64_t last = 0;

	ctx_exp_encode_packets(packets, n, out);
	for (size_t i = 0; i < n; i++) {
		uint64_t object = rests[packets[i].order].object;

		ctx_buf_put_zigzag(out, (int64_t)(object - last));
		last = object;
	}
	for (size_t i = 0; i < n; i++) {
		const struct ctx_exp_sync_rest *rest = &rests[packets[i].order];

		if (packets[i].operation == CTX_SYNC_ORDER)
			ctx_buf_put_zigzag(out, (int64_t)(rest->other - rest->object));
		else
			ctx_buf_put_varint(out, rest->other);
	}
}

enum ctx_status ctx_exp_decode_sync(struct ctx_bytes payload, uint64_t first_ns,
				    const struct ctx_exp_sync_block *ret, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(payload.at, payload.n);
	enum ctx_status status = ctx_exp_decode_columns(&cursor, first_ns, ret->packets, ret->n, err);
	uint64_t last = 0;

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < ret->n; i++) {
		ret->packets[i].order = (uint16_t)i;
		last += (uint64_t)ctx_cursor_get_zigzag(&cursor);
		ret->rests[i] = (struct ctx_exp_sync_rest){.object = last};
	}
	for (size_t i = 0; i < ret->n; i++)
		ret->rests[i].other =
			ret->packets[i].operation == CTX_SYNC_ORDER
				? ret->rests[i].object + (uint64_t)ctx_cursor_get_zigzag(&cursor)
				: ctx_cursor_get_varint(&cursor);
	if (cursor.failed)
		return ctx_err_set(err, CTX_E_FORMAT, "objects of the block end early");
	return CTX_OK;
}
