#include "rules/rules.h"

#include <math.h>

static void put_scaled(struct ctx_buf *buf, double value, double step, const char *const *units, size_t n)
{
	size_t at = 0;

	while (at + 1 < n && fabs(value) >= step) {
		value /= step;
		at++;
	}
	ctx_buf_printf(buf, at == 0 ? "%.0f %s" : "%.1f %s", value, units[at]);
}

void ctx_rule_put_number(struct ctx_buf *buf, enum ctx_rule_unit unit, double value)
{
	static const char *const sizes[] = {"B", "KiB", "MiB", "GiB", "TiB"};

	if (isnan(value)) {
		ctx_buf_put_text(buf, "-");
		return;
	}
	switch (unit) {
	case CTX_RULE_MS:
		if (fabs(value) >= 100e3)
			ctx_buf_printf(buf, "%.1f s", value / 1e3);
		else
			ctx_buf_printf(buf, "%.1f ms", value);
		return;
	case CTX_RULE_SHARE:
		ctx_buf_printf(buf, "%.2f %%", 100 * value);
		return;
	case CTX_RULE_PER_SECOND:
		ctx_buf_printf(buf, "%.2f per s", value);
		return;
	case CTX_RULE_PER_COUNT:
		ctx_buf_printf(buf, "%.4g", value);
		return;
	case CTX_RULE_BYTES:
		put_scaled(buf, value, 1024, sizes, sizeof(sizes) / sizeof(sizes[0]));
		return;
	case CTX_RULE_PLAIN:
	case CTX_RULE_COUNT:
	case CTX_RULE_WORDS:
		break;
	}
	ctx_buf_printf(buf, "%.6g", value);
}

void ctx_rule_put_change(struct ctx_buf *buf, double change)
{
	if (isnan(change))
		ctx_buf_put_text(buf, "-");
	else if (isinf(change))
		ctx_buf_put_text(buf, "new");
	else
		ctx_buf_printf(buf, "%+.1f %%", 100 * change);
}
