#include "base/shellword.h"

#include <stdbool.h>
#include <string.h>

/* Bytes without a special meaning to any shell, anywhere in a word. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";

static bool is_plain(const char *word)
{
	return *word != '\0' && word[strspn(word, plain)] == '\0';
}

void ctx_shellword_put(struct ctx_buf *out, const char *word)
{
	if (is_plain(word)) {
		ctx_buf_put_text(out, word);
		return;
	}
	ctx_buf_put_u8(out, '\'');
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			ctx_buf_put_text(out, "'\\''");
		else
			ctx_buf_put_u8(out, (uint8_t)*word);
	}
	ctx_buf_put_u8(out, '\'');
}
