"""The choice of a policy: ``POLICIES``, and the one reader of "a name, or a name with options" in all its forms."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Required, TypeAlias, TypedDict, get_args

import numpy as np

from paretopick._arrays import check_choice
from paretopick._texts import split_at_commas, value_of
from paretopick._words import short
from paretopick.errors import InvalidInput
from paretopick.policies.ape import ape_fb, ape_fb_adapt
from paretopick.policies.apt import apt
from paretopick.policies.base import Policy
from paretopick.policies.ege import ege, ege_gg, ege_sh, ege_sr, ege_sr_k, uniform
from paretopick.policies.paired_doubt import doubt
from paretopick.policies.saved import plain
from paretopick.schedules import Schedule, Spend
from paretopick.theory.margins import Limits, Margins

PolicyName: TypeAlias = Literal[
    "ege-sr", "ege-sh", "ege-gg", "uniform", "ege-sr-k", "ege", "ape-fb", "ape-fb-adapt", "apt", "doubt"
]

POLICIES: dict[PolicyName, Callable[..., Policy]] = {
    "ege-sr": ege_sr,
    "ege-sh": ege_sh,
    "ege-gg": ege_gg,
    "uniform": uniform,
    "ege-sr-k": ege_sr_k,
    "ege": ege,
    "ape-fb": ape_fb,
    "ape-fb-adapt": ape_fb_adapt,
    "apt": apt,
    "doubt": doubt,
}
"""Name -> a function of n_arms, n_objectives, budget and the policy's own options, all by keyword.

Which class it is annotated to return says what the policy can do."""

DEFAULT_POLICY: Final = "doubt"
"""That of studies, unless they say otherwise."""


class PolicyOptions(TypedDict, total=False):
    """The options of all policies: ``{"n_rounds": 3}``; ``paretopick show NAME`` says which a policy has, and what they mean."""

    as_published: bool
    batch: int
    c: float | None
    complexity: float | None
    exploration: float | None
    gamma: float
    initial: int
    limits: Limits
    margins: Margins
    max_arms: int
    n_rounds: int | None
    paired: bool
    schedule: Schedule | Mapping[str, Sequence[int]]
    spend: Spend


class PolicyTable(PolicyOptions):
    """A policy with its options, as in a study file: ``{"name": "apt", "batch": 8}``."""

    name: Required[PolicyName]


PolicyGiven: TypeAlias = "PolicyName | tuple[PolicyName, PolicyOptions] | PolicyTable | PolicyChoice"
"""A choice as users write it: ``"apt"``, ``("apt", {"batch": 8})`` or ``{"name": "apt", "batch": 8}``.

