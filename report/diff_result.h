/*
 * The result of a comparison as a sentence: which rows changed by more than chance, and how surely.
 */
#ifndef CTX_REPORT_DIFF_RESULT_H
#define CTX_REPORT_DIFF_RESULT_H

#include "report/diff_page.h"

/*
 * Text: "1 of 17 functions changed by more than chance: parse slower, +10.3 % (95 %: +4.1 to +16.5 %)." and what could
 * have been found of the heaviest row. Nothing where no row has evidence: the lines above say why.
 */
void ctx_diff_result_put(struct ctx_diff_page *page);

#endif
