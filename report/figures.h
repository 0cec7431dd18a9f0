/*
 * Numbers as text, by integer arithmetic: the same digits whatever the locale, and no rounding of large
 * counts through doubles.
 */
#ifndef CTX_REPORT_FIGURES_H
#define CTX_REPORT_FIGURES_H

#include "model/metric.h"
#include <stddef.h>

#include <stdint.h>

#define CTX_FIGURE_MAX 48

/* How weights of one report are shown. */
struct ctx_scale {
	const char *unit; /* borrowed: "ms", "s", or the metric's own */
	uint64_t divisor; /* 1: integers */
	unsigned digits;  /* behind the point */
};

/* Nanoseconds become ms, or s when the largest weight has 100 s or more; everything else stays as it is. */
struct ctx_scale ctx_scale_for(enum ctx_unit unit, uint64_t largest);

/* value / divisor with so many (at most 6) digits behind the point, rounded. */
void ctx_figure_fixed(char out[CTX_FIGURE_MAX], uint64_t value, uint64_t divisor, unsigned digits);

/* 100 * part / whole; "0.00" where whole is 0. */
void ctx_figure_percent(char out[CTX_FIGURE_MAX], uint64_t part, uint64_t whole, unsigned digits);

/* A share from 0 to 1 with six digits, as JSON has it; 1 where whole is 0. */
void ctx_figure_share(char out[CTX_FIGURE_MAX], uint64_t part, uint64_t whole);

#endif
