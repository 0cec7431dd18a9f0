/*
 * Names of Java's types and methods, from the form of class files to that of sources.
 */
#ifndef CTX_BASE_JAVA_NAME_H
#define CTX_BASE_JAVA_NAME_H

#include "base/buf.h"

/*
 * Appends a Java type descriptor ("[I") in source form ("int[]"). Anything else is appended
 * unchanged. Returns the number of bytes consumed.
 */
size_t ctx_java_put_type(struct ctx_buf *out, const char *type, size_t n);

/* Appends a name with '.' for each '/'. */
void ctx_java_put_dotted(struct ctx_buf *out, const char *name, size_t n);

/* Appends "(int, java.lang.String)" of "(ILjava/lang/String;)V"; nothing of what is no signature. */
void ctx_java_put_parameters(struct ctx_buf *out, const char *signature, size_t n);

/*
 * Appends the name of a class ("java/util/Map$Entry", "[B", also with dots) in source form. Numbers that a virtual
 * machine chose are left out, so that classes of one kind have one name: "Demo$$Lambda$14+0x0000000800c01200" is
 * "Demo$$Lambda", "jdk/internal/reflect/GeneratedMethodAccessor12" and "jdk/proxy2/$Proxy12" have no 12, addresses of hidden classes go, and so do
 * the letters and digits that CGLIB, Mockito, Hibernate and Byte Buddy put behind the name of the class that they extend.
 */
void ctx_java_put_class(struct ctx_buf *out, const char *name, size_t n);

#endif
