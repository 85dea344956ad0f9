"""Mutation testing of the rules: ``python benchmarks/mutants.py [--sample N] [--seed S] [--minutes M] [MODULE…]``.

One small change at a time is made in ``vision_referee.rules`` (a comparison, an "and", a condition, a number …), in
memory, in a forked process, and the tests that run the changed line are run on it, the quickest first, until one fails.
A change that no test notices survives and is listed: either a test is missing, or the change means nothing. The tests
are collected and traced once, so that most mutants cost a fraction of a second; those that need files beside the
checkout are left out, so that the score is the checkout's own.
"""

from __future__ import annotations
import __future__

import argparse
import ast
import gc
import importlib
import math
import os
import random
import signal
import sys
import tempfile
import time
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import hypothesis
import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[1]
RULES = ROOT / "vision_referee" / "rules"
MODULES = sorted(path.stem for path in RULES.glob("*.py") if path.stem not in ("__init__", "ids", "setting_values"))
"""All but lists of names, and the parsers of settings, which are made once, when the rules are imported."""
TESTS = [*sorted(map(str, (ROOT / "tests" / "unit").glob("test_rules_*.py"))), str(ROOT / "tests/scenarios")]
LEFT_OUT = ("test_rules_coverage", "test_rules_properties", "as_a_process_of_its_own", "500_strokes")
"""Tests that cost seconds; what those with made-up examples alone would notice counts as not noticed."""
LEAST_TIME_S = 15.0
"""A mutant that takes so long, or ten times as long as its tests did, is one that does not end: it is noticed."""

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    module: str
    line: int
    what: str
    function: str
    """The qualified name of the function, or of the constant."""
    code: types.CodeType | None = None
    value: types.CodeType | None = None
    """The expression of a changed constant."""

    def __str__(self) -> str:
        return f"{self.module}.py:{self.line} {self.function}: {self.what}"


# --- making mutants ---------------------------------------------------------------------------------------------------

Change = tuple[str, Callable[[], None]]


def _changes(node: Any) -> Iterator[Change]:
    """What can be changed in this node: a word on it, and how to do it."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            other = _SWAPS.get(type(operator))
            if other is not None:
                yield f"{type(operator).__name__} -> {other.__name__}", _setter(node.ops, index, other())
    elif isinstance(node, ast.BoolOp | ast.BinOp):
        other = _SWAPS.get(type(node.op))
        if other is not None:
            yield f"{type(node.op).__name__} -> {other.__name__}", lambda: setattr(node, "op", other())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not dropped", lambda: _become_truth(node)
    elif isinstance(node, ast.IfExp):
        yield "branches swapped", lambda: _swap(node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        was = node.value
        changed = (not was) if isinstance(was, bool) else was + 1
        yield f"{was} -> {changed}", lambda: setattr(node, "value", changed)
    if isinstance(node, ast.If | ast.While | ast.comprehension):
        tests = node.ifs if isinstance(node, ast.comprehension) else [node.test]
        for index, test in enumerate(tests):
            # Comparisons and "and"s are changed above.
            if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
                inverse = ast.UnaryOp(op=ast.Not(), operand=test)
                if isinstance(node, ast.comprehension):
                    yield "condition inverted", _setter(node.ifs, index, inverse)
                else:
                    yield "condition inverted", lambda inverse=inverse: setattr(node, "test", inverse)


def _setter(items: list[Any], index: int, value: Any) -> Callable[[], None]:
    def change() -> None:
        items[index] = value

    return change


def _become_truth(node: Any) -> None:
    """``not x`` becomes the truth of ``x``."""
    node.__class__ = ast.BoolOp
    node.op, node.values = ast.And(), [node.operand, ast.Constant(True)]


def _swap(node: Any) -> None:
    node.body, node.orelse = node.orelse, node.body


def _line_of(node: Any) -> int:
    return getattr(node, "lineno", 0) or getattr(node.target, "lineno", 0)


def _functions(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _functions(constant)


def _last_line(code: types.CodeType) -> int:
    lines = [line for _, _, line in code.co_lines() if line]
    return max([*lines, *(_last_line(inner) for inner in _functions(code))])


def mutants_of(name: str) -> list[Mutant]:
    """Every mutant of a module's functions and of its constants; defaults of fields and arguments are let be."""
    path = RULES / f"{name}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for statement in tree.body:
        as_it_is = {code.co_qualname: code for code in _functions(_compiled(statement, path))}
        for node in _without_annotations(statement):
            for way, _ in enumerate(_changes(node)):
                line, constant = _line_of(node), _constant_holding(statement, _line_of(node))
                kept = _as_it_stands(node)
                what, change = list(_changes(node))[way]
                change()
                changed = [
                    inner for inner in _functions(_compiled(statement, path))
                    if "<" not in inner.co_qualname and not _is_class_body(inner)
                    and inner != as_it_is[inner.co_qualname]
                ]  # fmt: skip
                if changed:
                    code = max(changed, key=lambda inner: inner.co_firstlineno)
                    found.append(Mutant(module=name, line=line, what=what, function=code.co_qualname, code=code))
                elif constant is not None:
                    owner, value = constant
                    made = compile(ast.fix_missing_locations(ast.Expression(value)), str(path), "eval")
                    found.append(Mutant(module=name, line=line, what=what, function=owner, value=made))
                node.__class__, values = kept
                node.__dict__.clear()
                node.__dict__.update(values)
    return found


