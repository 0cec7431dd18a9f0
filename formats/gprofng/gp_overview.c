#include "formats/gprofng/gp_overview.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/gprofng/gp_wire.h"

#include <stdlib.h>

#define RECORD_BYTES 504u
#define FILE_BYTES_MAX ((size_t)4 << 30)

void ctx_gp_overview_deinit(struct ctx_gp_overview *overview)
{
	free(overview->records);
	*overview = (struct ctx_gp_overview){0};
}

/* Seconds and nanoseconds; what makes no sense is 0. */
static uint64_t time_at(const uint8_t *at, bool big_endian)
{
	uint64_t seconds = ctx_gp_u64(at, big_endian), nanoseconds = ctx_gp_u64(at + 8, big_endian);

	return seconds <= INT64_MAX / 2000000000 && nanoseconds < 1000000000u
		       ? seconds * 1000000000u + nanoseconds
		       : 0;
}

static struct ctx_gp_usage record_at(const uint8_t *at, bool big)
{
	return (struct ctx_gp_usage){
		.time_ns = (int64_t)time_at(at + 8, big),
		.user_ns = time_at(at + 72, big),
		.system_ns = time_at(at + 88, big),
		.minor_faults = ctx_gp_u64(at + 328, big),
		.major_faults = ctx_gp_u64(at + 336, big),
		.blocks_read = ctx_gp_u64(at + 352, big),
		.blocks_written = ctx_gp_u64(at + 360, big),
		.voluntary_switches = ctx_gp_u64(at + 392, big),
		.involuntary_switches = ctx_gp_u64(at + 400, big),
	};
}

enum ctx_status ctx_gp_overview_read(struct ctx_gp_overview *overview, const char *path, bool big_endian,
				     struct ctx_err *err)
{
	struct ctx_buf bytes = {0};
	enum ctx_status status = ctx_file_read(path, FILE_BYTES_MAX, &bytes, err);
	size_t n = bytes.n / RECORD_BYTES;

	if (status == CTX_OK)
		status = ctx_grow(&overview->records, &overview->cap, n, err);
	if (status == CTX_OK) {
		for (size_t i = 0; i < n; i++)
			overview->records[i] = record_at(bytes.bytes + i * RECORD_BYTES, big_endian);
		overview->n = n;
		overview->is_cut = bytes.n % RECORD_BYTES != 0;
	}
	ctx_buf_deinit(&bytes);
	return status;
}
