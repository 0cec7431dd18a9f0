/*
 * Lines of texts with call stacks.
 *
 * What perf script prints, with any -F:
 *
 *	app 100/101 [002] 7037.203982:     4000 cycles:u: 	comm pid/tid cpu time period event
 *		ffffffff8da78b06 do_page_fault+0x26 ([kernel.kallsyms])
 *		     55d0c0e0a1b2 main+0x12 (/usr/bin/app)
 *
 * or on one line, without callers:
 *
 *	app 101 7037.203982: cycles:u:  55d0c0e0a1b2 main+0x12 (/usr/bin/app)
 *
 * A line with neither a thread nor a time (-F comm,ip,sym; -F ip,sym: an empty line) is one of a sample if a frame follows.
 *
 * Folded stacks, as stackcollapse writes them and flame graphs read them: root first, then a count.
 *
 *	app;main;do_page_fault_[k] 42
 *
 * Source: tools/perf/builtin-script.c of Linux. Texts are borrowed from the line, and not terminated.
 */
#ifndef CTX_FORMATS_STACKTEXT_ST_LINE_H
#define CTX_FORMATS_STACKTEXT_ST_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_st_text {
	const char *at;
	size_t n;
};

struct ctx_st_frame {
	struct ctx_st_text name;   /* n 0: none, or [unknown] */
	struct ctx_st_text module; /* likewise; without the parentheses */
	uint64_t address, offset;  /* 0 none */
	bool is_inlined;	   /* into the function of the next line, whose module it has */
};

struct ctx_st_sample {
	struct ctx_st_text command;
	bool has_ids;
	int64_t pid, tid; /* -1 without ids; pid: that of tid where only one is printed */
	int32_t cpu;	  /* -1 none */
	bool has_time;
	uint64_t time_ns;
	uint64_t period;	  /* 0 none */
	struct ctx_st_text event; /* n 0: none */
	bool has_leaf;		  /* the rest of the line is its only frame */
	struct ctx_st_frame leaf;
};

/* A line that begins a sample, with a thread or a time; without its line end. False: it is none. O(n). */
bool ctx_st_sample_parse(const char *line, size_t n, struct ctx_st_sample *ret);

/*
 * A line that begins a sample if what follows is a frame for certain. Words that are no fields are the command. False:
 * the command would be longer than 64 bytes. O(n).
 */
bool ctx_st_head_parse(const char *line, size_t n, struct ctx_st_sample *ret);

/* Whether a line is a frame as perf prints it: a tab, an address of 16 places, and more. */
bool ctx_st_frame_is_sure(const char *line, size_t n);

/* A line of a frame, if it is none of a sample: begins with blanks. False: it is none. O(n). */
bool ctx_st_frame_parse(const char *line, size_t n, struct ctx_st_frame *ret);

/*
 * A line of folded stacks: the stack and the count at its end, whole or with decimals, which are
 * dropped. False: it is none. O(n).
 */
bool ctx_st_folded_parse(const char *line, size_t n, struct ctx_st_text *ret_stack, uint64_t *ret_count);

/*
 * The next frame of a folded stack, from the root; *stack becomes the rest. False: there is none.
 * `_[k]`, `_[j]` and `_[i]` at the end of a name are taken for the kernel, JIT code and inlined code.
 */
bool ctx_st_folded_next(struct ctx_st_text *stack, struct ctx_st_frame *ret);

#endif
