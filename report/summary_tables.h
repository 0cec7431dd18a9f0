/*
 * The tables of the first screen, as many rows of each as the plan has.
 */
#ifndef CTX_REPORT_SUMMARY_TABLES_H
#define CTX_REPORT_SUMMARY_TABLES_H

#include "report/summary_screen.h"

void ctx_summary_put_functions(struct ctx_summary_screen *screen);
void ctx_summary_put_regions(struct ctx_summary_screen *screen);
void ctx_summary_put_waits(struct ctx_summary_screen *screen);
void ctx_summary_put_groups(struct ctx_summary_screen *screen);

#endif
