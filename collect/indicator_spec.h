/*
 * Indicator specification: what `ctxrec --indicator` counts, as the user wrote it.
 *
 *	parse_line                        entries of a function; a pattern (parse_*) is a set of functions
 *	libz.so:inflate                   of the load object with that file name (its version may be left out)
 *	inflate+0x40                      executions of the instruction at that distance from the function's begin
 *	parse_line%return                 returns of the function
 *	file.c:120                        executions of the line's code: the first instruction in each function
 *	range:first_fn..last_fn           executions of the entries of all functions from the one to the other, by address
 *	object:libcrypto.so               of all functions of a load object
 *	counter:rw  table+64,len=8:w      accesses to data: w writes, rw reads and writes
 *	:threshold=N                      besides, every N-th execution is recorded with its call stack
 *	:start  :start=N  :stop           samples are recorded from an execution (the N-th) of the one to one of the other, by thread;
 *	:process                          of these: in all threads of the process
 *	:callers                          of a function: each execution is recorded with its caller, which takes the kernel
 *	:once                             of functions: which of their lines and blocks are executed at all
 *	:slower-than=TIME                 of a function: calls that took so long (2ms), with their call stacks
 *
 * A pure function of the text. Source: requirements I1 to I3, I5, I7.
 */
#ifndef CTX_COLLECT_INDICATOR_SPEC_H
#define CTX_COLLECT_INDICATOR_SPEC_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define CTX_INDICATOR_TEXT_MAX 400u /* bytes of a specification */

enum ctx_indicator_what {
	CTX_INDICATOR_FUNCTION, /* `name`, perhaps a pattern */
	CTX_INDICATOR_RETURN,	/* the same, returns */
	CTX_INDICATOR_LINE,	/* `name` is a file, `line` its line */
	CTX_INDICATOR_RANGE,	/* from function `name` to function `last` */
	CTX_INDICATOR_OBJECT,	/* `object` */
	CTX_INDICATOR_DATA,	/* variable `name` */
	CTX_INDICATOR_ADDRESS,	/* of a metadata file: the instruction at `offset` */
};

enum ctx_indicator_window {
	CTX_INDICATOR_NO_WINDOW,
	CTX_INDICATOR_START,
	CTX_INDICATOR_STOP,
};

struct ctx_indicator_spec {
	enum ctx_indicator_what what;
	char text[CTX_INDICATOR_TEXT_MAX];   /* as written */
	char object[CTX_INDICATOR_TEXT_MAX]; /* file name of the load object; "": any */
	char name[CTX_INDICATOR_TEXT_MAX], last[CTX_INDICATOR_TEXT_MAX];
	uint32_t line;
	uint64_t offset;       /* bytes behind the begin of the function or variable */
	uint64_t length_bytes; /* of data; 0: that of the variable */
	uint64_t threshold;    /* 0: no call stacks */
	bool reads;	       /* data: reads are counted besides writes */
	bool has_address;      /* of data in a metadata file: `offset` is an address of the object */
	enum ctx_indicator_window window;
	uint64_t from;		 /* of a start: which execution, from 1 */
	bool of_process;	 /* of a window: not of the thread alone */
	uint64_t slower_than_ns; /* 0: not asked */
	bool callers;		 /* of each execution */
	bool once;		 /* coverage: `name` is a pattern, of an object "*" */
};

/* Fails with CTX_E_ARG and a message that begins with the specification. O(text). */
CTX_MUST_CHECK enum ctx_status ctx_indicator_spec_parse(const char *text, struct ctx_indicator_spec *ret,
							struct ctx_err *err);

#endif
