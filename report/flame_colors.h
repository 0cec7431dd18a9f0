/*
 * Colours of a flame graph: a hue for each object, the heaviest first, so that neighbours in the legend are easy to
 * tell apart; shades of it by function. Orange is the kernel and its modules, grey is what has no object.
 */
#ifndef CTX_REPORT_FLAME_COLORS_H
#define CTX_REPORT_FLAME_COLORS_H

#include "calltree/calltree.h"
#include "model/profile.h"

/* In the legend; the objects behind them share a hue with one of these. */
#define CTX_FLAME_LEGEND 10

struct ctx_flame_key {	  /* one entry of the legend */
	const char *name; /* "libc.so.6"; borrowed, any bytes */
	uint32_t color;	  /* 0xrrggbb */
	uint64_t weight;  /* exclusive: all keys together have the total */
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

/* 0xrrggbb; light enough for black text (contrast of 4.5 and more). CTX_TRIE_ROOT_KEY: the root. */
uint32_t ctx_flame_color(const struct ctx_flame_colors *colors, uint32_t function);

bool ctx_flame_is_kernel(const struct ctx_flame_colors *colors, uint32_t function);

#endif
