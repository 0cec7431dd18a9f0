/*
 * In text, rows that print alike are merged, so that it is visible who waits for whom:
 *
 *	worker/1 102: user lock, 832.105 ms, in take_batch < consumer
 *	     80   700.100     8.751    12.345     0.800  producer 103: put_batch < produce
 *	     40   132.005     3.300     9.000     0.434  <interrupt>
 *
 * A group is a thread (or all threads of a name, if many), a state and a place; its lines are the
 * wakers; waits for threads of the recording come first.
 */
#include "report/wakers_text.h"

#include "base/mem.h"
#include "report/names.h"
#include "report/order.h"
#include "report/thread_labels.h"
#include "report/wait_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_GROUPS 20u
#define DEFAULT_LINES 8u
#define FEW_THREADS 8u /* of one name: more threads are merged */
#define FIGURES 5u
#define WIDE 100u /* minimum width for a column of shares */

/* A line of text: rows with the same texts are merged. */
struct line {
	const char *group, *waker; /* texts */
	const char *state, *place; /* of the group's heading */
	uint32_t thread, row;
	struct ctx_wakers_sums sums;
	uint64_t
		by_threads_ns; /* waited for threads of the recording: they can be improved, a clock cannot */
	size_t first, n;       /* of a group: its lines */
};

struct page {
	const struct ctx_wakers_view *view;
	struct ctx_out *out; /* the view's */
	struct ctx_arena texts;
	struct ctx_thread_labels labels;
	struct line *lines, *groups;
	size_t n_lines, n_groups;
	int widths[FIGURES + 1]; /* columns of text */
};

static const char *keep(struct page *page, struct ctx_buf *buf)
{
	const char *text;

	ctx_buf_put_u8(buf, '\0');
	text = buf->failed ? NULL : ctx_arena_strdup(&page->texts, (const char *)buf->bytes);
	if (text == NULL)
		ctx_out_fail(page->out, CTX_E_NOMEM);
	ctx_buf_clear(buf);
	return text != NULL ? text : "";
}

/* A newline in a name does not end the line: names are made safe by ctx_name_put_text. */
static void make_line(struct page *page, uint32_t i, struct line *line, struct ctx_buf *buf)
{
	const struct ctx_report_wakers *row = &page->view->wakers[i];
	bool ascii = page->out->options->ascii;
	const char *external_waker = ctx_wakers_external_waker(page->view->profile, row);
	size_t begin;

	*line = (struct line){.thread = ctx_thread_label(&page->labels, row->thread),
			      .row = i,
			      .sums = ctx_wakers_sums_of(row)};
	line->state = ctx_wakers_state(row->state, false);
	line->by_threads_ns = row->waker < page->view->profile->n_threads ? row->wait_ns : 0;
	ctx_wait_chain_put(page->view->profile, row->stack, ascii, buf);
	line->place = keep(page, buf);
	ctx_thread_label_put(&page->labels, row->thread, ascii, buf);
	line->group = keep(page, buf);
	if (row->waker < page->view->profile->n_threads)
		ctx_thread_label_put(&page->labels, row->waker, ascii, buf);
	else
		ctx_name_put_text(buf, external_waker != NULL ? external_waker : "<not seen>", ascii);
	begin = buf->n;
	ctx_buf_put_text(buf, ": ");
	ctx_wait_chain_put(page->view->profile, row->waker_stack, ascii, buf);
	if (!buf->failed && buf->n == begin + 2)
		buf->n = begin;
	line->waker = keep(page, buf);
}

static int compare_groups(const struct line *a, const struct line *b)
{
	int order;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	order = strcmp(a->state, b->state);
	return order != 0 ? order : strcmp(a->place, b->place);
}

static int by_text(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	int order = compare_groups(a, b);

	if (order == 0)
		order = strcmp(a->waker, b->waker);
	return order != 0 ? order : a->row < b->row ? -1 : a->row > b->row;
}

static void add_line(struct line *to, const struct line *from)
{
	ctx_wakers_add(&to->sums, &from->sums);
	to->by_threads_ns += from->by_threads_ns;
}

/* Labels of the waiting and of the waking threads. */
static enum ctx_status make_labels(struct page *page, struct ctx_err *err)
{
	const struct ctx_report_options *options = page->out->options;
	uint32_t n = page->view->profile->n_threads;
	bool *is_there CTX_AUTO_FREE = ctx_calloc(n, sizeof(*is_there));

	if (is_there == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < page->view->n_wakers; i++) {
		const struct ctx_report_wakers *row = &page->view->wakers[i];

		if (!ctx_wakers_passes(page->view->profile, page->view->options, row->stack))
			continue;
		if (row->thread < n)
			is_there[row->thread] = true;
		if (row->waker < n)
			is_there[row->waker] = true;
	}
	return ctx_thread_labels_init(&page->labels, page->view->profile, is_there,
				      options->per_thread ? UINT32_MAX : FEW_THREADS, err);
}

