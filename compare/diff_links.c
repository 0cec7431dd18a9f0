#include "compare/diff_links.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum ctx_status ctx_diff_items_find(struct ctx_diff_items *items, struct ctx_bytes key, uint32_t *ret_item,
				    struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&items->items, &items->cap, items->n + 1, err);

	if (status == CTX_OK)
		status = ctx_strtab_add(&items->keys, key.at, key.n, ret_item, err);
	if (status != CTX_OK)
		return status;
	if (*ret_item == items->n)
		items->items[items->n++] = (struct ctx_diff_item){
			.function = CTX_NONE, .caller = CTX_NONE, .parent = CTX_NONE, .thread = CTX_NONE};
	return CTX_OK;
}

enum ctx_status ctx_diff_link_add(struct ctx_diff_recording *recording, struct ctx_diff_link link,
				  uint32_t *ret_link, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&recording->links, &recording->links_cap, recording->n_links + 1, err);

	if (status != CTX_OK)
		return status;
	recording->links[recording->n_links] = link;
	*ret_link = (uint32_t)recording->n_links++;
	return CTX_OK;
}

uint32_t ctx_diff_item_function(const struct ctx_diff_items *items, uint32_t item)
{
	/* Its key: the parent, then the function. */
	uint32_t key[2];

	memcpy(key, ctx_strtab_get(&items->keys, item), sizeof(key));
	return key[1];
}

bool ctx_diff_has_item(const struct ctx_diff_recording *recording, uint32_t link, uint32_t item)
{
	while (link != CTX_NONE && recording->links[link].item != item)
		link = recording->links[link].next;
	return link != CTX_NONE;
}

void ctx_diff_items_deinit(struct ctx_diff_items *items)
{
	for (size_t i = 0; i < items->n_recordings && items->recordings != NULL; i++) {
		for (size_t k = 0; k < CTX_STATE_N; k++)
			free(items->recordings[i].tables[k]);
		free(items->recordings[i].links);
	}
	free(items->recordings);
	free(items->items);
	ctx_strtab_deinit(&items->keys);
	ctx_matching_deinit(&items->matching);
	*items = (struct ctx_diff_items){0};
}
