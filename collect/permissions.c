#include "collect/permissions.h"

#include "base/buf.h"
#include "base/fileio.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool read_begin(const char *path, char *text, size_t size)
{
	struct ctx_buf buf = {0};
	bool is_there = ctx_file_read(path, 1 << 16, &buf, NULL) == CTX_OK;

	ctx_buf_put_u8(&buf, 0);
	is_there = is_there && !buf.failed;
	if (is_there)
		snprintf(text, size, "%s", (const char *)buf.bytes);
	ctx_buf_deinit(&buf);
	return is_there;
}

/* The first user namespace maps all ids to themselves, in one line. */
bool ctx_permissions_in_user_namespace(void)
{
	char text[256];
	unsigned long inside, outside, n;

	return read_begin("/proc/self/uid_map", text, sizeof(text)) &&
	       (sscanf(text, "%lu %lu %lu", &inside, &outside, &n) != 3 || inside != 0 || outside != 0 ||
		n != UINT32_MAX);
}

const char *ctx_permissions_capability(void)
{
	return ctx_permissions_in_user_namespace()
		       ? "the capability CAP_PERFMON of the host: root of this user namespace (container) is "
			 "an ordinary user there"
		       : "the capability CAP_PERFMON";
}

bool ctx_permissions_may_lock_memory(void)
{
	struct ctx_buf buf = {0};
	const char *line = NULL;
	bool may = false;

	if (ctx_permissions_in_user_namespace())
		return false;
	if (ctx_file_read("/proc/self/status", 1 << 16, &buf, NULL) == CTX_OK) {
		ctx_buf_put_u8(&buf, 0);
		line = buf.failed ? NULL : strstr((const char *)buf.bytes, "\nCapEff:");
	}
	if (line != NULL)
		may = (strtoull(line + 8, NULL, 16) >> CAP_IPC_LOCK & 1) != 0;
	ctx_buf_deinit(&buf);
	return may;
}

/* The kernel reads the attributes before anything else: without them it says EFAULT. */
bool ctx_permissions_filtered(void)
{
	long fd = syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);

	if (fd >= 0)
		close((int)fd);
	return fd < 0 && errno != EFAULT && ctx_permissions_paranoid_level() != -99;
}

int ctx_permissions_setting(const char *path, int otherwise)
{
	char text[64];

	return read_begin(path, text, sizeof(text)) ? atoi(text) : otherwise;
}

int ctx_permissions_paranoid_level(void)
{
	return ctx_permissions_setting("/proc/sys/kernel/perf_event_paranoid", -99);
}
