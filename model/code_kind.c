#include "model/code_kind.h"

#include "base/mem.h"

#include <string.h>

static const char *const words[] = {
	[CTX_CODE_NATIVE] = "native",
	[CTX_CODE_JAVA] = "java",
	[CTX_CODE_JAVA_INTERPRETED] = "java-interpreted",
	[CTX_CODE_JAVA_COMPILED] = "java-compiled",
	[CTX_CODE_JAVA_INLINED] = "java-inlined",
	[CTX_CODE_JAVA_NATIVE] = "java-native",
	[CTX_CODE_JVM] = "jvm",
	[CTX_CODE_JVM_MISSING] = "jvm-missing",
	[CTX_CODE_PYTHON] = "python",
	[CTX_CODE_PYTHON_VM] = "python-vm",
	[CTX_CODE_PYTHON_EVAL] = "python-eval",
	[CTX_CODE_OMP_RUNTIME] = "omp-runtime",
	[CTX_CODE_OMP_OUTLINED] = "omp-outlined",
	[CTX_CODE_OMP_STATE] = "omp-state",
	[CTX_CODE_GRAFT] = "graft",
	[CTX_CODE_OMP_SPAN] = "omp-span",
	[CTX_CODE_OMP_SHARE] = "omp-share",
};

_Static_assert(CTX_COUNT_OF(words) == CTX_CODE_N, "each kind has a word");

const char *ctx_code_kind_word(enum ctx_code_kind kind)
{
	return (size_t)kind < CTX_CODE_N ? words[kind] : "";
}

enum ctx_code_kind ctx_code_kind_find(const char *word)
{
	for (int i = 0; i < CTX_CODE_N; i++) {
		if (strcmp(words[i], word) == 0)
			return (enum ctx_code_kind)i;
	}
	return CTX_CODE_N;
}
