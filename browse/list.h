/*
 * A list on a screen: which row is selected, which rows are seen, the next that has a word. Pure.
 */
#ifndef CTX_BROWSE_LIST_H
#define CTX_BROWSE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct ctx_list {
	size_t n;	 /* rows */
	size_t selected; /* less than n, or 0 */
	size_t top;	 /* the first row that is seen */
	size_t height;	 /* rows that are seen */
};

/* After a change of rows or height: selects `selected` or the last row, and scrolls to it. */
void ctx_list_fit(struct ctx_list *list, size_t n, size_t height, size_t selected);

/* Scrolls so that the selected row is in the middle, if it is not seen near the top. */
void ctx_list_center(struct ctx_list *list);

/* Moves the selection by rows; it stops at the ends. Whether it moved. */
bool ctx_list_move(struct ctx_list *list, long by);

/* Scrolls by rows; the selection stays among the rows that are seen. */
bool ctx_list_scroll(struct ctx_list *list, long by);

/* Whether a row has the word. */
typedef bool (*ctx_list_match_fn)(void *context, size_t row);

/*
 * Selects the next row behind the selected one that matches, from the end on from the beginning, or the
 * one before. `here`: the selected one counts. False: none matches.
 */
struct ctx_list_search {
	ctx_list_match_fn match;
	void *context;
	bool backward, here;
};
bool ctx_list_find(struct ctx_list *list, const struct ctx_list_search *search);

/* Whether a text has a word. Case is ignored, unless the word has capitals. */
bool ctx_text_has_word(const char *text, const char *word);

#endif
