/* Commands of the shell, for fixtures that other programs make. */
#ifndef CTX_TESTS_SHELL_COMMANDS_H
#define CTX_TESTS_SHELL_COMMANDS_H

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static inline void run(const char *fmt, ...) CTX_PRINTF(1, 2);

/* The test fails where the command does. */
static inline void run(const char *fmt, ...)
{
	char text[16384];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	assert_int_equal(system(text), 0);
}

#endif
