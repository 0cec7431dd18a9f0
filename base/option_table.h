/*
 * Option table: the options of a program, one row each.
 *
 * The command line is parsed by the rows and shell completion is made from them. What an option
 * means is in the program's manual (base/manual.h); a test compares the two. A new option is a row
 * and an entry in the manual.
 */
#ifndef CTX_BASE_OPTION_TABLE_H
#define CTX_BASE_OPTION_TABLE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_option_value {			      /* what follows an option */
			CTX_OPTION_FLAG,      /* nothing */
			CTX_OPTION_MODE,      /* nothing, or =WORD */
			CTX_OPTION_TEXT,      /* one word */
			CTX_OPTION_LIST,      /* words separated by commas */
			CTX_OPTION_FILE,      /* a path */
			CTX_OPTION_DIRECTORY, /* a path of a directory */
};

struct ctx_option {
	const char *name; /* "interval" for --interval */
	char letter;	  /* 'i' for -i; 0: none */
	enum ctx_option_value value;
	/* Puts the value (NULL for a flag, or where it is left out) into `options`. An error names option and value. */
	enum ctx_status (*set)(void *options, const struct ctx_option *option, const char *value,
			       struct ctx_err *err);
	const char *alias; /* a second long name, accepted and not documented; NULL: none */
	/* Values that exist, or that completion offers; NULL ends them. NULL: any. */
	const char *const *words;
	/* Instead: word `i` of another table, NULL after the last. NULL: no other table. */
	const char *(*word_at)(size_t i);
	size_t at;	   /* where in `options` the setters below put the value: offsetof */
	uint32_t min, max; /* of ctx_option_set_number */
	bool is_default;   /* may be in a configuration file (ctx_option_parse_lines) */
};

struct ctx_option_table {
	const char *program; /* "ctxan" */
	const char *manual;  /* its text, see base/manual.h */
	const struct ctx_option *rows;
	size_t n_rows;
	bool stops_at_argument; /* the first argument ends the options: another program's command line */
};

struct ctx_arguments { /* argv of main; the words may be reordered */
	int n;
	char **words;
	int first; /* result: index of the first non-option */
};

/*
 * Parses by getopt_long: -i X, -iX, --interval X, --interval=X, unique beginnings of long names.
 * Calls the `set` of each option in the order of the command line. CTX_E_ARG with one line: that of
 * `set`, or an unknown option (with the nearest name), a missing value, a value for a flag. getopt
 * keeps its state in globals: not for two threads at once.
 */
CTX_MUST_CHECK enum ctx_status ctx_option_parse(const struct ctx_option_table *table,
						struct ctx_arguments *arguments, void *options,
						struct ctx_err *err);

struct ctx_option_lines { /* a configuration file */
	const char *name; /* of the file, for errors */
	char *text;	  /* zero-terminated; changed, and values point into it */
};

/*
 * Sets the options of lines such as "color = never", "width=100", "--no-pager"; # begins a comment
 * line. Only rows with `is_default`. CTX_E_ARG with "NAME:LINE: ...".
 */
CTX_MUST_CHECK enum ctx_status ctx_option_parse_lines(const struct ctx_option_table *table,
						      const struct ctx_option_lines *lines, void *options,
						      struct ctx_err *err);

/*
 * Setters for `set`: a bool becomes true, a const char * borrows the value, a uint32_t is a decimal
 * number from `min` to `max`.
 */
CTX_MUST_CHECK enum ctx_status ctx_option_set_flag(void *options, const struct ctx_option *option,
						   const char *value, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_option_set_text(void *options, const struct ctx_option *option,
						   const char *value, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_option_set_number(void *options, const struct ctx_option *option,
						     const char *value, struct ctx_err *err);

/* `*ret` is the position of `value` in the row's words. CTX_E_ARG lists them. */
CTX_MUST_CHECK enum ctx_status ctx_option_choice(const struct ctx_option *option, const char *value, int *ret,
						 struct ctx_err *err);

/* Whether the next word of the command line belongs to it. */
static inline bool ctx_option_takes_word(const struct ctx_option *option)
{
	return option->value != CTX_OPTION_FLAG && option->value != CTX_OPTION_MODE;
}

/* Word `i` of a row, from `words` or `word_at`; NULL after the last. */
const char *ctx_option_word(const struct ctx_option *option, size_t i);

#endif
