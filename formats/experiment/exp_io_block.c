#include "formats/experiment/exp_io_block.h"

#include "base/mem.h"

#include <string.h>

/* Writer */

static void forget_names(struct ctx_exp_io_packets *io)
{
	ctx_strtab_deinit(&io->names);
	io->names = (struct ctx_strtab){0};
	io->name_bytes = 0;
}

void ctx_exp_io_packets_deinit(struct ctx_exp_io_packets *io)
{
	free(io->rest);
	forget_names(io);
}

void ctx_exp_io_packets_clear(struct ctx_exp_io_packets *io)
{
	if (io->names.n != 0)
		forget_names(io);
}

size_t ctx_exp_io_packets_bytes(const struct ctx_exp_io_packets *io)
{
	return io->cap * sizeof(*io->rest) + 2 * io->name_bytes +
	       io->names.strings_cap * (sizeof(*io->names.strings) + sizeof(*io->names.lengths)) +
	       io->names.slots_cap * sizeof(*io->names.slots);
}

enum ctx_status ctx_exp_io_packets_reserve(struct ctx_exp_io_packets *io, size_t n, struct ctx_err *err)
{
	return ctx_grow(&io->rest, &io->cap, n, err);
}

enum ctx_status ctx_exp_io_packets_put(struct ctx_exp_io_packets *io, size_t i,
				       const struct ctx_exp_io_rest *rest, const char *name,
				       struct ctx_err *err)
{
	size_t n = name != NULL ? strnlen(name, CTX_EXP_IO_NAME_MAX) : 0, before = io->names.n;
	enum ctx_status status;
	uint32_t id;

	io->rest[i] = *rest;
	io->rest[i].name = 0;
	if (n == 0)
		return CTX_OK;
	status = ctx_strtab_add(&io->names, name, n, &id, err);
	if (status != CTX_OK)
		return status;
	io->rest[i].name = id + 1;
	if (io->names.n != before)
		io->name_bytes += n + 1;
	return CTX_OK;
}

enum field { DURATION, DESCRIPTOR, ERROR, NAME, N_FIELDS };

static uint64_t value_of(const struct ctx_exp_io_rest *rest, enum field field)
{
	switch (field) {
	case DURATION:
		return rest->duration_ns;
	case DESCRIPTOR:
		return (uint32_t)rest->descriptor + 1u;
	case ERROR:
		return rest->error;
	default:
		return rest->name;
	}
}

void ctx_exp_encode_io(const struct ctx_exp_packet *packets, const struct ctx_exp_io_packets *io, size_t n,
		       struct ctx_buf *out)
{
	ctx_exp_encode_packets(packets, n, out);
	for (unsigned field = 0; field < N_FIELDS; field++) {
		for (size_t i = 0; i < n; i++)
			ctx_buf_put_varint(out, value_of(&io->rest[packets[i].order], (enum field)field));
	}
	ctx_buf_put_varint(out, io->names.n);
	for (size_t i = 0; i < io->names.n; i++) {
		ctx_buf_put_varint(out, io->names.lengths[i]);
		ctx_buf_put(out, io->names.strings[i], io->names.lengths[i]);
	}
}

void ctx_exp_encode_accesses(const struct ctx_exp_packet *packets, const struct ctx_exp_io_packets *io,
			     size_t n, struct ctx_buf *out)
{
	ctx_exp_encode_io(packets, io, n, out);
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_varint(out, io->rest[packets[i].order].detail);
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_varint(out, io->rest[packets[i].order].physical);
}

/* Reader */

void ctx_exp_io_block_deinit(struct ctx_exp_io_block *block)
{
	free(block->names);
	free(block->name_at);
	block->names = NULL;
	block->name_at = NULL;
}

static bool store(struct ctx_exp_io_rest *rest, enum field field, uint64_t value)
{
	switch (field) {
	case DURATION:
		rest->duration_ns = value;
		return true;
	case DESCRIPTOR:
		rest->descriptor = (int32_t)(value - 1);
		return value <= (uint64_t)INT32_MAX + 1;
	case ERROR:
		rest->error = (uint16_t)value;
		return value <= UINT16_MAX;
	default:
		rest->name = (uint32_t)value;
		return value <= UINT32_MAX;
	}
}

static enum ctx_status decode_names(struct ctx_cursor *cursor, struct ctx_exp_io_block *ret,
				    struct ctx_err *err)
{
	uint64_t n = ctx_cursor_get_varint(cursor);
	size_t left = ctx_cursor_left(cursor);

	if (cursor->failed || n > ret->n || n > left)
		return ctx_err_set(err, CTX_E_FORMAT, "a block with too many names");
	if (n == 0)
		return CTX_OK;
	ret->name_at = ctx_calloc((size_t)n, sizeof(*ret->name_at));
	ret->names = ctx_calloc(1, left + (size_t)n);
	if (ret->name_at == NULL || ret->names == NULL)
		return ctx_err_nomem(err);
	for (ret->n_names = 0; ret->n_names < n; ret->n_names++) {
		uint64_t length = ctx_cursor_get_varint(cursor);
		const void *text;

		if (cursor->failed || length == 0 || length > CTX_EXP_IO_NAME_MAX ||
		    length > ctx_cursor_left(cursor))
			return ctx_err_set(err, CTX_E_FORMAT,
					   "a name of the block ends early or is too long");
		text = ctx_cursor_get_bytes(cursor, (size_t)length);
		ret->name_at[ret->n_names] = (uint32_t)ret->name_bytes;
		memcpy(ret->names + ret->name_bytes, text, (size_t)length);
		ret->name_bytes += (size_t)length + 1;
	}
	return CTX_OK;
}

static enum ctx_status decode(struct ctx_cursor *cursor, uint64_t first_ns, struct ctx_exp_io_block *ret,
			      struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_decode_columns(cursor, first_ns, ret->packets, ret->n, err);
	bool fine = true;

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < ret->n; i++)
		ret->packets[i].order = (uint16_t)i;
	for (unsigned field = 0; field < N_FIELDS && fine; field++) {
		for (size_t i = 0; i < ret->n && fine; i++)
			fine = store(&ret->rest[i], (enum field)field, ctx_cursor_get_varint(cursor));
	}
	if (!fine || cursor->failed)
		return ctx_err_set(err, CTX_E_FORMAT, "a column of the block ends early or is out of range");
	return decode_names(cursor, ret, err);
}

enum ctx_status ctx_exp_decode_io(struct ctx_bytes payload, uint64_t first_ns, struct ctx_exp_io_block *ret,
				  struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(payload.at, payload.n);

	return decode(&cursor, first_ns, ret, err);
}

enum ctx_status ctx_exp_decode_accesses(struct ctx_bytes payload, uint64_t first_ns,
					struct ctx_exp_io_block *ret, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(payload.at, payload.n);
	enum ctx_status status = decode(&cursor, first_ns, ret, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < ret->n; i++)
		ret->rest[i].detail = ctx_cursor_get_varint(&cursor);
	for (size_t i = 0; i < ret->n; i++)
		ret->rest[i].physical = ctx_cursor_get_varint(&cursor);
	return cursor.failed ? ctx_err_set(err, CTX_E_FORMAT, "data sources of the block end early") : CTX_OK;
}

const char *ctx_exp_io_block_name(const struct ctx_exp_io_block *block, const struct ctx_exp_packet *packet)
{
	uint32_t name = block->rest[packet->order].name;

	return name != 0 && name <= block->n_names ? block->names + block->name_at[name - 1] : NULL;
}
