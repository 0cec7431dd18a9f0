/*
 * What the first screen says of OpenMP in words.
 */
#ifndef CTX_REPORT_SUMMARY_OMP_TEXT_H
#define CTX_REPORT_SUMMARY_OMP_TEXT_H

#include "report/summary_screen.h"

/* Prints "First look: OpenMP waits, 46.5 % of team time; most: implicit barrier in f:10, 41.2 %"; shorter where it has no room. */
void ctx_summary_put_first_omp(struct ctx_summary_screen *screen);

/* Of the first metric, if that is time on CPUs: what threads did in the runtime while they waited; else 0. O(functions). */
uint64_t ctx_summary_omp_spun(const struct ctx_summary *summary);

#endif
