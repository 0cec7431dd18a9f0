#include "report/source_texts.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "report/names.h"

#include <string.h>

#define TAB 8

enum ctx_status ctx_source_texts_init(struct ctx_source_texts *texts, const struct ctx_code_view *view,
				      struct ctx_err *err)
{
	*texts = (struct ctx_source_texts){
		.view = view, .files = ctx_calloc(view->code->n_files + 1, sizeof(*texts->files))};
	return texts->files != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_source_texts_deinit(struct ctx_source_texts *texts)
{
	for (size_t i = 0; texts->files != NULL && i < texts->view->code->n_files; i++) {
		free(texts->files[i].text);
		free(texts->files[i].begins);
	}
	free(texts->files);
	*texts = (struct ctx_source_texts){0};
}

/* Text after the last newline is a line too, unless it is empty. */
static enum ctx_status split(struct ctx_source_text *file, size_t n)
{
	size_t lines = 0, at = 0;

	for (size_t i = 0; i < n; i++)
		lines += file->text[i] == '\n';
	lines += n != 0 && file->text[n - 1] != '\n';
	if (lines >= UINT32_MAX)
		return CTX_OK;
	file->begins = ctx_calloc(lines + 1, sizeof(*file->begins));
	if (file->begins == NULL)
		return CTX_E_NOMEM;
	for (size_t i = 0; i < lines; i++) {
		const char *newline = memchr(file->text + at, '\n', n - at);

		at = newline != NULL ? (size_t)(newline - file->text) + 1 : n;
		file->begins[i + 1] = at;
	}
	file->n_lines = (uint32_t)lines;
	return CTX_OK;
}

enum ctx_status ctx_source_texts_count(struct ctx_source_texts *texts, uint32_t file, uint32_t *ret,
				       struct ctx_err *err)
{
	const struct ctx_code_reader *reader = texts->view->reader;
	struct ctx_source_text *entry;
	enum ctx_status status = CTX_OK;
	const char *text;
	size_t n;

	*ret = 0;
	if (file >= texts->view->code->n_files || reader == NULL)
		return CTX_OK;
	entry = &texts->files[file];
	if (!entry->asked) {
		entry->asked = true;
		status = reader->text(reader->context, file, &text, &n, err);
		if (status == CTX_OK) {
			entry->text = ctx_memdup0(text, n);
			status = entry->text != NULL ? split(entry, n) : CTX_E_NOMEM;
			if (status != CTX_OK)
				status = ctx_err_nomem(err);
		}
	}
	*ret = entry->n_lines;
	return status == CTX_E_NOTFOUND ? CTX_OK : status;
}

uint32_t ctx_source_texts_lines(struct ctx_source_texts *texts, struct ctx_out *out, uint32_t file)
{
	uint32_t n;
	enum ctx_status status = ctx_source_texts_count(texts, file, &n, NULL);

	if (status != CTX_OK)
		ctx_out_fail(out, status);
	return n;
}

const char *ctx_source_texts_raw(const struct ctx_source_texts *texts, uint32_t file, uint32_t line,
				 size_t *ret_n)
{
	const struct ctx_source_text *entry = &texts->files[file];
	size_t begin = entry->begins[line - 1], end = entry->begins[line];

	while (end > begin && (entry->text[end - 1] == '\n' || entry->text[end - 1] == '\r'))
		end--;
	*ret_n = end - begin;
	return entry->text + begin;
}

static void put_expanded(struct ctx_buf *buf, const char *text, size_t n, bool keep_tabs)
{
	size_t column = 0;

	while (n > 0) {
		uint32_t code;
		size_t length = ctx_utf8_decode(text, n, &code);

		if (*text == '\t' && !keep_tabs) {
			size_t spaces = TAB - column % TAB;

			ctx_buf_printf(buf, "%*s", (int)spaces, "");
			column += spaces;
		} else if (*text == '\0') {
			ctx_buf_put_text(buf, "\xef\xbf\xbd"); /* U+FFFD: names end at a zero */
			column++;
		} else {
			ctx_buf_put(buf, text, length);
			column += code != UINT32_MAX ? ctx_char_width(code) : 1;
		}
		text += length;
		n -= length;
	}
	ctx_buf_put_u8(buf, '\0');
}

const char *ctx_source_texts_line(struct ctx_source_texts *texts, struct ctx_out *out, uint32_t file,
				  uint32_t line)
{
	struct ctx_buf buf = {0};
	const char *raw, *text = NULL;
	size_t n;

	if (line == 0 || line > ctx_source_texts_lines(texts, out, file))
		return NULL;
	raw = ctx_source_texts_raw(texts, file, line, &n);
	put_expanded(&buf, raw, n, out->options->format == CTX_REPORT_JSON);
	if (buf.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		text = ctx_out_format(out, "%s", (const char *)buf.bytes);
	ctx_buf_deinit(&buf);
	return text;
}
