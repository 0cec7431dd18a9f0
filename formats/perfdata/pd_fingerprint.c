#include "base/file_hash.h"
#include "formats/perfdata/pd_file.h"
#include "formats/perfdata/perfdata.h"

#include <stdio.h>

/* Increased when the reader takes more from a file: databases without it are made anew. */
#define READER_VERSION 2u

enum ctx_status ctx_perfdata_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	struct ctx_pd_file file = {0};
	uint64_t hash = READER_VERSION;
	enum ctx_status status = ctx_pd_file_list(&file, path, err);

	for (size_t i = 0; i < file.n_parts && status == CTX_OK; i++)
		status = ctx_file_hash(file.parts[i].fd, file.parts[i].name, file.parts[i].end, &hash, err);
	ctx_pd_file_deinit(&file);
	if (status == CTX_OK)
		snprintf(ret, 17, "%016llx", (unsigned long long)hash);
	return status;
}
