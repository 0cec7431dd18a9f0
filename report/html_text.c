#include "report/html_text.h"

#include "report/names.h"

#include <string.h>

/* `text` is safe UTF-8; only the syntax characters remain to be escaped. */
static void put_escaped(struct ctx_buf *buf, const struct ctx_buf *text)
{
	size_t done = 0;

	buf->failed |= text->failed;
	if (text->n == 0) /* it has no bytes to point at */
		return;
	for (size_t i = 0; i < text->n; i++) {
		const char *escape = NULL;

		switch (text->bytes[i]) {
		case '&':
			escape = "&amp;";
			break;
		case '<':
			escape = "&lt;";
			break;
		case '>':
			escape = "&gt;";
			break;
		case '"':
			escape = "&quot;";
			break;
		case '\'':
			escape = "&#39;";
			break;
		default:
			continue;
		}
		ctx_buf_put(buf, text->bytes + done, i - done);
		ctx_buf_put_text(buf, escape);
		done = i + 1;
	}
	ctx_buf_put(buf, text->bytes + done, text->n - done);
}

typedef void (*cut_fn)(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii);

static void put(struct ctx_buf *buf, const char *text, cut_fn cut, size_t columns)
{
	struct ctx_buf safe = {0}, fitting = {0};

	ctx_name_put_text(&safe, text, false);
	if (cut != NULL && safe.n != 0)
		cut(&fitting, (const char *)safe.bytes, safe.n, columns, false);
	put_escaped(buf, cut != NULL ? &fitting : &safe);
	buf->failed |= safe.failed;
	ctx_buf_deinit(&safe);
	ctx_buf_deinit(&fitting);
}

void ctx_html_put_text(struct ctx_buf *buf, const char *text)
{
	put(buf, text, NULL, 0);
}

void ctx_html_put_cut(struct ctx_buf *buf, const char *text, size_t columns)
{
	put(buf, text, ctx_text_cut, columns);
}

void ctx_html_put_short(struct ctx_buf *buf, const char *text, size_t columns)
{
	put(buf, text, ctx_text_shorten, columns);
}
