#include "report/embedded.h"

#include "base/embed.h"

/* CTX_REPORT_FOLDER is the path of this folder. */
CTX_EMBED(ctx_flame_style, CTX_REPORT_FOLDER "/flamegraph/style.css");
CTX_EMBED(ctx_flame_script, CTX_REPORT_FOLDER "/flamegraph/script.js");
CTX_EMBED(ctx_static_style, CTX_REPORT_FOLDER "/html_static/style.css");
