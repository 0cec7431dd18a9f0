/* Inlined into the functions of spin.c: its lines are in a file of their own. */
static inline unsigned long long turn(unsigned long long x)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}
