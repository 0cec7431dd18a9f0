# recursive.py N: trees, generators, sort keys and recursions up to 80 Python frames deep; N 9000 takes 1 to 3 s.
import sys


class Node:
	def __init__(self, depth):
		self.left = Node(depth - 1) if depth else None
		self.right = Node(depth - 1) if depth else None

	def total(self, weight):
		own = sum(i * weight for i in range(3))
		for child in (self.left, self.right):
			if child:
				own += child.total(weight + 1)
		return own


def fib(n):
	return n if n < 2 else fib(n - 1) + fib(n - 2)


def deep(n):
	return fib(14) if n == 0 else deep(n - 1) + sorted([n, 3, 1], key=lambda x: -x)[0]


count = int(sys.argv[1])
print(sum(Node(12).total(i) for i in range(count // 50)), sum(deep(60) for _ in range(count)))
