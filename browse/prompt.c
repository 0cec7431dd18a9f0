#include "browse/prompt.h"

#include "base/utf8.h"

#include <string.h>

void ctx_prompt_begin(struct ctx_prompt *prompt, const char *text)
{
	*prompt = (struct ctx_prompt){0};
	for (const char *at = text; *at != '\0' && prompt->n + 5 < CTX_PROMPT_MAX;) {
		uint32_t code;

		at += ctx_utf8_decode(at, strlen(at), &code);
		ctx_prompt_put(prompt, code);
	}
}

void ctx_prompt_put(struct ctx_prompt *prompt, uint32_t code)
{
	bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
	char bytes[4];
	size_t n;

	if (is_control || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return;
	n = ctx_utf8_encode(code, bytes);
	if (prompt->n + n >= CTX_PROMPT_MAX)
		return;
	memmove(prompt->text + prompt->at + n, prompt->text + prompt->at, prompt->n - prompt->at + 1);
	memcpy(prompt->text + prompt->at, bytes, n);
	prompt->n += n;
	prompt->at += n;
}

static bool is_inside(const struct ctx_prompt *prompt, size_t at)
{
	return ((unsigned char)prompt->text[at] & 0xc0) == 0x80;
}

static size_t before(const struct ctx_prompt *prompt, size_t at)
{
	do
		at -= at != 0;
	while (at != 0 && is_inside(prompt, at));
	return at;
}

static size_t after(const struct ctx_prompt *prompt, size_t at)
{
	do
		at += at < prompt->n;
	while (at < prompt->n && is_inside(prompt, at));
	return at;
}

static void erase(struct ctx_prompt *prompt, size_t from, size_t to)
{
	memmove(prompt->text + from, prompt->text + to, prompt->n - to + 1);
	prompt->n -= to - from;
	prompt->at = from;
}

void ctx_prompt_press(struct ctx_prompt *prompt, enum ctx_prompt_key key)
{
	switch (key) {
	case CTX_PROMPT_LEFT:
		prompt->at = before(prompt, prompt->at);
		break;
	case CTX_PROMPT_RIGHT:
		prompt->at = after(prompt, prompt->at);
		break;
	case CTX_PROMPT_HOME:
		prompt->at = 0;
		break;
	case CTX_PROMPT_END:
		prompt->at = prompt->n;
		break;
	case CTX_PROMPT_BACKSPACE:
		erase(prompt, before(prompt, prompt->at), prompt->at);
		break;
	case CTX_PROMPT_DELETE:
		erase(prompt, prompt->at, after(prompt, prompt->at));
		break;
	case CTX_PROMPT_CLEAR:
		erase(prompt, 0, prompt->n);
		break;
	}
}
