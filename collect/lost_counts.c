#include "collect/lost_counts.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORMAT_LOST (1u << 4) /* PERF_FORMAT_LOST, for headers of older kernels */
#define FORMAT (PERF_FORMAT_ID | FORMAT_LOST)

uint64_t ctx_lost_counts_format(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .read_format = FORMAT,
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return 0;
	close(fd);
	return FORMAT;
}

bool ctx_lost_count_read(int fd, struct ctx_lost_count *ret)
{
	uint64_t values[3]; /* value, id, lost */

	if (read(fd, values, sizeof(values)) != (ssize_t)sizeof(values))
		return false;
	*ret = (struct ctx_lost_count){.id = values[1], .lost = values[2]};
	return true;
}
