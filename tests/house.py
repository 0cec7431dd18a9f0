#!/usr/bin/env python3
"""The house's rules about shape, held against the sources and the objects of a build.

    house.py circles SOURCE_DIR BUILD_DIR   no circles of files
    house.py shape SOURCE_DIR BUILD_DIR     parameters, fields, names
    house.py shrink SOURCE_DIR BUILD_DIR    removes from the list of exceptions what is no longer needed

circles: X.c and X.h are one file. There is no circle of includes between files, and none of use: a
file uses another one if its object needs a symbol that the other one's object defines.
shape: a function has at most five parameters, a struct at most 30 fields (those of nested structs
count), and an external symbol begins with ctx_.

Exceptions are in house_exceptions.txt. There may be fewer of them, never more: a test fails as well
when one is no longer needed.
"""
import os
import re
import subprocess
import sys

FOLDERS = ('base model elf formats collect symbols unwind store ingest calltree compare rules timetree query report '
           'browse fleet ctxan runtime agents').split()
MAX_PARAMETERS, MAX_FIELDS = 5, 30
EXCEPTIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'house_exceptions.txt')


def list_sources(source):
    found = []
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(source, folder)):
            found += [os.path.relpath(os.path.join(path, name), source)
                      for name in names if name.endswith(('.c', '.h'))]
    return sorted(found)


def unit_of(path):
    return os.path.splitext(path)[0]


def read_symbols(source, build, sources):
    """Of each file with an object: the symbols that it defines and those that it needs."""
    objects = {}
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(build, folder)):
            for name in names:
                if not name.endswith('.c.o'):
                    continue
                full = os.path.join(path, name)
                own = re.sub(r'CMakeFiles/[^/]*\.dir/', '', os.path.relpath(full, build))[:-len('.o')]
                if own in sources:
                    objects[full] = unit_of(own)
    # The agent is built only where the headers of JVMTI are.
    has_agents = any(unit.startswith('agents/') for unit in objects.values())
    missing = [path for path in sources if path.endswith('.c') and unit_of(path) not in objects.values() and
               (has_agents or not path.startswith('agents/'))]
    if missing:
        sys.exit('no object of %s in %s: is the build complete?' % (', '.join(missing[:5]), build))
    defined, needed = {}, {}
    lines = subprocess.run(['nm', '-A', '-P', '-g'] + list(objects), check=True, stdout=subprocess.PIPE,
                           universal_newlines=True).stdout.splitlines()
    for line in lines:
        path, symbol, kind = re.match(r'(.*): (\S+) (\S)', line).groups()
        (needed if kind in 'Uwv' else defined).setdefault(objects[path], set()).add(symbol)
    return defined, needed


def read_includes(source, sources):
    """unit -> units whose headers it includes."""
    uses = {unit_of(path): set() for path in sources}
    for path in sources:
        with open(os.path.join(source, path), errors='replace') as file:
            for included in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', file.read(), flags=re.M):
                if unit_of(included) in uses:
                    uses[unit_of(path)].add(unit_of(included))
    return uses


def read_symbol_uses(source, build, sources):
    """unit -> units whose symbols its object needs."""
    defined, needed = read_symbols(source, build, sources)
    definer = {symbol: unit for unit in defined for symbol in defined[unit] if symbol != 'main'}
    return {unit: {definer[symbol] for symbol in needed.get(unit, ()) if symbol in definer}
            for unit in set(defined) | set(needed)}


def find_circles(uses):
    """The strongly connected components of more than one file (Tarjan)."""
    index, low, stack, on_stack, circles = {}, {}, [], set(), []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        on_stack.add(unit)
        for other in uses[unit]:
            if other not in index:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in on_stack:
                low[unit] = min(low[unit], index[other])
        if low[unit] == index[unit]:
            at = stack.index(unit)
            circle = stack[at:]
            del stack[at:]
            on_stack.difference_update(circle)
            if len(circle) > 1:
                circles.append(sorted(circle))

    sys.setrecursionlimit(10000)
    for unit in sorted(uses):
        if unit not in index:
            visit(unit)
    return circles


def find_all_circles(source, build, sources):
    """Pairs of a circle and a text that says what uses what."""
    found = []
    for verb, uses in (('includes', read_includes(source, sources)),
                       ('uses', read_symbol_uses(source, build, sources))):
        for circle in find_circles(uses):
            found.append((circle, ''.join(
                '    %s %s %s\n' % (unit, verb, ', '.join(sorted(uses[unit] & set(circle) - {unit})))
                for unit in circle)))
    return found


def read_code(path):
    """The text of a file without comments, preprocessor lines and the contents of literals."""
    with open(path, errors='replace') as file:
        text = file.read()
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                  lambda match: ' ' if match.group().startswith('/') else '0', text, flags=re.S)
    return re.sub(r'^[ \t]*#(?:[^\n\\]|\\.)*', '', text, flags=re.M | re.S)


def without_inner(text, left, right):
    """Without what is in these brackets: only the outermost remain, empty."""
    depth, out = 0, []
    for part in re.split('([%s%s])' % (re.escape(left), re.escape(right)), text):
        depth -= part == right
        if depth == 0:
            out.append(part)
        depth += part == left
    return ''.join(out)


