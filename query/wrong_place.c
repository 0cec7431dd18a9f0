#include "query/wrong_place.h"

#include "model/expression.h"

#include <string.h>

#define SHOWN_MAX 160u /* bytes of an expression that is printed to point at */

enum ctx_status ctx_wrong_place_check(const char *option, const char *text, struct ctx_wrong_place *ret,
				      struct ctx_err *err)
{
	struct ctx_expression *expression;
	size_t column = 0;
	enum ctx_status status = ctx_expression_parse(text, &expression, &column, err);

	if (status == CTX_OK) {
		ctx_expression_destroy(expression);
		return CTX_OK;
	}
	if (status != CTX_E_NOMEM)
		*ret = (struct ctx_wrong_place){text, column};
	return ctx_err_prefix(err, status, "--%s", option);
}

void ctx_wrong_place_print(const struct ctx_wrong_place *place, FILE *out)
{
	size_t n = place->text != NULL ? strlen(place->text) : 0;

	if (n == 0 || n > SHOWN_MAX)
		return;
	for (size_t i = 0; i < n; i++) {
		/* Escaped or wide characters would misplace the caret. */
		if (place->text[i] < ' ' || place->text[i] > '~')
			return;
	}
	fprintf(out, "  %s\n  %*s\n", place->text, (int)place->column, "^");
}
