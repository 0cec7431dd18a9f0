#include "formats/jsonprofile/jp_json.h"

#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)1 << 30)
#define DEPTH_MAX 64u /* trees are freed by recursion */

/* Whether the nesting is bounded, without parsing: brackets outside of texts. */
static bool is_flat(const uint8_t *bytes, size_t n)
{
	unsigned depth = 0;
	bool in_text = false;

	for (size_t i = 0; i < n; i++) {
		uint8_t c = bytes[i];

		if (in_text) {
			i += c == '\\';
			in_text = c != '"';
		} else if (c == '"') {
			in_text = true;
		} else if (c == '[' || c == '{') {
			if (++depth > DEPTH_MAX)
				return false;
		} else if ((c == ']' || c == '}') && depth != 0) {
			depth--;
		}
	}
	return true;
}

/* The first line of what the parser says. */
static enum ctx_status fail(const char *path, char *why, struct ctx_err *err)
{
	why[strcspn(why, "\n")] = '\0';
	return ctx_err_set(err, CTX_E_FORMAT, "%s: %s", path, why[0] != '\0' ? why : "no JSON");
}

enum ctx_status ctx_jp_json_read(const char *path, yajl_val *ret, struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	char why[256] = "";
	enum ctx_status status = ctx_file_read(path, FILE_BYTES_MAX, &text, err);

	if (status != CTX_OK)
		return status;
	if (!is_flat(text.bytes, text.n))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: nested more than %u deep", path, DEPTH_MAX);
	ctx_buf_put_u8(&text, 0);
	status = ctx_buf_check(&text, err);
	if (status != CTX_OK)
		return status;
	*ret = yajl_tree_parse((const char *)text.bytes, why, sizeof(why));
	return *ret != NULL ? CTX_OK : fail(path, why, err);
}

yajl_val ctx_jp_member(yajl_val object, const char *key)
{
	if (object == NULL || !YAJL_IS_OBJECT(object))
		return NULL;
	for (size_t i = 0; i < object->u.object.len; i++) {
		if (strcmp(object->u.object.keys[i], key) == 0)
			return object->u.object.values[i];
	}
	return NULL;
}

size_t ctx_jp_length(yajl_val list)
{
	return YAJL_IS_ARRAY(list) ? list->u.array.len : 0;
}

yajl_val ctx_jp_item(yajl_val list, size_t i)
{
	return i < ctx_jp_length(list) ? list->u.array.values[i] : NULL;
}

const char *ctx_jp_text(yajl_val value)
{
	const char *text = value != NULL ? YAJL_GET_STRING(value) : NULL;

	return text != NULL ? text : "";
}

double ctx_jp_number(yajl_val value, double other)
{
	if (value == NULL || !YAJL_IS_NUMBER(value))
		return other;
	if (YAJL_IS_INTEGER(value))
		return (double)YAJL_GET_INTEGER(value);
	return YAJL_IS_DOUBLE(value) && isfinite(YAJL_GET_DOUBLE(value)) ? YAJL_GET_DOUBLE(value) : other;
}

int64_t ctx_jp_id(yajl_val value, int64_t other)
{
	const char *text = ctx_jp_text(value);
	double number = text[0] != '\0' ? strtod(text, NULL) : ctx_jp_number(value, (double)other);

	return number >= 0 && number < 1e15 ? (int64_t)number : other;
}

uint64_t ctx_jp_index(yajl_val value, uint64_t max, uint64_t other)
{
	if (value == NULL || !YAJL_IS_INTEGER(value) || YAJL_GET_INTEGER(value) < 0 ||
	    (uint64_t)YAJL_GET_INTEGER(value) > max)
		return other;
	return (uint64_t)YAJL_GET_INTEGER(value);
}
