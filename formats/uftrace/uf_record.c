#include "formats/uftrace/uf_record.h"

#include <endian.h>
#include <string.h>

#define MAGIC 5u
#define STEP 8u		    /* records and data begin at multiples */
#define ARGUMENTS_MAX 8192u /* bytes in which the next record is looked for; the recorder has room for 1024 */
#define GAP_MAX ((uint64_t)1 << 46) /* ns between two records, 19 hours: to tell times from other words */
#define CODE_BEGIN 4096u
#define EVENTS_BEGIN 100000u /* numbers of events */
#define EVENTS_END 3000000u

void ctx_uf_records_rewind(struct ctx_uf_records *records)
{
	struct ctx_uf_stream stream = records->stream;

	ctx_uf_stream_rewind(&stream);
	*records = (struct ctx_uf_records){.stream = stream};
}

void ctx_uf_records_deinit(struct ctx_uf_records *records)
{
	ctx_uf_stream_deinit(&records->stream);
}

static uint64_t word(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

/* False: no record. */
static bool decode(const uint8_t *bytes, struct ctx_uf_record *ret)
{
	uint64_t bits = word(bytes + 8);

	ret->time_ns = word(bytes);
	ret->type = bits & 3;
	ret->more = bits >> 2 & 1;
	ret->depth = bits >> 6 & 0x3ff;
	ret->address = bits >> 16;
	return (bits >> 3 & 7) == MAGIC && ret->time_ns < CTX_UF_TIME_END;
}

static bool has_address(const struct ctx_uf_record *record)
{
	if (record->type == CTX_UF_LOST)
		return record->address != 0;
	if (record->type == CTX_UF_EVENT)
		return record->address >= EVENTS_BEGIN && record->address < EVENTS_END;
	return record->address >= CODE_BEGIN;
}

/* Whether a call begins or ends at the depth that the record before leaves. */
static bool has_depth(const struct ctx_uf_record *before, const struct ctx_uf_record *record)
{
	unsigned open = before->type == CTX_UF_ENTRY ? before->depth + 1u : before->depth;

	if (record->type >= CTX_UF_LOST || before->type >= CTX_UF_LOST)
		return true;
	return record->type == CTX_UF_ENTRY ? record->depth == open : record->depth + 1u == open;
}

/* Can it follow? With `strict` also by its depth: that holds for most, but not where a call was left by longjmp. */
static bool follows(const struct ctx_uf_record *before, const struct ctx_uf_record *record, bool strict)
{
	if (!has_address(record) || (strict && !has_depth(before, record)))
		return false;
	if (record->type == CTX_UF_LOST)
		return record->time_ns == 0;
	return record->time_ns >= before->time_ns && record->time_ns - before->time_ns < GAP_MAX;
}

/* Is a record at this place of the buffer, and behind it another one, or its data, or the end? */
static bool is_record(const struct ctx_uf_records *records, size_t at, bool strict)
{
	const struct ctx_uf_stream *stream = &records->stream;
	struct ctx_uf_record first, second;
	bool is_after_loss;

	if (stream->n - at < CTX_UF_RECORD_BYTES || !decode(stream->bytes + at, &first) ||
	    !follows(&records->last, &first, strict))
		return false;
	at += CTX_UF_RECORD_BYTES;
	if (first.more || stream->n - at < CTX_UF_RECORD_BYTES)
		return true;
	is_after_loss = first.type == CTX_UF_LOST;
	return decode(stream->bytes + at, &second) &&
	       follows(is_after_loss ? &records->last : &first, &second, strict && !is_after_loss);
}

/*
 * Finds the next record behind here, with `strict` one that fits by its depth, if there is such a one; false: there is
 * none in the next bytes.
 */
static bool find_record(const struct ctx_uf_records *records, bool strict, size_t *ret)
{
	size_t left = ctx_uf_stream_left(&records->stream);

	if (left > ARGUMENTS_MAX)
		left = ARGUMENTS_MAX;
	for (int by_depth = strict; by_depth >= 0; by_depth--) {
		for (size_t i = STEP; i + CTX_UF_RECORD_BYTES <= left; i += STEP) {
			if (is_record(records, records->stream.at + i, by_depth != 0)) {
				*ret = i;
				return true;
			}
		}
	}
	return false;
}

static void skip(struct ctx_uf_records *records, size_t n)
{
	if (records->n_skipped == 0)
		records->skipped_at = ctx_uf_stream_offset(&records->stream);
	records->n_skipped += n;
	records->stream.at += n;
}

/* Goes to the next record behind bytes that are none, or to the end. */
static enum ctx_status skip_damage(struct ctx_uf_records *records, struct ctx_err *err)
{
	struct ctx_uf_stream *stream = &records->stream;
	size_t n;

	records->n_breaks++;
	for (;;) {
		enum ctx_status status = ctx_uf_stream_need(stream, ARGUMENTS_MAX + STEP, err);

		if (status != CTX_OK)
			return status;
		if (find_record(records, false, &n)) { /* calls are missing */
			skip(records, n);
			return CTX_OK;
		}
		if (stream->ended && ctx_uf_stream_left(stream) <= ARGUMENTS_MAX) {
			skip(records, ctx_uf_stream_left(stream));
			return CTX_OK;
		}
		skip(records, ARGUMENTS_MAX - CTX_UF_RECORD_BYTES);
	}
}

/* Behind the data of an event: its length, the data, and zeros up to a multiple of 8. */
static enum ctx_status skip_event_data(struct ctx_uf_records *records, struct ctx_err *err)
{
	struct ctx_uf_stream *stream = &records->stream;
	size_t left = ctx_uf_stream_left(stream), n;

	if (left < 2) {
		stream->at = stream->n;
		records->n_cut = left + CTX_UF_RECORD_BYTES;
		return CTX_OK;
	}
	n = ((size_t)stream->bytes[stream->at] | (size_t)stream->bytes[stream->at + 1] << 8) + 2;
	n = (n + STEP - 1) / STEP * STEP;
	if (n > ARGUMENTS_MAX)
		return skip_damage(records, err);
	if (n > left) {
		records->n_cut = left + CTX_UF_RECORD_BYTES;
		n = left;
	}
	stream->at += n;
	return CTX_OK;
}

/* Behind what follows the last record. */
static enum ctx_status skip_data(struct ctx_uf_records *records, struct ctx_err *err)
{
	struct ctx_uf_stream *stream = &records->stream;
	enum ctx_status status = ctx_uf_stream_need(stream, ARGUMENTS_MAX + CTX_UF_RECORD_BYTES, err);
	size_t n;

	if (status != CTX_OK || ctx_uf_stream_left(stream) == 0)
		return status;
	if (records->last.type == CTX_UF_EVENT)
		return skip_event_data(records, err);
	if (find_record(records, true, &n)) {
		stream->at += n;
		return CTX_OK;
	}
	if (ctx_uf_stream_left(stream) > ARGUMENTS_MAX)
		return skip_damage(records, err);
	stream->at = stream->n; /* the last record's */
	return CTX_OK;
}

enum ctx_status ctx_uf_records_next(struct ctx_uf_records *records, struct ctx_uf_record *ret,
				    struct ctx_err *err)
{
	struct ctx_uf_stream *stream = &records->stream;
	enum ctx_status status = CTX_OK;

	if (records->has_last && records->last.more) {
		status = skip_data(records, err);
		records->last.more = false;
	}
	while (status == CTX_OK) {
		size_t left;

		status = ctx_uf_stream_need(stream, CTX_UF_RECORD_BYTES, err);
		if (status != CTX_OK)
			break;
		left = ctx_uf_stream_left(stream);
		if (left < CTX_UF_RECORD_BYTES) {
			if (left != 0)
				records->n_cut = left;
			stream->at = stream->n;
			return CTX_END;
		}
		if (decode(stream->bytes + stream->at, ret) && has_address(ret)) {
			stream->at += CTX_UF_RECORD_BYTES;
			if (ret->type == CTX_UF_LOST)
				ret->time_ns = records->last.time_ns;
			records->last = *ret;
			records->has_last = true;
			return CTX_OK;
		}
		status = skip_damage(records, err);
	}
	return status;
}
