/*
 * Common parts of reports of traced operations: the report header, --function, tables of groups and
 * histograms.
 */
#ifndef CTX_REPORT_TRACED_PAGE_H
#define CTX_REPORT_TRACED_PAGE_H

#include "report/head.h"
#include "report/sections.h"
#include "report/traced_groups.h"

#define CTX_TRACED_COLUMNS 48u /* that a report may have */

struct ctx_traced_report {
	const struct ctx_report_kind *report;
	enum ctx_traced_kind kind;
	const char *topic, *counted; /* for the report header: "Allocations", "allocations" */
	enum ctx_unit unit;
	unsigned stack;	       /* the column "stack": the names joined, in CSV only */
	unsigned text;	       /* the column of text only: chains, names, bars */
	unsigned number_width; /* approximate width of the numbers before call stacks */
	const char *const *sort_keys;
	uint64_t (*value)(const struct ctx_traced_sums *sums, size_t key); /* of a sort key */
	bool one_by_one; /* it asks for its operations itself */
	void (*fill)(const struct ctx_traced_sums *sums, struct ctx_cell *cells);
};

struct ctx_traced_page {
	const struct ctx_traced_report *report;
	const struct ctx_report_selection *selection;
	const struct ctx_report_options *options;
	const struct ctx_profile *profile;
	struct ctx_report_traced traced; /* the operations of the kind */
	struct ctx_out out;
	struct ctx_head_topic topic;
	struct ctx_sections sections;
	size_t key;   /* of the sort keys */
	size_t most;  /* rows of a table of groups */
	bool *passes; /* by CCT node; NULL: all do */
	struct ctx_arena texts;
	struct ctx_buf buf;
	struct ctx_traced_sums total;
};

/*
 * Checks the options and queries the operations; nothing is printed yet. CTX_E_NOTFOUND: the
 * recording has none of these operations.
 */
CTX_MUST_CHECK enum ctx_status ctx_traced_page_init(struct ctx_traced_page *page,
						    const struct ctx_traced_report *report,
						    struct ctx_report_source *source,
						    const struct ctx_report_options *options,
						    struct ctx_err *err);
void ctx_traced_page_deinit(struct ctx_traced_page *page);

/* Whether its stack passes --function. */
bool ctx_traced_passes(const struct ctx_traced_page *page, const struct ctx_traced *operation);

/*
 * The bytes between samples, if allocations were sampled (model/heap_sampling.h), else 0. The other: says so in
 * the report header, with the standard errors of the total, which must be set.
 */
uint64_t ctx_traced_sample_bytes(const struct ctx_traced_page *page);
void ctx_traced_note_sampling(struct ctx_traced_page *page);

/* Prints the report header: page->total and the topic's totals must be set. */
void ctx_traced_page_begin(struct ctx_traced_page *page);
CTX_MUST_CHECK enum ctx_status ctx_traced_page_end(struct ctx_traced_page *page, struct ctx_err *err);

/* Formats text that is valid as long as the page; "" if memory runs out. */
const char *ctx_traced_text(struct ctx_traced_page *page, const char *fmt, ...) CTX_PRINTF(2, 3);

/* A time as number in one cell, and in another as text in the unit that fits. */
void ctx_traced_set_time(struct ctx_traced_page *page, struct ctx_cell *number, struct ctx_cell *text,
			 uint64_t ns);

/* The innermost functions of a stack, abbreviated, for text; valid as long as the page. */
const char *ctx_traced_chain(struct ctx_traced_page *page, uint32_t stack);

/* In text: merges groups with the same short chain of functions. The groups must have stacks. */
void ctx_traced_merge_stacks(struct ctx_traced_page *page, struct ctx_traced_groups *groups);

/* Prints the row of the total in the current table. */
void ctx_traced_put_total(struct ctx_traced_page *page,
			  void (*more)(struct ctx_cell *cells, const void *context), const void *context);

/*
 * Rows of one table: those that `order` has, the largest by the page's sort key first, as many as the page shows, and
 * the number of further ones. `what` is the singular: "stack". `section`: begins with the first row; NULL: it has begun.
 */
struct ctx_traced_rows {
	const char *what;
	const struct ctx_section *section;
	size_t n; /* from which `order` selects */
	/* Sets number and second; false: the row is not of this table. */
	bool (*order)(const void *context, size_t row, struct ctx_order_item *item);
	void (*put)(void *context, size_t row);
	void *context; /* of both */
};

void ctx_traced_put_rows(struct ctx_traced_page *page, const struct ctx_traced_rows *rows);

/* The number of rows that the page does not show, of `n`; nothing if it shows all. */
void ctx_traced_put_more(struct ctx_traced_page *page, size_t n, const char *what);

/*
 * Prints the heaviest groups, largest first, and the number of further ones. `what` is the
 * singular: "stack". `name`: additional cells of the group; NULL none. In text the page's text
 * column has the group's text; `lists`: the group's stack in JSON and CSV.
 */
struct ctx_traced_table {
	const char *what;
	void (*name)(struct ctx_traced_page *page, const struct ctx_traced_group *group,
		     struct ctx_cell *cells);
	bool lists;
};

void ctx_traced_put_groups(struct ctx_traced_page *page, const struct ctx_traced_groups *groups,
			   const struct ctx_traced_table *table);

/*
 * Prints the non-empty buckets of CTX_TRACED_BUCKETS sums. The cells `from` and `to` are columns of
 * numbers; the bar is as long as the count.
 */
struct ctx_traced_histogram {
	unsigned from, to;
	const struct ctx_traced_sums *sums;
};

void ctx_traced_put_histogram(struct ctx_traced_page *page, const struct ctx_traced_histogram *histogram);

/* A bar of '#', proportional to the value. */
const char *ctx_traced_bar(struct ctx_traced_page *page, uint64_t value, uint64_t largest);

#endif
