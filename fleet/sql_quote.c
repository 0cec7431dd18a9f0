#include "fleet/sql_quote.h"

#include <stdbool.h>
#include <string.h>

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr(" _-.,:;/+=()[]<>*&@#", c) != NULL);
}

void ctx_sql_put_literal(struct ctx_buf *sql, const char *bytes, size_t n)
{
	ctx_buf_put_u8(sql, '\'');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (is_plain(c))
			ctx_buf_put_u8(sql, c);
		else
			ctx_buf_printf(sql, "\\x%02X", c);
	}
	ctx_buf_put_u8(sql, '\'');
}

void ctx_sql_put_text(struct ctx_buf *sql, const char *text)
{
	ctx_sql_put_literal(sql, text, strlen(text));
}
