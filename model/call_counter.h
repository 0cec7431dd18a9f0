/*
 * Counters that ctxrec reads when a call begins or ends (ctxrec --calls-counter): what they count in between is of the call that
 * was open. Numbers are those in rings and files. Source: requirement C11.
 */
#ifndef CTX_MODEL_CALL_COUNTER_H
#define CTX_MODEL_CALL_COUNTER_H

#include "model/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_call_counter {
	CTX_CALL_COUNTER_FAULTS, /* page faults, by getrusage */
	CTX_CALL_COUNTER_MAJOR_FAULTS,
	CTX_CALL_COUNTER_SWITCHES,  /* voluntary and involuntary ones, by getrusage */
	CTX_CALL_COUNTER_ALLOCATED, /* bytes that malloc and its like were asked for, by the runtime */
	CTX_CALL_COUNTERS,
};

/* Of a set of counters, a bit for each: those that a system call reads. */
#define CTX_CALL_COUNTERS_OF_KERNEL 7u

/* As the option has it: "page-faults". */
const char *ctx_call_counter_name(enum ctx_call_counter counter);
enum ctx_unit ctx_call_counter_unit(enum ctx_call_counter counter);

/* Names with commas as a set, a bit for each. False: one of them is none. */
bool ctx_call_counters_parse(const char *text, uint32_t *ret);

#define CTX_CALL_COUNTERS_TEXT_MAX 80u

/* The same back, in order of their numbers, without those that there are not. */
void ctx_call_counters_text(uint32_t set, char text[CTX_CALL_COUNTERS_TEXT_MAX]);

#endif
