#include "report/flame_colors.h"

#include "base/mem.h"
#include "report/names.h"
#include "report/order.h"

#include <string.h>

#define KERNEL_HUE 28
#define GREY 0xc8c8c8u
#define SHADES 4

/* Well separated hues, none near the kernel's. */
static const uint16_t hues[] = {210, 130, 285, 178, 335, 80, 245, 105, 310, 190};

/*
 * One channel of an HSL colour, saturation and lightness in percent: l - s * min(l, 1 - l) *
 * max(-1, min(k - 3, 9 - k, 1)) with k = offset + hue / 30, modulo 12 (CSS Color 4); here k is
 * counted in degrees.
 */
static uint32_t channel(unsigned hue, unsigned saturation, unsigned lightness, unsigned offset)
{
	int k = (int)((offset * 30 + hue) % 360);
	int range = (int)(saturation * (lightness < 50 ? lightness : 100 - lightness)); /* in 1/10000 */
	int weight = k - 90 < 270 - k ? k - 90 : 270 - k;

	weight = weight > 30 ? 30 : weight < -30 ? -30 : weight;
	return (uint32_t)(((int)lightness * 3000 - range * weight) * 255 + 150000) / 300000;
}

static uint32_t shade(unsigned hue, unsigned saturation, unsigned lightness)
{
	return channel(hue, saturation, lightness, 0) << 16 | channel(hue, saturation, lightness, 8) << 8 |
	       channel(hue, saturation, lightness, 4);
}

static uint32_t color_of(bool kernel, unsigned hue, unsigned step)
{
	return kernel ? shade(KERNEL_HUE, 95, 64 + 4 * step) : shade(hue, 55, 68 + 4 * step);
}

struct use { /* of an object; the last two places: the kernel, and functions without an object */
	uint64_t weight;
	bool seen;
};

static struct use *sum_objects(const struct ctx_flame_colors *colors, const struct ctx_calltree *tree)
{
	const struct ctx_profile *profile = colors->profile;
	uint32_t n = profile->n_objects;
	struct use *uses = ctx_calloc((size_t)n + 2, sizeof(*uses));

	for (uint32_t i = 0; uses != NULL && i < tree->n; i++) {
		uint32_t function = tree->nodes[i].function;
		uint32_t object =
			function < profile->n_functions ? profile->functions[function].object : CTX_NONE;
		struct use *use = &uses[object >= n ? n + 1 : colors->kernel[object] ? n : object];

		use->weight += tree->nodes[i].base;
		use->seen |= i != 0 || tree->nodes[i].base != 0; /* the root is not a function */
	}
	return uses;
}

static void add_key(struct ctx_flame_colors *colors, uint32_t place, uint64_t weight)
{
	const struct ctx_profile *profile = colors->profile;
	struct ctx_flame_key *key;

	if (colors->n_keys > CTX_FLAME_LEGEND) {
		colors->keys[CTX_FLAME_LEGEND].weight += weight;
		return;
	}
	key = &colors->keys[colors->n_keys];
	*key = (struct ctx_flame_key){.weight = weight, .color = GREY, .name = "no object"};
	if (colors->n_keys == CTX_FLAME_LEGEND) {
		key->name = "other objects";
	} else if (place == profile->n_objects) {
		key->name = "[kernel]";
		key->color = color_of(true, 0, 1);
	} else if (place < profile->n_objects) {
		key->name = ctx_name_of_path(profile->objects[place].path);
		key->color = color_of(false, colors->hue[place], 1);
	}
	colors->n_keys++;
}

enum ctx_status ctx_flame_colors_init(struct ctx_flame_colors *colors, const struct ctx_profile *profile,
				      const struct ctx_calltree *tree, struct ctx_err *err)
{
	size_t n = (size_t)profile->n_objects + 2;
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(n, sizeof(*items));
	struct use *uses CTX_AUTO_FREE = NULL;
	size_t used = 0;

	*colors = (struct ctx_flame_colors){.profile = profile,
					    .hue = ctx_calloc(n, sizeof(*colors->hue)),
					    .kernel = ctx_calloc(n, sizeof(*colors->kernel))};
	if (items == NULL || colors->hue == NULL || colors->kernel == NULL) {
		ctx_flame_colors_deinit(colors);
		return ctx_err_nomem(err);
	}
	for (uint32_t i = 0; i < profile->n_objects; i++)
		colors->kernel[i] = ctx_object_is_kernel(profile->objects[i].path);
	uses = sum_objects(colors, tree);
	if (uses == NULL) {
		ctx_flame_colors_deinit(colors);
		return ctx_err_nomem(err);
	}
	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct ctx_order_item){.number = uses[i].weight, .index = i};
	ctx_order_sort(items, n);
	for (size_t i = 0; i < n; i++) {
		uint32_t place = items[i].index;

		if (!uses[place].seen)
			continue;
		if (place < profile->n_objects && !colors->kernel[place])
			colors->hue[place] = hues[used++ % CTX_COUNT_OF(hues)];
		add_key(colors, place, uses[place].weight);
	}
	return CTX_OK;
}

void ctx_flame_colors_deinit(struct ctx_flame_colors *colors)
{
	free(colors->hue);
	free(colors->kernel);
	*colors = (struct ctx_flame_colors){0};
}

static uint32_t object_of(const struct ctx_flame_colors *colors, uint32_t function)
{
	const struct ctx_profile *profile = colors->profile;
	uint32_t object = function < profile->n_functions ? profile->functions[function].object : CTX_NONE;

	return object < profile->n_objects ? object : CTX_NONE;
}

bool ctx_flame_is_kernel(const struct ctx_flame_colors *colors, uint32_t function)
{
	uint32_t object = object_of(colors, function);

	return object != CTX_NONE && colors->kernel[object];
}

uint32_t ctx_flame_color(const struct ctx_flame_colors *colors, uint32_t function)
{
	uint32_t object = object_of(colors, function);
	uint32_t hash = 2166136261u;

	if (object == CTX_NONE)
		return GREY;
	for (const char *c = colors->profile->functions[function].name; *c != '\0'; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	return color_of(colors->kernel[object], colors->hue[object], (hash >> 16) % SHADES);
}
