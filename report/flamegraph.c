/*
 * A flame graph as one SVG, the root on top (icicle): it reads in the direction of the call tree
 * report, and deep stacks do not push the root and the report header out of view.
 *
 *	title, selection, warnings, legend
 *	+--------------------- <Total> ---------------------+	each frame: <g><title/><rect/><text/></g>, depth first,
 *	+---------- main ----------+---- start_thread ------+	the heaviest child on the left; the blank space
 *	+-- solve --+- walk -+	   +-- solve --+		below a frame is its exclusive weight
 *
 * Of a difference a frame is as wide as the mean of both sides, red where side B has more and blue where it has less:
 * by the change in points of side A's whole, so that the frame that changed most is the strongest.
 *
 * Coordinates are integers, in 1/10000 px, rounded from the weight to the left of an edge: a frame
 * never extends beyond its parent, and neighbours share an edge. Script and style are constant;
 * names occur in text nodes only.
 */
#include "base/mem.h"
#include "model/export.h"
#include "report/embedded.h"
#include "report/flame_colors.h"
#include "report/flame_sides.h"
#include "report/head.h"
#include "report/html_text.h"
#include "report/names.h"
#include "report/part_cells.h"
#include "report/report_exports.h"

#include <inttypes.h>
#include <string.h>

#define WIDTH 1200
#define MARGIN 10
#define INNER (WIDTH - 2 * MARGIN)
#define UNIT 10000u /* places in a px */
#define ROW 17
#define BOX 16
#define LINE 18
#define BASELINE 12	       /* of a label, from the top of its frame */
#define PAD 3		       /* beside a label */
#define COLUMN UINT64_C(72500) /* of any usual font at 12 px, in coordinates */
#define LINE_COLUMNS (INNER * UNIT / COLUMN)
#define LABEL_COLUMNS_LEAST 3
#define SMALLEST 10 /* frames narrower than 1/10 px are left out */
#define WARNINGS_MOST 8

struct flame {
	struct ctx_head head;
	struct ctx_calltree tree;
	struct ctx_flame_colors colors;
	struct ctx_flame_sides *sides; /* of a difference; NULL: none */
	uint64_t *next;		       /* owned; by node: weight to the left of its next child */
	uint32_t deepest;	       /* level */
	uint64_t left_out;	       /* frames */
	unsigned top;		       /* px: of the root */
	unsigned n_warnings;
	struct ctx_buf text, frames, name;
};

static uint64_t place_of(const struct flame *flame, uint64_t weight)
{
	uint64_t total = flame->tree.nodes[0].cum;
	unsigned __int128 scaled = (unsigned __int128)weight * (INNER * UNIT);

	return total != 0 ? (uint64_t)((scaled + total / 2) / total) : 0;
}

static bool is_small(const struct flame *flame, uint64_t weight)
{
	return (unsigned __int128)weight * INNER * SMALLEST < flame->tree.nodes[0].cum;
}

static void put_place(struct ctx_buf *buf, const char *name, uint64_t place)
{
	ctx_buf_printf(buf, " %s=\"%" PRIu64 ".%04" PRIu64 "\"", name, place / UNIT, place % UNIT);
}

static const char *file_of(const struct flame *flame, uint32_t function)
{
	const char *object = ctx_function_cell(flame->head.selection.profile, function).object;

	return object != NULL ? ctx_name_of_path(object) : NULL;
}

static void put_file(struct ctx_buf *buf, const char *file)
{
	ctx_buf_put_text(buf, *file == '[' ? "" : "[");
	ctx_buf_put_text(buf, file);
	ctx_buf_put_text(buf, *file == '[' ? "" : "]");
}

/* Functions without a name are shown with their object: "<Unknown> [libc.so.6]". Any bytes. */
static bool has_object_in_name(const struct flame *flame, uint32_t function)
{
	const struct ctx_profile *profile = flame->head.selection.profile;

	return function < profile->n_functions && profile->functions[function].kind == CTX_FUNCTION_UNKNOWN &&
	       file_of(flame, function) != NULL;
}

