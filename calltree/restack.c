#include "calltree/restack.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define NOT_YET UINT32_MAX

enum region_state {
	OUTSIDE,
	OPEN,	  /* nothing refined the region's frame yet */
	REFINED,  /* or its first frame did */
	AS_IT_IS, /* it begins at the root */
	BEFORE,	  /* no region: the stack has not begun */
};

struct ctx_restack_place {
	uint32_t node;	    /* NOT_YET */
	uint32_t instances; /* of that node's function on this stack, below the node */
	enum region_state state;
};

/* Parents come before their children, so every node gets its own id. */
static enum ctx_status keep_all(struct ctx_restack *restack, struct ctx_err *err)
{
	const struct ctx_trie *from = restack->from;
	enum ctx_status status = ctx_grow(&restack->instances, &restack->instances_cap, from->n, err);

	for (uint32_t i = 1, node; i < from->n && status == CTX_OK; i++) {
		status = ctx_trie_child(&restack->to, from->parent[i], from->key[i], &node, err);
		restack->instances[i] = 1;
	}
	return status;
}

enum ctx_status ctx_restack_init(struct ctx_restack *restack, const struct ctx_trie *from,
				 const struct ctx_restack_rules *rules, struct ctx_err *err)
{
	enum ctx_status status;

	*restack = (struct ctx_restack){.from = from, .rules = *rules};
	restack->places = ctx_calloc(from->n, sizeof(*restack->places));
	if (restack->places == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 1; i < from->n; i++)
		restack->places[i].node = NOT_YET;
	restack->places[CTX_TRIE_ROOT].state = rules->begin ? BEFORE : OUTSIDE;
	status = ctx_trie_init(&restack->to, err);
	if (status == CTX_OK)
		status = ctx_grow(&restack->instances, &restack->instances_cap, 1, err);
	if (status == CTX_OK)
		restack->instances[CTX_TRIE_ROOT] = 1;
	return status == CTX_OK && rules->keep ? keep_all(restack, err) : status;
}

void ctx_restack_deinit(struct ctx_restack *restack)
{
	ctx_trie_deinit(&restack->to);
	free(restack->places);
	free(restack->instances);
	free(restack->path);
	*restack = (struct ctx_restack){0};
}

struct frame {
	uint32_t caller; /* new node */
	uint32_t key;
	bool apart;
};

/* The node of a frame: that of an instance above it, or a child of its caller. */
static enum ctx_status enter(struct ctx_restack *restack, const struct frame *frame, uint32_t *ret,
			     struct ctx_err *err)
{
	struct ctx_trie *to = &restack->to;
	uint32_t n = to->n;
	enum ctx_status status;

	for (uint32_t at = frame->caller; restack->rules.recursion && at != CTX_TRIE_ROOT;
	     at = to->parent[at]) {
		if (to->key[at] == frame->key) {
			*ret = at;
			return CTX_OK;
		}
		if (frame->apart)
			break;
	}
	status = ctx_trie_child(to, frame->caller, frame->key, ret, err);
	if (status == CTX_OK && to->n > n)
		status = ctx_grow(&restack->instances, &restack->instances_cap, to->n, err);
	if (status == CTX_OK && to->n > n)
		restack->instances[*ret] = 1;
	return status;
}

/* Instances of the node on the stack, with this one. The search ends at the last one above. */
static uint32_t count_instances(const struct ctx_restack *restack, uint32_t stack, uint32_t node)
{
	for (uint32_t at = restack->from->parent[stack]; restack->rules.recursion && at != CTX_TRIE_ROOT;
	     at = restack->from->parent[at]) {
		if (restack->places[at].node == node)
			return restack->places[at].instances + 1;
	}
	return 1;
}

static enum ctx_status place(struct ctx_restack *restack, uint32_t stack, struct ctx_err *err)
{
	uint32_t parent = restack->from->parent[stack];
	const struct ctx_restack_rule *rule = &restack->rules.of_key[restack->from->key[stack]];
	const struct ctx_restack_place *up = &restack->places[parent];
	struct frame frame = {.key = restack->from->key[stack], .apart = rule->apart};
	struct ctx_restack_place here = {.state = OUTSIDE};
	bool goes_on = rule->region != 0 && parent != CTX_TRIE_ROOT && up->state != OUTSIDE &&
		       up->state != BEFORE &&
		       restack->rules.of_key[restack->from->key[parent]].region == rule->region;
	bool refines = goes_on && up->state == OPEN && rule->refines;
	uint32_t before = restack->to.n;
	enum ctx_status status;

	if (rule->hidden || (up->state == BEFORE && !rule->begins) ||
	    (goes_on && up->state != AS_IT_IS && !refines)) {
		restack->places[stack] = *up;
		return CTX_OK;
	}
	frame.caller = refines ? restack->to.parent[up->node] : up->node;
	if (goes_on && !refines)
		here.state = AS_IT_IS;
	else if (rule->region != 0)
		here.state = rule->inner && frame.caller == CTX_TRIE_ROOT ? AS_IT_IS
			     : rule->refines				  ? REFINED
									  : OPEN;
	if (here.state == OPEN || here.state == REFINED)
		frame.key = rule->key;
	status = enter(restack, &frame, &here.node, err);
	if (status != CTX_OK)
		return status;
	here.instances = restack->to.n > before ? 1 : count_instances(restack, stack, here.node);
	if (here.instances > restack->instances[here.node])
		restack->instances[here.node] = here.instances;
	restack->places[stack] = here;
	return CTX_OK;
}

enum ctx_status ctx_restack_find(struct ctx_restack *restack, uint32_t stack, uint32_t *ret_node,
				 struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	if (stack >= restack->from->n)
		return ctx_err_set(err, CTX_E_ARG, "no call stack %u: there are %u", stack, restack->from->n);
	for (uint32_t at = stack; status == CTX_OK && restack->places[at].node == NOT_YET;
	     at = restack->from->parent[at]) {
		status = ctx_grow(&restack->path, &restack->path_cap, n + 1, err);
		if (status == CTX_OK)
			restack->path[n++] = at;
	}
	while (status == CTX_OK && n-- > 0)
		status = place(restack, restack->path[n], err);
	if (status == CTX_OK)
		*ret_node = restack->places[stack].state != BEFORE ? restack->places[stack].node : UINT32_MAX;
	return status;
}

enum ctx_status ctx_restack_histogram(struct ctx_restack *restack, const struct ctx_histogram *from,
				      struct ctx_histogram *to, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < from->n && status == CTX_OK; i++) {
		struct ctx_hist_entry entry = from->entries[i];

		status = ctx_restack_find(restack, entry.stack, &entry.stack, err);
		if (status == CTX_OK && entry.stack != UINT32_MAX)
			status = ctx_histogram_add(to, entry, err);
	}
	return status;
}
