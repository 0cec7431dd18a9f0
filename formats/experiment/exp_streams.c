#include "formats/experiment/exp_streams.h"

void ctx_exp_put_lengths(const struct ctx_buf *streams, size_t n, struct ctx_buf *out)
{
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_varint(out, streams[i].n);
}

enum ctx_status ctx_exp_put_streams(const struct ctx_buf *streams, size_t n, struct ctx_buf *out,
				    size_t *ret_ends, struct ctx_err *err)
{
	ret_ends[0] = out->n;
	for (size_t i = 0; i < n; i++) {
		enum ctx_status status = ctx_buf_check(&streams[i], err);

		if (status != CTX_OK)
			return status;
		ctx_buf_put(out, streams[i].bytes, streams[i].n);
		ret_ends[i + 1] = out->n;
	}
	return ctx_buf_check(out, err);
}

bool ctx_exp_take_streams(struct ctx_cursor *cursor, const uint64_t *lengths, size_t n,
			  struct ctx_cursor *ret)
{
	for (size_t i = 0; i < n; i++) {
		size_t length = (size_t)lengths[i];

		if (cursor->failed || lengths[i] > ctx_cursor_left(cursor))
			return false;
		ret[i] = ctx_cursor_make(ctx_cursor_get_bytes(cursor, length), length);
	}
	return !cursor->failed;
}
