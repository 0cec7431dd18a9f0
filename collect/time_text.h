/*
 * A length of time as a user writes it: a number with a unit, "10us".
 */
#ifndef CTX_COLLECT_TIME_TEXT_H
#define CTX_COLLECT_TIME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Units are ns, us, ms and s; numbers are as strtod takes them. False: it is no time, or not from 1 ns to 10^15 ns. */
bool ctx_time_text_parse(const char *text, uint64_t *ret_ns);

#endif
