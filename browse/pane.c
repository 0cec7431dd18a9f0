#include "browse/pane.h"

#include <stdio.h>

static size_t find(const struct ctx_pane *pane, uint64_t id, size_t otherwise)
{
	for (size_t i = 0; i < pane->n_rows; i++) {
		if (pane->kind->id(pane, i) == id)
			return i;
	}
	return otherwise;
}

/* A row that was selected stays selected; else the first one, which may not be row 0. */
static size_t choose(const struct ctx_pane *pane, bool had, uint64_t id)
{
	size_t first = pane->kind->first != NULL ? pane->kind->first(pane) : 0;

	if (!pane->was_moved)
		return first;
	return had && pane->kind->id != NULL ? find(pane, id, first) : pane->list.selected;
}

enum ctx_status ctx_pane_load(struct ctx_pane *pane, struct ctx_err *err)
{
	bool had = pane->kind->id != NULL && pane->list.selected < pane->n_rows;
	uint64_t id = had ? pane->kind->id(pane, pane->list.selected) : 0;
	struct ctx_err why = {0};
	enum ctx_status status;

	if (pane->is_loaded)
		return CTX_OK;
	pane->message[0] = '\0';
	pane->n_rows = 0;
	status = pane->kind->load(pane, &why);
	pane->is_loaded = true;
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK) {
		pane->n_rows = 0;
		snprintf(pane->message, sizeof(pane->message), "%s", why.msg);
	}
	ctx_list_fit(&pane->list, pane->n_rows, pane->list.height,
		     pane->n_rows != 0 ? choose(pane, had, id) : 0);
	if (!pane->was_moved)
		ctx_list_center(&pane->list);
	return CTX_OK;
}

void ctx_pane_forget(struct ctx_pane *pane)
{
	pane->is_loaded = false;
}

void ctx_pane_close(struct ctx_pane *pane)
{
	if (pane->kind != NULL && pane->kind->close != NULL)
		pane->kind->close(pane);
	*pane = (struct ctx_pane){0};
}

uint32_t ctx_pane_function(const struct ctx_pane *pane)
{
	if (pane->kind->function == NULL || pane->list.selected >= pane->n_rows)
		return CTX_NONE;
	return pane->kind->function(pane, pane->list.selected);
}
