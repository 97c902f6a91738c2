"""Which aten ops have a formula of their FLOPs, which count nothing, and of which nobody knows."""

from tb_shapeplugin.ops import flops_of_attention, flops_of_convolutions, flops_of_products, flops_of_recurrent
from tb_shapeplugin.ops.flops import FORMULAS, Formula

# Each files its formulas as it is imported.
FAMILIES = (flops_of_products, flops_of_convolutions, flops_of_attention, flops_of_recurrent)

_TORCHS_OWN = ("aten", "prim", "prims", "rngprims", "debugprims", "profiler", "c10d", "_c10d_functional", "quantized", "inductor")
# Arithmetic of other kinds than multiply-accumulates that can be told from shapes, or none that shapes tell.
_NO_FORMULA = (
    *("fft_", "_fft_", "linalg_", "_linalg_", "cholesky", "svd", "_svd", "qr", "geqrf", "orgqr", "ormqr", "_lu_with_info", "lu_solve"),
    *("triangular_solve", "inverse", "matrix_exp", "_sparse_addmm", "_sparse_mm", "_sparse_sparse_matmul", "sparse_sampled_addmm"),
    *("_sparse_semi_structured", "_cslt_sparse_mm", "_flash_attention_backward", "_efficient_attention_backward", "_cdist_backward"),
)
# They bear such a name, and are reductions or elementwise.
_COUNT_NOTHING = ("linalg_vector_norm", "linalg_cross", "linalg_vecdot", "linalg_diagonal", "fft_fftshift", "fft_ifftshift", "fft_fftfreq")
_QUANTIZED_KERNELS = ("conv", "linear", "matmul", "lstm", "gru", "rnn")
_OF_VISION = ("torchvision.nms", "torchvision.roi_align", "torchvision.roi_pool", "torchvision.ps_roi_align", "torchvision.ps_roi_pool")


def formula_of(name: str) -> Formula | None:
    """The formula of an aten op, by its name with or without its overload; None where it has none.

    Example:
        >>> formula_of("aten.mm.default")([(2, 3), (3, 4)], [(2, 4)])
        48
    """
    return FORMULAS.get(packet_of(name))


def counts_nothing(name: str) -> bool:
    """Is an op without a formula one that has nothing to count? Else its FLOPs are unknown.

    Example:
        >>> counts_nothing("aten.relu.default"), counts_nothing("aten._fft_r2c.default"), counts_nothing("mylib.attend.default")
        (True, False, False)
    """
    packet = packet_of(name)
    namespace, _, op = packet.partition(".")
    if packet in _OF_VISION:
        return True
    if namespace not in _TORCHS_OWN:
        return False
    if namespace == "quantized":
        return not op.startswith(_QUANTIZED_KERNELS)
    return op.startswith(_COUNT_NOTHING) or not op.startswith(_NO_FORMULA)


def packet_of(name: str) -> str:
    """``aten.mm`` for ``aten.mm.default``."""
    return ".".join(name.split(".")[:2])
