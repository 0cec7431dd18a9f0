/* Fuzz target: a metadata file of indicators. */
#include "formats/indicators/indicator_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_indicator_rows rows = {0};

	if (ctx_indicator_file_parse(&rows, data, size, NULL) == CTX_OK) {
		for (size_t i = 0; i < rows.n; i++) {
			const struct ctx_indicator_row *row = &rows.items[i];

			if (row->path[0] != '/' || row->flags == 0 || row->name == NULL ||
			    ((row->flags & CTX_INDICATOR_FLAG_RAISE) != 0) != (row->threshold != 0))
				abort();
		}
	}
	ctx_indicator_rows_deinit(&rows);
	return 0;
}
