/*
 * Generates the shell completion of a program from its options and manual: make_completion
 * bash|zsh|fish ctxan|ctxrec
 */
#include "base/buf.h"
#include "base/manual.h"
#include "base/mem.h"
#include "collect/recargs.h"
#include "ctxan/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTION_MAX 60u

/*
 * The first line of the option's text in the manual, shortened, for single quotes of the shell;
 * `quote` is how one is written inside.
 */
static void put_description(const struct ctx_option_table *table, const struct ctx_option *option,
			    const char *quote)
{
	struct ctx_manual_line line;
	bool found = false;
	size_t n, cut = 0;

	for (const char *at = table->manual; ctx_manual_next(&at, &line);) {
		const char *name;

		/* The text of an entry may be on the next line. */
		if (found && line.kind == CTX_MANUAL_TEXT)
			break;
		if (line.kind != CTX_MANUAL_OPTION)
			continue;
		name = ctx_manual_long_name(&line, &n);
		found = strlen(option->name) == n && memcmp(name, option->name, n) == 0;
		if (found && line.text_n != 0)
			break;
	}
	while (cut < line.text_n && strchr(";([\\", line.text[cut]) == NULL)
		cut++;
	if (cut > DESCRIPTION_MAX) {
		cut = DESCRIPTION_MAX;
		while (cut > 0 && line.text[cut] != ' ')
			cut--;
	}
	while (cut > 0 && strchr(" ,.:", line.text[cut - 1]) != NULL)
		cut--;
	for (size_t i = 0; i < cut; i++) {
		if (line.text[i] == '\'')
			fputs(quote, stdout);
		else
			putchar(line.text[i]);
	}
}

static bool has_words(const struct ctx_option *option)
{
	return ctx_option_word(option, 0) != NULL;
}

static void put_words(const struct ctx_option *option)
{
	const char *word;

	for (size_t i = 0; (word = ctx_option_word(option, i)) != NULL; i++)
		printf("%s%s", i != 0 ? " " : "", word);
}

/* "-i|--interval": a pattern of case. */
static void put_pattern(const struct ctx_option *option)
{
	if (option->letter != '\0')
		printf("-%c | ", option->letter);
	printf("--%s", option->name);
}

/* Options with an arbitrary value, or all options with a value: "-p | --pid | --memory) ". */
static void put_patterns(const struct ctx_option_table *table, bool all)
{
	for (size_t i = 0, n = 0; i < table->n_rows; i++) {
		const struct ctx_option *option = &table->rows[i];
		bool open = option->value == CTX_OPTION_TEXT || option->value == CTX_OPTION_LIST;

		if (!ctx_option_takes_word(option) || (!all && (!open || has_words(option))))
			continue;
		fputs(n++ != 0 ? " | " : "", stdout);
		put_pattern(option);
	}
	fputs(") ", stdout);
}

/* Position of the recorded command: its words are completed as a command line of its own. */
static void put_bash_command(const struct ctx_option_table *table)
{
	fputs("\tlocal i\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in\n"
	      "\t\t",
	      stdout);
	put_patterns(table, true);
	fputs("[ \"${COMP_WORDS[i + 1]}\" = = ] && ((i++)); ((i++)) ;;\n"
	      "\t\t--) ((i++)) && break ;;\n"
	      "\t\t-?*) ;;\n"
	      "\t\t*) break ;;\n"
	      "\t\tesac\n"
	      "\tdone\n"
	      "\tif ((i < COMP_CWORD)); then\n"
	      "\t\tif declare -F _command_offset >/dev/null; then\n"
	      "\t\t\t_command_offset $i\n"
	      "\t\telse\n"
	      "\t\t\tcompopt -o filenames\n"
	      "\t\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	      "\t\tfi\n"
	      "\t\treturn\n"
	      "\tfi\n",
	      stdout);
}

static void put_bash_value(const struct ctx_option *option)
{
	bool path = option->value == CTX_OPTION_FILE || option->value == CTX_OPTION_DIRECTORY;

	if (!ctx_option_takes_word(option) || (!path && !has_words(option)))
		return;
	putchar('\t');
	put_pattern(option);
	fputs(")\n\t\t", stdout);
	if (path) {
		printf("compopt -o filenames\n\t\tCOMPREPLY=($(compgen -%c -- \"$cur\"))",
		       option->value == CTX_OPTION_FILE ? 'f' : 'd');
	} else {
		fputs("words=\"", stdout);
		put_words(option);
		fputs(option->value == CTX_OPTION_LIST
			      ? "\"\n\t\tbegin=${cur%\"${cur##*,}\"}\n"
				"\t\tcompopt -o nospace\n"
				"\t\tCOMPREPLY=($(compgen -P \"$begin\" -W \"$words\" -- \"${cur##*,}\"))"
			      : "\"\n\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))",
		      stdout);
	}
	fputs("\n\t\treturn ;;\n", stdout);
}

