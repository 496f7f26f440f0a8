"""Kernels that kernels call: compiled to LLVM code that is linked into each caller, and to nothing else.

Numba gives every function machine code, a wrapper that unpacks Python objects, and a place in the running program,
though the code of a function that other kernels call is optimised and generated again inside each of them. Here such
a function is typed, lowered and optimised once, and kept (in memory and on disk) as LLVM bitcode. Of the 55 s of CPU
time that a first step of the direct solver took, 12 s went into what is left out.

A kernel that stands `apart` has machine code of its own, which its callers find by name: what is called once a step
need not be optimised together with the loop around it, and several processes can compile the parts of a large loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

from numba.core import codegen, compiler, typed_passes, untyped_passes
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from .later import Spec, asked_for, place_of
from .lowering import LeanLower
from .store import Content, KernelCache

__all__ = ["ApartCompiler", "EntryCache", "EntryCompiler", "InnerCache", "InnerCompiler", "SharedCompiler"]

_Part = tuple[str, bool, bytes, list[str], list[Spec]]
"""Name of a kernel, whether it stands apart, its bitcode or machine code, names of the large ones that it calls, and
those that it may ask for later."""
_SMALL = 80  # instructions, beside those that pass arguments


class _Nowhere:
    """Stands for the running program, where Numba would note the environment of a function."""

    def set_env(self, name: str, env: Any) -> None:
        """Kernels use no Python objects, hence no environment."""


class _Alone:
    """A library as Numba links it, without the large ones that it calls."""

    def __init__(self, library: _Called):
        self._reload_init = library._reload_init
        self._get_module_for_linking = library.alone


class _Library(codegen.JITCodeLibrary):
    """Code of one kernel, of which LLVM has seen nothing before all is there.

    Numba lets it optimise each function three times, so as to find counts of references that cancel; there are none.
    """

    large: tuple[_Called, ...] = ()
    """Other kernels that it calls and that are too large to be inlined."""
    later: tuple[Spec, ...] = ()
    """Kernels that its code may ask for (`later.py`)."""
    _linking_libraries: list[Any]

    def add_linking_library(self, library: Any) -> None:
        """Code that this one calls, with all that it calls in turn."""
        super().add_linking_library(library)
        for other in getattr(library, "large", ()):
            super().add_linking_library(other)

    def finalize(self) -> None:
        """Link what it calls, each piece of code once, and optimise."""
        # Callers first: LLVM takes in only what something that is there already refers to. A callee has fewer callees.
        called = sorted(
            dict.fromkeys(self._linking_libraries), key=lambda one: -len(getattr(one, "large", ()))
        )
        self.large = tuple(one for one in called if isinstance(one, _Called) and not one.is_small)
        self._linking_libraries = [_Alone(one) if isinstance(one, _Called) else one for one in called]
        super().finalize()

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        self.later = tuple(asked_for(self._final_module.global_variables))
        # Loops are short here: vectors made the direct solver's a fifth slower, and compiling longer.
        builder = self._codegen._pass_builder(loop_vectorize=False)
        builder.getModulePassManager().run(self._final_module, builder)


class _Called(_Library):
    """Code of a kernel that other kernels call."""

    codegen = _Nowhere()
    known: ClassVar[dict[str, _Called]] = {}
    apart: ClassVar[bool]
    key: str

    @cached_property
    def is_small(self) -> bool:
        """Whether LLVM may inline it into its callers."""
        return False

    def finalize(self) -> None:
        """Make code of it, which others can call by its name from then on."""
        self.key = next(one.name for one in self._final_module.functions if not one.is_declaration)
        super().finalize()

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()
        self.known[self.key] = self

    def alone(self) -> Any:
        """What callers link of it, without the code of large callees."""
        raise NotImplementedError

    @cached_property
    def code(self) -> bytes:
        """Its own, for the cache."""
        raise NotImplementedError

    def take(self, code: bytes) -> None:
        """Have code that comes from the cache."""
        raise NotImplementedError

    def serialize_using_object_code(self) -> Any:
        """Name, kind and code, with that of large callees, for the cache."""
        return (self.key, "inner", _parts((self, *self.large)))


def _parts(libraries: tuple[_Called, ...]) -> list[_Part]:
    """What is kept of them."""
    return [
        (one.key, one.apart, one.code, [other.key for other in one.large], list(one.later))
        for one in libraries
    ]


def _announce(later: Iterable[Spec]) -> None:
    """Let code be loaded that may ask for these."""
    for spec in later:
        place_of(spec)


def _load(generator: Any, parts: list[_Part]) -> list[_Called]:
    """The libraries that `_parts` was given, each made after those that it calls: machine code must find theirs."""
    kept = {part[0]: part for part in parts}

    def loaded(key: str) -> _Called:
        if key not in _Called.known:
            _, apart, code, calls, later = kept[key]
            _announce(later)
            library = (_ApartLibrary if apart else _InnerLibrary)(generator, key)
            library.key = key
            library.large, library.later = tuple(map(loaded, calls)), tuple(later)
            library.take(code)
        return _Called.known[key]

    return [loaded(part[0]) for part in parts]


class _InnerLibrary(_Called):
    """Optimised LLVM code of one kernel and of the small ones that it calls, without machine code.

    Large ones would not be inlined here, and have been optimised by themselves: they are `large`, for entries to link.
    """

    apart = False
    _whole: Any = None

    def finalize(self) -> None:
        """Optimise, with small callees linked in."""
        called = dict.fromkeys(self._linking_libraries)
        self._linking_libraries = [one for one in called if not isinstance(one, _Called) or one.is_small]
        super().finalize()
        self.large = tuple(one for one in called if isinstance(one, _Called) and not one.is_small)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True
        self.known[self.key] = self

    @cached_property
    def is_small(self) -> bool:
        """Whether LLVM may inline it: the more arguments a call has, the more instructions are spared."""
        function = self._final_module.get_function(self.key)
        limit = _SMALL + sum(1 for _ in function.arguments)
        count = sum(1 for block in function.blocks for _ in block.instructions)
        return count <= limit or any(b"alwaysinline" in words for words in function.attributes)

    def get_pointer_to_function(self, name: str) -> int:
        """Zero, which is Numba's word for a function that Python cannot call."""
        self._ensure_finalized()
        return 0

    def alone(self) -> Any:
        """Its code without that of large callees."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Its code with that of large callees, for functions that others compile: a user's own may call kernels."""
        if self._whole is None:
            self._whole = self.alone().clone()
            for other in self.large:
                self._whole.link_in(other.alone(), preserve=True)
        return self._whole

    @cached_property
    def code(self) -> bytes:
        """What `alone` gives, for the cache."""
        return bytes(self.alone().as_bitcode())

    def take(self, code: bytes) -> None:
        """Have bitcode that comes from the cache."""
        self.code = code
        self._final_module = codegen.ll.parse_bitcode(code)
        self._finalize_final_module()


