#include "base/java_name.h"

#include <ctype.h>
#include <string.h>

#define DIMENSIONS_MAX 255u

void ctx_java_put_dotted(struct ctx_buf *out, const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_u8(out, name[i] == '/' ? '.' : (uint8_t)name[i]);
}

static const char *primitive(char letter)
{
	switch (letter) {
	case 'Z':
		return "boolean";
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'S':
		return "short";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'F':
		return "float";
	case 'D':
		return "double";
	case 'V':
		return "void";
	default:
		return NULL;
	}
}

size_t ctx_java_put_type(struct ctx_buf *out, const char *type, size_t n)
{
	size_t dimensions = 0, used;
	const char *end;

	while (dimensions < n && dimensions < DIMENSIONS_MAX && type[dimensions] == '[')
		dimensions++;
	if (dimensions == n)
		return n;
	used = dimensions + 1;
	if (type[dimensions] == 'L') {
		end = memchr(type + dimensions, ';', n - dimensions);
		used = end != NULL ? (size_t)(end - type) + 1 : n;
		ctx_java_put_dotted(out, type + dimensions + 1, used - dimensions - 1 - (end != NULL));
	} else if (primitive(type[dimensions]) != NULL) {
		ctx_buf_put_text(out, primitive(type[dimensions]));
	} else {
		ctx_buf_put_u8(out, (uint8_t)type[dimensions]);
	}
	for (size_t i = 0; i < dimensions; i++)
		ctx_buf_put_text(out, "[]");
	return used;
}

void ctx_java_put_parameters(struct ctx_buf *out, const char *signature, size_t n)
{
	size_t at = 1;

	if (n == 0 || signature[0] != '(')
		return;
	ctx_buf_put_text(out, "(");
	while (at < n && signature[at] != ')') {
		if (at > 1)
			ctx_buf_put_text(out, ", ");
		at += ctx_java_put_type(out, signature + at, n - at);
	}
	ctx_buf_put_text(out, ")");
}

/* --- classes --- */

static size_t digits_at_end(const char *name, size_t n)
{
	size_t digits = 0;

	while (digits < n && isdigit((unsigned char)name[n - 1 - digits]))
		digits++;
	return digits;
}

static bool ends_with(const char *name, size_t n, const char *end)
{
	size_t length = strlen(end);

	return n >= length && memcmp(name + n - length, end, length) == 0;
}

/* Without the address of a hidden class, and what follows it: "+0x00007f0c08007a08/360062456". */
static size_t without_address(const char *name, size_t n)
{
	for (size_t i = 1; i + 3 < n; i++) {
		if (strchr("+/.", name[i]) != NULL && name[i] != '\0' && name[i + 1] == '0' &&
		    name[i + 2] == 'x' && isxdigit((unsigned char)name[i + 3]))
			return i;
	}
	return n;
}

/* "com/sun/proxy/$Proxy" */
static bool is_proxy(const char *name, size_t n)
{
	static const char proxy[] = "$Proxy";
	size_t length = sizeof(proxy) - 1;

	return ends_with(name, n, proxy) &&
	       (n == length || name[n - length - 1] == '/' || name[n - length - 1] == '.');
}

/* Without the number that the virtual machine gave a class that it made. */
static size_t without_number(const char *name, size_t n)
{
	size_t stem = n - digits_at_end(name, n);

	if (stem == n)
		return n;
	if (ends_with(name, stem, "$$Lambda$"))
		return stem - 1;
	return ends_with(name, stem, "MethodAccessor") || ends_with(name, stem, "ConstructorAccessor") ||
			       is_proxy(name, stem)
		       ? stem
		       : n;
}

/* Without the letters and digits that a library chose for a class that it made of another. */
static size_t without_hash(const char *name, size_t n)
{
	static const char *const marks[] = {"CGLIB$$", "$MockitoMock$", "$HibernateProxy$", "$ByteBuddy$"};
	size_t stem = n;

	while (stem > 0 && isalnum((unsigned char)name[stem - 1]))
		stem--;
	for (size_t i = 0; stem != n && i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (!ends_with(name, stem, marks[i]))
			continue;
		while (stem > 0 && name[stem - 1] == '$')
			stem--;
		return stem;
	}
	return n;
}

void ctx_java_put_class(struct ctx_buf *out, const char *name, size_t n)
{
	if (n != 0 && name[0] == '[') {
		(void)ctx_java_put_type(out, name, n);
		return;
	}
	n = without_hash(name, without_number(name, without_address(name, n)));
	ctx_java_put_dotted(out, name, n);
}