/* Fills `flame->name`, zero-terminated. */
static const char *make_name(struct flame *flame, uint32_t function)
{
	struct ctx_buf *name = &flame->name;

	ctx_buf_clear(name);
	ctx_buf_put_text(name, ctx_function_cell(flame->head.selection.profile, function).name);
	if (has_object_in_name(flame, function)) {
		ctx_buf_put_u8(name, ' ');
		put_file(name, file_of(flame, function));
	}
	ctx_buf_put_u8(name, '\0');
	flame->text.failed |= name->failed;
	return name->failed ? "" : (const char *)name->bytes;
}

/*
 * The tooltip of a frame. Name and object have a line each (the script relies on it): neither
 * contains a line break.
 */
static void put_title(const struct flame *flame, struct ctx_buf *buf, uint32_t node, const char *name)
{
	const struct ctx_calltree_node *it = &flame->tree.nodes[node];
	const struct ctx_scale *scale = &flame->head.scale;
	const char *file = file_of(flame, it->function);
	char weight[CTX_FIGURE_MAX], percent[CTX_FIGURE_MAX], count[CTX_HEAD_COUNT_MAX];

	ctx_head_count(&flame->head, it->cum_samples, count);
	ctx_figure_fixed(weight, it->cum, scale->divisor, scale->digits);
	ctx_figure_percent(percent, it->cum, flame->tree.nodes[0].cum, 2);
	ctx_buf_put_text(buf, "<title>");
	ctx_html_put_text(buf, name);
	ctx_buf_put_text(buf, "\n");
	if (file != NULL && !has_object_in_name(flame, it->function)) {
		ctx_buf_put_text(buf, *file == '[' ? "" : "[");
		ctx_html_put_text(buf, file);
		ctx_buf_put_text(buf, *file == '[' ? "\n" : "]\n");
	}
	if (flame->sides != NULL) {
		ctx_flame_sides_put(flame->sides, it->stack, scale, buf);
	} else {
		ctx_buf_printf(buf, "%s ", weight);
		ctx_html_put_text(buf, scale->unit);
		ctx_buf_printf(buf, ", %s %% of the total, %s", percent, count);
	}
	if (node == 0 && flame->left_out != 0)
		ctx_buf_printf(buf, "\n%" PRIu64 " frame%s narrower than 0.1 px left out", flame->left_out,
			       flame->left_out == 1 ? "" : "s");
	ctx_buf_put_text(buf, "</title>");
}

static void put_frame(struct flame *flame, struct ctx_buf *buf, uint32_t node, uint64_t begin)
{
	const struct ctx_calltree_node *it = &flame->tree.nodes[node];
	uint64_t left = place_of(flame, begin);
	uint64_t width = node == 0 ? INNER * UNIT : place_of(flame, begin + it->cum) - left;
	unsigned y = flame->top + it->level * ROW;
	const char *name = make_name(flame, it->function);
	uint64_t columns = width > 2 * PAD * UNIT ? (width - 2 * PAD * UNIT) / COLUMN : 0;

	ctx_buf_put_text(buf, ctx_flame_is_kernel(&flame->colors, it->function) ? "<g class=\"k\">" : "<g>");
	put_title(flame, buf, node, name);
	ctx_buf_put_text(buf, "<rect");
	put_place(buf, "x", MARGIN * UNIT + left);
	ctx_buf_printf(buf, " y=\"%u\"", y);
	put_place(buf, "width", width);
	ctx_buf_printf(buf, " height=\"%d\" fill=\"#%06x\" rx=\"2\"/>", BOX,
		       flame->sides != NULL ? ctx_flame_sides_color(flame->sides, it->stack)
					    : ctx_flame_color(&flame->colors, it->function));
	if (columns >= LABEL_COLUMNS_LEAST) {
		ctx_buf_put_text(buf, "<text");
		put_place(buf, "x", (MARGIN + PAD) * UNIT + left);
		ctx_buf_printf(buf, " y=\"%u\">", y + BASELINE);
		ctx_html_put_short(buf, name, columns);
		ctx_buf_put_text(buf, "</text>");
	}
	ctx_buf_put_text(buf, "</g>\n");
}