static void put_bash(const struct ctx_option_table *table)
{
	const char *program = table->program;

	printf("# Completion of %s for bash.\n"
	       "_%s() {\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} begin words\n"
	       "\tCOMPREPLY=()\n"
	       "\t# bash divides --option=value into three words.\n"
	       "\t[ \"$cur\" = = ] && cur=\n"
	       "\t[ \"$option\" = = ] && option=${COMP_WORDS[COMP_CWORD - 2]}\n",
	       program, program);
	if (table->stops_at_argument)
		put_bash_command(table);
	fputs("\tcase $option in\n\t", stdout);
	put_patterns(table, false);
	fputs("return ;;\n", stdout);
	for (size_t i = 0; i < table->n_rows; i++)
		put_bash_value(&table->rows[i]);
	fputs("\tesac\n\tif [[ $cur == -* ]]; then\n\t\tCOMPREPLY=($(compgen -W \"", stdout);
	for (size_t i = 0; i < table->n_rows; i++)
		printf("%s--%s", i != 0 ? " " : "", table->rows[i].name);
	printf("\" -- \"$cur\"))\n"
	       "\telse\n"
	       "\t\tcompopt -o filenames\n"
	       "\t\tCOMPREPLY=($(compgen -%c -- \"$cur\"))\n"
	       "\tfi\n"
	       "}\n"
	       "complete -F _%s %s\n",
	       table->stops_at_argument ? 'c' : 'f', program, program);
}

static void put_zsh(const struct ctx_option_table *table)
{
	printf("#compdef %s\n# Completion of %s for zsh.\n_arguments -s -S", table->program, table->program);
	for (size_t i = 0; i < table->n_rows; i++) {
		const struct ctx_option *option = &table->rows[i];
		bool value = ctx_option_takes_word(option);

		/* '(-i --interval)'{-i+,--interval=}'[description]:interval:(words)' */
		fputs(" \\\n\t", stdout);
		if (option->letter != '\0')
			printf("'*'{-%c%s,--%s%s}'[", option->letter, value ? "+" : "", option->name,
			       value ? "=" : "");
		else
			printf("'*--%s%s[", option->name, value ? "=" : "");
		put_description(table, option, "'\\''");
		putchar(']');
		if (value)
			printf(":%s:", option->name);
		if (option->value == CTX_OPTION_FILE)
			fputs("_files", stdout);
		else if (option->value == CTX_OPTION_DIRECTORY)
			fputs("_files -/", stdout);
		else if (value && has_words(option)) {
			fputs(option->value == CTX_OPTION_LIST ? "_sequence compadd - " : "(", stdout);
			put_words(option);
			fputs(option->value == CTX_OPTION_LIST ? "" : ")", stdout);
		}
		putchar('\'');
	}
	puts(table->stops_at_argument
		     ? " \\\n\t'(-)1:command: _command_names -e' \\\n\t'*::arguments: _normal'"
		     : " \\\n\t'*:recording:_files'");
}

static void put_fish(const struct ctx_option_table *table)
{
	const char *program = table->program;

	printf("# Completion of %s for fish.\n", program);
	if (table->stops_at_argument)
		printf("complete -c %s -x -a '(__fish_complete_subcommand)'\n", program);
	for (size_t i = 0; i < table->n_rows; i++) {
		const struct ctx_option *option = &table->rows[i];

		printf("complete -c %s -l %s", program, option->name);
		if (option->letter != '\0')
			printf(" -s %c", option->letter);
		if (option->value == CTX_OPTION_FILE)
			fputs(" -r -F", stdout);
		else if (option->value == CTX_OPTION_DIRECTORY)
			fputs(" -x -a '(__fish_complete_directories)'", stdout);
		else if (ctx_option_takes_word(option))
			fputs(" -x", stdout);
		if (option->value == CTX_OPTION_LIST && has_words(option)) {
			fputs(" -a '(__fish_append , ", stdout);
			put_words(option);
			fputs(")'", stdout);
		} else if (option->value == CTX_OPTION_TEXT && has_words(option)) {
			fputs(" -a '", stdout);
			put_words(option);
			putchar('\'');
		}
		fputs(" -d '", stdout);
		put_description(table, option, "\\'");
		puts("'");
	}
}

static const struct {
	const char *name;
	void (*put)(const struct ctx_option_table *table);
} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

int main(int argc, char **argv)
{
	const struct ctx_option_table *tables[] = {&ctx_options_table, &ctx_rec_options_table};

	for (size_t i = 0; i < CTX_COUNT_OF(shells) && argc == 3; i++) {
		for (size_t j = 0; j < CTX_COUNT_OF(tables) && strcmp(argv[1], shells[i].name) == 0; j++) {
			if (strcmp(argv[2], tables[j]->program) != 0)
				continue;
			shells[i].put(tables[j]);
			return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
		}
	}
	fputs("make_completion bash|zsh|fish ctxan|ctxrec\n", stderr);
	return 1;
}