def _without_annotations(statement: ast.stmt) -> list[ast.AST]:
    """The nodes that do something when the code runs."""
    typed = [node for node in ast.walk(statement) if isinstance(node, ast.FunctionDef | ast.arg | ast.AnnAssign)]
    notes = [getattr(node, "annotation", None) or getattr(node, "returns", None) for node in typed]
    silent = {id(part) for note in notes if note is not None for part in ast.walk(note)}
    return [node for node in ast.walk(statement) if id(node) not in silent]


def _compiled(statement: ast.stmt, path: Path) -> types.CodeType:
    module = ast.fix_missing_locations(ast.Module(body=[statement], type_ignores=[]))
    return compile(module, str(path), "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)


def _as_it_stands(node: ast.AST) -> tuple[type[ast.AST], dict[str, Any]]:
    return type(node), {key: list(value) if isinstance(value, list) else value for key, value in vars(node).items()}


def _is_class_body(code: types.CodeType) -> bool:
    return "__qualname__" in code.co_names and "__module__" in code.co_names


def _constant_holding(statement: ast.stmt, line: int) -> tuple[str, ast.expr] | None:
    """``NAME = 5.0`` of a module, or ``name: ClassVar[bool] = True`` of a class, on this line."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, ast.Name) and statement.value is not None and target.id != "SETTINGS":
            return target.id, statement.value
    for field_ in statement.body if isinstance(statement, ast.ClassDef) else ():
        is_constant = isinstance(field_, ast.AnnAssign) and "ClassVar" in ast.unparse(field_.annotation)
        if is_constant and field_.lineno == line and isinstance(field_.target, ast.Name) and field_.value:
            return f"{statement.name}.{field_.target.id}", field_.value
    return None


def apply(mutant: Mutant) -> bool:
    """Put the mutant in the place of the true code, in this process; whether that can be done."""
    module: Any = importlib.import_module(f"vision_referee.rules.{mutant.module}")
    *owners, name = mutant.function.split(".")
    holder = module
    for owner in owners:
        holder = getattr(holder, owner)
    if mutant.code is None:
        was, value = getattr(holder, name), eval(mutant.value, module.__dict__)
        others = [other for known, other in sys.modules.items() if known.startswith("vision_referee.rules.")]
        for place in [holder, *(other for other in others if other.__dict__.get(name) is was)]:
            setattr(place, name, value)
        return True
    target = holder.__dict__.get(name)
    target = target.fget if isinstance(target, property) else target
    if not isinstance(target, types.FunctionType) or target.__code__.co_freevars != mutant.code.co_freevars:
        return False
    target.__code__ = mutant.code
    return True


# --- running them -----------------------------------------------------------------------------------------------------


@dataclass
class Runner:
    """A pytest plugin: runs the collected tests once under a tracer, then those that matter on every mutant."""

    chosen: list[Mutant]
    minutes: float
    survivors: list[Mutant] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = [item for item in session.items if not any(word in item.nodeid for word in LEFT_OUT)]
        lines, cost_s = self._traced(items)
        noticed: Counter[pytest.Item] = Counter()
        gc.collect()
        gc.freeze()  # so that a child does not copy what it only reads
        print(f"{len(items)} tests, {sum(cost_s.values()):.0f} s traced; {len(self.chosen)} mutants", flush=True)
        until_s = time.monotonic() + 60 * self.minutes
        for number, mutant in enumerate(self.chosen, start=1):
            if time.monotonic() > until_s:
                break
            covering = lines[(mutant.module, mutant.line)]
            # Those first that have noticed most so far, then the quickest.
            tests = sorted(covering if mutant.code else items, key=lambda item: (-noticed[item], cost_s[item]))
            outcome, by = self._outcome(tests, mutant, max(LEAST_TIME_S, 10 * sum(cost_s[item] for item in tests)))
            if by is not None:
                noticed[by] += 1
            self.outcomes[outcome] += 1
            if outcome in ("survived", "not run by any test"):
                self.survivors.append(mutant)
                print(f"{outcome}: {mutant}", flush=True)
            if number % 50 == 0:
                print(f"... {number}: {dict(self.outcomes)}", flush=True)
        return True

    def _traced(
        self, items: list[pytest.Item]
    ) -> tuple[dict[tuple[str, int], set[pytest.Item]], dict[pytest.Item, float]]:
        """Which tests run which lines, and what each test costs. A statement over several lines counts as one."""
        lines: dict[tuple[str, int], set[pytest.Item]] = defaultdict(set)
        cost_s: dict[pytest.Item, float] = {}
        tracer = coverage.Coverage(data_file=None, include=[f"{RULES}/*.py"], messages=False)
        tracer.start()
        for item in items:
            tracer.switch_context(item.nodeid)
            start = time.perf_counter()
            reports = runtestprotocol(item, log=False)
            cost_s[item] = time.perf_counter() - start
            if any(report.failed for report in reports):
                raise pytest.UsageError(f"{item.nodeid} fails without any change")
        tracer.stop()
        by_id = {item.nodeid: item for item in items}
        for name in MODULES:
            statements = _statement_starts(RULES / f"{name}.py")
            for line, tests in tracer.get_data().contexts_by_lineno(str(RULES / f"{name}.py")).items():
                for covered in statements.get(line, (line,)):
                    lines[(name, covered)] |= {by_id[test] for test in tests if test in by_id}
        return lines, cost_s

    def _outcome(self, tests: list[pytest.Item], mutant: Mutant, limit_s: float) -> tuple[str, pytest.Item | None]:
        """What became of a mutant, and the test that noticed it."""
        if not tests:
            return "not run by any test", None
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os._exit(self._tested(tests, mutant, limit_s, writer))
        os.close(writer)
        with os.fdopen(reader) as said:
            number = said.read()
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        outcome = {0: "survived", 1: "killed", 3: "cannot be made"}.get(code, "killed by time")
        return outcome, tests[int(number)] if number else None

    def _tested(self, tests: list[pytest.Item], mutant: Mutant, limit_s: float, writer: int) -> int:
        gc.disable()
        signal.alarm(int(limit_s) + 1)
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        try:
            if not apply(mutant):
                return 3
        except TypeError:  # a changed constant that has no value
            return 3
        for number, item in enumerate(tests):
            if not _passes(item):
                os.write(writer, str(number).encode())
                return 1
        return 0


def _passes(item: Any) -> bool:
    """Run a test; a plain function is called without pytest's ceremony, which would cost as much again."""
    given = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    others = [name for name in item.fixturenames if name not in given]
    if not set(others) <= {"tmp_path", "request"} or item.get_closest_marker("skipif"):
        return not any(report.failed for report in runtestprotocol(item, log=False))
    asked = [name for name in item._fixtureinfo.argnames if name not in given]
    try:
        with tempfile.TemporaryDirectory() as folder:
            item.obj(**given, **dict.fromkeys(asked, Path(folder)))
    except BaseException:
        return False
    return True


def _statement_starts(path: Path) -> dict[int, tuple[int, ...]]:
    """For each line at which a tracer may stop: all lines of the smallest statement that it is of."""
    owner: dict[int, tuple[int, ...]] = {}
    spans = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
            spans.append((node.lineno, max(last, node.lineno)))
        elif isinstance(node, ast.match_case):
            spans.append((node.pattern.lineno, max(node.body[0].lineno - 1, node.pattern.lineno)))
    for first, last in sorted(spans, key=lambda span: span[0] - span[1]):
        for line in range(first, last + 1):
            owner[line] = tuple(range(first, last + 1))
    return owner


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("--sample", type=int, default=0, help="so many at random; all of them by default")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="stop then; with --sample what was run is random"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="a mutant by its name in the list of survivors")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    os.environ["VISION_REFEREE_SHARED"] = os.devnull
    # The same examples each time, and no search for the smallest one: a failure is enough.
    hypothesis.settings.register_profile(
        "mutants", derandomize=True, database=None, phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate]
    )
    hypothesis.settings.load_profile("mutants")
    every = [mutant for name in arguments.modules for mutant in mutants_of(name)]
    chosen = every
    if arguments.only:
        chosen = [mutant for mutant in every if any(text in str(mutant) for text in arguments.only)]
    elif arguments.sample and arguments.sample < len(every):
        chosen = random.Random(arguments.seed).sample(every, arguments.sample)
    runner = Runner(chosen=chosen, minutes=arguments.minutes)
    with tempfile.TemporaryDirectory() as folder:
        quietly = ["-q", "-s", "-p", "no:cacheprovider", "--no-header", "--disable-warnings"]
        in_folder = [f"--basetemp={folder}/tests", "-o", "tmp_path_retention_policy=none"]
        status = pytest.main([*quietly, *in_folder, *TESTS], plugins=[runner])
    judged = sum(n for outcome, n in runner.outcomes.items() if outcome != "cannot be made")
    killed = judged - len(runner.survivors)
    print(f"{len(every)} mutants in all, {judged} run: {killed} noticed ({killed / max(judged, 1):.1%}), of which"
          f" {runner.outcomes['killed by time']} by time; {len(runner.survivors)} not")  # fmt: skip
    sys.exit(int(status))


if __name__ == "__main__":
    main()
