/*
 *	64 bits:  pid, n (u32) | 20 times: seconds, nanoseconds (u64) | 22 counts (u64)     504 bytes
 *	32 bits:  pid, n (u32) | 20 times: seconds, nanoseconds (u32) | 22 counts (u32)     256 bytes
 */
#include "formats/gprofng/gp_overview.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/gprofng/gp_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define HEAD_BYTES 8u
#define N_TIMES 20u
#define N_COUNTS 22u
#define RECORDS_MAX ((size_t)4 << 20) /* limit: seven weeks with one sample per second */
#define PIECE_RECORDS 256u

/* Indices of the fields that are used, among the times and among the counts. */
enum {
	TIME_NOW = 0,
	TIME_USER = 4,
	TIME_SYSTEM = 5,
	COUNT_MINOR_FAULTS = 0,
	COUNT_MAJOR_FAULTS = 1,
	COUNT_BLOCKS_READ = 3,
	COUNT_BLOCKS_WRITTEN = 4,
	COUNT_VOLUNTARY = 8,
	COUNT_INVOLUNTARY = 9,
};

void ctx_gp_overview_deinit(struct ctx_gp_overview *overview)
{
	free(overview->records);
	*overview = (struct ctx_gp_overview){0};
}

struct form {
	size_t word_bytes;
	bool big_endian;
};

static size_t record_bytes(const struct form *form)
{
	return HEAD_BYTES + (2 * N_TIMES + N_COUNTS) * form->word_bytes;
}

static uint64_t word_at(const uint8_t *record, size_t i, const struct form *form)
{
	const uint8_t *at = record + HEAD_BYTES + i * form->word_bytes;

	return form->word_bytes == 8 ? ctx_gp_u64(at, form->big_endian) : ctx_gp_u32(at, form->big_endian);
}

/* Invalid values are 0. */
static uint64_t time_at(const uint8_t *record, size_t i, const struct form *form)
{
	uint64_t seconds = word_at(record, 2 * i, form), nanoseconds = word_at(record, 2 * i + 1, form);

	return seconds <= INT64_MAX / 2000000000 && nanoseconds < 1000000000u
		       ? seconds * 1000000000u + nanoseconds
		       : 0;
}

static uint64_t count_at(const uint8_t *record, size_t i, const struct form *form)
{
	return word_at(record, 2 * N_TIMES + i, form);
}

static struct ctx_gp_usage record_at(const uint8_t *at, const struct form *form)
{
	return (struct ctx_gp_usage){
		.time_ns = (int64_t)time_at(at, TIME_NOW, form),
		.user_ns = time_at(at, TIME_USER, form),
		.system_ns = time_at(at, TIME_SYSTEM, form),
		.minor_faults = count_at(at, COUNT_MINOR_FAULTS, form),
		.major_faults = count_at(at, COUNT_MAJOR_FAULTS, form),
		.blocks_read = count_at(at, COUNT_BLOCKS_READ, form),
		.blocks_written = count_at(at, COUNT_BLOCKS_WRITTEN, form),
		.voluntary_switches = count_at(at, COUNT_VOLUNTARY, form),
		.involuntary_switches = count_at(at, COUNT_INVOLUNTARY, form),
	};
}

/* The records of one piece. CTX_END: nothing was written from here on. */
static enum ctx_status take_piece(struct ctx_gp_overview *overview, const uint8_t *bytes, size_t n,
				  const struct form *form, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&overview->records, &overview->cap, overview->n + n, err);

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_gp_usage record = record_at(bytes + i * record_bytes(form), form);

		if (record.time_ns == 0) {
			overview->is_cut = true;
			return CTX_END;
		}
		overview->records[overview->n++] = record;
	}
	return status;
}

static enum ctx_status read_all(struct ctx_gp_overview *overview, int fd, const char *path,
				const struct form *form, struct ctx_err *err)
{
	uint8_t piece[PIECE_RECORDS * (HEAD_BYTES + (2 * N_TIMES + N_COUNTS) * sizeof(uint64_t))];
	size_t want = PIECE_RECORDS * record_bytes(form), got = want;
	enum ctx_status status = CTX_OK;

	for (uint64_t at = 0; status == CTX_OK && got == want; at += got) {
		status = ctx_file_pread(&(struct ctx_file_place){fd, path, at}, piece, want, &got, err);
		if (status < 0)
			return status;
		if (overview->n >= RECORDS_MAX)
			return ctx_err_set(err, CTX_E_LIMIT, "%s has more than %zu records", path,
					   (size_t)RECORDS_MAX);
		if (got % record_bytes(form) != 0)
			overview->is_cut = true;
		status = take_piece(overview, piece, got / record_bytes(form), form, err);
	}
	return status < 0 ? status : CTX_OK;
}

enum ctx_status ctx_gp_overview_read(struct ctx_gp_overview *overview, const char *path, bool is_32bit,
				     bool big_endian, struct ctx_err *err)
{
	struct form form = {.word_bytes = is_32bit ? 4 : 8, .big_endian = big_endian};
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	if (fd < 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s is no plain file", path);
	return read_all(overview, fd, path, &form, err);
}
