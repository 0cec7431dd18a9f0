/*
 * Long text in lines.
 */
#ifndef CTX_REPORT_WRAPPING_H
#define CTX_REPORT_WRAPPING_H

#include <stddef.h>

/*
 * Calls `put` for each line of `text`, which is safe (ctx_name_put_text): broken at the last space
 * that fits into `width` columns (0: not limited), or hard. Lines but the first are `indent`
 * columns shorter, at least 20 columns.
 */
void ctx_text_wrap(const char *text, size_t width, unsigned indent,
		   void (*put)(void *context, const char *line, size_t n, unsigned indent), void *context);

#endif
