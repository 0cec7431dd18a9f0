/* The pure parts of the browser: interval, list, outline, layout, prompt, keys, canvas. */
#include "browse/brush.h"
#include "browse/canvas.h"
#include "browse/draw_parts.h"
#include "browse/keys.h"
#include "browse/layout.h"
#include "browse/list.h"
#include "browse/outline.h"
#include "browse/prompt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define RUN ((struct ctx_interval){0, 1000})

static void assert_now(const struct ctx_brush *brush, uint64_t begin_ns, uint64_t end_ns)
{
	assert_int_equal(brush->now.begin_ns, begin_ns);
	assert_int_equal(brush->now.end_ns, end_ns);
}

static void test_brush__steps_stay_in_the_run(void **state)
{
	struct ctx_brush brush = ctx_brush_make(RUN, (struct ctx_interval){300, 700});

	(void)state;
	assert_true(ctx_brush_step(&brush, CTX_BRUSH_LATER, 10));
	assert_now(&brush, 600, 1000);
	assert_false(ctx_brush_step(&brush, CTX_BRUSH_LATER, 10));
	assert_true(ctx_brush_step(&brush, CTX_BRUSH_EARLIER, 10));
	assert_now(&brush, 200, 600);
	assert_true(ctx_brush_step(&brush, CTX_BRUSH_NARROWER, 10));
	assert_now(&brush, 300, 500);
	assert_true(ctx_brush_step(&brush, CTX_BRUSH_WIDER, 10));
	assert_now(&brush, 200, 600);
	assert_true(ctx_brush_step(&brush, CTX_BRUSH_BEGIN_EARLIER, 10));
	assert_true(ctx_brush_step(&brush, CTX_BRUSH_END_LATER, 10));
	assert_now(&brush, 100, 700);
	for (int i = 0; i < 20; i++)
		ctx_brush_step(&brush, CTX_BRUSH_BEGIN_LATER, 10);
	assert_now(&brush, 699, 700);
	assert_true(ctx_brush_step(&brush, CTX_BRUSH_WHOLE, 10));
	assert_now(&brush, 0, 1000);
	assert_true(ctx_brush_step(&brush, CTX_BRUSH_UNDO, 10));
	assert_now(&brush, 699, 700);
	/* One nanosecond has no half. */
	assert_false(ctx_brush_step(&brush, CTX_BRUSH_NARROWER, 10));
}

static void test_brush__undo_goes_back_and_forgets_the_oldest(void **state)
{
	struct ctx_brush brush = ctx_brush_make(RUN, RUN);

	(void)state;
	assert_false(ctx_brush_step(&brush, CTX_BRUSH_UNDO, 10));
	for (uint64_t i = 1; i <= CTX_BRUSH_HISTORY + 5; i++)
		assert_true(ctx_brush_set(&brush, (struct ctx_interval){i, i + 10}));
	for (uint64_t i = CTX_BRUSH_HISTORY + 4; i >= 5; i--) {
		assert_true(ctx_brush_step(&brush, CTX_BRUSH_UNDO, 10));
		assert_now(&brush, i, i + 10);
	}
	assert_false(ctx_brush_step(&brush, CTX_BRUSH_UNDO, 10));
	assert_false(ctx_brush_set(&brush, (struct ctx_interval){2000, 3000}));
	assert_false(ctx_brush_set(&brush, (struct ctx_interval){7, 7}));
}

/* Every moment is in exactly one column, and ctx_brush_columns finds it, whatever the lengths. */
static void test_brush__columns_divide_the_view(void **state)
{
	static const unsigned widths[] = {1, 3, 71, 200};
	static const uint64_t lengths[] = {1, 2, 70, 71, 72, 1000, 1572894123};

	(void)state;
	for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
		for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
			struct ctx_interval run = {0, lengths[k]};
			struct ctx_brush brush = ctx_brush_make(run, run);
			uint64_t at = 0;
			unsigned first, last;

			for (unsigned i = 0; i < widths[w]; i++) {
				struct ctx_interval column = ctx_brush_column(&brush, i, widths[w]);

				assert_int_equal(column.begin_ns, at);
				at = column.end_ns;
				if (ctx_interval_is_empty(column))
					continue;
				assert_true(ctx_brush_columns(&brush, column, widths[w], &first, &last));
				assert_int_equal(first, i);
				assert_int_equal(last, i);
			}
			assert_int_equal(at, lengths[k]);
			assert_true(ctx_brush_columns(&brush, run, widths[w], &first, &last));
			assert_int_equal(last, widths[w] - 1);
		}
	}
}