def count_parameters(declaration):
    """Of `declaration`, the text in front of the body of a function."""
    end = declaration.rindex(')')
    depth, at = 1, end
    while depth:
        at -= 1
        depth += (declaration[at] == ')') - (declaration[at] == '(')
    parameters = without_inner(declaration[at + 1:end], '(', ')')
    name = re.search(r'(\w+)\s*$', declaration[:at])
    return name.group(1) if name else '?', parameters.count(',') + 1


def count_fields(body):
    body = re.sub(r'\([^()]*\)', '', re.sub(r'\([^()]*\)', '', body))
    members = [part for part in re.split('[;{}]', body) if part.strip()]
    return sum(1 + member.count(',') for member in members if not re.match(r'\s*(struct|union)?\s*$', member))


def find_shapes(source, build, sources):
    """Of what breaks a rule: which rule, file, name."""
    found = set()
    for path in sources:
        code, depth, begin, heading = read_code(os.path.join(source, path)), 0, 0, ''
        for match in re.finditer('[{};]', code):
            if match.group() == '{':
                if depth == 0:
                    heading, begin = code[begin:match.start()], match.end()
                depth += 1
                continue
            if match.group() == '}':
                depth -= 1
                if depth == 0:
                    record = re.search(r'\bstruct\s+(\w+)\s*$', heading)
                    fields = count_fields(code[begin:match.start()]) if record else 0
                    if fields > MAX_FIELDS:
                        found.add(('fields', path, record.group(1)))
                    elif not record and heading.rstrip().endswith(')') and '=' not in heading:
                        name, parameters = count_parameters(heading.rstrip())
                        if parameters > MAX_PARAMETERS:
                            found.add(('parameters', path, name))
            if depth == 0:
                begin = match.end()
    defined, _ = read_symbols(source, build, sources)
    for unit, symbols in defined.items():
        found |= {('name', unit + '.c', symbol) for symbol in symbols
                  if not symbol.startswith(('ctx_', '__x86.get_pc_thunk.')) and symbol != 'main'}  # the compiler's, of i386
    return found


def read_exceptions(kinds):
    with open(EXCEPTIONS) as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line.split(' ')[0] in kinds]


def check_circles(circles):
    allowed, bad = [set(line.split(' ')[1:]) for line in read_exceptions({'circle'})], 0
    for circle, text in circles:
        if not any(set(circle) <= exception for exception in allowed):
            print('a circle of files: %s\n%s' % (' '.join(circle), text))
            bad = 1
    in_circles = {unit for circle, _ in circles for unit in circle}
    for unit in sorted(set().union(*allowed) - in_circles):
        print('%s: no longer in a circle; remove it from house_exceptions.txt' % unit)
        bad = 1
    return bad


def exception_for(kind, path, name):
    """Its folder, not its file: a function may move."""
    return '%s %s %s' % (kind, os.path.dirname(path), name)


def check_shape(found):
    allowed, bad = set(read_exceptions({'parameters', 'fields', 'name'})), 0
    # Not every compiler builds programs of 32 bits, nor has every machine a Java.
    allowed_some = {line.replace('name_32', 'name', 1).replace('name_java', 'name', 1)
                    for line in read_exceptions({'name_32', 'name_java'})}
    what = {'parameters': 'more than %d parameters; use a struct' % MAX_PARAMETERS,
            'fields': 'more than %d fields; split it by what it holds' % MAX_FIELDS,
            'name': 'an external name without ctx_'}
    for kind, path, name in sorted(found):
        if exception_for(kind, path, name) not in allowed | allowed_some:
            print('%s: %s: %s' % (path, name, what[kind]))
            bad = 1
    for line in sorted(allowed - {exception_for(*each) for each in found}):
        print('"%s" is no longer so; remove it from house_exceptions.txt' % line)
        bad = 1
    return bad


def shrink(circles, found):
    in_circles = {unit for circle, _ in circles for unit in circle}
    needed = {exception_for(*each) for each in found}
    kept = []
    with open(EXCEPTIONS) as file:
        for line in file.read().splitlines():
            words = line.split(' ')
            if words[0] == 'circle':
                words = [words[0]] + [unit for unit in words[1:] if unit in in_circles]
                if len(words) > 1:
                    kept.append(' '.join(words))
            elif words[0] not in ('parameters', 'fields', 'name') or line in needed:
                kept.append(line)
    with open(EXCEPTIONS, 'w') as file:
        file.write(''.join(line + '\n' for line in kept))
    return 0


def main():
    what, source, build = sys.argv[1], sys.argv[2], sys.argv[-1]
    sources = list_sources(source)
    if len(sources) < 50:
        sys.exit('only %d files: is %s the source directory?' % (len(sources), source))
    if what == 'circles':
        return check_circles(find_all_circles(source, build, sources))
    if what == 'shape':
        return check_shape(find_shapes(source, build, sources))
    return shrink(find_all_circles(source, build, sources), find_shapes(source, build, sources))


if __name__ == '__main__':
    sys.exit(main())
