/*
 * A line that is typed. Pure. UTF-8; what is typed comes character by character.
 */
#ifndef CTX_BROWSE_PROMPT_H
#define CTX_BROWSE_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_PROMPT_MAX 512u

struct ctx_prompt {
	char text[CTX_PROMPT_MAX]; /* zero-terminated */
	size_t n, at;		   /* bytes; the cursor, at the beginning of a character */
};

enum ctx_prompt_key {
	CTX_PROMPT_LEFT,
	CTX_PROMPT_RIGHT,
	CTX_PROMPT_HOME,
	CTX_PROMPT_END,
	CTX_PROMPT_BACKSPACE,
	CTX_PROMPT_DELETE,
	CTX_PROMPT_CLEAR,
};

/* Begins with `text`, the cursor at its end. */
void ctx_prompt_begin(struct ctx_prompt *prompt, const char *text);

/* A character; what is no text (control characters) and what has no room is ignored. */
void ctx_prompt_put(struct ctx_prompt *prompt, uint32_t code);
void ctx_prompt_press(struct ctx_prompt *prompt, enum ctx_prompt_key key);

#endif
