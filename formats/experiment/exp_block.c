/*
 * Block header, 64 bytes:
 *
 *	0  magic f5 'C' 'X' 'b'     16 records u32     32 last time u64
 *	4  header length u16        20 epoch u32       40 process u32, reserved u32 (0)
 *	6  kind u8, codec u8        24 first time u64  48 XXH3 of the zstd frame u64
 *	8  raw u32, frame u32                          56 XXH3 of the header before this field u64
 *
 * A profile payload has six columns: time, thread, cpu, stack, metric, weight. In a states payload
 * the last two are change and waker. A column is a flag byte, then one varint (flag 1: the same for
 * all packets) or one varint per packet (flag 0). Similar numbers are adjacent, which helps zstd.
 */
#include "formats/experiment/exp_block.h"

#include "base/xxh.h"

#include <string.h>

#define CODEC_ZSTD 1

static const uint8_t FILE_MAGIC[8] = {0x89, 'C', 'T', 'X', 'E', 'R', '\r', '\n'};

const char *const ctx_exp_record_files[CTX_EXP_RECORD_FILES] = {
	CTX_EXP_STATES_FILE, CTX_EXP_HEAP_FILE,	 CTX_EXP_IO_FILE,  CTX_EXP_SYNC_FILE,
	CTX_EXP_MARKS_FILE,  CTX_EXP_CALLS_FILE, CTX_EXP_OMP_FILE, CTX_EXP_ACCESSES_FILE,
};

bool ctx_exp_is_record_file(const char *name)
{
	for (size_t i = 0; i < CTX_EXP_RECORD_FILES; i++) {
		if (strcmp(name, ctx_exp_record_files[i]) == 0)
			return true;
	}
	return false;
}

/* The last two columns are change and waker in states. */
enum column { COLUMN_TIME, COLUMN_THREAD, COLUMN_CPU, COLUMN_STACK, COLUMN_METRIC, COLUMN_WEIGHT, N_COLUMNS };

static void put_u32(uint8_t *out, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		out[i] = (uint8_t)(value >> (8 * i));
}

static void put_u64(uint8_t *out, uint64_t value)
{
	put_u32(out, (uint32_t)value);
	put_u32(out + 4, (uint32_t)(value >> 32));
}

void ctx_exp_put_file_header(struct ctx_buf *out)
{
	ctx_buf_put(out, FILE_MAGIC, sizeof(FILE_MAGIC));
	ctx_buf_put_u32(out, CTX_EXP_VERSION);
	ctx_buf_put_u32(out, 0);
}

enum ctx_status ctx_exp_check_file_header(const uint8_t *bytes, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(bytes + sizeof(FILE_MAGIC), 8);
	uint32_t version = ctx_cursor_get_u32(&cursor);

	if (memcmp(bytes, FILE_MAGIC, sizeof(FILE_MAGIC)) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "not a data file of an experiment");
	if (version > CTX_EXP_VERSION)
		return ctx_err_set(err, CTX_E_VERSION,
				   "made by a newer version (%u; this program reads up to %d)", version,
				   CTX_EXP_VERSION);
	return CTX_OK;
}

void ctx_exp_encode_block_header(const struct ctx_exp_block_header *header,
				 uint8_t out[CTX_EXP_BLOCK_HEADER_BYTES])
{
	memcpy(out, CTX_EXP_BLOCK_MAGIC, 4);
	out[4] = CTX_EXP_BLOCK_HEADER_BYTES;
	out[5] = 0;
	out[6] = (uint8_t)header->kind;
	out[7] = CODEC_ZSTD;
	put_u32(out + 8, header->raw_bytes);
	put_u32(out + 12, header->frame_bytes);
	put_u32(out + 16, header->n_records);
	put_u32(out + 20, header->epoch);
	put_u64(out + 24, header->first_ns);
	put_u64(out + 32, header->last_ns);
	put_u32(out + 40, header->process);
	put_u32(out + 44, 0);
	put_u64(out + 48, header->checksum);
	put_u64(out + 56, ctx_xxh3(out, CTX_EXP_BLOCK_HEADER_BYTES - 8));
}

/* The fields after magic and length, in order. */
static void get_fields(struct ctx_cursor *cursor, struct ctx_exp_block_header *ret, uint32_t *ret_codec)
{
	ret->kind = ctx_cursor_get_u8(cursor);
	*ret_codec = ctx_cursor_get_u8(cursor);
	ret->raw_bytes = ctx_cursor_get_u32(cursor);
	ret->frame_bytes = ctx_cursor_get_u32(cursor);
	ret->n_records = ctx_cursor_get_u32(cursor);
	ret->epoch = ctx_cursor_get_u32(cursor);
	ret->first_ns = ctx_cursor_get_u64(cursor);
	ret->last_ns = ctx_cursor_get_u64(cursor);
	ret->process = ctx_cursor_get_u32(cursor);
	ctx_cursor_get_u32(cursor);
	ret->checksum = ctx_cursor_get_u64(cursor);
}

