"""Plan files: YAML and TOML as plain data. A plan may come from a stranger, so nothing in it is run."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tacit.errors import InputError, PlanError, explain_target, near_match
from tacit.release.folders import to_yaml
from tacit.storage.own_folders import write_whole

#: A plan is a page or two; a file beyond this is something else.
LARGEST = 4_000_000


class PlanLoader(yaml.SafeLoader):
    """YAML without aliases, which can make a small file huge, and without double keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse aliases."""
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(
                None, None, "a plan has no aliases (*name); write the value out", event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """Refuse a key that stands twice."""
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be a single word", key_node.start_mark
                )
            key = key_node.value
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {str(key)!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def read_document(path: Path) -> dict[str, Any]:
    """Read YAML or TOML as a mapping, or say why it is none."""
    with explain_target(path, "read"):
        there = path.exists()
    if not there:
        names = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        raise InputError(f"no plan file {str(path)!r}. {near_match(path.name, names)}".strip())
    if path.is_dir():
        raise InputError(f"{path.name!r} is a folder; name the plan file in it")
    if path.stat().st_size > LARGEST:
        raise PlanError(f"{path.name} is too large for a plan; is it the data?")
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix.lower() == ".toml":
            document = tomllib.loads(text)
        else:
            document = yaml.load(text, Loader=PlanLoader)  # noqa: S506 - a SafeLoader with more refusals
    except UnicodeDecodeError:
        raise PlanError(f"{path.name} is not UTF-8 text") from None
    except OSError as error:
        raise InputError(f"cannot read {path.name!r}: {error.strerror}") from None
    except (yaml.YAMLError, tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it is not well formed"
        raise PlanError(f"{path.name}{place}: {problem}") from None
    if not isinstance(document, dict):
        from tacit.plan.model import SECTIONS

        raise PlanError(f"{path.name} is not a plan: it must be a mapping of {', '.join(SECTIONS)}")
    return document


def write_document(document: Mapping[str, Any], target: Path) -> None:
    """Write a plan as YAML or TOML, by the file's extension."""
    if target.suffix.lower() == ".toml":
        import tomli_w

        text = tomli_w.dumps(without_null(document))
    else:
        text = to_yaml(document)
    write_whole(target, text)


def without_null(value: Any) -> Any:
    """Return plain data without null, which TOML has no word for."""
    if isinstance(value, Mapping):
        return {k: without_null(v) for k, v in value.items() if v is not None}
    return [without_null(v) for v in value] if isinstance(value, list) else value
