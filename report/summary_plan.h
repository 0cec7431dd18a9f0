/*
 * How many lines each part of the first screen gets, so that all fit on a terminal.
 */
#ifndef CTX_REPORT_SUMMARY_PLAN_H
#define CTX_REPORT_SUMMARY_PLAN_H

#include "report/summary_screen.h"

/* At most 23 lines: the prompt is the last one of a small terminal. Warnings and commands are collected. */
struct ctx_summary_plan ctx_summary_make_plan(struct ctx_summary_screen *screen);

#endif
