/* Packing and unpacking go through the same states of struct tree. */
#include "formats/experiment/exp_calls.h"

#include "base/cursor.h"
#include "base/map64.h"
#include "base/mem.h"
#include "formats/experiment/exp_streams.h"

#include <stdlib.h>

enum { ROUTES, PREFIXES, LENGTHS, CALLS, OTHERS, NEAR, NEW, N = CTX_EXP_CALLS_STREAMS };

#define FOLLOWERS 8u
#define ROUTE_MAX 64u
#define NOBODY 0u /* number of the address of callers in other blocks */

enum { A_NEW, ANOTHER, FOLLOWER };

struct node {
	uint32_t parent; /* id */
	uint32_t number; /* of its address */
};

struct called { /* an address, by number */
	uint64_t address;
	uint32_t followers[FOLLOWERS]; /* numbers of addresses; 0: none more */
};

struct tree {
	uint64_t first; /* id of nodes[0] */
	struct node *nodes;
	size_t n, cap;
	struct called *called; /* [NOBODY] has no address */
	size_t n_called, called_cap;
	uint64_t last; /* the new address before */
};

static void tree_deinit(struct tree *tree)
{
	free(tree->nodes);
	free(tree->called);
}

static enum ctx_status add_called(struct tree *tree, uint64_t address, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&tree->called, &tree->called_cap, tree->n_called + 1, err);

	if (status == CTX_OK)
		tree->called[tree->n_called++] = (struct called){.address = address};
	return status;
}

static enum ctx_status tree_init(struct tree *tree, uint64_t first, struct ctx_err *err)
{
	tree->first = first;
	return add_called(tree, 0, err);
}

static bool is_here(const struct tree *tree, uint64_t id)
{
	return id >= tree->first && id - tree->first < tree->n;
}

/* Number of a node's address. */
static uint32_t number_of(const struct tree *tree, uint64_t id)
{
	return is_here(tree, id) ? tree->nodes[id - tree->first].number : NOBODY;
}

/* What a new address that is called by this one is a difference to. */
static uint64_t base_of(const struct tree *tree, uint32_t caller)
{
	uint32_t follower = tree->called[caller].followers[0];

	return follower != 0 ? tree->called[follower].address : tree->last;
}

static int stream_of(const struct tree *tree, uint32_t caller)
{
	return tree->called[caller].followers[0] != 0 ? NEAR : NEW;
}

/* A node below `parent` whose address is `number`, which becomes the first that follows on its caller. */
static enum ctx_status add_node(struct tree *tree, uint64_t parent, uint32_t number, struct ctx_err *err)
{
	uint32_t *followers = tree->called[number_of(tree, parent)].followers, at = 0;
	enum ctx_status status = ctx_grow(&tree->nodes, &tree->cap, tree->n + 1, err);

	if (status != CTX_OK)
		return status;
	while (at < FOLLOWERS - 1 && followers[at] != number)
		at++;
	for (; at > 0; at--)
		followers[at] = followers[at - 1];
	followers[0] = number;
	tree->nodes[tree->n++] = (struct node){(uint32_t)parent, number};
	return CTX_OK;
}

/* Whether n more nodes have ids. */
static bool have_ids(const struct tree *tree, uint64_t n)
{
	return n != 0 && n <= UINT32_MAX && tree->first + tree->n <= UINT32_MAX - n;
}

/* The node that is so many above the last one, which may be in another block. False: it is not known. */
static bool go_up(const struct tree *tree, uint64_t n, uint64_t *ret)
{
	uint64_t id = tree->first + tree->n - 1;

	for (; n != 0; n--) {
		if (!is_here(tree, id))
			return false;
		id = tree->nodes[id - tree->first].parent;
	}
	*ret = id;
	return true;
}

/* --- packing --- */

struct packing {
	struct ctx_buf streams[N];
	struct ctx_map64 numbers; /* by address */
	struct tree tree;
};

static void packing_deinit(struct packing *packing)
{
	for (size_t i = 0; i < N; i++)
		ctx_buf_deinit(&packing->streams[i]);
	ctx_map64_deinit(&packing->numbers);
	tree_deinit(&packing->tree);
}

