#include "unwind/cfi_table.h"

struct ctx_cfi_table {
	enum ctx_machine machine;
};

enum ctx_status ctx_cfi_table_open(const char *path, struct ctx_cfi_table **ret, struct ctx_err *err)
{
	(void)ret;
	return ctx_err_set(err, CTX_E_NOTFOUND, "%s: no frame information", path);
}

enum ctx_status ctx_cfi_table_open_bytes(const void *bytes, size_t n, struct ctx_cfi_table **ret,
					 struct ctx_err *err)
{
	(void)bytes;
	(void)n;
	(void)ret;
	return ctx_err_set(err, CTX_E_NOTFOUND, "no frame information");
}

void ctx_cfi_table_close(struct ctx_cfi_table *table)
{
	(void)table;
}

bool ctx_cfi_table_address(const struct ctx_cfi_table *table, uint64_t file_offset, uint64_t *ret_address)
{
	(void)table;
	*ret_address = file_offset;
	return false;
}