static enum ctx_status make_lines(struct page *page, struct ctx_err *err)
{
	struct ctx_buf buf = {0};
	size_t n = 0;

	page->lines = ctx_calloc(page->view->n_wakers, sizeof(*page->lines));
	page->groups = ctx_calloc(page->view->n_wakers, sizeof(*page->groups));
	if (page->lines == NULL || page->groups == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < page->view->n_wakers; i++) {
		if (ctx_wakers_passes(page->view->profile, page->view->options, page->view->wakers[i].stack))
			make_line(page, i, &page->lines[n++], &buf);
	}
	ctx_buf_deinit(&buf);
	if (n > 1)
		qsort(page->lines, n, sizeof(*page->lines), by_text);
	for (size_t i = 0; i < n; i++) {
		struct line *last = page->n_lines != 0 ? &page->lines[page->n_lines - 1] : NULL;

		if (last != NULL && compare_groups(last, &page->lines[i]) == 0 &&
		    strcmp(last->waker, page->lines[i].waker) == 0)
			add_line(last, &page->lines[i]);
		else
			page->lines[page->n_lines++] = page->lines[i];
	}
	return CTX_OK;
}

static void make_groups(struct page *page)
{
	for (size_t i = 0; i < page->n_lines; i++) {
		struct line *group = page->n_groups != 0 ? &page->groups[page->n_groups - 1] : NULL;

		if (group != NULL && compare_groups(group, &page->lines[i]) == 0) {
			add_line(group, &page->lines[i]);
			group->n++;
			continue;
		}
		group = &page->groups[page->n_groups++];
		*group = page->lines[i];
		group->first = i;
		group->n = 1;
	}
}

/* By the requested key; else waits for other threads come first. */
static enum ctx_status sorted(const struct page *page, const struct line *lines, size_t n,
			      struct ctx_order_item **ret)
{
	bool own_order = page->out->options->sort == NULL;
	struct ctx_order_item *items = ctx_calloc(n, sizeof(*items));

	if (items == NULL)
		return CTX_E_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct ctx_order_item){
			.index = i,
			.number = own_order ? lines[i].by_threads_ns
					    : ctx_wakers_key(&lines[i].sums, page->view->key),
			.second = lines[i].sums.wait_ns};
	ctx_order_sort(items, n);
	*ret = items;
	return CTX_OK;
}

/* Figures of a line, in the order of the columns: waits, waiting, average, longest, delay. */
static void fill_figures(const struct page *page, const struct ctx_wakers_sums *sums,
			 char figures[FIGURES][CTX_FIGURE_MAX])
{
	const uint64_t times[] = {sums->wait_ns, sums->waits != 0 ? sums->wait_ns / sums->waits : 0,
				  sums->wait_max_ns, sums->delay_ns};
	struct ctx_scale scale = page->out->head.scale;

	snprintf(figures[0], CTX_FIGURE_MAX, "%" PRIu64, sums->waits);
	for (size_t i = 0; i < CTX_COUNT_OF(times); i++)
		ctx_figure_fixed(figures[i + 1], times[i], scale.divisor, scale.digits);
}

static void put_figures(const struct page *page, char figures[FIGURES][CTX_FIGURE_MAX], const char *share,
			struct ctx_buf *buf)
{
	ctx_buf_clear(buf);
	for (unsigned i = 0; i < FIGURES; i++) {
		ctx_buf_printf(buf, "%*s ", page->widths[i], figures[i]);
		if (i == 1 && page->widths[FIGURES] != 0)
			ctx_buf_printf(buf, "%*s ", page->widths[FIGURES], share);
	}
	ctx_buf_put_u8(buf, ' ');
}

static void print_buf(const struct page *page, struct ctx_buf *buf)
{
	const struct ctx_report_options *options = page->out->options;
	struct ctx_buf line = {0};

	if (!buf->failed)
		ctx_text_cut_end(&line, (const char *)buf->bytes, buf->n,
				 options->width != 0 ? options->width : SIZE_MAX, options->ascii);
	ctx_buf_put_u8(&line, '\0');
	if (buf->failed || line.failed)
		ctx_out_fail(page->out, CTX_E_NOMEM);
	else
		ctx_out_line(page->out, (const char *)line.bytes);
	ctx_buf_deinit(&line);
	ctx_buf_clear(buf);
}

static void print_line(const struct page *page, const struct ctx_wakers_sums *sums, const char *text,
		       struct ctx_buf *buf)
{
	char figures[FIGURES][CTX_FIGURE_MAX], share[CTX_FIGURE_MAX];

