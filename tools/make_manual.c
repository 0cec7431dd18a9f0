/*
 * Generates the man page of a program from its manual text (base/manual.h): make_manual
 * ctxan|ctxrec >ctxan.1
 *
 * Headings become subsections of OPTIONS (the two of `SECTIONS`: sections of their own), options
 * and items paragraphs with a tag, lines deeper than the text before are kept as they are, and
 * lines only for the man page are copied.
 */
#include "base/manual.h"
#include "base/mem.h"
#include "collect/recargs.h"
#include "ctxan/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct page {
	bool in_options; /* a heading was seen: text before the first is for --help only */
	bool in_examples;
	bool in_items; /* between .RS and .RE */
	bool kept;     /* between .nf and .fi */
	bool at_entry; /* the next text is the first of an entry */
	bool open;     /* a sentence without its full stop */
	size_t column; /* of the entry's text */
};

/* "-" is a hyphen to typeset and "\" begins an escape. */
static void put_escaped(const char *text, size_t n)
{
	if (n != 0 && (*text == '.' || *text == '\''))
		fputs("\\&", stdout);
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '-')
			fputs("\\-", stdout);
		else if (text[i] == '\\')
			fputs("\\e", stdout);
		else
			putchar(text[i]);
	}
}

static void end_kept(struct page *page)
{
	if (page->kept)
		puts(".fi");
	page->kept = false;
}

/* The words of --help are half sentences: here they end with a full stop. */
static void end_text(struct page *page)
{
	if (page->open)
		puts(".");
	page->open = false;
	end_kept(page);
}

static void end_items(struct page *page)
{
	if (page->in_items)
		puts(".RE");
	page->in_items = false;
}

/* A word that may be capitalised: not a name such as "profile.proto", and not "tree:". */
static bool begins_sentence(const char *text, size_t n)
{
	for (size_t i = 0; i < n && text[i] != ' '; i++) {
		if (!islower((unsigned char)text[i]) && text[i] != ',' && text[i] != '-')
			return false;
	}
	return true;
}

/* The last line is buffered until it is known whether the text continues. */
static void put_text(struct page *page, const char *text, size_t n)
{
	if (n == 0)
		return;
	if (page->open)
		putchar('\n');
	if (page->at_entry && begins_sentence(text, n)) {
		putchar(toupper((unsigned char)*text++));
		n--;
	}
	put_escaped(text, n);
	page->at_entry = false;
	page->open = strchr(".:", text[n - 1]) == NULL;
	if (!page->open)
		putchar('\n');
}

/* "-i, --interval BEGIN:END": names bold, the value in italics unless its words are literal. */
static void put_term(const char *term, size_t n)
{
	bool value = false;

	fputs(".TP\n\\fB", stdout);
	for (size_t i = 0; i < n;) {
		size_t word = i;

		while (word < n && term[word] != ' ')
			word++;
		if (i != 0 && term[i] != '-' && !value) {
			value = true;
			fputs(isupper((unsigned char)term[i]) ? "\\fI" : "\\fR", stdout);
		}
		put_escaped(term + i, word - i);
		if (word < n)
			putchar(' ');
		i = word + (word < n);
	}
	puts("\\fR");
}

static void put_heading(struct page *page, const struct ctx_manual_line *line)
{
	end_text(page);
	end_items(page);
	page->in_options = true;
	page->in_examples = line->term_n == 8 && memcmp(line->term, "Examples", 8) == 0;
	if (page->in_examples)
		fputs(".SH EXAMPLES\n.nf\n", stdout);
	else if (line->term_n == 11 && memcmp(line->term, "Exit status", 11) == 0)
		puts(".SH EXIT STATUS");
	else
		printf(".SS %.*s\n", (int)line->term_n, line->term);
	page->kept = page->in_examples;
	page->column = 2;
}

static void put_entry(struct page *page, const struct ctx_manual_line *line)
{
	end_text(page);
	if (line->kind == CTX_MANUAL_OPTION)
		end_items(page);
	else if (!page->in_items)
		puts(".RS");
	page->in_items = line->kind == CTX_MANUAL_ITEM;
	put_term(line->term, line->term_n);
	page->at_entry = true;
	page->column = line->indent + (size_t)(line->text - line->term);
	put_text(page, line->text, line->text_n);
}

static void put_plain(struct page *page, const struct ctx_manual_line *line)
{
	bool keep = page->in_examples || (line->indent > page->column && !page->at_entry);

	if (line->text_n == 0)
		return;
	/* Text between the entries ends the items; the man page has its own text for it. */
	if (line->indent < page->column && page->in_items) {
		end_text(page);
		end_items(page);
		return;
	}
	if (keep && !page->kept) {
		end_text(page);
		puts(".nf");
		page->kept = true;
	}
	if (!keep) {
		end_kept(page);
		put_text(page, line->text, line->text_n);
		return;
	}
	put_escaped(line->text, line->text_n);
	putchar('\n');
}

static void put_page_line(struct page *page, const struct ctx_manual_line *line)
{
	end_text(page);
	if (line->text_n > 3 && memcmp(line->text, ".SH", 3) == 0)
		end_items(page);
	page->at_entry = false;
	/* Hyphens of commands are escaped, so that they can be copied. */
	for (size_t i = 0; i < line->text_n; i++) {
		if (line->text[i] == '-' && (i == 0 || line->text[i - 1] != '\\'))
			putchar('\\');
		putchar(line->text[i]);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	const struct ctx_option_table *tables[] = {&ctx_options_table, &ctx_rec_options_table}, *table = NULL;
	struct page page = {0};
	struct ctx_manual_line line;
	const char *at;

	for (size_t i = 0; i < CTX_COUNT_OF(tables) && argc == 2; i++)
		table = strcmp(argv[1], tables[i]->program) == 0 ? tables[i] : table;
	if (table == NULL) {
		fputs("make_manual ctxan|ctxrec\n", stderr);
		return 1;
	}
	fputs(".TH ", stdout);
	for (const char *c = table->program; *c != '\0'; c++)
		putchar(toupper((unsigned char)*c));
	printf(" 1 \"\" \"ctxrec %s\" \"User Commands\"\n", CTX_VERSION);
	for (at = table->manual; ctx_manual_next(&at, &line);) {
		switch (line.kind) {
		case CTX_MANUAL_PAGE:
			put_page_line(&page, &line);
			break;
		case CTX_MANUAL_HEADING:
			put_heading(&page, &line);
			break;
		case CTX_MANUAL_OPTION:
		case CTX_MANUAL_ITEM:
			put_entry(&page, &line);
			break;
		case CTX_MANUAL_TEXT:
			if (page.in_options)
				put_plain(&page, &line);
			break;
		}
	}
	end_text(&page);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
