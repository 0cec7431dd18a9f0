/*
 * The kinds of text that are read as traces of calls, and what a line of them says.
 */
#ifndef CTX_FORMATS_CALLTRACE_CT_DIALECT_H
#define CTX_FORMATS_CALLTRACE_CT_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_ct_text {
	const char *at; /* in the line; not terminated */
	size_t n;
};

enum ctx_ct_kind {
	CTX_CT_NOTHING = 0, /* a comment, a head line, what is not for us */
	CTX_CT_ENTER,
	CTX_CT_EXIT,   /* of `name`; without a name: of the deepest open call */
	CTX_CT_LEAF,   /* a whole call, duration_ns long, that calls nothing */
	CTX_CT_STACK,  /* the open calls are now those of `name`, separated by ';' */
	CTX_CT_SAMPLE, /* a sample of these frames */
	CTX_CT_COUNT,  /* `name` counted `number` since the thread's line before */
	CTX_CT_ON,
	CTX_CT_OFF,  /* `name`: why */
	CTX_CT_END,  /* of the thread */
	CTX_CT_PART, /* a part of the file begins whose times are in order, whatever those before it are */
};

struct ctx_ct_record {
	enum ctx_ct_kind kind;
	uint64_t time_ns;
	uint64_t duration_ns;
	uint64_t number;		 /* of COUNT; by_processor: the processor */
	struct ctx_ct_text name, thread; /* thread: as the line names it */
	struct ctx_ct_text thread_name;	 /* empty: the same */
};

#define CTX_CT_CLOCK_DEPTH 512u

/* What a dialect remembers from line to line. All zero at the begin of the text. */
struct ctx_ct_parser {
	uint64_t unit_ns; /* of times; 0: ns */
	uint64_t clock_ns;
	enum { CTX_CT_CLOCK_UNKNOWN, CTX_CT_CLOCK_RELATIVE, CTX_CT_CLOCK_ABSOLUTE } clock;
	uint64_t only_cpu; /* other processors' lines are nothing; 0: all are read; else the number + 1 */
	/* Of a text with durations alone: when the open calls of the processor began. */
	uint64_t begins[CTX_CT_CLOCK_DEPTH];
	uint32_t n_begins;
	char task[64]; /* the one that the processor runs; "" unknown */
};

struct ctx_ct_dialect {
	const char *format; /* for the header of reports */
	const char *object; /* of its functions; NULL: the file */
	/* Whether a text that begins so is of this dialect. */
	bool (*is)(struct ctx_ct_text head);
	/* What the line says; what is wrong with it, NULL: nothing. */
	const char *(*parse)(struct ctx_ct_parser *parser, struct ctx_ct_text line,
			     struct ctx_ct_record *ret);
	bool has_parts;	   /* CTX_CT_PART */
	bool by_processor; /* the lines of each processor are in order */
};

extern const struct ctx_ct_dialect ctx_ct_own, ctx_ct_uftrace, ctx_ct_trace_cmd, ctx_ct_ftrace, ctx_ct_strace;

/* --- scanning: each takes what it finds from the begin of the text, or leaves it --- */

static inline void ctx_ct_skip(struct ctx_ct_text *text, size_t n)
{
	text->at += n;
	text->n -= n;
}

static inline void ctx_ct_blanks(struct ctx_ct_text *text)
{
	while (text->n != 0 && (*text->at == ' ' || *text->at == '\t'))
		ctx_ct_skip(text, 1);
}

/* Up to the next blank; then the blanks. */
static inline struct ctx_ct_text ctx_ct_word(struct ctx_ct_text *text)
{
	struct ctx_ct_text word = {text->at, 0};

	while (word.n < text->n && text->at[word.n] != ' ' && text->at[word.n] != '\t')
		word.n++;
	ctx_ct_skip(text, word.n);
	ctx_ct_blanks(text);
	return word;
}

static inline void ctx_ct_trim(struct ctx_ct_text *text)
{
	ctx_ct_blanks(text);
	while (text->n != 0 && (text->at[text->n - 1] == ' ' || text->at[text->n - 1] == '\t'))
		text->n--;
}

bool ctx_ct_is(struct ctx_ct_text text, const char *word);
bool ctx_ct_begins(struct ctx_ct_text text, const char *word);

/* Takes it if the text begins with it. */
bool ctx_ct_take(struct ctx_ct_text *text, const char *word);

/* The position of `word`; text.n: it is not there. */
size_t ctx_ct_find(struct ctx_ct_text text, const char *word);

/* A whole word of digits. */
bool ctx_ct_number(struct ctx_ct_text word, uint64_t *ret);

/* "12", "0.25": times the unit, up to 2^62 ns. Digits behind a ns are dropped. */
bool ctx_ct_time(struct ctx_ct_text word, uint64_t unit_ns, uint64_t *ret);

/* The next line of a text. False: no more. */
bool ctx_ct_next_line(struct ctx_ct_text *text, struct ctx_ct_text *ret);

#endif
