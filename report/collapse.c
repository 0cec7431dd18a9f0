/*
 * std::_Rb_tree<int, pair<int, x> >::_M_erase(node*) -> std::_Rb_tree<…>::_M_erase(…)
 *
 * One pass finds the groups (balanced brackets) with their depth. All groups of one depth collapse
 * together, the outermost first, because an outer group includes its inner ones: per depth there is
 * one step for templates and one for parameters. A group is kept when it is the name itself:
 * <Total>, (anonymous namespace), the brackets of operator<, operator-> and operator(). Scopes are
 * dropped last, all at once: …::_M_erase(…).
 */
#include "base/mem.h"
#include "report/names.h"

#include <string.h>

#define OPERATOR "operator"
#define ANONYMOUS "(anonymous namespace)"

static bool is_word(char c)
{
	return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* Length of an operator's symbol or of an unbalanced bracket at `at`; 0: none. */
static size_t symbol_bytes(const char *text, size_t n, size_t at)
{
	static const char *const symbols[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>",
					      "<=",  ">=",  "->",  "()",  "<",	">"};
	size_t length = sizeof(OPERATOR) - 1;
	bool after_operator = at >= length && memcmp(text + at - length, OPERATOR, length) == 0 &&
			      (at == length || !is_word(text[at - length - 1]));

	for (size_t i = 0; after_operator && i < CTX_COUNT_OF(symbols); i++) {
		size_t size = strlen(symbols[i]);

		/* operator< <int>: the longest symbol matches, as in the compiler. */
		if (size <= n - at && memcmp(text + at, symbols[i], size) == 0)
			return size;
	}
	return n - at >= 2 && text[at] == '-' && text[at + 1] == '>' ? 2 : 0;
}

/* Position of the bracket that closes the one at `begin`; `n`: none. */
static size_t group_end(const char *text, size_t n, size_t begin)
{
	char open = text[begin], close = open == '<' ? '>' : ')';
	size_t depth = 0, parens = 0;

	for (size_t i = begin; i < n; i++) {
		size_t symbol = symbol_bytes(text, n, i);

		if (symbol != 0) {
			i += symbol - 1;
			continue;
		}
		/* Inside parentheses "<" may be a comparison: it is plain text. */
		if (open == '<' && text[i] == '(')
			parens++;
		else if (open == '<' && text[i] == ')' && parens > 0)
			parens--;
		else if (parens == 0 && text[i] == open)
			depth++;
		else if (parens == 0 && text[i] == close && --depth == 0)
			return i;
	}
	return n;
}

static bool is_kept(const char *text, size_t n, size_t begin, size_t end)
{
	size_t size = sizeof(ANONYMOUS) - 1;

	if (text[begin] == '<' && begin == 0)
		return true;
	if (end - begin <= 1) /* nothing in it */
		return true;
	return n - begin >= size && memcmp(text + begin, ANONYMOUS, size) == 0;
}

/*
 * Appends the text with the outermost groups of one kind collapsed. O(n * depth of unbalanced
 * brackets).
 */
static void put_collapsed(struct ctx_buf *buf, const char *text, size_t n, char open, bool ascii)
{
	size_t unbalanced = 0;

	for (size_t i = 0; i < n; i++) {
		size_t symbol = symbol_bytes(text, n, i);
		size_t end = n;

		if (symbol != 0) {
			ctx_buf_put(buf, text + i, symbol);
			i += symbol - 1;
			continue;
		}
		/* A name with thousands of open brackets must not take quadratic time. */
		if (text[i] == open && unbalanced < 8)
			end = group_end(text, n, i);
		if (text[i] == open && end == n)
			unbalanced++;
		if (end == n || is_kept(text, n, i, end)) {
			ctx_buf_put_u8(buf, (uint8_t)text[i]);
			continue;
		}
		ctx_buf_put_u8(buf, (uint8_t)open);
		ctx_buf_put_text(buf, ascii ? ".." : "…");
		ctx_buf_put_u8(buf, open == '<' ? '>' : ')');
		i = end;
	}
}

/* Bytes of " (inlined)" at the end, which is not a parameter list and is kept. */
static size_t suffix_bytes(const char *text, size_t n)
{
	static const char inlined[] = " (inlined)";
	size_t size = sizeof(inlined) - 1;

	return n > size && memcmp(text + n - size, inlined, size) == 0 ? size : 0;
}

/*
 * The first byte of the last component that is outside all brackets; 0: there is only one, or the
 * brackets are not balanced.
 */
static size_t last_component(const char *text, size_t n)
{
	size_t last = 0, depth = 0;

	for (size_t i = 0; i < n; i++) {
		size_t symbol = symbol_bytes(text, n, i);

		if (symbol != 0) {
			i += symbol - 1;
			continue;
		}
		if (text[i] == '<' || text[i] == '(')
			depth++;
		else if ((text[i] == '>' || text[i] == ')') && depth > 0)
			depth--;
		else if (depth == 0 && text[i] == ':' && i + 2 < n && text[i + 1] == ':')
			last = i + 2;
	}
	return depth == 0 ? last : 0;
}

void ctx_text_collapse(struct ctx_buf *buf, const char *text, size_t n, enum ctx_text_short how, bool ascii)
{
	struct ctx_buf templates CTX_AUTO_BUF = {0}, both CTX_AUTO_BUF = {0};
	size_t suffix = suffix_bytes(text, n), body = n - suffix, last;

	if (n == 0)
		return;
	if (how == CTX_TEXT_WHOLE) {
		ctx_buf_put(buf, text, n);
		return;
	}
	put_collapsed(&templates, text, body, '<', ascii);
	if (how >= CTX_TEXT_NO_PARAMETERS && !templates.failed)
		put_collapsed(&both, (const char *)templates.bytes, templates.n, '(', ascii);
	if (templates.failed || both.failed) {
		buf->failed = true;
		return;
	}
	if (how == CTX_TEXT_NO_TEMPLATES) {
		ctx_buf_put(buf, templates.bytes, templates.n);
	} else {
		last = how == CTX_TEXT_NO_SCOPES ? last_component((const char *)both.bytes, both.n) : 0;
		if (last != 0)
			ctx_buf_put_text(buf, ascii ? "..::" : "…::");
		if (both.n > last)
			ctx_buf_put(buf, both.bytes + last, both.n - last);
	}
	ctx_buf_put(buf, text + body, suffix);
}

void ctx_text_shorten(struct ctx_buf *buf, const char *text, size_t n, size_t width, bool ascii)
{
	struct ctx_buf usual CTX_AUTO_BUF = {0}, tried CTX_AUTO_BUF = {0};
	size_t suffix;

	if (ctx_text_width(text, n) <= width) {
		ctx_buf_put(buf, text, n);
		return;
	}
	ctx_text_abbreviate(&usual, text, n);
	for (int how = CTX_TEXT_WHOLE; !usual.failed && how <= CTX_TEXT_NO_SCOPES; how++) {
		ctx_buf_clear(&tried);
		ctx_text_collapse(&tried, (const char *)usual.bytes, usual.n, (enum ctx_text_short)how,
				  ascii);
		if (tried.failed || ctx_text_width((const char *)tried.bytes, tried.n) <= width)
			break;
	}
	if (usual.failed || tried.failed) {
		buf->failed = true;
		return;
	}
	suffix = suffix_bytes((const char *)tried.bytes, tried.n);
	if (suffix == 0 || width <= 2 * suffix) {
		ctx_text_cut(buf, (const char *)tried.bytes, tried.n, width, ascii);
		return;
	}
	ctx_text_cut(buf, (const char *)tried.bytes, tried.n - suffix, width - suffix, ascii);
	ctx_buf_put(buf, tried.bytes + tried.n - suffix, suffix);
}