/* Siblings are sorted by descending weight: after the first small one all are small. */
static void put_frames(struct flame *flame)
{
	const struct ctx_calltree_node *nodes = flame->tree.nodes;

	for (uint32_t i = 1; i < flame->tree.n;) {
		uint64_t begin = flame->next[nodes[i].parent];

		if (is_small(flame, nodes[i].cum) || nodes[i].cum == 0) {
			uint32_t end = ctx_subtree_end(&flame->tree, nodes[i].parent);

			flame->left_out += end - i;
			i = end;
			continue;
		}
		put_frame(flame, &flame->frames, i, begin);
		flame->next[i] = begin;
		flame->next[nodes[i].parent] += nodes[i].cum;
		if (nodes[i].level > flame->deepest)
			flame->deepest = nodes[i].level;
		i++;
	}
}

static void put_line(struct flame *flame, const char *class, const char *text)
{
	ctx_buf_printf(&flame->text, "<text class=\"%s\" x=\"%d\" y=\"%u\">", class, MARGIN,
		       flame->top + BASELINE);
	ctx_html_put_cut(&flame->text, text, LINE_COLUMNS);
	ctx_buf_put_text(&flame->text, "</text>\n");
	flame->top += LINE;
}

static void put_warning(void *context, const char *text)
{
	struct flame *flame = context;
	struct ctx_buf line = {0};

	if (flame->n_warnings++ < WARNINGS_MOST) {
		ctx_buf_printf(&line, "note: %s", text);
		ctx_buf_put_u8(&line, '\0');
		flame->text.failed |= line.failed;
		put_line(flame, "note", line.failed ? "" : (const char *)line.bytes);
	}
	ctx_buf_deinit(&line);
}

static void put_head(struct flame *flame)
{
	const struct ctx_profile *profile = flame->head.selection.profile;
	struct ctx_buf line = {0};

	/* The script's toolbar is on the right. */
	ctx_buf_printf(&flame->text,
		       "<text id=\"heading\" x=\"%d\" y=\"26\" font-size=\"17\" font-weight=\"bold\">",
		       MARGIN);
	ctx_html_put_cut(&flame->text, profile->name, 56);
	ctx_buf_put_text(&flame->text, ": flame graph</text>\n");
	flame->top = 38;
	if (flame->sides != NULL)
		ctx_flame_sides_put_summary(flame->sides, &flame->head.scale, &line);
	else
		ctx_head_put_summary(&flame->head, &line);
	ctx_buf_put_u8(&line, '\0');
	flame->text.failed |= line.failed;
	put_line(flame, "faint", line.failed ? "" : (const char *)line.bytes);
	ctx_buf_deinit(&line);
	ctx_head_warnings(&flame->head, put_warning, flame);
	if (flame->n_warnings > WARNINGS_MOST) {
		char text[64];

		snprintf(text, sizeof(text), "note: and %u more", flame->n_warnings - WARNINGS_MOST);
		put_line(flame, "note", text);
	}
}

/* Columns of a name as displayed. */
static size_t columns_of(struct flame *flame, const char *name)
{
	ctx_buf_clear(&flame->name);
	ctx_name_put_text(&flame->name, name, false);
	flame->text.failed |= flame->name.failed;
	return flame->name.n != 0 ? ctx_text_width((const char *)flame->name.bytes, flame->name.n) : 0;
}

/* Red and blue, with what they mean. */
static void put_sides_legend(struct flame *flame)
{
	static const char *const texts[] = {"more on side B", "less on side B"};

	for (unsigned i = 0; i < CTX_COUNT_OF(texts); i++)
		ctx_buf_printf(&flame->text,
			       "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" rx=\"2\" fill=\"#%06x\"/>"
			       "<text x=\"%u\" y=\"%u\">%s</text>\n",
			       MARGIN + i * 160, flame->top + 2,
			       i == 0 ? CTX_FLAME_MORE_COLOR : CTX_FLAME_LESS_COLOR, MARGIN + i * 160 + 17,
			       flame->top + BASELINE, texts[i]);
	flame->top += LINE;
}

