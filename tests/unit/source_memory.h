/*
 * Event sources when memory runs out. For one test program each; it is linked as failing_malloc.h
 * says.
 */
#ifndef CTX_TESTS_UNIT_SOURCE_MEMORY_H
#define CTX_TESTS_UNIT_SOURCE_MEMORY_H

#include "model/event_source.h"
#include "tests/unit/failing_malloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * Opens a source and reads it to its end while each allocation in turn fails, until none does:
 * every failure is reported. Returns the number of allocations.
 */
static inline long fail_each_allocation(enum ctx_status (*open)(const char *path,
								struct ctx_event_source **ret,
								struct ctx_err *err),
					const char *path)
{
	for (long n = 0;; n++) {
		struct ctx_event_source *source = NULL;
		struct ctx_event event;
		struct ctx_err err = {0};
		enum ctx_status status;
		bool failed;

		fail_after = n;
		status = open(path, &source, &err);
		while (status == CTX_OK)
			status = source->next(source, &event, &err);
		failed = fail_after < 0; /* else this round had all the memory it asked for */
		fail_after = -1;
		if (source != NULL)
			source->close(source);
		assert_int_equal(status, failed ? CTX_E_NOMEM : CTX_END);
		if (!failed)
			return n;
		assert_int_equal(err.status, CTX_E_NOMEM);
	}
}

#endif
