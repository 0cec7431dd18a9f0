/*
 * std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > -> std::string
 *
 *	1. inline namespaces of the standard libraries go: std::__cxx11::, std::__1::
 *	2. default template arguments go, where they are not the first: std::allocator<...>, ...
 *	3. basic_string<char> and its like get their usual names
 *	4. "> >" is ">>"
 */
#include "base/mem.h"
#include "report/names.h"

#include <string.h>

static const char *const inline_namespaces[] = {"std::__cxx11::", "std::__1::", "std::__ndk1::"};

static const char *const defaults[] = {
	"std::allocator<", "std::char_traits<",	   "std::less<",	 "std::hash<",
	"std::equal_to<",  "std::default_delete<", "std::regex_traits<",
};

static bool starts(const char *text, size_t n, const char *with)
{
	size_t size = strlen(with);

	return n >= size && memcmp(text, with, size) == 0;
}

/* Bytes of an argument up to the "," or ">" that ends it; 0: its brackets are not balanced. */
static size_t argument_bytes(const char *text, size_t n)
{
	size_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '<' || text[i] == '(')
			depth++;
		else if ((text[i] == '>' || text[i] == ')' || text[i] == ',') && depth == 0)
			return i;
		else if (text[i] == '>' || text[i] == ')')
			depth--;
	}
	return 0;
}

/* Bytes of ", std::allocator<char>" and its like at `text`; 0: it is something else. */
static size_t default_bytes(const char *text, size_t n)
{
	size_t bytes;

	if (!starts(text, n, ", "))
		return 0;
	for (size_t i = 0; i < CTX_COUNT_OF(defaults); i++) {
		if (!starts(text + 2, n - 2, defaults[i]))
			continue;
		bytes = argument_bytes(text + 2, n - 2);
		if (bytes == 0)
			return 0;
		/* "vector<int, std::allocator<int> >" */
		return bytes + 2 + (starts(text + 2 + bytes, n - 2 - bytes, " >") ? 1 : 0);
	}
	return 0;
}

/* The first step. */
static void put_without_namespaces(struct ctx_buf *buf, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t skipped = 0;

		for (size_t j = 0; text[i] == 's' && j < CTX_COUNT_OF(inline_namespaces); j++) {
			if (starts(text + i, n - i, inline_namespaces[j]))
				skipped = strlen(inline_namespaces[j]);
		}
		if (skipped != 0)
			ctx_buf_put_text(buf, "std::");
		else
			ctx_buf_put_u8(buf, (uint8_t)text[i]);
		i += skipped != 0 ? skipped - 1 : 0;
	}
}

/* The second step. */
static void put_without_defaults(struct ctx_buf *buf, const char *text, size_t n)
{
	size_t tried = 0;

	for (size_t i = 0; i < n; i++) {
		/* A name with thousands of unbalanced brackets must not take quadratic time. */
		size_t skipped = text[i] == ',' && tried < 64 ? default_bytes(text + i, n - i) : 0;

		tried += text[i] == ',' && skipped == 0 && starts(text + i, n - i, ", std::");
		if (skipped == 0)
			ctx_buf_put_u8(buf, (uint8_t)text[i]);
		i += skipped != 0 ? skipped - 1 : 0;
	}
}

static bool is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || c == '_';
}

/* "basic_string<char>" at `text` -> "string", and the same with wchar_t -> "wstring". */
static size_t put_usual(struct ctx_buf *buf, const char *text, size_t n)
{
	static const struct {
		const char *argument, *before;
	} kinds[] = {{"<char>", ""}, {"<wchar_t>", "w"}};
	size_t name = sizeof("basic_") - 1, end = name;

	if (!starts(text, n, "basic_"))
		return 0;
	while (end < n && is_lower(text[end]))
		end++;
	for (size_t i = 0; i < CTX_COUNT_OF(kinds) && end > name; i++) {
		if (!starts(text + end, n - end, kinds[i].argument))
			continue;
		ctx_buf_put_text(buf, kinds[i].before);
		ctx_buf_put(buf, text + name, end - name);
		return end + strlen(kinds[i].argument);
	}
	return 0;
}

void ctx_text_abbreviate(struct ctx_buf *buf, const char *text, size_t n)
{
	struct ctx_buf first CTX_AUTO_BUF = {0}, plain CTX_AUTO_BUF = {0};
	const char *at;

	put_without_namespaces(&first, text, n);
	put_without_defaults(&plain, (const char *)first.bytes, first.n);
	if (first.failed || plain.failed) {
		buf->failed = true;
		return;
	}
	at = (const char *)plain.bytes;
	for (size_t i = 0; i < plain.n;) {
		bool begins = i >= 5 && memcmp(at + i - 5, "std::", 5) == 0;
		size_t used = begins ? put_usual(buf, at + i, plain.n - i) : 0;

		if (used != 0) {
			i += used;
		} else if (at[i] == ' ' && i > 0 && i + 1 < plain.n && at[i - 1] == '>' && at[i + 1] == '>') {
			i++;
		} else {
			ctx_buf_put_u8(buf, (uint8_t)at[i]);
			i++;
		}
	}
}
