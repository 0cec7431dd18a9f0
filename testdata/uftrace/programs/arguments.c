/* Arguments of several sizes and kinds, and results. */
#include <string.h>

int sum_of(int a, long b, char c)
{
	return a + (int)b + c;
}

double half(double value)
{
	return value / 2;
}

const char *pick(const char *one, const char *other)
{
	return strcmp(one, other) < 0 ? one : other;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 6; i++) {
		sum += sum_of(i, 1L << (i * 6), 'x');
		sum += half(i) > 1.0;
		sum += pick("a text of some length", i % 2 ? "b" : "")[0];
	}
	return sum == 1000;
}