enum ctx_status ctx_exp_decode_block_header(const uint8_t *bytes, size_t n, struct ctx_exp_block_header *ret,
					    struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(bytes, n);
	struct ctx_exp_block_header header = {0};
	struct ctx_cursor tail;
	uint32_t codec;

	if (n < CTX_EXP_BLOCK_HEADER_BYTES)
		return ctx_err_set(err, CTX_E_FORMAT, "need %u bytes for a block header, have %zu",
				   CTX_EXP_BLOCK_HEADER_BYTES, n);
	if (memcmp(ctx_cursor_get_bytes(&cursor, 4), CTX_EXP_BLOCK_MAGIC, 4) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "no block begins here");
	header.header_bytes = ctx_cursor_get_u16(&cursor);
	if (header.header_bytes < CTX_EXP_BLOCK_HEADER_BYTES ||
	    header.header_bytes > CTX_EXP_BLOCK_HEADER_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "block header of %u bytes", header.header_bytes);
	if (header.header_bytes > n) {
		ret->header_bytes = header.header_bytes;
		return ctx_err_set(err, CTX_E_LIMIT, "block header of %u bytes, have %zu",
				   header.header_bytes, n);
	}
	get_fields(&cursor, &header, &codec);
	tail = ctx_cursor_make(bytes + header.header_bytes - 8, 8);
	if (ctx_xxh3(bytes, header.header_bytes - 8) != ctx_cursor_get_u64(&tail))
		return ctx_err_set(err, CTX_E_FORMAT, "checksum of the block header differs");
	if (codec != CODEC_ZSTD || header.raw_bytes > CTX_EXP_RAW_MAX ||
	    header.frame_bytes > CTX_EXP_FRAME_MAX || header.first_ns > header.last_ns)
		return ctx_err_set(err, CTX_E_FORMAT, "block header with impossible values");
	*ret = header;
	return CTX_OK;
}

/* The value of column `column` for packets[i]. */
static inline uint64_t column_value(const struct ctx_exp_packet *packets, size_t i, enum column column)
{
	switch (column) {
	case COLUMN_TIME:
		return i != 0 ? packets[i].time_ns - packets[i - 1].time_ns : 0;
	case COLUMN_THREAD:
		return packets[i].thread;
	case COLUMN_CPU:
		return (uint64_t)((int64_t)packets[i].cpu + 1);
	case COLUMN_STACK:
		return packets[i].stack;
	case COLUMN_METRIC:
		return packets[i].metric;
	case COLUMN_WEIGHT:
	case N_COLUMNS:
		break;
	}
	return packets[i].weight;
}

static bool is_constant(const struct ctx_exp_packet *packets, size_t n, enum column column)
{
	uint64_t first = column_value(packets, 0, column);

	for (size_t i = 1; i < n; i++) {
		if (column_value(packets, i, column) != first)
			return false;
	}
	return true;
}

void ctx_exp_encode_packets(const struct ctx_exp_packet *packets, size_t n, struct ctx_buf *out)
{
	for (enum column column = COLUMN_TIME; column < N_COLUMNS; column++) {
		bool constant = is_constant(packets, n, column);
		size_t n_values = constant ? 1 : n;
		uint8_t *room = ctx_buf_reserve(out, 1 + 10 * n_values);

		if (room == NULL)
			return;
		*room++ = constant;
		for (size_t i = 0; i < n_values; i++)
			room += ctx_varint_encode(room, column_value(packets, i, column));
		out->n = (size_t)(room - out->bytes);
	}
}

/* Stores a column's value; false if it is out of range. */
static inline bool store_value(struct ctx_exp_packet *packet, enum column column, uint64_t value,
			       uint64_t *time_ns)
{
	switch (column) {
	case COLUMN_TIME:
		packet->time_ns = *time_ns += value;
		return packet->time_ns >= value;
	case COLUMN_THREAD:
		packet->thread = (uint32_t)value;
		return value < UINT32_MAX;
	case COLUMN_CPU:
		packet->cpu = (int32_t)((int64_t)value - 1);
		return value <= INT32_MAX;
	case COLUMN_STACK:
		packet->stack = (uint32_t)value;
		return value < UINT32_MAX;
	case COLUMN_METRIC:
		packet->metric = (uint16_t)value;
		return value < UINT16_MAX;
	case COLUMN_WEIGHT:
	case N_COLUMNS:
		break;
	}
	packet->weight = value;
	return true;
}