static void test_brush__brushing_is_one_step_of_undo_and_can_be_left(void **state)
{
	struct ctx_brush brush = ctx_brush_make(RUN, RUN);

	(void)state;
	ctx_brush_begin(&brush, 10);
	assert_false(ctx_brush_move(&brush, 3, 10));
	ctx_brush_mark(&brush);
	assert_true(ctx_brush_move(&brush, 2, 10));
	assert_now(&brush, 300, 600);
	assert_true(ctx_brush_move(&brush, -4, 10));
	assert_now(&brush, 100, 400);
	ctx_brush_accept(&brush);
	assert_now(&brush, 100, 400);
	ctx_brush_begin(&brush, 10);
	ctx_brush_mark(&brush);
	ctx_brush_move(&brush, 100, 10);
	assert_now(&brush, 100, 1000);
	ctx_brush_cancel(&brush);
	assert_now(&brush, 100, 400);
	assert_true(ctx_brush_step(&brush, CTX_BRUSH_UNDO, 10));
	assert_now(&brush, 0, 1000);
}

static void test_brush__the_view_follows_an_interval_outside(void **state)
{
	struct ctx_brush brush = ctx_brush_make(RUN, (struct ctx_interval){400, 600});
	unsigned first, last;

	(void)state;
	assert_true(ctx_brush_step(&brush, CTX_BRUSH_ZOOM_IN, 10));
	assert_int_equal(brush.view.begin_ns, 400);
	assert_int_equal(ctx_brush_column(&brush, 0, 10).end_ns, 420);
	assert_false(ctx_brush_columns(&brush, (struct ctx_interval){0, 400}, 10, &first, &last));
	assert_true(ctx_brush_set(&brush, (struct ctx_interval){0, 100}));
	assert_int_equal(brush.view.end_ns, 1000);
}

static void test_list__the_selected_row_is_seen(void **state)
{
	struct ctx_list list = {0};

	(void)state;
	ctx_list_fit(&list, 100, 10, 50);
	assert_int_equal(list.top, 41);
	ctx_list_center(&list);
	assert_int_equal(list.top, 45);
	assert_true(ctx_list_move(&list, 1000));
	assert_int_equal(list.selected, 99);
	assert_int_equal(list.top, 90);
	assert_false(ctx_list_move(&list, 1));
	assert_true(ctx_list_scroll(&list, -30));
	assert_int_equal(list.top, 60);
	assert_int_equal(list.selected, 69);
	ctx_list_fit(&list, 5, 10, 69);
	assert_int_equal(list.selected, 4);
	assert_int_equal(list.top, 0);
	ctx_list_fit(&list, 0, 10, 4);
	assert_int_equal(list.selected, 0);
	assert_false(ctx_list_move(&list, 1));
	assert_false(ctx_list_scroll(&list, 1));
}

static bool is_seventh(void *context, size_t row)
{
	(*(size_t *)context)++;
	return row % 7 == 3;
}

static void test_list__finds_around_the_end(void **state)
{
	size_t asked = 0;
	struct ctx_list_search search = {.match = is_seventh, .context = &asked};
	struct ctx_list list = {0};

	(void)state;
	assert_false(ctx_list_find(&list, &search));
	ctx_list_fit(&list, 20, 5, 3);
	assert_true(ctx_list_find(&list, &search));
	assert_int_equal(list.selected, 10);
	search.here = true;
	assert_true(ctx_list_find(&list, &search));
	assert_int_equal(list.selected, 10);
	search.here = false;
	ctx_list_fit(&list, 20, 5, 18);
	assert_true(ctx_list_find(&list, &search));
	assert_int_equal(list.selected, 3);
	search.backward = true;
	assert_true(ctx_list_find(&list, &search));
	assert_int_equal(list.selected, 17);
	ctx_list_fit(&list, 2, 5, 0);
	asked = 0;
	assert_false(ctx_list_find(&list, &search));
	assert_int_equal(asked, 2);
}

