#include "model/jit_code.h"

#include <stdio.h>
#include <string.h>

static const char before[] = "/tmp/perf-", behind[] = ".map";

void ctx_jit_code_path(int64_t pid, char path[CTX_JIT_CODE_PATH])
{
	snprintf(path, CTX_JIT_CODE_PATH, "%s%lld%s", before, (long long)pid, behind);
}

bool ctx_jit_code_is(const char *path)
{
	size_t digits;

	if (strncmp(path, before, sizeof(before) - 1) != 0)
		return false;
	path += sizeof(before) - 1;
	digits = strspn(path, "0123456789");
	return digits != 0 && strcmp(path + digits, behind) == 0;
}
