/*
 *	0x17 0x08 0x44 "tracing" | version, zero byte | big endian? u8 | bytes of a long u8 | bytes of a page u32
 *	"header_page" 0 u64 n, n bytes | "header_event" 0 u64 n, n bytes
 *	u32 n, n * { u64 n, n bytes }					formats of ftrace itself
 *	u32 n, n * { system 0, u32 n, n * { u64 n, n bytes } }		formats of events
 *	kallsyms, strings of printk, names of processes			of no use here
 *
 * A format:
 *
 *	name: sched_switch
 *	ID: 372
 *	format:
 *		field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
 *	print fmt: "... prev_state=%s", ... __print_flags(..., { 0x00000001, "S" }, ...
 *
 * What the bits of prev_state mean differs from kernel to kernel; the letters of the print format tell it.
 */
#include "formats/perfdata/pd_tracing.h"

#include "base/digits.h"
#include "base/mem.h"
#include "formats/perfdata/pd_wire.h"

#include <string.h>

static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

#define NEEDS(field) (1u << (field))

static const struct wanted {
	const char *system, *name, *both;
	unsigned needs; /* fields */
} wanted[CTX_PD_TP_N] = {
	[CTX_PD_TP_SWITCH] = {"sched", "sched_switch", "sched:sched_switch",
			      NEEDS(CTX_PD_FIELD_PREV_STATE) | NEEDS(CTX_PD_FIELD_NEXT_PID)},
	[CTX_PD_TP_WAKING] = {"sched", "sched_waking", "sched:sched_waking", NEEDS(CTX_PD_FIELD_PID)},
	[CTX_PD_TP_WAKEUP] = {"sched", "sched_wakeup", "sched:sched_wakeup", NEEDS(CTX_PD_FIELD_PID)},
	[CTX_PD_TP_WAKEUP_NEW] = {"sched", "sched_wakeup_new", "sched:sched_wakeup_new",
				  NEEDS(CTX_PD_FIELD_PID)},
	[CTX_PD_TP_SYS_ENTER] = {"raw_syscalls", "sys_enter", "raw_syscalls:sys_enter", 0},
	[CTX_PD_TP_SYS_EXIT] = {"raw_syscalls", "sys_exit", "raw_syscalls:sys_exit", 0},
	[CTX_PD_TP_FAULT_USER] = {"exceptions", "page_fault_user", "exceptions:page_fault_user",
				  NEEDS(CTX_PD_FIELD_ERROR_CODE)},
	[CTX_PD_TP_FAULT_KERNEL] = {"exceptions", "page_fault_kernel", "exceptions:page_fault_kernel", 0},
};

static const char *const field_names[CTX_PD_FIELD_N] = {
	[CTX_PD_FIELD_COMMON_PID] = "common_pid", [CTX_PD_FIELD_PREV_STATE] = "prev_state",
	[CTX_PD_FIELD_NEXT_PID] = "next_pid",	  [CTX_PD_FIELD_PID] = "pid",
	[CTX_PD_FIELD_ERROR_CODE] = "error_code",
};

struct text { /* not zero-terminated */
	const char *at, *end;
};

/* Numbers */

static void skip_blanks(struct text *text)
{
	while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
		text->at++;
}

/* Decimal, or hexadecimal after 0x. */
static bool take_number(struct text *text, uint64_t *ret)
{
	unsigned base = 10;
	const char *begin;

	skip_blanks(text);
	if (text->end - text->at > 2 && text->at[0] == '0' && (text->at[1] == 'x' || text->at[1] == 'X')) {
		base = 16;
		text->at += 2;
	}
	*ret = 0;
	for (begin = text->at; text->at < text->end; text->at++) {
		int digit = ctx_digit(*text->at);

		if (digit < 0 || digit >= (int)base)
			break;
		if (*ret > (UINT64_MAX - (unsigned)digit) / base)
			return false;
		*ret = *ret * base + (unsigned)digit;
	}
	return text->at > begin;
}

static bool take_word(struct text *text, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(text->end - text->at) < n || memcmp(text->at, word, n) != 0)
		return false;
	text->at += n;
	return true;
}

/* The number behind "KEY:" in a line. */
static bool find_number(struct text line, const char *key, uint64_t *ret)
{
	char *at = memmem(line.at, (size_t)(line.end - line.at), key, strlen(key));

	if (at == NULL)
		return false;
	line.at = at + strlen(key);
	return take_number(&line, ret);
}

