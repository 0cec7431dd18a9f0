#include "fleet/fleet_text.h"

#include <string.h>

enum ctx_status ctx_fleet_text_take(struct ctx_strtab *texts, struct ctx_cursor *cursor, uint32_t *ret_id,
				    struct ctx_err *err)
{
	uint32_t n = ctx_cursor_get_varint32(cursor);
	const char *bytes = (const char *)ctx_cursor_get_bytes(cursor, n);

	*ret_id = UINT32_MAX;
	return bytes != NULL ? ctx_strtab_add(texts, bytes, strnlen(bytes, n), ret_id, err) : CTX_OK;
}

const char *ctx_fleet_text_keep(struct ctx_strtab *texts, struct ctx_cursor *cursor, enum ctx_status *status,
				struct ctx_err *err)
{
	uint32_t id = UINT32_MAX;

	if (*status == CTX_OK)
		*status = ctx_fleet_text_take(texts, cursor, &id, err);
	return *status == CTX_OK && id != UINT32_MAX ? ctx_strtab_get(texts, id) : NULL;
}
