#include "browse/list_keys.h"

#include "base/mem.h"

bool ctx_list_act(struct ctx_list *list, enum ctx_action action, bool *ret_moved)
{
	long page = (long)list->height - 1, by = 0;

	switch (action) {
	case CTX_ACTION_UP:
		by = -1;
		break;
	case CTX_ACTION_DOWN:
		by = 1;
		break;
	case CTX_ACTION_PAGE_UP:
		by = -page;
		break;
	case CTX_ACTION_PAGE_DOWN:
		by = page;
		break;
	case CTX_ACTION_FIRST:
		by = -(long)list->n;
		break;
	case CTX_ACTION_LAST:
		by = (long)list->n;
		break;
	default:
		return false;
	}
	*ret_moved = ctx_list_move(list, by);
	return true;
}

void ctx_prompt_type(struct ctx_prompt *prompt, uint32_t key)
{
	static const struct {
		uint32_t key;
		enum ctx_prompt_key press;
	} presses[] = {{CTX_KEY_LEFT, CTX_PROMPT_LEFT},
		       {CTX_KEY_RIGHT, CTX_PROMPT_RIGHT},
		       {CTX_KEY_HOME, CTX_PROMPT_HOME},
		       {CTX_KEY_END, CTX_PROMPT_END},
		       {0x01, CTX_PROMPT_HOME},
		       {0x05, CTX_PROMPT_END},
		       {0x15, CTX_PROMPT_CLEAR},
		       {CTX_KEY_BACKSPACE, CTX_PROMPT_BACKSPACE},
		       {0x08, CTX_PROMPT_BACKSPACE},
		       {0x7f, CTX_PROMPT_BACKSPACE},
		       {CTX_KEY_DELETE, CTX_PROMPT_DELETE}};

	for (size_t i = 0; i < CTX_COUNT_OF(presses); i++) {
		if (presses[i].key == key) {
			ctx_prompt_press(prompt, presses[i].press);
			return;
		}
	}
	ctx_prompt_put(prompt, key);
}
