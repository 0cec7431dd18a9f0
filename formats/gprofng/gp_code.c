/*
 *	u32 type, u32 size of all, then
 *	1: i64 load time from the run, u64 address     2: code     3: line table     4: source file
 *
 * Records 2 to 4 belong to the last record 1. Several records 2 are concatenated.
 */
#include "formats/gprofng/gp_code.h"

#include "base/bisect.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/gprofng/gp_wire.h"

#include <stdlib.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)
#define HEAD_BYTES 8u
#define LOAD_BYTES 24u
#define OVERLAPS_MAX 64

enum record { LOAD = 1, CODE = 2 };

void ctx_gp_code_deinit(struct ctx_gp_code *code)
{
	ctx_buf_deinit(&code->file);
	free(code->regions);
	*code = (struct ctx_gp_code){0};
}

static int by_address(const void *left, const void *right)
{
	const struct ctx_gp_code_region *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static enum ctx_status parse(struct ctx_gp_code *code, bool big_endian, struct ctx_err *err)
{
	const struct ctx_buf *file = &code->file;
	struct ctx_gp_code_region load = {0};
	bool is_loaded = false;
	size_t at = 0, size;

	for (; file->n - at >= HEAD_BYTES; at += size) {
		const uint8_t *record = file->bytes + at;
		uint32_t type = ctx_gp_u32(record, big_endian);
		enum ctx_status status;

		size = ctx_gp_u32(record + 4, big_endian);
		if (size < HEAD_BYTES || size > file->n - at || (type == LOAD && size < LOAD_BYTES))
			break;
		if (type == LOAD) {
			load.time_ns = (int64_t)ctx_gp_u64(record + 8, big_endian);
			load.address = ctx_gp_u64(record + 16, big_endian);
			is_loaded = true;
		}
		if (type != CODE || !is_loaded || size - HEAD_BYTES > UINT64_MAX - load.address)
			continue;
		status = ctx_grow(&code->regions, &code->cap, code->n + 1, err);
		if (status != CTX_OK)
			return status;
		load.at = at + HEAD_BYTES;
		load.n = size - HEAD_BYTES;
		code->regions[code->n++] = load;
		load.address += load.n;
	}
	code->damaged = at != file->n;
	if (code->n != 0)
		qsort(code->regions, code->n, sizeof(*code->regions), by_address);
	return CTX_OK;
}

enum ctx_status ctx_gp_code_read(struct ctx_gp_code *code, const char *path, bool big_endian,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_file_read(path, FILE_BYTES_MAX, &code->file, err);

	return status == CTX_OK ? parse(code, big_endian, err) : status;
}

/* Number of regions that begin at or below `address`. */
static size_t count_below(const struct ctx_gp_code *code, uint64_t address)
{
	return ctx_count_up_to(code->regions, code->n, address, address);
}

/* Of several regions at one address: the last one up to `time_ns`, otherwise the first. */
static bool is_better(const struct ctx_gp_code_region *one, const struct ctx_gp_code_region *best,
		      int64_t time_ns)
{
	if (best == NULL)
		return true;
	if ((one->time_ns <= time_ns) != (best->time_ns <= time_ns))
		return one->time_ns <= time_ns;
	return one->time_ns <= time_ns ? one->time_ns > best->time_ns : one->time_ns < best->time_ns;
}

const uint8_t *ctx_gp_code_find(const struct ctx_gp_code *code, uint64_t address, uint64_t size,
				int64_t time_ns, size_t *ret_n)
{
	const struct ctx_gp_code_region *best = NULL;
	size_t end = count_below(code, address), offset;

	for (size_t i = end; i-- != 0 && end - i <= OVERLAPS_MAX;) {
		const struct ctx_gp_code_region *region = &code->regions[i];

		if (address - region->address < region->n && is_better(region, best, time_ns))
			best = region;
	}
	if (best == NULL || size == 0)
		return NULL;
	offset = (size_t)(address - best->address);
	*ret_n = size < best->n - offset ? (size_t)size : best->n - offset;
	return code->file.bytes + best->at + offset;
}