static void put_legend(struct flame *flame)
{
	unsigned x = MARGIN;

	if (flame->sides != NULL) {
		put_sides_legend(flame);
		return;
	}

	for (size_t i = 0; i < flame->colors.n_keys; i++) {
		const struct ctx_flame_key *key = &flame->colors.keys[i];
		char percent[CTX_FIGURE_MAX];
		size_t columns = columns_of(flame, key->name);
		unsigned width;

		ctx_figure_percent(percent, key->weight, flame->tree.nodes[0].cum, 1);
		columns = columns > 40 ? 40 : columns;
		width = (unsigned)((columns + strlen(percent) + 3) * COLUMN / UNIT) + 32;
		if (x + width > WIDTH && x > MARGIN) {
			x = MARGIN;
			flame->top += LINE;
		}
		ctx_buf_printf(&flame->text,
			       "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" rx=\"2\" fill=\"#%06x\"/>"
			       "<text x=\"%u\" y=\"%u\">",
			       x, flame->top + 2, key->color, x + 17, flame->top + BASELINE);
		ctx_html_put_cut(&flame->text, key->name, columns != 0 ? columns : 1);
		ctx_buf_printf(&flame->text, " %s %%</text>\n", percent);
		x += width;
	}
	flame->top += flame->colors.n_keys != 0 ? LINE : 0;
}

static void write_buf(struct ctx_buf *buf, FILE *out)
{
	if (buf->n != 0)
		fwrite(buf->bytes, 1, buf->n, out);
	ctx_buf_clear(buf);
}

static enum ctx_status write_picture(struct flame *flame, FILE *out, struct ctx_err *err)
{
	struct ctx_buf text = {0};
	unsigned height;
	enum ctx_status status;

	put_head(flame);
	put_legend(flame);
	flame->top += LINE + 2; /* the line in between is the script's */
	put_frames(flame);
	height = flame->top + (flame->deepest + 1) * ROW + MARGIN;
	ctx_buf_printf(&text,
		       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\""
		       " width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" font-family=\"monospace\""
		       " font-size=\"12\" role=\"img\">\n<title>",
		       WIDTH, height, WIDTH, height);
	ctx_html_put_text(&text, flame->head.selection.profile->name);
	ctx_buf_printf(&text,
		       ": flame graph</title>\n<style>\n%s</style>\n"
		       "<rect id=\"paper\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		       ctx_flame_style);
	ctx_buf_put(&text, flame->text.bytes, flame->text.n);
	ctx_buf_printf(&text, "<text id=\"details\" x=\"%d\" y=\"%u\"></text>\n<g id=\"frames\">\n", MARGIN,
		       flame->top - LINE + BASELINE - 2);
	put_frame(flame, &text, 0, 0);
	text.failed |= flame->text.failed || flame->frames.failed;
	status = ctx_buf_check(&text, err);
	if (status == CTX_OK) {
		write_buf(&text, out);
		write_buf(&flame->frames, out);
		fprintf(out, "</g>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", ctx_flame_script);
	}
	ctx_buf_deinit(&text);
	return status;
}

static enum ctx_status write_flamegraph(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	struct flame flame = {0};
	struct ctx_report_parts whole;
	enum ctx_status status =
		input->source->parts(input->source, &(struct ctx_parts_query){.calls = true}, &whole, err);

	if (status != CTX_OK)
		return status;
	flame.head = ctx_head_of_parts(input->selection, &whole);
	status = ctx_calltree_build(&input->profile->cct, input->profile->n_functions,
				    whole.parts[0].histograms, &flame.tree, err);
	if (status != CTX_OK)
		return status;
	if (input->is_difference)
		status = ctx_flame_sides_make(input, &flame.sides, err);
	if (status != CTX_OK) {
		ctx_calltree_deinit(&flame.tree);
		return status;
	}
	flame.next = ctx_calloc(flame.tree.n, sizeof(*flame.next));
	status = flame.next != NULL ? ctx_flame_colors_init(&flame.colors, input->profile, &flame.tree, err)
				    : ctx_err_nomem(err);
	if (status == CTX_OK)
		status = write_picture(&flame, out, err);
	ctx_flame_colors_deinit(&flame.colors);
	ctx_flame_sides_destroy(flame.sides);
	ctx_buf_deinit(&flame.text);
	ctx_buf_deinit(&flame.frames);
	ctx_buf_deinit(&flame.name);
	ctx_calltree_deinit(&flame.tree);
	free(flame.next);
	return status;
}

const struct ctx_export_kind ctx_export_flamegraph = {
	.name = "flamegraph",
	.suffix = ".svg",
	.takes_difference = true,
	.write = write_flamegraph,
};
