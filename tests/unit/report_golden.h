/*
 * Golden files: testdata/golden/report/NAME.expected. `UPDATE_GOLDEN=1 ctest -R report` rewrites
 * them; read the difference before you commit it.
 */
#ifndef CTX_TESTS_REPORT_GOLDEN_H
#define CTX_TESTS_REPORT_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline void assert_golden(const char *name, const char *text)
{
	char path[4096], *want = NULL;
	const char *update = getenv("UPDATE_GOLDEN");
	size_t want_n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%.*s/../../testdata/golden/report/%s.expected",
		 (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, name);
	if (update != NULL && strcmp(update, "1") == 0) {
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(text, file);
		assert_int_equal(fclose(file), 0);
		return;
	}
	file = fopen(path, "r");
	if (file == NULL)
		fail_msg("%s is missing: run with UPDATE_GOLDEN=1", path);
	if (getdelim(&want, &want_n, '\0', file) < 0)
		want = strdup("");
	fclose(file);
	assert_string_equal(text, want);
	free(want);
}

#endif
