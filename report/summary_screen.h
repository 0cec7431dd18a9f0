/*
 * The screen that the report summary prints (report/summary_text.c): its parts, and what they share.
 */
#ifndef CTX_REPORT_SUMMARY_SCREEN_H
#define CTX_REPORT_SUMMARY_SCREEN_H

#include "report/summary.h"

/* Columns before a bar or a strip. */
#define CTX_SUMMARY_LABEL 21u

/* The most columns of a waker's name. */
#define CTX_SUMMARY_WAKER 16u

struct ctx_summary_texts {
	const char *items[16];
	size_t n, total; /* total: with those that have no room */
	struct ctx_arena *arena;
	bool failed;
};

/* Lines of each part; 0: it is left out. */
struct ctx_summary_plan {
	size_t shares, functions, regions, waits, groups, warnings, commands;
	bool letters; /* of functions, below the strip */
	bool phases;  /* their letters, below that */
	bool blanks;  /* between the parts */
};

struct ctx_summary_screen {
	struct ctx_summary *summary;
	struct ctx_out *out;
	struct ctx_buf line;
	size_t width;
	struct ctx_summary_plan plan;
	struct ctx_summary_texts warnings, commands;
};

/* Prints the line and clears it. */
void ctx_summary_end_line(struct ctx_summary_screen *screen);

/* A blank line, if the plan has them. */
void ctx_summary_put_blank(struct ctx_summary_screen *screen);

/* Appends "1.052 s", "12.345 ms". */
void ctx_summary_put_time(struct ctx_buf *line, uint64_t ns);

/* Appends "12.3 %". */
void ctx_summary_put_percent(struct ctx_buf *line, uint64_t part, uint64_t whole);

/*
 * The name of a function of the fold's profile, without what says that it is inlined, or a copy for
 * constant arguments; valid until the section of the output ends. Any bytes.
 */
const char *ctx_summary_name(struct ctx_summary_screen *screen, uint32_t function);

/* Appends it, safe and at most `room` columns wide, but not below eight. */
void ctx_summary_put_name(struct ctx_summary_screen *screen, uint32_t function, size_t room,
			  struct ctx_buf *text);

/*
 * Whether the time on CPUs can be compared with the elapsed time: the only sample of a recording that has
 * no other record of time lasts for nothing.
 */
bool ctx_summary_has_load(const struct ctx_summary *summary);

/*
 * Appends " [true]", the program that a row's function is of, where several commands were recorded and it is
 * not that of the first.
 */
void ctx_summary_put_program(struct ctx_summary_screen *screen, const struct ctx_hot_function *row,
			     struct ctx_buf *text);

/* Appends "render › memcpy", "parse [cc1] › memcpy", of a row with a callee. */
void ctx_summary_put_call(struct ctx_summary_screen *screen, const struct ctx_hot_function *row, size_t room,
			  struct ctx_buf *text);

/* Appends the name of a thread, safe and short. */
void ctx_summary_put_waker(struct ctx_summary_screen *screen, const char *waker, struct ctx_buf *text);

/* Whether a line says who ended the first wait, and where; or that others wait for the hottest function. */
bool ctx_summary_has_ender(const struct ctx_summary_screen *screen);

/* Appends " of CPU time", or the name of another first metric. */
void ctx_summary_put_of(struct ctx_summary_screen *screen, struct ctx_buf *text);

#endif
