"""Kernels that kernels call: compiled to LLVM code that is linked into each caller, and to nothing else.

Numba gives every function machine code, a wrapper that unpacks Python objects, and a place in the running program,
though the code of a function that other kernels call is optimised and generated again inside each of them. Here such
a function is typed, lowered and optimised once, and kept (in memory and on disk) as LLVM bitcode. Of the 55 s of CPU
time that a first step of the direct solver took, 12 s went into what is left out.
"""

from __future__ import annotations

from typing import Any, ClassVar

from numba.core import codegen, compiler
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from .store import Content, KernelCache

__all__ = ["EntryCompiler", "InnerCache", "InnerCompiler"]


class _Nowhere:
    """Stands for the running program, where Numba would note the environment of a function."""

    def set_env(self, name: str, env: Any) -> None:
        """Kernels use no Python objects, hence no environment."""


class _InnerLibrary(codegen.JITCodeLibrary):
    """Optimised LLVM code of one kernel and what it calls, without machine code."""

    codegen = _Nowhere()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Zero, which is Numba's word for a function that Python cannot call."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Name, kind and bitcode, for the cache."""
        return (self.name, "inner", self._get_module_for_linking().as_bitcode())

    @classmethod
    def load(cls, generator: Any, name: str, bitcode: bytes) -> _InnerLibrary:
        """What `serialize_using_object_code` gave."""
        library = cls(generator, name)
        library._final_module = codegen.ll.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class _EntryLibrary(codegen.JITCodeLibrary):
    """Machine code of a kernel that Python calls, and of all that it calls: nobody else does."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == codegen.ll.Linkage.linkonce_odr:
                function.linkage = "internal"
                # The program finds functions by name, internal ones too: another one's copy, with its arguments as
                # they were, would be replaced by this one.
                function.name = f"{function.name}.own"
        super()._optimize_final_module()


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):
    _name = "inner_lowering"
    library: ClassVar[type] = _InnerLibrary

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(_InnerLowering):
    _name = "entry_lowering"
    library: ClassVar[type] = _EntryLibrary


class InnerCompiler(compiler.CompilerBase):
    """Numba's passes for compiled functions, the last of which leaves an inner library."""

    lowering: ClassVar[type] = _InnerLowering

    def define_pipelines(self) -> list[Any]:
        """The one pipeline."""
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(self.lowering if one is NativeLowering else one, why) for one, why in passes.passes]
        passes.finalize()
        return [passes]


class EntryCompiler(InnerCompiler):
    """Numba's passes for compiled functions, the last of which leaves machine code."""

    lowering: ClassVar[type] = _EntryLowering


class _InnerContent(Content):
    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        (name, _, bitcode), fndesc, environment, signature, _, lifted, annotation, reload_init, used = payload
        library = _InnerLibrary.load(target_context.codegen(), name, bitcode)
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