static inline __attribute__((always_inline)) bool decode_column(struct ctx_cursor *cursor, enum column column,
								uint64_t first_ns,
								struct ctx_exp_packet *packets, size_t n)
{
	uint8_t flag = ctx_cursor_get_u8(cursor);
	uint64_t constant = flag == 1 ? ctx_cursor_get_varint(cursor) : 0;
	uint64_t time_ns = first_ns;
	bool fine = flag <= 1;

	for (size_t i = 0; i < n && fine; i++)
		fine = store_value(&packets[i], column, flag == 1 ? constant : ctx_cursor_get_varint(cursor),
				   &time_ns);
	return fine && !cursor->failed;
}

enum ctx_status ctx_exp_decode_columns(struct ctx_cursor *cursor, uint64_t first_ns,
				       struct ctx_exp_packet *packets, size_t n, struct ctx_err *err)
{
	if (decode_column(cursor, COLUMN_TIME, first_ns, packets, n) &&
	    decode_column(cursor, COLUMN_THREAD, 0, packets, n) &&
	    decode_column(cursor, COLUMN_CPU, 0, packets, n) &&
	    decode_column(cursor, COLUMN_STACK, 0, packets, n) &&
	    decode_column(cursor, COLUMN_METRIC, 0, packets, n) &&
	    decode_column(cursor, COLUMN_WEIGHT, 0, packets, n))
		return CTX_OK;
	return ctx_err_set(err, CTX_E_FORMAT, "a column of the block ends early or is out of range");
}

enum ctx_status ctx_exp_decode_packets(struct ctx_bytes payload, uint64_t first_ns,
				       struct ctx_exp_packet *packets, size_t n, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(payload.at, payload.n);

	return ctx_exp_decode_columns(&cursor, first_ns, packets, n, err);
}

enum ctx_status ctx_exp_frames_begin(const uint8_t *payload, size_t n_bytes, struct ctx_exp_frames_in *ret,
				     struct ctx_err *err)
{
	struct ctx_exp_frames_in in = {.cursor = ctx_cursor_make(payload, n_bytes)};

	in.next_id = ctx_cursor_get_varint32(&in.cursor);
	if (in.cursor.failed || in.next_id == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "call stacks without a first id");
	*ret = in;
	return CTX_OK;
}

enum ctx_status ctx_exp_frames_next(struct ctx_exp_frames_in *in, uint32_t *ret_id, uint32_t *ret_parent,
				    uint64_t *ret_address, struct ctx_err *err)
{
	if (in->left == 0) {
		if (ctx_cursor_left(&in->cursor) == 0)
			return CTX_END;
		in->parent = ctx_cursor_get_varint32(&in->cursor);
		in->left = ctx_cursor_get_varint32(&in->cursor);
		if (in->left == 0 || in->parent >= in->next_id)
			return ctx_err_set(err, CTX_E_FORMAT, "call stack with an impossible prefix");
	}
	in->address += (uint64_t)ctx_cursor_get_zigzag(&in->cursor);
	if (in->cursor.failed || in->next_id == UINT32_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "call stacks end early");
	*ret_id = in->next_id;
	*ret_parent = in->parent;
	*ret_address = in->address;
	in->parent = in->next_id++;
	in->left--;
	return CTX_OK;
}

void ctx_exp_put_usage(struct ctx_buf *out, const struct ctx_exp_usage_record *record)
{
	ctx_buf_put_varint(out, record->process);
	ctx_buf_put_varint(out, record->time_ns);
	for (size_t i = 0; i < CTX_EXP_USAGE_FIELDS; i++)
		ctx_buf_put_varint(out, record->fields[i]);
}

enum ctx_status ctx_exp_get_usage(struct ctx_cursor *cursor, struct ctx_exp_usage_record *ret,
				  struct ctx_err *err)
{
	ret->process = ctx_cursor_get_varint32(cursor);
	ret->time_ns = ctx_cursor_get_varint(cursor);
	for (size_t i = 0; i < CTX_EXP_USAGE_FIELDS; i++)
		ret->fields[i] = ctx_cursor_get_varint(cursor);
	return cursor->failed ? ctx_err_set(err, CTX_E_FORMAT, "record of the overview ends early") : CTX_OK;
}