	fill_figures(page, sums, figures);
	ctx_figure_percent(share, sums->wait_ns, page->out->head.totals.weight, 2);
	put_figures(page, figures, share, buf);
	ctx_buf_put_text(buf, text);
	print_buf(page, buf);
}

static void print_titles(struct page *page, const struct ctx_wakers_sums *total, struct ctx_buf *buf)
{
	char figures[FIGURES][CTX_FIGURE_MAX], titles[FIGURES][CTX_FIGURE_MAX];
	const char *unit = page->out->head.scale.unit;

	snprintf(titles[0], CTX_FIGURE_MAX, "Waits");
	snprintf(titles[1], CTX_FIGURE_MAX, "Wait %s", unit);
	snprintf(titles[2], CTX_FIGURE_MAX, "Average");
	snprintf(titles[3], CTX_FIGURE_MAX, "Longest");
	snprintf(titles[4], CTX_FIGURE_MAX, "Delay %s", unit);
	fill_figures(page, total, figures);
	for (unsigned i = 0; i < FIGURES; i++) {
		/* No average is longer than the longest. */
		const char *widest = i == 2 ? figures[3] : figures[i];
		size_t width = strlen(widest) > strlen(titles[i]) ? strlen(widest) : strlen(titles[i]);

		page->widths[i] = (int)width;
	}
	page->widths[FIGURES] = page->out->options->width == 0 || page->out->options->width >= WIDE ? 6 : 0;
	put_figures(page, titles, "%", buf);
	ctx_buf_put_text(buf, "Woken by");
	print_buf(page, buf);
}

static void print_group(const struct page *page, const struct line *group, struct ctx_buf *buf)
{
	size_t most = page->out->options->whole ? SIZE_MAX : DEFAULT_LINES;
	struct ctx_order_item *items CTX_AUTO_FREE = NULL;
	const struct line *lines = &page->lines[group->first];
	char waited[CTX_FIGURE_MAX];

	if (sorted(page, lines, group->n, &items) != CTX_OK) {
		ctx_out_fail(page->out, CTX_E_NOMEM);
		return;
	}
	ctx_out_line(page->out, "");
	ctx_figure_fixed(waited, group->sums.wait_ns, page->out->head.scale.divisor,
			 page->out->head.scale.digits);
	ctx_buf_clear(buf);
	ctx_buf_printf(buf, "%s: %s, %s %s%s%s", group->group, group->state, waited,
		       page->out->head.scale.unit, *group->place != '\0' ? ", in " : "", group->place);
	ctx_buf_put_u8(buf, '\0');
	if (buf->failed)
		ctx_out_fail(page->out, CTX_E_NOMEM);
	else
		ctx_out_wrapped(page->out, "", (const char *)buf->bytes, 4);
	for (size_t i = 0; i < group->n && i < most; i++)
		print_line(page, &lines[items[i].index].sums, lines[items[i].index].waker, buf);
	if (group->n > most)
		ctx_out_more(page->out, group->n - most, "waker");
}

static enum ctx_status put_text(struct page *page, const struct ctx_wakers_sums *total, struct ctx_err *err)
{
	const struct ctx_report_options *options = page->out->options;
	size_t most = options->limit != 0 ? options->limit : options->whole ? SIZE_MAX : DEFAULT_GROUPS;
	struct ctx_order_item *items CTX_AUTO_FREE = NULL;
	struct ctx_buf buf = {0};
	enum ctx_status status = make_labels(page, err);

	if (status == CTX_OK)
		status = make_lines(page, err);
	if (status != CTX_OK)
		return status;
	make_groups(page);
	if (sorted(page, page->groups, page->n_groups, &items) != CTX_OK)
		return ctx_err_nomem(err);
	print_titles(page, total, &buf);
	print_line(page, total, "<Total>", &buf);
	for (size_t i = 0; i < page->n_groups && i < most; i++)
		print_group(page, &page->groups[items[i].index], &buf);
	if (page->n_groups > most) {
		ctx_out_line(page->out, "");
		ctx_out_more(page->out, page->n_groups - most, "place");
	}
	ctx_buf_deinit(&buf);
	return CTX_OK;
}

enum ctx_status ctx_wakers_put_text(const struct ctx_wakers_view *view, const struct ctx_wakers_sums *total,
				    struct ctx_err *err)
{
	struct page page = {.view = view, .out = view->out};
	enum ctx_status status = put_text(&page, total, err);

	ctx_arena_deinit(&page.texts);
	ctx_thread_labels_deinit(&page.labels);
	free(page.lines);
	free(page.groups);
	return status;
}