``"apt:batch=8"`` is understood, too: it is for the command line, and type checkers, which cannot read it, refuse it."""

PolicyMaker: TypeAlias = Callable[..., Policy]
"""A class of policies of your own, or a function that makes one: of the keywords n_arms, n_objectives and budget, of rng if it
has such a parameter, and of its own options."""

OwnPolicyGiven: TypeAlias = "PolicyMaker | tuple[PolicyMaker, Mapping[str, Any]]"
"""A policy of your own as simulations take it: ``MyPolicy``, or ``(MyPolicy, {"option": 1})``."""

SIZES = ("n_arms", "n_objectives", "budget")
"""What every policy is made for."""


@dataclass(frozen=True)
class PolicyChoice:
    """A policy by name, with its options as JSON values; refused at birth if there is no such policy or option.

    What the policy can do is read from its class, without making one. ``own`` is what makes a policy that is not among
    ``POLICIES``, with a name for tables.

    >>> PolicyChoice("apt", {"batch": 8}).extendable
    True
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    own: PolicyMaker | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        known = self._known
        for option in self.options:
            if option in SIZES or not self._takes_any:
                check_choice(option, known, f"option of {self.name}")
        missing = [f"{option}=" for option in _needed(known) if option not in self.options]
        if missing:
            raise InvalidInput(f"{self.name} needs {', '.join(missing)}; it has no default.")
        told = {name: value for name, value in self.options.items() if value is not None or known.get(name, "") is not None}
        object.__setattr__(self, "options", {name: self._plain(value, name) for name, value in told.items()})

    @property
    def _known(self) -> dict[str, Any]:
        return policy_options(self.name) if self.own is None else _options_of(self.own)

    @property
    def _takes_any(self) -> bool:
        """Whether it takes options that it does not name, as those do that hand them on to their base."""
        return self.own is not None and any(p.kind is p.VAR_KEYWORD for p in _parameters(self.own).values())

    def _plain(self, value: Any, name: str) -> Any:
        """An option as JSON values, which is what curves keep and what policies are made with."""
        try:
            return _plain(value, name)
        except InvalidInput:
            if self.own is None:
                raise
            raise InvalidInput(
                f"option {name}={short(value)} of {self.name} is neither a number nor a text, nor a list or mapping of such; for "
                f"anything else give a function: lambda **size: {self.name}({name}=..., **size)."
            ) from None

    @property
    def kinds(self) -> tuple[type[Policy], ...]:
        """The classes that it may be of."""
        return _kinds(POLICIES[check_choice(self.name, POLICIES, "policy")] if self.own is None else self.own)

    @property
    def amendable(self) -> bool:
        """Whether it takes observations back, retires arms, and knows objectives without noise."""
        return all(kind.amendable for kind in self.kinds)

    @property
    def extendable(self) -> bool:
        """Whether it can be given more budget later."""
        return all(kind.extendable for kind in self.kinds)

    @property
    def growable(self) -> bool:
        """Whether arms can be added later, and data collected before be given to start from."""
        return all(kind.growable for kind in self.kinds)

    @property
    def roundless(self) -> bool:
        """Whether its next pull and its answer are functions of the data alone."""
        return all(kind.roundless for kind in self.kinds)

    @property
    def knows_margins(self) -> bool:
        """Whether it regards margins and limits."""
        return all(kind.knows_margins for kind in self.kinds)

    @property
    def stepwise(self) -> bool:
        """Whether it chooses pull after pull, or batch after batch, and plans no rounds ahead."""
        return all(kind.stepwise for kind in self.kinds)

    @property
    def knows_pairs(self) -> bool:
        """Whether it regards what pulls of different arms share: whether it has the option ``paired``."""
        return "paired" in self._known

    @property
    def needs_complexity(self) -> bool:
        """Whether it has to be told how hard the problem is, which only simulations know."""
        return any(kind.needs_complexity(self.options) for kind in self.kinds)

    @property
    def max_arms(self) -> int | None:
        """How many optimal arms are enough; None if all are to be found."""
        return self.options.get("max_arms")

    @property
    def batch(self) -> int:
        """How many pulls a stepwise policy hands out at once."""
        return int(self.options.get("batch", 1))

    def with_default(self, **options: Any) -> PolicyChoice:
        """Returns the same choice with options where the policy has such ones and the choice does not say."""
        known = self._known
        return replace(self, options={key: value for key, value in options.items() if key in known} | {**self.options})

    def new(self, *, n_arms: int, n_objectives: int, budget: int | None = None, rng: np.random.Generator | None = None) -> Policy:
        """Returns a policy that knows nothing yet.

        Args:
            n_arms: K.
            n_objectives: D.
            budget: T.
            rng: for policies of your own that throw dice: those that have such a parameter.
        """
        if self.own is not None:
            return self._own_policy(self.own, rng, n_arms=n_arms, n_objectives=n_objectives, budget=budget)
        make = POLICIES[check_choice(self.name, POLICIES, "policy")]
        if budget is None and inspect.signature(make).parameters["budget"].default is inspect.Parameter.empty:
            raise InvalidInput(f"{self.name} needs budget=, the number of pulls that can be paid for.")
        made = make(n_arms=n_arms, n_objectives=n_objectives, budget=budget, **self.options)
        made.name = self.name
        made.options = dict(self.options)
        return made

    def _own_policy(self, make: PolicyMaker, rng: np.random.Generator | None, **size: int | None) -> Policy:
        given: dict[str, Any] = {**size, **self.options}
        if "rng" in _parameters(make) and "rng" not in given:
            given["rng"] = np.random.default_rng(0) if rng is None else rng
        call = f"{self.name}({', '.join(f'{key}={short(value)}' for key, value in given.items())})"
        try:
            inspect.signature(make).bind(**given)
            made = make(**given)
        except TypeError as problem:
            raise InvalidInput(
                f"{call} failed: {problem}. A policy of your own is made with the keywords n_arms, n_objectives and budget, "
                "which its __init__ hands on: def __init__(self, *, option=1, **size): super().__init__(**size)."
            ) from problem
        if not isinstance(made, Policy):
            raise InvalidInput(f"{call} returned {short(made)}; expected a policy, an object of a subclass of pp.Policy.")
        if not hasattr(made, "_counts"):
            raise InvalidInput(
                f"{type(made).__name__}.__init__ does not make the base ready: write super().__init__(n_arms=n_arms, "
                "n_objectives=n_objectives, budget=budget) in it."
            )
        return made

    @property
    def label(self) -> str:
        """The choice as people read it; that all of the budget is spent goes without saying."""
        told = [f"{key}={value}" for key, value in self.options.items() if (key, value) != ("spend", "all")]
        return f"{self.name} ({', '.join(told)})" if told else self.name

    @property
    def text(self) -> str:
        """The choice as one types it: ``apt:batch=8``."""
        told = ",".join(f"{key}={json.dumps(value)}" for key, value in self.options.items())
        return f"{self.name}:{told}" if told else self.name

    def to_dict(self) -> dict[str, Any]:
        """Returns the choice as JSON values, the table of a study file: ``{"name": "apt", "batch": 8}``."""
        return {"name": self.name, **self.options}