class _SharedLibrary(_Library):
    """Machine code of a kernel that Python calls; functions that others have, too, stay as they are there."""

    def serialize_using_object_code(self) -> Any:
        """Code of kernels that stand apart, which it calls, what it may ask for, and its own, for the cache."""
        apart = tuple(one for one in self.large if one.apart)
        return _parts(apart), self.later, super().serialize_using_object_code()


class _EntryLibrary(_SharedLibrary):
    """Machine code of a kernel that Python calls, and of all that it calls: nobody else does."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.is_declaration:
                known = _Called.known.get(function.name)
                if known is not None and not known.apart:  # a call of it would go to address zero
                    raise RuntimeError(f"{self.name}: {function.name} was not linked")
            elif function.linkage == codegen.ll.Linkage.linkonce_odr:
                function.linkage = "internal"
                # The program finds functions by name, internal ones too: another one's copy, with its arguments as
                # they were, would be replaced by this one.
                function.name = f"{function.name}.own"
        super()._optimize_final_module()


class _ApartLibrary(_Called, _EntryLibrary):
    """Machine code of a kernel that other kernels call, and of all that it calls, found by them under its name."""

    apart = True

    def finalize(self) -> None:
        """Make machine code of it; the code of what it calls is part of that, unless it stands apart, too."""
        super().finalize()
        self.large = tuple(one for one in self.large if one.apart)

    def alone(self) -> Any:
        """Nothing: callers have declared it, and the running program has it."""
        return codegen.ll.parse_assembly("")

    _get_module_for_linking = alone

    def get_pointer_to_function(self, name: str) -> int:
        """Its address; Numba has overlooked functions that come from the cache."""
        self._ensure_finalized()
        return int(self._codegen._engine.get_function_address(name))

    @cached_property
    def code(self) -> bytes:
        """Machine code, for the cache."""
        return bytes(self._get_compiled_object())

    def take(self, code: bytes) -> None:
        """Have machine code that comes from the cache."""
        self.code = code
        self.enable_object_caching()
        self._set_compiled_object(code)
        self._finalize_final_module()


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):
    _name = "inner_lowering"
    library: ClassVar[type] = _InnerLibrary
    lowering_class = LeanLower

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(_InnerLowering):
    _name = "entry_lowering"
    library: ClassVar[type] = _EntryLibrary


@register_pass(mutates_CFG=True, analysis_only=False)
class _ApartLowering(_InnerLowering):
    _name = "apart_lowering"
    library: ClassVar[type] = _ApartLibrary


@register_pass(mutates_CFG=True, analysis_only=False)
class _SharedLowering(_InnerLowering):
    _name = "shared_lowering"
    library: ClassVar[type] = _SharedLibrary


_NOT_IN_KERNELS = frozenset(
    {
        untyped_passes.WithLifting, untyped_passes.InlineClosureLikes, untyped_passes.RewriteDynamicRaises,
        untyped_passes.MakeFunctionToJitFunction, untyped_passes.FindLiterallyCalls, untyped_passes.LiteralUnroll,
        untyped_passes.LiteralPropagationSubPipelinePass, typed_passes.NopythonRewrites, typed_passes.IRLegalization,
        typed_passes.DumpParforDiagnostics,
    }
)  # fmt: skip
"""Passes about contexts, closures, exceptions, literals, expressions of whole arrays and counted references: each goes
through all of the code to find none."""


class InnerCompiler(compiler.CompilerBase):
    """Numba's passes for compiled functions, the last of which leaves an inner library."""

    lowering: ClassVar[type] = _InnerLowering

    def define_pipelines(self) -> list[Any]:
        """The one pipeline."""
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (self.lowering if one is NativeLowering else one, why)
            for one, why in passes.passes
            if one not in _NOT_IN_KERNELS
        ]
        passes.finalize()
        return [passes]


