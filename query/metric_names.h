/*
 * Metrics as gprofng and Solaris Studio write them: "e.totalcpu:i.%user:name".
 *
 *	list := item { ":" item }
 *	item := which show word | "name" | "size" | "address"
 *	which := letters of e (exclusive), i (inclusive), a (attributed), d (data)
 *	show := signs of . (as a time), + (as a number), % (as a share), ! (hidden)
 *
 * A report here shows what it shows: of an item only the word counts, and those of columns nothing.
 */
#ifndef CTX_QUERY_METRIC_NAMES_H
#define CTX_QUERY_METRIC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all items of the list are of this form. */
bool ctx_metric_notation_is(const char *list);

/*
 * The word of the next item that is a metric; `*at` moves behind it. False: there are no more. Words of `size` bytes and more are
 * cut.
 */
bool ctx_metric_notation_next(const char **at, char *word, size_t size);

/* Another name under which the metric may have been recorded, by number from 0; NULL: no more. */
const char *ctx_metric_other_name(const char *word, size_t i);

#endif