/* Formats */

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* "field:pid_t prev_pid;	offset:24;	size:4;	signed:1;": what is declared is the last name before the ';'. */
static void take_field(struct text line, struct ctx_pd_format *format)
{
	const char *end = memchr(line.at, ';', (size_t)(line.end - line.at)), *begin;
	uint64_t offset, size;

	if (end == NULL || !find_number(line, "offset:", &offset) || !find_number(line, "size:", &size))
		return;
	for (begin = end; begin > line.at && is_of_name(begin[-1]); begin--)
		;
	if (offset > UINT16_MAX || (size != 1 && size != 2 && size != 4 && size != 8))
		return;
	for (int i = 0; i < CTX_PD_FIELD_N; i++) {
		if (strlen(field_names[i]) == (size_t)(end - begin) &&
		    memcmp(field_names[i], begin, (size_t)(end - begin)) == 0)
			format->fields[i] = (struct ctx_pd_field_place){(uint16_t)offset, (uint16_t)size};
	}
}

/* Letters as the kernel has had them since 2.6: X, Z and x are dead, T and t stopped. */
static void take_state(struct ctx_pd_tracing *tracing, uint64_t bit, char letter)
{
	if (letter == 'X' || letter == 'Z' || letter == 'x')
		tracing->dead |= bit;
	else if (letter == 'T' || letter == 't')
		tracing->stopped |= bit;
	else if (letter != 'R')
		tracing->waits |= bit;
}

/* Each { NUMBER, "LETTER" } of the print format of sched_switch. */
static void take_states(struct text line, struct ctx_pd_tracing *tracing)
{
	while ((line.at = memchr(line.at, '{', (size_t)(line.end - line.at))) != NULL) {
		uint64_t bit;

		line.at++;
		if (!take_number(&line, &bit) || !take_word(&line, ","))
			continue;
		skip_blanks(&line);
		if (take_word(&line, "\"") && line.end - line.at > 1 && line.at[1] == '"')
			take_state(tracing, bit, *line.at);
	}
}

/* A print format without letters: as Linux has them since 4.14. */
static void set_usual_states(struct ctx_pd_tracing *tracing)
{
	if ((tracing->dead | tracing->stopped | tracing->waits) != 0)
		return;
	tracing->dead = 0x30;
	tracing->stopped = 0x0c;
	tracing->waits = 0xc3;
}

static enum ctx_pd_tracepoint tracepoint_of(const char *system, struct text name)
{
	for (int i = CTX_PD_TP_NONE + 1; i < CTX_PD_TP_N; i++) {
		if (strcmp(wanted[i].system, system) == 0 &&
		    strlen(wanted[i].name) == (size_t)(name.end - name.at) &&
		    memcmp(wanted[i].name, name.at, (size_t)(name.end - name.at)) == 0)
			return (enum ctx_pd_tracepoint)i;
	}
	return CTX_PD_TP_NONE;
}

static struct text next_line(struct text *text)
{
	const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
	struct text line = {text->at, end != NULL ? end : text->end};

	text->at = end != NULL ? end + 1 : text->end;
	skip_blanks(&line);
	return line;
}

/* One format. Without a number it cannot be told which samples are of it. */
static bool take_format(const char *system, struct text text, struct ctx_pd_tracing *tracing)
{
	enum ctx_pd_tracepoint which = CTX_PD_TP_NONE;
	struct ctx_pd_format format = {0};

	while (text.at < text.end) {
		struct text line = next_line(&text);

		if (take_word(&line, "name:")) {
			skip_blanks(&line);
			which = tracepoint_of(system, line);
			if (which == CTX_PD_TP_NONE)
				return true; /* nobody needs it */
		} else if (take_word(&line, "ID:")) {
			format.found = take_number(&line, &format.id);
		} else if (take_word(&line, "field:")) {
			take_field(line, &format);
		} else if (which == CTX_PD_TP_SWITCH && take_word(&line, "print fmt:")) {
			take_states(line, tracing);
		}
	}
	if (which == CTX_PD_TP_NONE || !format.found)
		return false;
	tracing->formats[which] = format;
	return true;
}

/* The section */

/* A text up to its zero byte; NULL (and failed) when there is none. */
static const char *take_text(struct ctx_pd_wire *wire)
{
	const uint8_t *end = wire->failed || ctx_pd_wire_left(wire) == 0
				     ? NULL
				     : memchr(wire->at, 0, ctx_pd_wire_left(wire));

	if (end == NULL) {
		wire->failed = true;
		return NULL;
	}
	return (const char *)ctx_pd_wire_bytes(wire, (size_t)(end - wire->at) + 1);
}

