/* The report marks, and marks under the strips of the time line. */
#include "report_fixture.h"
#include "report_printing.h"

#include "base/mem.h"
#include "model/mark_spans.h"

#include <string.h>

enum { LOAD, TOKEN, QUEUE, READY, PAUSE };

static const char *files[] = {"load", "token of a name that is much longer than its column", "queue",
			      "ready\n", "pause"};

static struct ctx_traced at(uint64_t us, unsigned operation, uint32_t name, uint64_t duration_us)
{
	return (struct ctx_traced){.time_ns = us * 1000,
				   .duration_ns = duration_us * 1000,
				   .file = name,
				   .descriptor = -1,
				   .cpu = -1,
				   .kind = CTX_TRACED_MARK,
				   .operation = (uint8_t)operation};
}

static void fill(struct fixture *fixture, struct ctx_traced *marks, size_t *n)
{
	uint32_t solve = stack_of(fixture, PATH(0, 1));
	size_t i = 0;

	marks[i++] = at(100000, CTX_MARK_POINT, READY, 0);
	marks[i++] = at(200000, CTX_MARK_BEGIN, LOAD, 0);
	for (unsigned k = 0; k < 20; k++) { /* 1 to 20 ms */
		marks[i++] = at(210000 + 25000 * k, CTX_MARK_BEGIN, TOKEN, 0);
		marks[i] = at(210000 + 25000 * k + 1000 * (k + 1), CTX_MARK_END, TOKEN, 1000 * (k + 1));
		marks[i++].stack = solve;
		marks[i] = at(215000 + 25000 * k + 1000 * (k + 1), CTX_MARK_COUNTER, QUEUE, 0);
		marks[i++].value = k == 5 ? INT64_MIN : (int64_t)k - 10;
	}
	marks[i++] = at(750000, CTX_MARK_END, LOAD, 550000);
	marks[i++] = at(760000, CTX_MARK_BEGIN, LOAD, 0);
	marks[i] = at(770000, CTX_MARK_END, TOKEN, 0);
	marks[i++].failed = true;
	marks[i++] = at(800000, CTX_MARK_PAUSE, PAUSE, 0);
	marks[i++] = at(850000, CTX_MARK_RESUME, PAUSE, 50000);
	marks[i++] = at(900000, CTX_MARK_POINT, READY, 0);
	marks[i++] = at(950000, CTX_MARK_POINT, CTX_NONE, 0);
	*n = i;
	fixture->profile.files = files;
	fixture->profile.n_files = CTX_COUNT_OF(files);
	fixture->profile.traced[CTX_TRACED_MARK] = i;
	fixture->input.traced[CTX_TRACED_MARK] = (struct ctx_report_traced){marks, i};
}

static void test_report_marks__prints_in_every_format(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_traced marks[100];
	size_t n;

	fill(fixture, marks, &n);
	assert_true(n < CTX_COUNT_OF(marks));
	assert_every_format("marks", &fixture->input, (struct ctx_report_options){0}, "marks");
	assert_every_format("marks", &fixture->input,
			    (struct ctx_report_options){.function = "solve", .limit = 1, .sort = "count"},
			    "marks-solve");
}

/* What ended there, what began there and never ended, and a pause that is there. */
static void test_report_marks__an_interval_has_what_ends_in_it(void **state)
{
	static const struct ctx_interval interval = {720 * MS, 820 * MS};
	struct fixture *fixture = *state;
	struct ctx_traced marks[100];
	size_t n;

	fill(fixture, marks, &n);
	fixture->input.intervals = &interval;
	fixture->input.n_intervals = 1;
	assert_every_format("marks", &fixture->input, (struct ctx_report_options){0}, "marks-interval");
}

static void test_report_marks__are_on_the_time_line(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_traced marks[100];
	char *text;
	size_t n;

	fill(fixture, marks, &n);
	text = print_report("timeline", &fixture->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "            load "));
	assert_non_null(strstr(text, "          paused "));
	assert_non_null(strstr(text, " xx"));
	assert_non_null(strstr(text, "|"));
	assert_non_null(strstr(text, "===="));
	free(text);
}

static void test_report_marks__none_is_refused_unless_they_were_asked_for(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_property asked = {"mark trace", "on"};
	struct ctx_err err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct ctx_report_options options = {.out = out};

	assert_non_null(out);
	assert_int_equal(fake_print("marks", &fixture->input, &options, &err), CTX_E_NOTFOUND);
	assert_non_null(strstr(err.msg, "ctxrec --marks"));
	fixture->profile.properties = &asked;
	fixture->profile.n_properties = 1;
	assert_int_equal(fake_print("marks", &fixture->input, &options, NULL), CTX_OK);
	fclose(out);
	assert_non_null(strstr(text, "no marks in this selection"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(test_report_marks__prints_in_every_format),
		with_fixture(test_report_marks__an_interval_has_what_ends_in_it),
		with_fixture(test_report_marks__are_on_the_time_line),
		with_fixture(test_report_marks__none_is_refused_unless_they_were_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