def check_policy(given: Any) -> PolicyChoice:
    """Returns a choice from any form in which one can be written, or says what is wrong with it.

    >>> check_policy("apt:batch=8") == check_policy(("apt", {"batch": 8})) == check_policy({"name": "apt", "batch": 8})
    True
    """
    if isinstance(given, PolicyChoice):
        return given
    if isinstance(given, str):
        return _from_text(given)
    if isinstance(given, Mapping):
        if "name" not in given:
            raise InvalidInput(f"policy={short(given)} has no 'name'; write for instance {{'name': 'apt', 'batch': 8}}.")
        return PolicyChoice(given["name"], {option: value for option, value in given.items() if option != "name"})
    if callable(given) or (isinstance(given, tuple | list) and given and callable(given[0])):
        raise InvalidInput(
            f"policy={short(given)} is of your own, which only pp.simulate() and pp.play() take; studies and plans know policies "
            f"by name, such as 'apt': {', '.join(POLICIES)}."
        )
    if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[1], Mapping):
        return PolicyChoice(given[0], given[1])
    raise InvalidInput(
        f'policy={short(given)} is neither a name nor a name with options; write for instance "apt" or ("apt", {{"batch": 8}}); '
        "simulate and plan take several in a list."
    )


def check_simulated(given: Any) -> PolicyChoice:
    """Returns a choice from all that ``check_policy`` takes, or from a policy of your own: its class, or what makes it.

    >>> class Mine(Policy):
    ...     def __init__(self, *, width=1.0, **size):
    ...         super().__init__(**size)
    >>> check_simulated((Mine, {"width": 2.0})).label
    'Mine (width=2.0)'
    """
    make, options = given, {}
    if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[1], Mapping):
        make, options = given
    if isinstance(make, Policy):
        raise InvalidInput(
            f"policy={short(make)} is one policy, and every run needs a new one; give its class, {type(make).__name__}."
        )
    if isinstance(given, tuple | list) and make is given and given and callable(given[0]):
        raise InvalidInput(f"policy={short(given)} is not a policy with its options; write (MyPolicy, {{'option': 1}}).")
    if isinstance(make, str | PolicyChoice | Mapping) or not callable(make):
        return check_policy(given)
    if isinstance(make, type) and not issubclass(make, Policy):
        raise InvalidInput(f"policy={short(make)} is no policy; a class of your own is a subclass of pp.Policy.")
    name = _name_of(make)
    if name in POLICIES:
        raise InvalidInput(f"policy={short(make)} is called {name!r}, as one of pp.POLICIES is; give it another name.")
    return PolicyChoice(name, options, make)


def policy_options(name: str) -> dict[str, Any]:
    """Returns the options of a policy with their defaults; ``inspect.Parameter.empty`` where there is none."""
    return _options_of(POLICIES[check_choice(name, POLICIES, "policy")])


def needed_options(name: str) -> list[str]:
    """Returns the options of a policy that have no default."""
    return _needed(policy_options(name))


def policies_with(trait: str) -> list[str]:
    """Returns the names of the policies that are "amendable", "extendable", "growable", "roundless", and so on."""
    return [name for name, make in POLICIES.items() if all(getattr(kind, trait) for kind in _kinds(make))]


def _parameters(make: PolicyMaker) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(make).parameters
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"policy={short(make)} cannot be used: {problem}.") from None


def _options_of(make: PolicyMaker) -> dict[str, Any]:
    """The options with their defaults: the parameters that are not about the problem, and can be named."""
    others = {key: p for key, p in _parameters(make).items() if key not in (*SIZES, "rng")}
    return {key: p.default for key, p in others.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}


def _needed(options: Mapping[str, Any]) -> list[str]:
    return [option for option, default in options.items() if default is inspect.Parameter.empty]


def _name_of(make: PolicyMaker) -> str:
    """What tables call a policy of your own: the ``name`` of its class if it has one, else that of the class or function."""
    if isinstance(make, functools.partial):
        return _name_of(make.func)
    if isinstance(make, type) and issubclass(make, Policy) and make.name:
        return make.name
    name = getattr(make, "__name__", type(make).__name__)
    return "own policy" if name == "<lambda>" else str(name)


def _kinds(make: PolicyMaker) -> tuple[type[Policy], ...]:
    """The classes of a policy, from what its function is annotated to return; without that, the base of all."""
    if isinstance(make, type):
        return (make,)
    try:
        returned = inspect.signature(make, eval_str=True).return_annotation
    except NameError:  # an annotation of a user that names what is not there
        return (Policy,)
    kinds = tuple(kind for kind in get_args(returned) or (returned,) if isinstance(kind, type) and issubclass(kind, Policy))
    return kinds or (Policy,)


def _from_text(text: str) -> PolicyChoice:
    """``name:option=value,option=value`` taken apart."""
    name, _, tail = (part.strip() for part in text.partition(":"))
    if "," in name:
        raise InvalidInput(f"policy={short(text)} names several; give them one by one.")
    options = {}
    for pair in split_at_commas([tail]):
        option, equals, given = pair.partition("=")
        if not equals:
            raise InvalidInput(f"{short(pair)} in policy={short(text)} is not OPTION=VALUE; write for instance apt:batch=8.")
        options[option.strip()] = value_of(given)
    return PolicyChoice(name, options)


def _plain(value: Any, name: str) -> Any:
    """An option as JSON values, which the functions of ``POLICIES`` take just as well."""
    return {"active": list(value.active), "pulls": list(value.pulls)} if isinstance(value, Schedule) else plain(value, name)
