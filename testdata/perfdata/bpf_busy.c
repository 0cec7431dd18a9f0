/* A BPF program for the recordings of this folder: two functions that compute, by `clang -O2 -g -target bpf`. */
struct __sk_buff {
	unsigned int len;
};

static __attribute__((noinline)) unsigned long long mixed(unsigned long long x, unsigned int n)
{
	for (unsigned int i = 0; i < 64; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x += n;
	}
	return x;
}

__attribute__((section("socket"), used)) int busy(struct __sk_buff *skb)
{
	unsigned long long sum = skb->len;

	for (unsigned int i = 0; i < 16; i++)
		sum += mixed(sum, i);
	return (int)(sum & 1);
}

char its_license[] __attribute__((section("license"), used)) = "GPL";
