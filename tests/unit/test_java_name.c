/* Names of Java's classes as people write them. */
#include "base/java_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_java_name__classes_lose_the_numbers_that_a_vm_chose(void **state)
{
	static const char *const cases[][2] = {
		{"java/util/Map$Entry", "java.util.Map$Entry"},
		{"[B", "byte[]"},
		{"[[Ljava/lang/String;", "java.lang.String[][]"},
		{"Demo$$Lambda$14+0x0000000800c01200", "Demo$$Lambda"},
		{"Demo$$Lambda$88+0x00007fcff8007a08/360062456", "Demo$$Lambda"},
		{"Demo$$Lambda/0x00007f2b08001000", "Demo$$Lambda"},
		{"java/lang/invoke/LambdaForm$MH.0x0000000800c02000", "java.lang.invoke.LambdaForm$MH"},
		{"jdk/internal/reflect/GeneratedMethodAccessor12",
		 "jdk.internal.reflect.GeneratedMethodAccessor"},
		{"GeneratedConstructorAccessor7", "GeneratedConstructorAccessor"},
		{"J$$Lambda$1.0x00000008000c1200", "J$$Lambda"},
		{"com/sun/proxy/$Proxy12", "com.sun.proxy.$Proxy"},
		{"$Proxy7", "$Proxy"},
		{"My$Proxy7", "My$Proxy7"},
		{"a/Dao$$EnhancerBySpringCGLIB$$1a2b3c4d", "a.Dao$$EnhancerBySpringCGLIB"},
		{"a/Dao$$SpringCGLIB$$0", "a.Dao$$SpringCGLIB"},
		{"a/Dao$MockitoMock$1234567", "a.Dao$MockitoMock"},
		{"a/Item$HibernateProxy$aB3xY9z1", "a.Item$HibernateProxy"},
		{"a/Item$ByteBuddy$k2", "a.Item$ByteBuddy"},
		{"a/Item$ByteBuddy$", "a.Item$ByteBuddy$"},
		{"Sha256", "Sha256"},
		{"Demo$1", "Demo$1"},
		{"a/0xyz", "a.0xyz"},
		{"a+0x", "a+0x"},
		{"", ""},
	};
	struct ctx_buf out = {0};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		ctx_buf_clear(&out);
		ctx_java_put_class(&out, cases[i][0], strlen(cases[i][0]));
		ctx_buf_put_u8(&out, 0);
		assert_string_equal((const char *)out.bytes, cases[i][1]);
	}
	ctx_buf_deinit(&out);
}

static void test_java_name__parameters_are_those_of_the_source(void **state)
{
	static const char *const cases[][2] = {
		{"()V", "()"},
		{"(I[JLjava/lang/String;Z)V", "(int, long[], java.lang.String, boolean)"},
		{"(I", "(int)"},
		{"V", ""},
	};
	struct ctx_buf out = {0};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		ctx_buf_clear(&out);
		ctx_java_put_parameters(&out, cases[i][0], strlen(cases[i][0]));
		ctx_buf_put_u8(&out, 0);
		assert_string_equal((const char *)out.bytes, cases[i][1]);
	}
	ctx_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_java_name__classes_lose_the_numbers_that_a_vm_chose),
		cmocka_unit_test(test_java_name__parameters_are_those_of_the_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