class ApartCompiler(InnerCompiler):
    """Numba's passes, the last of which leaves machine code for other kernels to call (`jit.apart`)."""

    lowering: ClassVar[type] = _ApartLowering


class EntryCompiler(InnerCompiler):
    """Numba's passes for compiled functions, the last of which leaves machine code."""

    lowering: ClassVar[type] = _EntryLowering


class SharedCompiler(InnerCompiler):
    """Numba's passes, the last of which leaves machine code that shares functions with others (`jit.shared_kernel`)."""

    lowering: ClassVar[type] = _SharedLowering


class _InnerContent(Content):
    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        (_, _, parts), fndesc, environment, signature, _, lifted, annotation, reload_init, used = payload
        library = _load(target_context.codegen(), parts)[0]
        return compiler.CompileResult(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=target_context.get_executable(library, fndesc, environment),
            fndesc=fndesc,
            type_annotation=annotation,
            signature=signature,
            objectmode=False,
            lifted=lifted,
            typing_error=None,
            call_helper=None,
            metadata=None,
            reload_init=reload_init,
            referenced_envs=used,
        )


class InnerCache(KernelCache):
    """Keeps the bitcode of one kernel, beside the machine code that it may have for callers from Python."""

    _impl_class: ClassVar[type] = _InnerContent
    suffix: ClassVar[str] = ".inner"


class _EntryContent(Content):
    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        (apart, later, own), *others = payload
        _load(target_context.codegen(), apart)
        _announce(later)
        return super().rebuild(target_context, (own, *others))


class EntryCache(KernelCache):
    """Keeps the machine code of one kernel, and of those that stand apart and are called by it."""

    _impl_class: ClassVar[type] = _EntryContent
