#include "store/store_image.h"

#include "store/store_header.h"
#include "store/store_impl.h"

static enum ctx_status open_bytes(struct ctx_store *store, struct ctx_bytes image, struct ctx_err *err)
{
	int rc = sqlite3_open_v2(":memory:", &store->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	enum ctx_status status;

	if (rc != SQLITE_OK)
		return ctx_statement_fail(store->db, rc, store->path, err);
	status = ctx_store_deserialize(store->db, store->path, image, false, err);
	return status == CTX_OK ? ctx_store_begin_reading(store, err) : status;
}

enum ctx_status ctx_store_open_image(const char *name, struct ctx_bytes image, struct ctx_store **ret,
				     struct ctx_err *err)
{
	struct ctx_store_header header = {0};
	struct ctx_store *store;
	enum ctx_status status;

	if (!ctx_store_header_parse(image, &header))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a ctxan database", name);
	status = ctx_store_header_check(name, &header, err);
	if (status == CTX_OK)
		status = ctx_store_new(name, image.n, &store, err);
	if (status != CTX_OK)
		return status;
	status = open_bytes(store, image, err);
	if (status != CTX_OK) {
		ctx_store_close(store);
		return status;
	}
	*ret = store;
	return CTX_OK;
}

enum ctx_status ctx_store_image(struct ctx_store *store, struct ctx_buf *out, struct ctx_err *err)
{
	sqlite3_int64 n = 0;
	unsigned char *bytes;
	enum ctx_status status;

	if (store->failed || store->temp_path != NULL)
		return ctx_err_set(err, CTX_E_ARG, "%s: is being written", store->path);
	if (store->has_contents) {
		status = ctx_store_end_writing(store, err);
		if (status != CTX_OK)
			return status;
		store->has_contents = false;
	}
	bytes = sqlite3_serialize(store->db, "main", &n, 0);
	if (bytes == NULL)
		return ctx_err_nomem(err);
	ctx_buf_put(out, bytes, (size_t)n);
	sqlite3_free(bytes);
	return ctx_buf_check(out, err);
}
