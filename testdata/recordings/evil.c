/* main calls middle, middle calls leaf; names that would run a script in a page that does not escape them. */
static volatile long sink;

__attribute__((noinline)) void leaf(void) __asm__("\"]]></script></title><script>alert(1)</script>\"");
__attribute__((noinline)) void middle(void) __asm__("\"&lt;img src=x onerror=alert(2)>'\"");

static inline __attribute__((always_inline)) void spin(void)
{
	for (long i = 0; i < 100000000; i++)
		sink += i;
}

void leaf(void)
{
	spin();
}

void middle(void)
{
	spin();
	leaf();
	sink++;
}

int main(void)
{
	middle();
	spin();
	return 0;
}
