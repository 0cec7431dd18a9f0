#include "collect/stack_bounds.h"

#include "collect/procfs.h"

#include <stdlib.h>
#include <string.h>

/* startstack is field 28 of /proc/PID/stat (proc_pid_stat(5)); the name is the second. 0: unknown. */
static uint64_t start_stack(int64_t pid)
{
	struct ctx_buf text = {0};
	uint64_t start = 0;
	char *at;

	if (ctx_procfs_text(pid, "stat", &text, NULL) == CTX_OK &&
	    (at = strrchr((char *)text.bytes, ')')) != NULL) {
		for (unsigned field = 2; field < 28 && at != NULL; field++)
			at = strchr(at + 1, ' ');
		start = at != NULL ? strtoull(at, NULL, 10) : 0;
	}
	ctx_buf_deinit(&text);
	return start;
}

bool ctx_stack_bounds_find(int64_t pid, uint64_t sp, struct ctx_stack_bounds *ret)
{
	struct ctx_buf text = {0};
	bool found = false;
	uint64_t start;

	if (ctx_procfs_maps(pid, &text, NULL) == CTX_OK) {
		for (char *at = (char *)text.bytes; at != NULL && !found; at = strchr(at, '\n')) {
			char *end;

			at += *at == '\n';
			ret->begin = strtoull(at, &end, 16);
			if (*end != '-')
				continue;
			ret->end = strtoull(end + 1, NULL, 16);
			found = sp >= ret->begin && sp < ret->end;
		}
	}
	ctx_buf_deinit(&text);
	if (!found)
		return false;
	start = start_stack(pid);
	ret->top = start > sp && start <= ret->end ? start & ~UINT64_C(7) : ret->end;
	return true;
}
