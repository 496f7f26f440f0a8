"""From typed code to LLVM's: as Numba does it, without what kernels have no use for.

Numba keeps variables in memory, clears them there before and after use, and copies tuples of arrays, hundreds of words
in the outer loops, wherever one of their fields is read; LLVM then takes several passes to find out that none of it
matters. Kernels count no references, so that a variable that is assigned once is just its value, nothing need be
cleared, and a field of a tuple that was put together from values is one of them. The code of the hybrid method is half
as long in this way, and its first step takes 46 s of CPU time instead of 55.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from llvmlite.ir import Constant, IRBuilder
from llvmlite.ir.instructions import InsertValue
from numba.core import analysis, cgutils, ir, types
from numba.core.lowering import Lower
from numba.np import arrayobj

__all__ = ["LeanLower", "lean_array"]


class _Builder(IRBuilder):  # type: ignore[misc]
    """Writes LLVM code; fields of tuples are looked for where these were put together."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """A field of a tuple."""
        first, *rest = idx if isinstance(idx, tuple | list) else (idx,)
        while isinstance(agg, InsertValue) and len(agg.indices) == 1:
            if agg.indices[0] == first:
                return self.extract_value(agg.value, rest, name) if rest else agg.value
            agg = agg.aggregate
        return super().extract_value(agg, [first, *rest], name)


class LeanLower(Lower):  # type: ignore[misc]
    """Numba's lowering for functions that count no references."""

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function."""
        super().setup_function(fndesc)
        self.builder = _Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def _find_singly_assigned_variable(self) -> None:
        """Variables that are values: assigned once, before any use whatever way a run takes."""
        blocks = self.func_ir.blocks
        assigned = Counter(
            one.target.name for block in blocks.values() for one in block.find_insts(ir.Assign)
        )
        uses = analysis.compute_use_defs(blocks)
        homes = {name: label for label, names in uses.defmap.items() for name in names}
        above = analysis.compute_cfg_from_blocks(blocks).dominators()
        values = {name for name, count in assigned.items() if count == 1}
        for label, names in uses.usemap.items():
            # Blocks are written in the order of their labels, too.
            values -= {
                name
                for name in names & values
                if homes[name] > label or homes[name] not in above.get(label, ())
            }
        self._singly_assigned_vars = values
        self._blk_local_varmap: dict[str, Any] = {}

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Memory of a variable that is assigned in several places."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(lltype, name=name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Assign."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Nothing is left behind."""


_array_of = arrayobj.make_array


@cache
def lean_array(kind: Any) -> Any:
    """The words of an array of this type while code is written that reads or fills them: values, not memory.

    Stands for `numba.np.arrayobj.make_array`, which puts all of them into memory that was cleared twice, for each
    element that is read.
    """
    if not isinstance(kind, types.Array):
        return _array_of(kind)

    class Words(cgutils.create_struct_proxy(kind)):  # type: ignore[misc]
        def __init__(self, context: Any, builder: Any, value: Any = None, ref: Any = None):
            self._held = None
            if ref is not None:
                super().__init__(context, builder, value, ref)
                return
            self._context, self._builder, self._home = context, builder, builder.block
            self._datamodel = context.data_model_manager[kind]
            self._be_type = self._get_be_type(self._datamodel)
            self._held = Constant(self._be_type, None) if value is None else value

        def _settle(self) -> None:
            """Keep them in memory from now on."""
            if self._held is None:
                return
            memory = cgutils.alloca_once(self._builder, self._be_type)
            with self._builder.goto_block(self._home):
                self._builder.store(self._held, memory)
            self._held, self._value, self._outer_ref = None, memory, memory

        def __getitem__(self, index: int) -> Any:
            if self._held is None:
                return super().__getitem__(index)
            return self._builder.extract_value(self._held, index)

        def __setitem__(self, index: int, word: Any) -> None:
            if self._held is None or self._builder.block is not self._home:
                self._settle()
                super().__setitem__(index, word)
            else:
                self._held = self._builder.insert_value(self._held, word, index)

        def _get_ptr_by_index(self, index: int) -> Any:
            self._settle()
            return super()._get_ptr_by_index(index)

        def _getpointer(self) -> Any:
            self._settle()
            return super()._getpointer()

        def _getvalue(self) -> Any:
            return super()._getvalue() if self._held is None else self._held

        def _setvalue(self, value: Any) -> None:
            self._settle()
            super()._setvalue(value)

    return Words
