#include "report/wrapping.h"

#include "base/utf8.h"
#include "report/names.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

void ctx_text_wrap(const char *text, size_t width, unsigned indent,
		   void (*put)(void *context, const char *line, size_t n, unsigned indent), void *context)
{
	size_t limit = width != 0 ? width : SIZE_MAX;
	bool first = true;

	for (;;) {
		size_t room = first ? limit : limit > indent + 20 ? limit - indent : 20;
		size_t n = 0, used = 0, space = 0;

		while (text[n] != '\0') {
			uint32_t code;
			size_t length =
				ctx_utf8_decode(text + n, strlen(text + n) < 4 ? strlen(text + n) : 4, &code);

			used += ctx_char_width(code);
			if (used > room)
				break;
			if (text[n] == ' ')
				space = n;
			n += length;
		}
		if (text[n] != '\0' && text[n] != ' ' && space > indent)
			n = space;
		put(context, text, n, first ? 0 : indent);
		text += n;
		text += strspn(text, " ");
		if (*text == '\0')
			return;
		first = false;
	}
}
