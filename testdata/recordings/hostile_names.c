/*
 * Functions whose names look like lines of export formats, or like markup, and that call each other in circles.
 * A name is given to the assembler in quotes; its use is by C name.
 */
static volatile unsigned long sink;

static void spin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i * sink;
}

#define NAME(text) __asm__("\"" text "\"")
void one(int n) NAME("(1)");
void two(int n) NAME("(2) x");
void three(int n) NAME("calls=7 0");
void four(int n) NAME("<Total>");
void five(int n) NAME("a;b c");
void six(int n) NAME("totals: 5");
void seven(int n) NAME("f(int, char)::g<x>");
void eight(int n) NAME("fn=(3)");
void nine(int n) NAME("a<b>&'quoted'");
void ten(int n) NAME("a`b");

#define FUNCTION(name, callee)                                                                               \
	__attribute__((noinline)) void name(int n)                                                           \
	{                                                                                                    \
		spin(20000);                                                                                 \
		if (n > 0)                                                                                   \
			callee(n - 1);                                                                       \
		spin(1000);                                                                                  \
	}
FUNCTION(one, two)
FUNCTION(two, three)
FUNCTION(three, one)
FUNCTION(four, five)
FUNCTION(five, five)
FUNCTION(six, seven)
FUNCTION(seven, eight)
FUNCTION(eight, nine)
FUNCTION(nine, ten)
FUNCTION(ten, four)

int main(void)
{
	for (int i = 0; i < 900; i++) {
		one(i % 9);
		six(i % 11);
		four(i % 3);
	}
	return 0;
}
