/*
 * Colours of a flame graph: a hue for each object, assigned by descending weight so that neighbours
 * in the legend are easy to distinguish; each function has a shade of its object's hue. Orange is
 * the kernel and its modules, grey is code without an object.
 */
#ifndef CTX_REPORT_FLAME_COLORS_H
#define CTX_REPORT_FLAME_COLORS_H

#include "calltree/calltree.h"
#include "model/profile.h"

/* In the legend; further objects share a hue with one of these. */
#define CTX_FLAME_LEGEND 10

struct ctx_flame_key {	  /* one entry of the legend */
	const char *name; /* "libc.so.6"; borrowed, any bytes */
	uint32_t color;	  /* 0xrrggbb */
	uint64_t weight;  /* exclusive: the weights of all keys add up to the total */
};

struct ctx_flame_colors {
	const struct ctx_profile *profile;
	uint16_t *hue; /* owned; by object id, in degrees */
	bool *kernel;  /* owned; by object id */
	struct ctx_flame_key
		keys[CTX_FLAME_LEGEND + 1]; /* by descending weight; the last one may be "other objects" */
	size_t n_keys;
};

/* O(nodes + objects * log). Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_flame_colors_init(struct ctx_flame_colors *colors,
						     const struct ctx_profile *profile,
						     const struct ctx_calltree *tree, struct ctx_err *err);
void ctx_flame_colors_deinit(struct ctx_flame_colors *colors);

/* 0xrrggbb; light enough for black text (contrast of at least 4.5). CTX_TRIE_ROOT_KEY: the root. */
uint32_t ctx_flame_color(const struct ctx_flame_colors *colors, uint32_t function);

bool ctx_flame_is_kernel(const struct ctx_flame_colors *colors, uint32_t function);

#endif
