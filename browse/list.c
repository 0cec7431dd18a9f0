#include "browse/list.h"

#include <string.h>

static void show(struct ctx_list *list)
{
	size_t last = list->n > list->height ? list->n - list->height : 0;

	if (list->selected < list->top)
		list->top = list->selected;
	if (list->height != 0 && list->selected >= list->top + list->height)
		list->top = list->selected - list->height + 1;
	list->top = list->top < last ? list->top : last;
}

void ctx_list_fit(struct ctx_list *list, size_t n, size_t height, size_t selected)
{
	list->n = n;
	list->height = height;
	list->selected = selected < n ? selected : n != 0 ? n - 1 : 0;
	show(list);
}

void ctx_list_center(struct ctx_list *list)
{
	size_t half = list->height / 2;

	list->top = list->selected >= half ? list->selected - half : 0;
	show(list);
}

/* `from` plus `by`, from 0 to `most`. */
static size_t moved(size_t from, long by, size_t most)
{
	size_t step = by < 0 ? (size_t)-by : (size_t)by;

	if (by < 0)
		return from > step ? from - step : 0;
	return most - from > step ? from + step : most;
}

bool ctx_list_move(struct ctx_list *list, long by)
{
	size_t before = list->selected;

	if (list->n == 0)
		return false;
	list->selected = moved(before, by, list->n - 1);
	show(list);
	return list->selected != before;
}

bool ctx_list_scroll(struct ctx_list *list, long by)
{
	size_t before = list->top, last = list->n > list->height ? list->n - list->height : 0;

	if (list->n == 0 || list->height == 0)
		return false;
	list->top = moved(before < last ? before : last, by, last);
	if (list->selected < list->top)
		list->selected = list->top;
	if (list->selected >= list->top + list->height)
		list->selected = list->top + list->height - 1;
	return list->top != before;
}

bool ctx_list_find(struct ctx_list *list, const struct ctx_list_search *search)
{
	for (size_t i = search->here ? 0 : 1; i <= list->n && list->n != 0; i++) {
		size_t row = search->backward ? (list->selected + list->n - i % list->n) % list->n
					      : (list->selected + i) % list->n;

		if (search->match(search->context, row)) {
			list->selected = row;
			show(list);
			return true;
		}
	}
	return false;
}

bool ctx_text_has_word(const char *text, const char *word)
{
	bool exact = false;

	for (const char *at = word; *at != '\0'; at++)
		exact |= *at >= 'A' && *at <= 'Z';
	return (exact ? strstr(text, word) : strcasestr(text, word)) != NULL;
}
