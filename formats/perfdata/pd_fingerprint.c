#include "base/fileio.h"
#include "base/xxh.h"
#include "formats/perfdata/pd_file.h"
#include "formats/perfdata/perfdata.h"

#include <stdio.h>

#define PIECES 64u
#define PIECE_BYTES 4096u

/*
 * Adds one file to the hash: its size, its beginning and end, and pieces between. Two recordings of
 * the same size differ in the times of every record, so any piece distinguishes them.
 */
static enum ctx_status mix_part(const struct ctx_pd_part *part, uint64_t *hash, struct ctx_err *err)
{
	uint64_t size = part->end, last = size > PIECE_BYTES ? size - PIECE_BYTES : 0;
	uint8_t bytes[PIECE_BYTES];

	*hash = *hash * 31 + ctx_xxh3(&size, sizeof(size));
	for (uint64_t i = 0; i <= PIECES; i++) {
		size_t got = 0;
		enum ctx_status status = ctx_file_pread(
			&(struct ctx_file_place){part->fd, part->name,
						 last / PIECES * i + (i == PIECES ? last % PIECES : 0)},
			bytes, sizeof(bytes), &got, err);

		if (status != CTX_OK && status != CTX_END)
			return status;
		*hash = *hash * 31 + ctx_xxh3(bytes, got);
		if (last == 0)
			break;
	}
	return CTX_OK;
}

enum ctx_status ctx_perfdata_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	struct ctx_pd_file file = {0};
	uint64_t hash = 0;
	enum ctx_status status = ctx_pd_file_list(&file, path, err);

	for (size_t i = 0; i < file.n_parts && status == CTX_OK; i++)
		status = mix_part(&file.parts[i], &hash, err);
	ctx_pd_file_deinit(&file);
	if (status == CTX_OK)
		snprintf(ret, 17, "%016llx", (unsigned long long)hash);
	return status;
}
