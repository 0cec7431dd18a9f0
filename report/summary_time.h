/*
 * Time on the first screen: the threads' time by what they did, and the load over time.
 */
#ifndef CTX_REPORT_SUMMARY_TIME_H
#define CTX_REPORT_SUMMARY_TIME_H

#include "report/summary_screen.h"

/* A bar for each of plan.shares. */
void ctx_summary_put_shares(struct ctx_summary_screen *screen);

/* The strip of busy CPUs, and with plan.letters the letters of the functions' rows below it. */
void ctx_summary_put_strip(struct ctx_summary_screen *screen);

/* Whether letters say something: at least two functions of plan.functions rule for a while. */
bool ctx_summary_has_letters(const struct ctx_summary_screen *screen);

#endif