static void test_outline__closed_rows_hide_all_below(void **state)
{
	struct ctx_outline_row rows[] = {{0, true, false}, {1, false, false}, {2, true, false},
					 {3, true, false}, {1, true, false},  {2, false, false},
					 {0, true, false}};
	size_t seen[7];

	(void)state;
	assert_int_equal(ctx_outline_see(rows, 7, seen), 5);
	assert_int_equal(seen[1], 1);
	assert_int_equal(seen[2], 4);
	assert_int_equal(seen[4], 6);
	assert_true(rows[1].has_children);
	assert_false(rows[3].has_children);
	assert_false(rows[5].has_children);
	assert_int_equal(ctx_outline_parent(rows, 3), 2);
	assert_int_equal(ctx_outline_parent(rows, 4), 0);
	assert_int_equal(ctx_outline_parent(rows, 6), 6);
	assert_int_equal(ctx_outline_see(rows, 0, seen), 0);
}

static void test_layout__nothing_overlaps_from_80x24_on(void **state)
{
	(void)state;
	assert_true(ctx_layout_make(23, 80).is_too_small);
	assert_true(ctx_layout_make(24, 79).is_too_small);
	for (unsigned rows = 24; rows < 100; rows += 7) {
		struct ctx_layout layout = ctx_layout_make(rows, 80 + rows);

		assert_false(layout.is_too_small);
		assert_int_equal(layout.table, layout.heading + 1);
		assert_int_equal(layout.table + layout.n_table, layout.keys);
		assert_int_equal(layout.keys, rows - 1);
		assert_int_equal(layout.line + layout.n_line, layout.columns);
	}
}

static void type(struct ctx_prompt *prompt, const char *text)
{
	for (; *text != '\0'; text++)
		ctx_prompt_put(prompt, (unsigned char)*text);
}

static void test_prompt__edits_whole_characters(void **state)
{
	struct ctx_prompt prompt;

	(void)state;
	ctx_prompt_begin(&prompt, "a");
	ctx_prompt_put(&prompt, 0xe9);
	ctx_prompt_put(&prompt, 0x4e2d);
	ctx_prompt_put(&prompt, 0x1f600);
	assert_string_equal(prompt.text, "a\u00e9\u4e2d\U0001f600");
	ctx_prompt_press(&prompt, CTX_PROMPT_BACKSPACE);
	assert_string_equal(prompt.text, "a\u00e9\u4e2d");
	ctx_prompt_press(&prompt, CTX_PROMPT_LEFT);
	ctx_prompt_press(&prompt, CTX_PROMPT_LEFT);
	ctx_prompt_press(&prompt, CTX_PROMPT_DELETE);
	assert_string_equal(prompt.text, "a\u4e2d");
	type(&prompt, "bc");
	assert_string_equal(prompt.text, "abc\u4e2d");
	ctx_prompt_press(&prompt, CTX_PROMPT_HOME);
	ctx_prompt_press(&prompt, CTX_PROMPT_BACKSPACE);
	ctx_prompt_press(&prompt, CTX_PROMPT_END);
	ctx_prompt_press(&prompt, CTX_PROMPT_RIGHT);
	ctx_prompt_press(&prompt, CTX_PROMPT_DELETE);
	assert_string_equal(prompt.text, "abc\u4e2d");
	ctx_prompt_press(&prompt, CTX_PROMPT_CLEAR);
	assert_string_equal(prompt.text, "");
}

static void test_prompt__takes_no_control_characters_and_not_too_much(void **state)
{
	struct ctx_prompt prompt;

	(void)state;
	ctx_prompt_begin(&prompt, "\x1b[2J\x7f");
	ctx_prompt_put(&prompt, 0x9b);
	ctx_prompt_put(&prompt, 0xd800);
	ctx_prompt_put(&prompt, 0x110005);
	assert_string_equal(prompt.text, "[2J");
	for (unsigned i = 0; i < 2 * CTX_PROMPT_MAX; i++)
		ctx_prompt_put(&prompt, 0x4e2d);
	assert_true(prompt.n < CTX_PROMPT_MAX && prompt.n + 4 > CTX_PROMPT_MAX - 1);
	assert_int_equal(strlen(prompt.text), prompt.n);
}

