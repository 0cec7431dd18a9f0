/*
 * Part: one file with records. A perf.data file is one part; a directory has several.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_PART_H
#define CTX_FORMATS_PERFDATA_PD_PART_H

#include <stdint.h>

struct ctx_pd_part {
	int fd;		     /* owned */
	char *name;	     /* owned; for messages */
	uint64_t file_bytes; /* size of the file */
	uint64_t begin, end; /* of the records, in the file */
};

#endif
