"""Which aten ops have a formula of their FLOPs, which count nothing, and of which nobody knows."""

from tb_shapeplugin.ops import flops_of_attention, flops_of_convolutions, flops_of_einsum, flops_of_products, flops_of_recurrent
from tb_shapeplugin.ops.flops import FORMULAS, Formula

# Each files its formulas as it is imported.
FAMILIES = (flops_of_products, flops_of_einsum, flops_of_convolutions, flops_of_attention, flops_of_recurrent)

_COLLECTIVES = ("c10d", "_c10d_functional", "_c10d_functional_autograd", "_dtensor")
_TORCHS_OWN = ("aten", "prim", "prims", "rngprims", "debugprims", "profiler", "quantized", "inductor", *_COLLECTIVES)
# Arithmetic of other kinds than multiply-accumulates that can be told from shapes, or none that shapes tell.
_NO_FORMULA = (
    *("fft_", "_fft_", "linalg_", "_linalg_", "cholesky", "svd", "_svd", "qr", "geqrf", "orgqr", "ormqr", "_lu_with_info", "lu_solve"),
    *("triangular_solve", "inverse", "matrix_exp", "_sparse_addmm", "_sparse_mm", "_sparse_sparse_matmul", "sparse_sampled_addmm"),
    *("_sparse_semi_structured", "_cslt_sparse_mm", "_spsolve", "hspmm", "sspaddmm", "_cholesky_solve_helper", "stft", "istft"),
    *("_flash_attention_", "_efficient_attention_backward", "_cudnn_attention_", "_triton_", "_cdist_backward", "_foreach_mm"),
    *("linear_backward", "mkldnn_linear_backward", "matmul_backward", "_convolution_double_backward", "mps_convolution_"),
    *("_lstm_mps", "lstm_mps_backward", "quantized_lstm", "quantized_gru", "quantized_rnn", "_mm_plus_mm", "_pdist_backward"),
    "_compute_linear_combination",
)
# Inference mode hears of these before they become products: their whole names, as others begin alike.
_COMPOSITE = frozenset({"chain_matmul", "matrix_power", "cov", "corrcoef", "det", "logdet", "slogdet", "pinverse", "smm"})
# They bear such a name, and are reductions or elementwise.
_COUNT_NOTHING = (
    *("linalg_vector_norm", "linalg_cross", "linalg_vecdot", "linalg_diagonal", "fft_fftshift", "fft_ifftshift", "fft_fftfreq"),
    *("fft_rfftfreq", "linalg_vander", "_linalg_check_errors"),
)
_QUANTIZED_KERNELS = ("conv", "linear", "matmul", "lstm", "gru", "rnn", "int4mm", "quantized_")
# Boxes, pooling and its gradients; a deformed convolution's gradients are what else there is.
_OF_VISION = frozenset(
    {"torchvision.nms"}
    | {f"torchvision.{pool}" for pool in ("roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool")}
    | {f"torchvision._{pool}_backward" for pool in ("roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool")}
)


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
    return op.startswith(_COUNT_NOTHING) or not (op in _COMPOSITE or op.startswith(_NO_FORMULA))


def packet_of(name: str) -> str:
    """``aten.mm`` for ``aten.mm.default``."""
    return ".".join(name.split(".")[:2])