/* u64 n, n bytes */
static struct text take_bytes(struct ctx_pd_wire *wire)
{
	uint64_t n = ctx_pd_wire_u64(wire);
	const uint8_t *bytes = n <= ctx_pd_wire_left(wire) ? ctx_pd_wire_bytes(wire, (size_t)n) : NULL;

	if (bytes == NULL) {
		wire->failed = true;
		return (struct text){"", ""};
	}
	return (struct text){(const char *)bytes, (const char *)bytes + n};
}

/* What is in front of the formats; the byte order is its own, as it is told there. */
static void take_head(struct ctx_pd_wire *wire)
{
	const uint8_t *bytes;

	take_text(wire); /* version */
	bytes = ctx_pd_wire_bytes(wire, 2);
	if (bytes == NULL)
		return;
	wire->swap = (bytes[0] != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	ctx_pd_wire_u32(wire); /* bytes of a page */
	for (int i = 0; i < 2 && !wire->failed; i++) {
		take_text(wire); /* "header_page", "header_event" */
		take_bytes(wire);
	}
}

static enum ctx_status take_system(struct ctx_pd_wire *wire, struct ctx_pd_tracing *tracing,
				   struct ctx_err *err)
{
	const char *system = take_text(wire);
	uint32_t n = ctx_pd_wire_u32(wire);

	for (uint32_t i = 0; i < n && !wire->failed; i++) {
		struct text text = take_bytes(wire);

		if (!wire->failed && !take_format(system, text, tracing))
			return ctx_err_set(err, CTX_E_FORMAT, "a format of %.32s without a name or a number",
					   system);
	}
	return CTX_OK;
}

enum ctx_status ctx_pd_tracing_parse(const void *bytes, size_t n, struct ctx_pd_tracing *ret,
				     struct ctx_err *err)
{
	struct ctx_pd_wire wire = ctx_pd_wire_make(bytes, n, false);
	const uint8_t *begin = ctx_pd_wire_bytes(&wire, sizeof(magic));
	struct ctx_pd_tracing tracing = {0};
	enum ctx_status status = CTX_OK;
	uint32_t count;

	*ret = (struct ctx_pd_tracing){0};
	if (begin == NULL || memcmp(begin, magic, sizeof(magic)) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "not what its magic number says");
	take_head(&wire);
	count = ctx_pd_wire_u32(&wire);
	for (uint32_t i = 0; i < count && !wire.failed; i++)
		take_bytes(&wire); /* formats of ftrace itself */
	count = ctx_pd_wire_u32(&wire);
	for (uint32_t i = 0; i < count && !wire.failed && status == CTX_OK; i++)
		status = take_system(&wire, &tracing, err);
	if (status != CTX_OK)
		return status;
	if (wire.failed)
		return ctx_err_set(err, CTX_E_FORMAT, "cut short, or a text without an end");
	set_usual_states(&tracing);
	*ret = tracing;
	return CTX_OK;
}

const char *ctx_pd_tracepoint_name(enum ctx_pd_tracepoint tracepoint)
{
	return wanted[tracepoint].both;
}

enum ctx_pd_tracepoint ctx_pd_tracing_find(const struct ctx_pd_tracing *tracing, uint64_t id)
{
	for (int i = CTX_PD_TP_NONE + 1; i < CTX_PD_TP_N; i++) {
		const struct ctx_pd_format *format = &tracing->formats[i];
		bool complete = format->found && format->id == id;

		for (int k = 0; k < CTX_PD_FIELD_N; k++)
			complete = complete && (!(wanted[i].needs & NEEDS(k)) || format->fields[k].size != 0);
		if (complete)
			return (enum ctx_pd_tracepoint)i;
	}
	return CTX_PD_TP_NONE;
}

bool ctx_pd_tracing_value(const struct ctx_pd_format *format, enum ctx_pd_field field, const uint8_t *raw,
			  size_t n, bool swap, int64_t *ret)
{
	struct ctx_pd_field_place place = format->fields[field];
	struct ctx_pd_wire wire = ctx_pd_wire_make(raw, n, swap);

	if (place.size == 0 || raw == NULL || ctx_pd_wire_bytes(&wire, place.offset) == NULL)
		return false;
	switch (place.size) {
	case 1:
		*ret = ctx_pd_wire_left(&wire) != 0 ? (int8_t)*wire.at : 0;
		ctx_pd_wire_bytes(&wire, 1);
		break;
	case 2:
		*ret = (int16_t)ctx_pd_wire_u16(&wire);
		break;
	case 4:
		*ret = (int32_t)ctx_pd_wire_u32(&wire);
		break;
	default:
		*ret = (int64_t)ctx_pd_wire_u64(&wire);
	}
	return !wire.failed;
}
