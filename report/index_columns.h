/*
 * The columns of the keys of an index, and their cells.
 *
 *	one key that is an expression		Key, Name; index, name
 *	others, or several			a column for each in text; in JSON and CSV one or more, named as
 *						elsewhere: function and object, thread, thread_name, thread_id
 */
#ifndef CTX_REPORT_INDEX_COLUMNS_H
#define CTX_REPORT_INDEX_COLUMNS_H

#include "report/order.h"
#include "report/out.h"

#define CTX_INDEX_COLUMNS_MAX (4u * CTX_INDEX_KEYS_MAX)

struct ctx_index_columns {
	const struct ctx_profile *profile;    /* borrowed */
	const struct ctx_report_index *index; /* borrowed */
	struct ctx_column columns[CTX_INDEX_COLUMNS_MAX];
	struct ctx_index_part { /* by column: which key, and what of it */
		uint8_t key, what;
	} parts[CTX_INDEX_COLUMNS_MAX];
	size_t n;
	bool has_object; /* a key is the object: functions are shown without theirs */
	bool *is_common; /* owned; by object: another one has the same file name; NULL: no key is an object */
	struct ctx_arena arena;
};

/* Whether the columns are those of one expression. */
bool ctx_index_is_plain(const struct ctx_report_index *index);

/* Call ctx_index_columns_deinit in any case. O(objects). Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_index_columns_init(struct ctx_index_columns *columns,
						      const struct ctx_profile *profile,
						      const struct ctx_report_index *index, bool ascii,
						      struct ctx_err *err);
void ctx_index_columns_deinit(struct ctx_index_columns *columns);

/* The cells of a row, one for each column. */
void ctx_index_columns_fill(const struct ctx_index_columns *columns, struct ctx_out *out, size_t row,
			    struct ctx_cell *cells);

/* Sets `text`, or the number, by which rows are sorted by a key. */
void ctx_index_columns_order(const struct ctx_index_columns *columns, size_t row, size_t key,
			     struct ctx_order_item *item);

#endif
