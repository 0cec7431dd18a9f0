/*
 * Metrics in the notation of gprofng and Solaris Studio: "e.totalcpu:i.%user:name".
 *
 *	list := item { ":" item }
 *	item := which show word | "name" | "size" | "address"
 *	which := letters of e (exclusive), i (inclusive), a (attributed), d (data)
 *	show := signs of . (as a time), + (as a number), % (as a share), ! (hidden)
 *
 * The columns of ctxan's reports are fixed: only the word of an item is used, and items of columns
 * are ignored.
 */
#ifndef CTX_QUERY_METRIC_NAMES_H
#define CTX_QUERY_METRIC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all items of the list are of this form. */
bool ctx_metric_notation_is(const char *list);

/*
 * The word of the next item that is a metric; `*at` is advanced past it. False: there are no more.
 * Words of `size` bytes and more are truncated.
 */
bool ctx_metric_notation_next(const char **at, char *word, size_t size);

/* Alternative recorded name of the metric, by number from 0; NULL: no more. */
const char *ctx_metric_other_name(const char *word, size_t i);

#endif
