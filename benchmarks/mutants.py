"""Mutation testing of the rules: ``python benchmarks/mutants.py [--sample N] [--seed S] [MODULE…]``.

One small change at a time is made in a function of ``vision_referee.rules`` (a comparison, an "and", a number …), in
memory, in a forked process, and the rules' tests are run on it. A change that no test notices survives and is listed:
either a test is missing, or the change means nothing. Tests are collected once, so that a mutant costs a second or two.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import random
import signal
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[1]
MODULES = [
    "american",
    "between",
    "calls",
    "close_ball",
    "conclude",
    "fouls",
    "general",
    "house",
    "incidents",
    "judge",
    "lag",
    "moscow",
    "rack",
    "russian",
    "safety",
    "small_russian",
    "spotting",
    "state",
    "stroke",
    "turn",
]
TESTS = [f"tests/unit/test_rules_{name}.py" for name in ("general", "fouls", "called_games", "ball_games", "doubt")]
TIME_LIMIT_S = 300

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    module: str
    line: int
    what: str
    function: str
    code: types.CodeType


def _sites(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.BoolOp | ast.BinOp):
            yield node, "operator"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, "not"
        elif isinstance(node, ast.IfExp):
            yield node, "branches"
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int) and not isinstance(node.value, str):
            yield node, "constant"


def _changed(node: Any, kind: str) -> str | None:
    """Change the node in place; what was changed, or None where nothing can be."""
    if kind == "operator":
        op = node.ops[0] if isinstance(node, ast.Compare) else node.op
        other = _SWAPS.get(type(op))
        if other is None:
            return None
        if isinstance(node, ast.Compare):
            node.ops[0] = other()
        else:
            node.op = other()
        return f"{type(op).__name__} -> {other.__name__}"
    if kind == "not":
        node.op, was = ast.UAdd(), "not"
        return f"{was} dropped" if _as_bool(node) else None
    if kind == "branches":
        node.body, node.orelse = node.orelse, node.body
        return "branches swapped"
    was = node.value
    node.value = (not was) if isinstance(was, bool) else was + 1
    return f"{was} -> {node.value}"


def _as_bool(node: Any) -> bool:
    """``+x`` would not do for a truth value: make it ``x and True``."""
    node.__class__ = ast.BoolOp
    node.op, node.values = ast.And(), [node.operand, ast.Constant(True)]
    return True


def _functions(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _functions(constant)


def mutants_of(name: str) -> list[Mutant]:
    """Every mutant of a module's functions."""
    path = ROOT / "vision_referee" / "rules" / f"{name}.py"
    source = path.read_text(encoding="utf-8")
    count = sum(1 for _ in _sites(ast.parse(source)))
    found = []
    for index in range(count):
        tree = ast.parse(source)
        node, kind = list(_sites(tree))[index]
        what = _changed(node, kind)
        if what is None:
            continue
        line = getattr(node, "lineno", 0)
        module_code = compile(ast.fix_missing_locations(tree), str(path), "exec")
        inside = [
            code for code in _functions(module_code)
            if "<" not in code.co_qualname and code.co_firstlineno <= line <= _last_line(code)
        ]  # fmt: skip
        if inside:
            innermost = max(inside, key=lambda code: code.co_firstlineno)
            found.append(Mutant(module=name, line=line, what=what, function=innermost.co_qualname, code=innermost))
    return found


def _last_line(code: types.CodeType) -> int:
    lines = [line for _, _, line in code.co_lines() if line]
    return max([*lines, *(_last_line(inner) for inner in _functions(code))])


def _apply(mutant: Mutant) -> bool:
    holder: Any = importlib.import_module(f"vision_referee.rules.{mutant.module}")
    *owners, name = mutant.function.split(".")
    for owner in owners:
        holder = getattr(holder, owner)
    target = holder.__dict__.get(name)
    target = target.fget if isinstance(target, property) else target
    if not isinstance(target, types.FunctionType) or target.__code__.co_freevars != mutant.code.co_freevars:
        return False
    target.__code__ = mutant.code
    return True


class Runner:
    """A pytest plugin: instead of running the collected tests once, runs them on every mutant."""

    def __init__(self, chosen: list[Mutant]) -> None:
        self.chosen = chosen
        self.survivors: list[Mutant] = []
        self.judged = 0

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for mutant in self.chosen:
            status = self._status(session, mutant)
            if status is None:
                continue
            self.judged += 1
            if status == 0:
                self.survivors.append(mutant)
                print(f"survived: {mutant.module}.py:{mutant.line} {mutant.function}: {mutant.what}", flush=True)
        return True

    def _status(self, session: pytest.Session, mutant: Mutant) -> int | None:
        child = os.fork()
        if child == 0:
            os._exit(self._tested(session, mutant))
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        return None if code == 3 else code

    def _tested(self, session: pytest.Session, mutant: Mutant) -> int:
        signal.alarm(TIME_LIMIT_S)
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        if not _apply(mutant):
            return 3
        for item in session.items:
            if any(report.failed for report in runtestprotocol(item, log=False)):
                return 1
        return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("--sample", type=int, default=0, help="so many at random; all of them by default")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    every = [mutant for name in arguments.modules for mutant in mutants_of(name)]
    chosen = every
    if arguments.sample and arguments.sample < len(every):
        chosen = random.Random(arguments.seed).sample(every, arguments.sample)
    runner = Runner(chosen)
    os.chdir(ROOT)
    pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "-x", *TESTS], plugins=[runner])
    killed = runner.judged - len(runner.survivors)
    print(f"{len(every)} mutants in all, {runner.judged} run, {killed} killed, {len(runner.survivors)} survived")


if __name__ == "__main__":
    main()
