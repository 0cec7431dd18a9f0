/*
 * Keys of a list and of a line that is typed. Pure.
 */
#ifndef CTX_BROWSE_LIST_KEYS_H
#define CTX_BROWSE_LIST_KEYS_H

#include "browse/keys.h"
#include "browse/list.h"
#include "browse/prompt.h"

/* Moves the selection: up, down, by a page, to the first, to the last. False: another action. */
bool ctx_list_act(struct ctx_list *list, enum ctx_action action, bool *ret_moved);

/* A key of the line: a character, or one that moves or deletes. */
void ctx_prompt_type(struct ctx_prompt *prompt, uint32_t key);

#endif