static void put_prefix(struct packing *packing, uint64_t prefix)
{
	const struct tree *tree = &packing->tree;
	uint64_t up = 0, id = tree->first + tree->n - 1;

	while (id != prefix && up < ROUTE_MAX && is_here(tree, id)) {
		id = tree->nodes[id - tree->first].parent;
		up++;
	}
	ctx_buf_put_varint(&packing->streams[ROUTES], id == prefix ? 1 + up : 0);
	if (id != prefix)
		ctx_buf_put_varint(&packing->streams[PREFIXES], tree->first + tree->n - prefix);
}

static void put_known(struct packing *packing, const uint32_t *followers, uint32_t number)
{
	uint32_t at = 0;

	while (at < FOLLOWERS && followers[at] != number)
		at++;
	ctx_buf_put_varint(&packing->streams[CALLS], at < FOLLOWERS ? FOLLOWER + at : ANOTHER);
	if (at == FOLLOWERS)
		ctx_buf_put_varint(&packing->streams[OTHERS], number);
}

static enum ctx_status put_node(struct packing *packing, uint64_t parent, uint64_t address,
				struct ctx_err *err)
{
	struct tree *tree = &packing->tree;
	uint32_t *number = ctx_map64_place(&packing->numbers, address);
	uint32_t caller = number_of(tree, parent);
	enum ctx_status status = CTX_OK;

	if (number == NULL)
		return ctx_err_nomem(err);
	if (*number != CTX_MAP64_NONE) {
		put_known(packing, tree->called[caller].followers, *number);
	} else {
		*number = (uint32_t)tree->n_called;
		ctx_buf_put_varint(&packing->streams[CALLS], A_NEW);
		ctx_buf_put_zigzag(&packing->streams[stream_of(tree, caller)],
				   (int64_t)(address - base_of(tree, caller)));
		tree->last = address;
		status = add_called(tree, address, err);
	}
	return status == CTX_OK ? add_node(tree, parent, *number, err) : status;
}

static enum ctx_status pack(struct packing *packing, struct ctx_cursor *in, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	uint64_t address = 0;

	while (ctx_cursor_left(in) != 0 && status == CTX_OK) {
		uint64_t parent = ctx_cursor_get_varint(in), n = ctx_cursor_get_varint(in);

		if (in->failed || parent >= packing->tree.first + packing->tree.n ||
		    !have_ids(&packing->tree, n) || n > ctx_cursor_left(in))
			return ctx_err_set(err, CTX_E_FORMAT, "call stacks that cannot be packed");
		put_prefix(packing, parent);
		ctx_buf_put_varint(&packing->streams[LENGTHS], n);
		for (; n != 0 && status == CTX_OK; n--) {
			address += (uint64_t)ctx_cursor_get_zigzag(in);
			status = put_node(packing, parent, address, err);
			parent = packing->tree.first + packing->tree.n - 1;
		}
	}
	if (status == CTX_OK && in->failed)
		return ctx_err_set(err, CTX_E_FORMAT, "call stacks that cannot be packed");
	return status;
}

enum ctx_status ctx_exp_pack_calls(struct ctx_bytes payload, struct ctx_buf *out,
				   size_t ret_ends[CTX_EXP_CALLS_STREAMS + 1], struct ctx_err *err)
{
	struct ctx_cursor in = ctx_cursor_make(payload.at, payload.n);
	uint64_t first = ctx_cursor_get_varint(&in);
	struct packing packing = {0};
	enum ctx_status status = first != 0 && first <= UINT32_MAX
					 ? tree_init(&packing.tree, first, err)
					 : ctx_err_set(err, CTX_E_FORMAT, "call stacks without a first id");

	if (status == CTX_OK)
		status = pack(&packing, &in, err);
	if (status == CTX_OK) {
		ctx_buf_put_varint(out, first);
		ctx_exp_put_lengths(packing.streams, N, out);
		status = ctx_exp_put_streams(packing.streams, N, out, ret_ends, err);
	}
	packing_deinit(&packing);
	return status;
}

/* --- unpacking --- */

struct unpacking {
	struct ctx_cursor streams[N];
	struct tree tree;
};

