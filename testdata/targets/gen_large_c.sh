# gen_large_c.sh N: a C file of N functions on standard output, work for a compiler; 200 take gcc -O2 some 3 s.
awk -v n="$1" 'BEGIN { for (f = 0; f < n; f++) {
	printf "struct s%d { int a, b[%d]; struct s%d *next; };\n", f, f % 7 + 2, f
	printf "int f%d(struct s%d *p, int n, const char *t)\n{\n\tint sum = 0;\n", f, f
	printf "\tfor (int i = 0; i < n; i++) {\n\t\tswitch (t[i] & 15) {\n"
	for (c = 0; c < 9; c++)
		printf "\t\tcase %d: sum += p->b[(i + %d) %% %d] * %d - (sum >> %d); break;\n", c, c, f % 7 + 2, c * 7 + f, c + 1
	printf "\t\tdefault: for (int j = i; j < n; j++) if (t[j] > sum) p->a += t[j] ^ sum; else { p = p->next; if (!p) return sum; }\n\t\t}\n\t}\n"
	if (f)
		printf "\treturn sum + f%d((struct s%d *)p, n / 2, t + 1);\n}\n", f - 1, f - 1
	else
		printf "\treturn sum;\n}\n"
} }'
