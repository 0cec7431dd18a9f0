#include "base/option_table.h"

#include "base/mem.h"
#include "base/near.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROW 256 /* getopt's value of row 0: letters are below */

struct getopt_table {
	struct option *options; /* a row's name, then its alias */
	char *letters;
	size_t n;
};

static void add_option(struct getopt_table *made, const char *name, const struct ctx_option *row, int value)
{
	made->options[made->n++] = (struct option){name,
						   row->value == CTX_OPTION_FLAG   ? no_argument
						   : row->value == CTX_OPTION_MODE ? optional_argument
										   : required_argument,
						   NULL, value};
}

/* "+:r:i:q": an argument ends the options, errors are ours, -r and -i have values. */
static void fill(struct getopt_table *made, const struct ctx_option_table *table)
{
	char *letter = made->letters;

	if (table->stops_at_argument)
		*letter++ = '+';
	*letter++ = ':';
	for (size_t i = 0; i < table->n_rows; i++) {
		const struct ctx_option *row = &table->rows[i];

		add_option(made, row->name, row, FIRST_ROW + (int)i);
		if (row->alias != NULL)
			add_option(made, row->alias, row, FIRST_ROW + (int)i);
		if (row->letter == '\0')
			continue;
		*letter++ = row->letter;
		if (ctx_option_takes_word(row))
			*letter++ = ':';
	}
	*letter = '\0';
}

static const struct ctx_option *find_row(const struct ctx_option_table *table, int value)
{
	if (value >= FIRST_ROW)
		return &table->rows[value - FIRST_ROW];
	for (size_t i = 0; i < table->n_rows; i++) {
		if (table->rows[i].letter == value)
			return &table->rows[i];
	}
	return NULL;
}

static enum ctx_status refuse_long(const struct ctx_option_table *table, const char *word,
				   struct ctx_err *err)
{
	size_t n = strcspn(word, "=");
	struct ctx_near near = {0};

	for (size_t i = 0; i < table->n_rows && n > 2; i++)
		ctx_near_consider(&near, table->rows[i].name, strlen(table->rows[i].name), word + 2, n - 2);
	return ctx_err_set(err, CTX_E_ARG, "unknown option '%.*s'%s%s (see %s --help)",
			   (int)(n < CTX_ERR_MAX / 4 ? n : CTX_ERR_MAX / 4), word,
			   near.n != 0 ? ", perhaps --" : "", near.n != 0 ? near.names[0] : "",
			   table->program);
}

/* getopt's own messages come in two lines and go to stderr; ours is one line in `err`. */
static enum ctx_status usage_error(const struct ctx_option_table *table,
				   const struct ctx_arguments *arguments, int answer, struct ctx_err *err)
{
	const char *word = optind > 0 && optind <= arguments->n ? arguments->words[optind - 1] : "";

	if (answer == ':')
		return ctx_err_set(err, CTX_E_ARG, "option '%s' needs a value (see %s --help)", word,
				   table->program);
	if (optopt != 0 && optopt < FIRST_ROW)
		return ctx_err_set(err, CTX_E_ARG, "unknown option '-%c' (see %s --help)", optopt,
				   table->program);
	if (optopt != 0)
		return ctx_err_set(err, CTX_E_ARG, "option '%s' takes no value (see %s --help)", word,
				   table->program);
	return refuse_long(table, word, err);
}

enum ctx_status ctx_option_parse(const struct ctx_option_table *table, struct ctx_arguments *arguments,
				 void *options, struct ctx_err *err)
{
	struct option *list CTX_AUTO_FREE = ctx_calloc(2 * table->n_rows + 1, sizeof(*list));
	char *letters CTX_AUTO_FREE = ctx_calloc(2 * table->n_rows + 3, 1);
	struct getopt_table made = {.options = list, .letters = letters};
	enum ctx_status status = CTX_OK;
	int answer;

	if (list == NULL || letters == NULL)
		return ctx_err_nomem(err);
	fill(&made, table);
	optind = 0; /* glibc: restarts getopt */
	while (status == CTX_OK &&
	       (answer = getopt_long(arguments->n, arguments->words, letters, list, NULL)) != -1) {
		const struct ctx_option *row = find_row(table, answer);

		status = row != NULL ? row->set(options, row, optarg, err)
				     : usage_error(table, arguments, answer, err);
	}
	arguments->first = optind;
	return status;
}

