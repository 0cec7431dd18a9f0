#include "report/diff_result.h"

#include "report/names.h"

#include <inttypes.h>
#include <math.h>

#define NAMED_MAX 3u /* rows with a verdict that the sentence names */

static bool has_evidence(const struct ctx_diff *diff)
{
	for (uint32_t i = 0; i < diff->n; i++) {
		if (diff->rows[i].tested && isfinite(diff->rows[i].evidence.detectable))
			return true;
	}
	return false;
}

/* Whether a row is a name, and no path of them. */
static bool has_names(enum ctx_diff_subject subject)
{
	return subject != CTX_DIFF_STACKS && subject != CTX_DIFF_TREE && subject != CTX_DIFF_CALLERS &&
	       subject != CTX_DIFF_WAITS;
}

/* As the column for reading has it: "user", whose key is "USER". */
static void put_name(struct ctx_diff_page *page, uint32_t row, struct ctx_buf *text)
{
	struct ctx_cell cells[CTX_DIFF_COLUMNS_MAX];
	const struct ctx_cell *cell;
	size_t at = page->form->name;

	for (size_t i = 0; i < page->form->n_columns && page->form->columns[at].title == NULL; i++)
		at = page->form->columns[i].title != NULL ? i : at;
	ctx_diff_page_fill(page, row, cells);
	cell = &ctx_diff_page_identity(cells)[at];
	ctx_name_put_text(text, cell->name != NULL ? cell->name : "?", page->options->ascii);
}

/* "parse slower by 10.3 % (95 %: 4.1 to 16.5 %)" */
static void put_change(struct ctx_diff_page *page, uint32_t row, struct ctx_buf *text)
{
	const struct ctx_diff_row *it = &page->diff.rows[row];
	double of = it->weight[CTX_COMPARE_A] / 100;

	put_name(page, row, text);
	ctx_buf_printf(text, " %s", ctx_verdict_word(it->verdict));
	if (it->weight[CTX_COMPARE_A] > 0 && it->weight[CTX_COMPARE_B] > 0)
		ctx_buf_printf(text, ", %+.1f %% (95 %%: %+.1f to %+.1f %%)", it->evidence.change / of,
			       it->evidence.low / of, it->evidence.high / of);
	else
		ctx_buf_printf(text, ", %s", ctx_diff_page_change(page, it->evidence.change));
}

static void put_changed(struct ctx_diff_page *page, uint32_t n, struct ctx_buf *text)
{
	ctx_buf_printf(text, "%" PRIu32 " of %zu %ss changed by more than chance", n, page->diff.n_tested,
		       page->form->one);
	/* Rows with a verdict are the first. */
	for (uint32_t i = 0; has_names(page->spec->subject) && i < n && i < NAMED_MAX; i++) {
		ctx_buf_put_text(text, i == 0 ? ": " : "; ");
		put_change(page, i, text);
	}
	ctx_buf_put_text(text, has_names(page->spec->subject) && n > NAMED_MAX ? "; ..." : ".");
}

/* What could have been seen of the heaviest one. */
static void put_detectable(struct ctx_diff_page *page, struct ctx_buf *text)
{
	uint32_t heaviest = CTX_NONE;
	double most = 0;

	for (uint32_t i = 0; i < page->diff.n; i++) {
		const struct ctx_diff_row *row = &page->diff.rows[i];

		if (row->tested && row->weight[CTX_COMPARE_A] > most) {
			most = row->weight[CTX_COMPARE_A];
			heaviest = i;
		}
	}
	if (heaviest == CTX_NONE ||
	    !(page->diff.rows[heaviest].evidence.detectable <= CTX_DIFF_TENFOLD * most))
		return;
	ctx_buf_put_text(text, " Of ");
	put_name(page, heaviest, text);
	ctx_buf_printf(text, ", the heaviest, a change by %.1f %% would be found in four of five.",
		       100 * page->diff.rows[heaviest].evidence.detectable / most);
}

void ctx_diff_result_put(struct ctx_diff_page *page)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	uint32_t n = 0;

	if (!ctx_out_is_text(&page->out) || !has_evidence(&page->diff))
		return;
	while (n < page->diff.n && page->diff.rows[n].verdict != CTX_VERDICT_NONE)
		n++;
	if (n != 0)
		put_changed(page, n, &text);
	else
		ctx_buf_printf(&text, "None of %zu %ss changed by more than chance.", page->diff.n_tested,
			       page->form->one);
	if (has_names(page->spec->subject))
		put_detectable(page, &text);
	ctx_buf_put_u8(&text, '\0');
	if (!text.failed)
		ctx_out_wrapped(&page->out, "", (const char *)text.bytes, 0);
}
