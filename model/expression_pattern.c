#include "model/expression_impl.h"
#include "model/name_pattern.h"

enum ctx_status ctx_expr_compile(const struct expr_lexer *lexer, const char *pattern, size_t at, regex_t *ret)
{
	struct ctx_err why = {0};
	enum ctx_status status = ctx_name_pattern_compile(pattern, ret, &why);

	if (status == CTX_E_ARG || status == CTX_E_LIMIT)
		return ctx_expr_fail(lexer, status, at, "%s", why.msg);
	return status == CTX_OK ? CTX_OK : ctx_err_nomem(lexer->err);
}
