#!/bin/sh
# 3,000 processes, each of which executes a program that does nothing.
i=0
while [ "$i" -lt 3000 ]; do
	/bin/true
	i=$((i + 1))
done
