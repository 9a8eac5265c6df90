"""numba's compiler for parts of kernels, made of names that numba does not promise: see linking.py."""

from typing import Any, ClassVar

from numba.core import codegen, compiler, typed_passes, untyped_passes
from numba.core.compiler_machinery import PassManager

_STEPS = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.GenericRewrites,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.IRLegalization,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)


class _PartLibrary(codegen.JITCodeLibrary):
    """The code of one part."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Do nothing: the kernel optimises its parts."""

    def finalize(self) -> None:
        """Make no machine code."""
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """The object on which numba calls `set_env`."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: parts use no Python objects."""

    def _get_module_for_linking(self) -> Any:
        """The code of the part and of all that it calls, for a kernel to link."""
        module = self._alone().clone()
        for other in self._below({}).values():
            module.link_in(other, preserve=True)
        return module

    def _alone(self) -> Any:
        return super()._get_module_for_linking()

    def _below(self, found: dict[Any, Any]) -> dict[Any, Any]:  # INOUT found
        for library in self._linking_libraries:
            if library in found:
                continue
            if isinstance(library, _PartLibrary):
                found[library] = library._alone()
                library._below(found)
            else:
                found[library] = library._get_module_for_linking()
        return found


class _SharedFlags(compiler.Flags):
    """Flags compared by identity: numba compares them ten thousand times, and equal ones are one object."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class _PartFlags(compiler.Flags):
    __slots__ = ()
    _shared: ClassVar[dict[str, _SharedFlags]] = {}

    def copy(self) -> Any:
        """The flags that numba reads while it compiles the part."""
        return self._shared.setdefault(repr(self), _SharedFlags(self))


class PartCompiler(compiler.CompilerBase):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = _PartFlags(self.state.flags)

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        steps = PassManager("part")
        for step in _STEPS:
            steps.add_pass(step, step.name())
        steps.finalize()
        return [steps]
