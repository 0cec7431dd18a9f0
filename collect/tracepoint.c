#include "collect/tracepoint.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((size_t)1 << 20)
#define PATH_BYTES 512
#define SIZE_MAX_BYTES 8u

/* Does the declaration "pid_t prev_pid" declare this name? */
static bool declares(const char *text, size_t n, const char *name)
{
	size_t n_name = strlen(name);

	return n > n_name && text[n - n_name - 1] == ' ' && memcmp(text + n - n_name, name, n_name) == 0;
}

/* "	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;" */
static enum ctx_status take_line(const char *line, struct ctx_tracepoint_field *ret, struct ctx_err *err)
{
	struct ctx_tracepoint_field field = {0};
	unsigned is_signed = 0;

	if (sscanf(line, "; offset:%u; size:%u; signed:%u;", &field.offset, &field.size, &is_signed) != 3 ||
	    field.offset > UINT16_MAX || field.size == 0 || field.size > SIZE_MAX_BYTES ||
	    (field.size & (field.size - 1)) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "its line \"%.*s\" is not understood",
				   (int)strcspn(line, "\n"), line);
	field.is_signed = is_signed != 0;
	*ret = field;
	return CTX_OK;
}

enum ctx_status ctx_tracepoint_field_find(const char *format, const char *name,
					  struct ctx_tracepoint_field *ret, struct ctx_err *err)
{
	const char *at = format;
	enum ctx_status status;

	while ((at = strstr(at, "\tfield:")) != NULL) {
		size_t n;

		at += strlen("\tfield:");
		n = strcspn(at, ";\n");
		if (declares(at, n, name)) {
			status = take_line(at + n, ret, err);
			return status != CTX_OK ? ctx_err_prefix(err, status, "field %s", name) : CTX_OK;
		}
		at += n;
	}
	return ctx_err_set(err, CTX_E_NOTFOUND, "no field %s", name);
}

bool ctx_tracepoint_field_read(const struct ctx_tracepoint_field *field, const uint8_t *raw, size_t n,
			       int64_t *ret)
{
	uint64_t value = 0;
	unsigned shift = 64 - 8 * field->size;

	if (raw == NULL || field->size == 0 || n < field->size || field->offset > n - field->size)
		return false;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&value, raw + field->offset, field->size);
#else
	memcpy((char *)&value + sizeof(value) - field->size, raw + field->offset, field->size);
#endif
	*ret = field->is_signed ? (int64_t)(value << shift) >> shift : (int64_t)value;
	return true;
}

static enum ctx_status read_text(const char *tracefs, const char *name, const char *file, char **ret,
				 struct ctx_err *err)
{
	struct ctx_buf buf = {0};
	char path[PATH_BYTES], list[PATH_BYTES];
	enum ctx_status status;

	snprintf(list, sizeof(list), "%s/events", tracefs);
	if (snprintf(path, sizeof(path), "%s/%s/%s", list, name, file) >= (int)sizeof(path))
		return ctx_err_set(err, CTX_E_ARG, "name is too long");
	status = ctx_file_read(path, FILE_MAX_BYTES, &buf, err);
	if (status != CTX_OK && access(list, R_OK | X_OK) != 0)
		status = ctx_err_set(err, CTX_E_PERM,
				     "tracepoints are listed in %s, which is not mounted or not readable by "
				     "this user",
				     list);
	if (status == CTX_OK) {
		*ret = ctx_memdup0(buf.bytes, buf.n);
		if (*ret == NULL)
			status = ctx_err_nomem(err);
	}
	ctx_buf_deinit(&buf);
	return status;
}

enum ctx_status ctx_tracepoint_read(const char *tracefs, const char *name, struct ctx_tracepoint *ret,
				    struct ctx_err *err)
{
	struct ctx_tracepoint tracepoint = {0};
	char *id CTX_AUTO_FREE = NULL;
	unsigned long long number = 0;
	enum ctx_status status = read_text(tracefs, name, "id", &id, err);

	if (status == CTX_OK && sscanf(id, "%llu", &number) != 1)
		status = ctx_err_set(err, CTX_E_FORMAT, "its id is no number");
	if (status == CTX_OK)
		status = read_text(tracefs, name, "format", &tracepoint.format, err);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "tracepoint %s", name);
	tracepoint.id = number;
	*ret = tracepoint;
	return CTX_OK;
}

void ctx_tracepoint_deinit(struct ctx_tracepoint *tracepoint)
{
	free(tracepoint->format);
	*tracepoint = (struct ctx_tracepoint){0};
}