static void test_keys__no_key_has_two_meanings(void **state)
{
	(void)state;
	for (size_t i = 0; i < ctx_n_key_rows; i++) {
		for (size_t k = 0; k < 4 && ctx_key_rows[i].keys[k] != 0; k++)
			assert_int_equal(ctx_key_action(ctx_key_rows[i].keys[k]), ctx_key_rows[i].action);
		/* The help has 80 columns. */
		if (ctx_key_rows[i].help != NULL) {
			assert_true(strlen(ctx_key_rows[i].shown) < 18);
			assert_true(strlen(ctx_key_rows[i].help) <= 62);
		}
	}
	assert_int_equal(ctx_key_action('Q'), CTX_ACTION_NONE);
}

static void test_canvas__text_ends_with_its_line(void **state)
{
	struct ctx_canvas canvas = {0};

	(void)state;
	ctx_canvas_begin(&canvas, 2, 5);
	ctx_canvas_line(&canvas, 0, CTX_LOOK_BAR, "ab");
	assert_int_equal(canvas.pieces[0].n, 5);
	ctx_canvas_put(&canvas, 1, 3, CTX_LOOK_PLAIN, "abc");
	assert_int_equal(canvas.pieces[1].n, 2);
	/* A wide character does not stick out. */
	ctx_canvas_put(&canvas, 1, 0, CTX_LOOK_PLAIN, "\u4e2d\u4e2d\u4e2d");
	assert_int_equal(canvas.pieces[2].n, 6);
	ctx_canvas_put(&canvas, 2, 0, CTX_LOOK_PLAIN, "a");
	ctx_canvas_put(&canvas, 0, 5, CTX_LOOK_PLAIN, "a");
	assert_int_equal(canvas.n, 3);
	assert_int_equal(ctx_canvas_check(&canvas, NULL), CTX_OK);
	ctx_canvas_deinit(&canvas);
}

/* Of what is typed behind the question. */
static void test_draw_parts__the_cursor_stays_on_the_screen(void **state)
{
	struct ctx_canvas canvas = {0};
	struct ctx_prompt prompt;
	struct ctx_buf text = {0};

	(void)state;
	ctx_prompt_begin(&prompt, "a\u4e2d");
	ctx_canvas_begin(&canvas, 2, 10);
	ctx_buf_put_u8(&text, '/');
	ctx_draw_prompt(&canvas, 1, &text, &prompt, false);
	assert_true(canvas.has_cursor);
	assert_int_equal(canvas.cursor_row, 1);
	assert_int_equal(canvas.cursor_column, 4);
	ctx_prompt_press(&prompt, CTX_PROMPT_LEFT);
	ctx_buf_clear(&text);
	ctx_draw_prompt(&canvas, 1, &text, &prompt, false);
	assert_int_equal(canvas.cursor_column, 1);
	ctx_prompt_begin(&prompt, "0123456789abc");
	ctx_buf_clear(&text);
	ctx_draw_prompt(&canvas, 1, &text, &prompt, false);
	assert_int_equal(canvas.cursor_column, 9);
	assert_int_equal(ctx_canvas_check(&canvas, NULL), CTX_OK);
	ctx_buf_deinit(&text);
	ctx_canvas_deinit(&canvas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brush__steps_stay_in_the_run),
		cmocka_unit_test(test_brush__undo_goes_back_and_forgets_the_oldest),
		cmocka_unit_test(test_brush__columns_divide_the_view),
		cmocka_unit_test(test_brush__brushing_is_one_step_of_undo_and_can_be_left),
		cmocka_unit_test(test_brush__the_view_follows_an_interval_outside),
		cmocka_unit_test(test_list__the_selected_row_is_seen),
		cmocka_unit_test(test_list__finds_around_the_end),
		cmocka_unit_test(test_outline__closed_rows_hide_all_below),
		cmocka_unit_test(test_layout__nothing_overlaps_from_80x24_on),
		cmocka_unit_test(test_prompt__edits_whole_characters),
		cmocka_unit_test(test_prompt__takes_no_control_characters_and_not_too_much),
		cmocka_unit_test(test_keys__no_key_has_two_meanings),
		cmocka_unit_test(test_canvas__text_ends_with_its_line),
		cmocka_unit_test(test_draw_parts__the_cursor_stays_on_the_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
