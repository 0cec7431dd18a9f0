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

static inline bool ran(const char *fmt, ...) CTX_PRINTF(1, 2);

/* Whether the command succeeded. */
static inline bool ran(const char *fmt, ...)
{
	char text[16384];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return system(text) == 0;
}

/* The test fails where the command does. */
#define run(...) assert_true(ran(__VA_ARGS__))

/* A test that needs a command that is not here is skipped. */
static inline void need_command(const char *command)
{
	if (!ran("command -v %s >/dev/null", command)) {
		print_message("skipped: %s is not installed\n", command);
		skip();
	}
}

/* Where nm says that a function of an object lies. */
static inline uint64_t address_of(const char *path, const char *function)
{
	char command[512];
	unsigned long long address = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm '%s' | sed -n 's/ [Tt] %s$//p'", path, function);
	nm = popen(command, "r");
	assert_non_null(nm);
	assert_int_equal(fscanf(nm, "%llx", &address), 1);
	pclose(nm);
	return address;
}

#endif
