#include "formats/uftrace/uf_text.h"

#include "base/digits.h"
#include "base/fileio.h"
#include "formats/uftrace/uf_record.h"

#include <string.h>

#define BYTES_MAX ((size_t)1 << 30)

void ctx_uf_text_deinit(struct ctx_uf_text *text)
{
	ctx_buf_deinit(&text->bytes);
	*text = (struct ctx_uf_text){0};
}

enum ctx_status ctx_uf_text_read(struct ctx_uf_text *text, const char *path, struct ctx_err *err)
{
	enum ctx_status status = ctx_file_read(path, BYTES_MAX, &text->bytes, err);

	if (status != CTX_OK)
		return status;
	ctx_buf_put_u8(&text->bytes, '\n'); /* so that each line has an end to be overwritten */
	return ctx_buf_check(&text->bytes, err);
}

char *ctx_uf_text_line(struct ctx_uf_text *text)
{
	char *line = (char *)text->bytes.bytes + text->at, *end;

	if (text->at + 1 >= text->bytes.n)
		return NULL;
	end = memchr(line, '\n', text->bytes.n - text->at);
	*end = '\0';
	text->at += (size_t)(end - line) + 1;
	text->line++;
	return line;
}

char *ctx_uf_text_value(char *line, const char *key)
{
	size_t n = strlen(key);

	for (char *at = line; (at = strstr(at, key)) != NULL; at += n) {
		char *end;

		if ((at != line && at[-1] != ' ') || at[n] != '=')
			continue;
		at += n + 1;
		end = at[0] == '"' ? strrchr(++at, '"') : at + strcspn(at, " ");
		if (end != NULL)
			*end = '\0';
		return end != NULL ? at : NULL;
	}
	return NULL;
}

bool ctx_uf_text_time(const char *text, uint64_t *ret_ns)
{
	return ctx_seconds_parse(text, ret_ns) && *ret_ns < CTX_UF_TIME_END;
}

bool ctx_uf_text_pid(const char *text, int64_t *ret)
{
	uint64_t value;

	if (!ctx_digits_take(&text, 10, &value) || *text != '\0' || value == 0 || value > INT32_MAX)
		return false;
	*ret = (int64_t)value;
	return true;
}