static const struct ctx_option *row_of_name(const struct ctx_option_table *table, const char *name)
{
	for (size_t i = 0; i < table->n_rows; i++) {
		const struct ctx_option *row = &table->rows[i];

		if (strcmp(row->name, name) == 0 || (row->alias != NULL && strcmp(row->alias, name) == 0))
			return row;
	}
	return NULL;
}

/* Cuts the blanks around a text. */
static char *trim(char *text)
{
	size_t n;

	text += strspn(text, " \t\r");
	for (n = strlen(text); n > 0 && strchr(" \t\r", text[n - 1]) != NULL; n--)
		text[n - 1] = '\0';
	return text;
}

/* "--width = 100": cuts the name off, and returns its value, "" for none. */
static char *split(char **name)
{
	char *value;

	if (strncmp(*name, "--", 2) == 0)
		*name += 2;
	value = *name + strcspn(*name, " \t=");
	if (*value == '\0')
		return value;
	*value++ = '\0';
	value += strspn(value, " \t=");
	return value;
}

static enum ctx_status parse_line(const struct ctx_option_table *table, char *line, void *options,
				  struct ctx_err *err)
{
	char *name = trim(line), *value;
	const struct ctx_option *row;

	if (*name == '\0' || *name == '#')
		return CTX_OK;
	value = split(&name);
	row = row_of_name(table, name);
	if (row == NULL) {
		struct ctx_near near = {0};

		for (size_t i = 0; i < table->n_rows; i++)
			ctx_near_consider(&near, table->rows[i].name, strlen(table->rows[i].name), name,
					  strlen(name));
		return ctx_err_set(err, CTX_E_ARG, "no option '%.60s'%s%s", name,
				   near.n != 0 ? ", perhaps " : "", near.n != 0 ? near.names[0] : "");
	}
	if (!row->is_default)
		return ctx_err_set(err, CTX_E_ARG, "'%s' belongs on the command line", name);
	if (row->value != CTX_OPTION_MODE && (row->value == CTX_OPTION_FLAG) != (*value == '\0'))
		return ctx_err_set(err, CTX_E_ARG, "'%s' %s", name,
				   *value == '\0' ? "needs a value" : "takes no value");
	return row->set(options, row, *value != '\0' ? value : NULL, err);
}

enum ctx_status ctx_option_parse_lines(const struct ctx_option_table *table,
				       const struct ctx_option_lines *lines, void *options,
				       struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	char *line = lines->text;

	for (unsigned number = 1; line != NULL; number++) {
		char *next = strchr(line, '\n');

		if (next != NULL)
			*next++ = '\0';
		status = parse_line(table, line, options, err);
		if (status != CTX_OK)
			return ctx_err_prefix(err, status, "%.200s:%u", lines->name, number);
		line = next;
	}
	return status;
}

static void *place(void *options, const struct ctx_option *option)
{
	return (char *)options + option->at;
}

enum ctx_status ctx_option_set_flag(void *options, const struct ctx_option *option, const char *value,
				    struct ctx_err *err)
{
	(void)value;
	(void)err;
	*(bool *)place(options, option) = true;
	return CTX_OK;
}

enum ctx_status ctx_option_set_text(void *options, const struct ctx_option *option, const char *value,
				    struct ctx_err *err)
{
	(void)err;
	*(const char **)place(options, option) = value;
	return CTX_OK;
}

enum ctx_status ctx_option_set_number(void *options, const struct ctx_option *option, const char *value,
				      struct ctx_err *err)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end != '\0' || errno != 0 || number < option->min ||
	    number > option->max)
		return ctx_err_set(err, CTX_E_ARG, "--%s '%s': a number from %u to %u is wanted",
				   option->name, value, option->min, option->max);
	*(uint32_t *)place(options, option) = (uint32_t)number;
	return CTX_OK;
}

enum ctx_status ctx_option_choice(const struct ctx_option *option, const char *value, int *ret,
				  struct ctx_err *err)
{
	char known[128] = "";
	const char *word;

	for (int i = 0; (word = ctx_option_word(option, (size_t)i)) != NULL; i++) {
		size_t used = strlen(known);

		if (strcmp(value, word) == 0) {
			*ret = i;
			return CTX_OK;
		}
		snprintf(known + used, sizeof(known) - used, "%s%s", i != 0 ? ", " : "", word);
	}
	return ctx_err_set(err, CTX_E_ARG, "--%s '%s' is not known (%s)", option->name, value, known);
}

const char *ctx_option_word(const struct ctx_option *option, size_t i)
{
	if (option->word_at != NULL)
		return option->word_at(i);
	return option->words != NULL ? option->words[i] : NULL;
}