static bool take_prefix(struct unpacking *in, uint64_t *ret)
{
	uint64_t next = in->tree.first + in->tree.n, route = ctx_cursor_get_varint(&in->streams[ROUTES]);
	uint64_t back;

	if (route != 0)
		return route <= 1 + ROUTE_MAX && go_up(&in->tree, route - 1, ret);
	back = ctx_cursor_get_varint(&in->streams[PREFIXES]);
	*ret = next - back;
	return back != 0 && back <= next;
}

/* The next address; false: none. */
static bool take_known(struct unpacking *in, uint32_t caller, uint64_t token, uint32_t *ret)
{
	uint64_t number;

	if (token == ANOTHER) {
		number = ctx_cursor_get_varint(&in->streams[OTHERS]);
		*ret = (uint32_t)number;
		return number != NOBODY && number < in->tree.n_called;
	}
	if (token - FOLLOWER >= FOLLOWERS)
		return false;
	*ret = in->tree.called[caller].followers[token - FOLLOWER];
	return *ret != 0;
}

/* A node below `parent`. CTX_E_FORMAT without a message: there is none. */
static enum ctx_status take_node(struct unpacking *in, uint64_t parent, struct ctx_err *err)
{
	struct tree *tree = &in->tree;
	uint32_t caller = number_of(tree, parent), number = (uint32_t)tree->n_called;
	uint64_t token = ctx_cursor_get_varint(&in->streams[CALLS]);
	enum ctx_status status = CTX_OK;

	if (token == A_NEW) {
		struct ctx_cursor *stream = &in->streams[stream_of(tree, caller)];

		tree->last = base_of(tree, caller) + (uint64_t)ctx_cursor_get_zigzag(stream);
		status = stream->failed ? CTX_E_FORMAT : add_called(tree, tree->last, err);
	} else if (!take_known(in, caller, token, &number)) {
		status = CTX_E_FORMAT;
	}
	return status == CTX_OK ? add_node(tree, parent, number, err) : status;
}

/* CTX_E_FORMAT without a message. */
static enum ctx_status unpack(struct unpacking *in, struct ctx_buf *out, struct ctx_err *err)
{
	struct tree *tree = &in->tree;
	enum ctx_status status = CTX_OK;
	uint64_t last = 0, parent;

	ctx_buf_put_varint(out, tree->first);
	while (ctx_cursor_left(&in->streams[ROUTES]) != 0 && status == CTX_OK) {
		uint64_t n = ctx_cursor_get_varint(&in->streams[LENGTHS]);

		/* Each node has a byte at least. */
		if (!take_prefix(in, &parent) || !have_ids(tree, n) ||
		    n > ctx_cursor_left(&in->streams[CALLS]))
			return CTX_E_FORMAT;
		ctx_buf_put_varint(out, parent);
		ctx_buf_put_varint(out, n);
		for (; n != 0 && status == CTX_OK; n--) {
			status = take_node(in, parent, err);
			if (status != CTX_OK)
				return status;
			parent = tree->first + tree->n - 1;
			ctx_buf_put_zigzag(out,
					   (int64_t)(tree->called[number_of(tree, parent)].address - last));
			last = tree->called[number_of(tree, parent)].address;
		}
	}
	for (size_t i = 0; i < N; i++) {
		if (in->streams[i].failed)
			return CTX_E_FORMAT;
	}
	return status;
}

enum ctx_status ctx_exp_unpack_calls(struct ctx_bytes packed, struct ctx_buf *out, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(packed.at, packed.n);
	uint64_t first = ctx_cursor_get_varint(&cursor), bytes[N];
	struct unpacking in = {0};
	enum ctx_status status = CTX_E_FORMAT;

	for (size_t i = 0; i < N; i++)
		bytes[i] = ctx_cursor_get_varint(&cursor);
	if (first != 0 && first <= UINT32_MAX && ctx_exp_take_streams(&cursor, bytes, N, in.streams))
		status = tree_init(&in.tree, first, err);
	if (status == CTX_OK)
		status = unpack(&in, out, err);
	tree_deinit(&in.tree);
	if (status == CTX_E_FORMAT)
		return ctx_err_set(err, CTX_E_FORMAT, "packed call stacks end early or make no sense");
	return status == CTX_OK ? ctx_buf_check(out, err) : status;
}
