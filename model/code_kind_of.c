#include "model/code_kind_of.h"

#include "base/fileio.h"

#include <ctype.h>
#include <string.h>

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* python3, python3.11, libpython3.11.so.1.0; not libpython3-something.so or python3-config */
static bool is_python(const char *name)
{
	if (starts_with(name, "libpython")) {
		name += strlen("libpython");
		while (isdigit((unsigned char)*name) || *name == '.')
			name++;
		return starts_with(name, "so") && (name[2] == '\0' || name[2] == '.');
	}
	if (!starts_with(name, "python"))
		return false;
	name += strlen("python");
	while (isdigit((unsigned char)*name) || *name == '.')
		name++;
	return *name == '\0';
}

static bool is_openmp(const char *name)
{
	return starts_with(name, "libgomp.so") || starts_with(name, "libomp.so") ||
	       starts_with(name, "libiomp5.so");
}

/* f._omp_fn.0 of gcc; .omp_outlined., f.omp_outlined_debug__ of clang */
static bool is_outlined(const char *name)
{
	return strstr(name, "._omp_fn.") != NULL || strstr(name, ".omp_outlined") != NULL;
}

enum ctx_code_kind ctx_code_kind_of(const struct ctx_profile *profile, uint32_t function)
{
	const struct ctx_function_info *info = &profile->functions[function];
	const char *object;

	if (info->code_kind != CTX_CODE_NATIVE || info->kind == CTX_FUNCTION_ARTIFICIAL)
		return info->code_kind;
	object = info->object < profile->n_objects ? profile->objects[info->object].path : "";
	if (strcmp(object, "<Java methods>") == 0)
		return CTX_CODE_JAVA;
	object = ctx_path_base(object);
	if (starts_with(object, "libjvm.so"))
		return CTX_CODE_JVM;
	if (is_python(object))
		return starts_with(info->linkage_name, "_PyEval_EvalFrameDefault") ? CTX_CODE_PYTHON_EVAL
										   : CTX_CODE_PYTHON_VM;
	if (is_openmp(object))
		return CTX_CODE_OMP_RUNTIME;
	return is_outlined(info->linkage_name) ? CTX_CODE_OMP_OUTLINED : CTX_CODE_NATIVE;
}
