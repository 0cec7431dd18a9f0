/*
 * Formats numbers with integer arithmetic: independent of the locale, and large counts are not
 * rounded through doubles.
 */
#ifndef CTX_REPORT_FIGURES_H
#define CTX_REPORT_FIGURES_H

#include "model/metric.h"
#include <stddef.h>

#include <stdint.h>

#define CTX_FIGURE_MAX 48

/* Unit and digits of the weights of one report. */
struct ctx_scale {
	const char *unit; /* borrowed: "ms", "s", or the metric's own */
	uint64_t divisor; /* 1: integers */
	unsigned digits;  /* after the decimal point */
};

/* Nanoseconds become ms, or s when the largest weight is 100 s or more; other units are kept. */
struct ctx_scale ctx_scale_for(enum ctx_unit unit, uint64_t largest);

/* value / divisor, rounded to `digits` (at most 6) decimal places. */
void ctx_figure_fixed(char out[CTX_FIGURE_MAX], uint64_t value, uint64_t divisor, unsigned digits);

/* 100 * part / whole; "0.00" if whole is 0. */
void ctx_figure_percent(char out[CTX_FIGURE_MAX], uint64_t part, uint64_t whole, unsigned digits);

/* A share from 0 to 1 with six digits, as in JSON; 1 if whole is 0. */
void ctx_figure_share(char out[CTX_FIGURE_MAX], uint64_t part, uint64_t whole);

#endif
