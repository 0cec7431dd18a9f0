#include "collect/cpus.h"

#include "base/digits.h"
#include "base/fileio.h"

#include <stdlib.h>
#include <unistd.h>

#define CPU_MAX 65535

enum ctx_status ctx_cpus_parse(const char *text, struct ctx_ids *cpus, struct ctx_err *err)
{
	const char *at = text;
	enum ctx_status status = CTX_OK;
	bool more = true;

	while (more && status == CTX_OK) {
		uint64_t first, last;

		if (!ctx_digits_take_range(&at, CPU_MAX, &first, &last) ||
		    (*at != ',' && *at != '\n' && *at != '\0'))
			return ctx_err_set(err, CTX_E_FORMAT, "list of CPUs \"%s\" is not understood", text);
		for (; first <= last && status == CTX_OK; first++)
			status = ctx_ids_add(cpus, (int64_t)first, err);
		more = *at++ == ',';
	}
	return status;
}

enum ctx_status ctx_cpus_online(struct ctx_ids *cpus, struct ctx_err *err)
{
	struct ctx_buf buf = {0};
	enum ctx_status status = ctx_file_read("/sys/devices/system/cpu/online", 1 << 16, &buf, NULL);

	ctx_buf_put_u8(&buf, 0);
	if (status == CTX_OK && !buf.failed)
		status = ctx_cpus_parse((const char *)buf.bytes, cpus, err);
	ctx_buf_deinit(&buf);
	if (status == CTX_OK)
		return status;
	/* Containers without sysfs. */
	cpus->n = 0;
	for (long i = 0, n = sysconf(_SC_NPROCESSORS_CONF); i < n; i++) {
		status = ctx_ids_add(cpus, i, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}
