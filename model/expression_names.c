/*
 * The names in expressions, and the message for an unknown one.
 */
#include "model/expression_impl.h"

#include "base/mem.h"
#include "base/near.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const names[CTX_EXPRESSION_NAMES_N] = {
	[CTX_NAME_THRID] = "THRID",	  [CTX_NAME_LWPID] = "LWPID",	  [CTX_NAME_PROCID] = "PROCID",
	[CTX_NAME_PID] = "PID",		  [CTX_NAME_CPUID] = "CPUID",	  [CTX_NAME_TSTAMP] = "TSTAMP",
	[CTX_NAME_SECOND] = "SECOND",	  [CTX_NAME_WEIGHT] = "WEIGHT",	  [CTX_NAME_METRIC] = "METRIC",
	[CTX_NAME_STATE] = "STATE",	  [CTX_NAME_DEPTH] = "DEPTH",	  [CTX_NAME_SAMPLE] = "SAMPLE",
	[CTX_NAME_EVT_TIME] = "EVT_TIME", [CTX_NAME_SIZE] = "SIZE",	  [CTX_NAME_ADDRESS] = "ADDRESS",
	[CTX_NAME_HTYPE] = "HTYPE",	  [CTX_NAME_HSIZE] = "HSIZE",	  [CTX_NAME_HVADDR] = "HVADDR",
	[CTX_NAME_HOVADDR] = "HOVADDR",	  [CTX_NAME_HLEAKED] = "HLEAKED", [CTX_NAME_SRQST] = "SRQST",
	[CTX_NAME_SOBJ] = "SOBJ",	  [CTX_NAME_IOTYPE] = "IOTYPE",	  [CTX_NAME_IOFD] = "IOFD",
	[CTX_NAME_IONBYTE] = "IONBYTE",	  [CTX_NAME_IORQST] = "IORQST",	  [CTX_NAME_IOFNAME] = "IOFNAME",
	[CTX_NAME_VADDR] = "VADDR",	  [CTX_NAME_PADDR] = "PADDR",	  [CTX_NAME_LATENCY] = "LATENCY",
	[CTX_NAME_MTYPE] = "MTYPE",	  [CTX_NAME_MLEVEL] = "MLEVEL",	  [CTX_NAME_MOBJECT] = "MOBJECT",
};

static const struct {
	const char *text;
	enum ctx_expression_name name;
} other_names[] = {{"DURATION", CTX_NAME_EVT_TIME},
		   {"FILE", CTX_NAME_IOFNAME},
		   {"TID", CTX_NAME_LWPID},
		   {"CPU", CTX_NAME_CPUID}};

/* Words of gprofng's and the Performance Analyzer's filters with a different or no meaning here. */
static const struct {
	const char *text, *advice;
} foreign_names[] = {
	{"NOT", "'!' is not"},
	{"EXPID", "PROCID is the process"},
	{"EXPGRID", "PROCID is the process"},
	{"EXPID_CMP", "PROCID is the process"},
	{"TSTAMP_LO", "SRQST and IORQST are when an operation began, EVT_TIME is how long it took"},
	{"TSTAMP_HI", "TSTAMP is when an operation was over"},
	{"TSTAMP2", "TSTAMP is when an operation was over"},
	{"MSTATE", "STATE is the thread's state"},
	{"NTICK", "WEIGHT is what a sample weighs"},
	{"NTICK_USEC", "WEIGHT is what a sample weighs"},
	{"JTHREAD", "THRID is the thread"},
	{"USTACK", "STACK is the call stack"},
	{"XSTACK", "STACK is the call stack"},
	{"MSTACK", "STACK is the call stack"},
	{"IOVFD", "IOFD is the descriptor"},
	{"IOOFD", "IOFD is the descriptor"},
	{"IOFSTYPE", "IOFNAME is the file"},
	{"HMEM_USAGE", "the report heap says what lived when"},
	{"HFREED", "the report heap says what lived when"},
	{"HCUR_ALLOCS", "the report heap says what lived when"},
	{"HCUR_NET_ALLOC", "the report heap says what lived when"},
	{"HCUR_LEAKS", "HLEAKED is what leaked of an allocation"},
};

const char *ctx_expression_name(enum ctx_expression_name name)
{
	return names[name];
}

enum ctx_expression_name ctx_expression_find_name(const char *text, size_t n)
{
	for (unsigned i = 0; i < CTX_EXPRESSION_NAMES_N; i++) {
		if (strlen(names[i]) == n && strncasecmp(text, names[i], n) == 0)
			return (enum ctx_expression_name)i;
	}
	for (size_t i = 0; i < CTX_COUNT_OF(other_names); i++) {
		if (strlen(other_names[i].text) == n && strncasecmp(text, other_names[i].text, n) == 0)
			return other_names[i].name;
	}
	return CTX_EXPRESSION_NAMES_N;
}

unsigned ctx_expression_kinds(enum ctx_expression_name name)
{
	const unsigned heap = 1u << CTX_TRACED_HEAP, sync = 1u << CTX_TRACED_SYNC, io = 1u << CTX_TRACED_IO,
		       mark = 1u << CTX_TRACED_MARK, memory = 1u << CTX_TRACED_MEMORY;

	if (name < CTX_NAME_EVT_TIME)
		return 0;
	if (name == CTX_NAME_EVT_TIME)
		return sync | io | mark;
	if (name == CTX_NAME_SIZE)
		return heap | io;
	if (name == CTX_NAME_ADDRESS)
		return heap | sync | memory;
	if (name >= CTX_NAME_VADDR)
		return memory;
	return name <= CTX_NAME_HLEAKED ? heap : name <= CTX_NAME_SOBJ ? sync : io;
}

/* Whether it is next to IN. */
static bool is_function(const struct expr_lexer *lexer)
{
	const char *before = lexer->text + lexer->at, *behind = before + lexer->length;

	while (before > lexer->text && (before[-1] == ' ' || before[-1] == '('))
		before--;
	behind += strspn(behind, " )");
	return (before - lexer->text >= 3 && strncasecmp(before - 3, " IN", 3) == 0) ||
	       strncasecmp(behind, "IN ", 3) == 0 || strncasecmp(behind, "SOME IN", 7) == 0 ||
	       strncasecmp(behind, "ORDERED IN", 10) == 0 || *behind == ',';
}

enum ctx_status ctx_expr_refuse_name(const struct expr_lexer *lexer)
{
	const char *word = lexer->text + lexer->at;
	int shown = (int)(lexer->length < 40 ? lexer->length : 40);
	struct ctx_near near = {0};
	char known[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < CTX_COUNT_OF(foreign_names); i++) {
		if (ctx_expr_is_word(lexer, foreign_names[i].text))
			return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "no name '%.*s': %s", shown, word,
					     foreign_names[i].advice);
	}
	for (unsigned i = 0; i < CTX_EXPRESSION_NAMES_N; i++) {
		ctx_near_consider(&near, names[i], strlen(names[i]), word, lexer->length);
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i == 0 ? "" : ", ",
					 names[i]);
	}
	if (is_function(lexer))
		return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "functions are in quotes: \"%.*s\"", shown,
				     word);
	if (near.n != 0) {
		ctx_near_list(&near, known, sizeof(known));
		return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at, "no name '%.*s', perhaps %s", shown, word,
				     known);
	}
	return ctx_expr_fail(lexer, CTX_E_ARG, lexer->at,
			     "no name '%.*s' (%s; LEAF, STACK, FNAME(\"...\"), LNAME(\"...\"))", shown, word,
			     known);
}
