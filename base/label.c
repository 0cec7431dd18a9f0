#include "base/label.h"

#include <string.h>

enum ctx_status ctx_label_check(const char *label, struct ctx_err *err)
{
	size_t n = strcspn(label, "=");

	if (n == 0 || label[n] == '\0' || strcspn(label, "!<> ") < n)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--label '%s': expected KEY=VALUE, a key without blanks and signs of comparison",
			label);
	return CTX_OK;
}
