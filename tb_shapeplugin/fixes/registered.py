"""The kinds of fixes in the order in which they are asked; of equal effort, the earlier one goes first."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from tb_shapeplugin.fixes.call_argument import call_argument
from tb_shapeplugin.fixes.checked_input import checked_input
from tb_shapeplugin.fixes.dtype_and_device import dtype_and_device
from tb_shapeplugin.fixes.input_shape import input_shape
from tb_shapeplugin.fixes.input_side import input_side
from tb_shapeplugin.fixes.inserted_step import inserted_step
from tb_shapeplugin.fixes.layer_argument import layer_argument
from tb_shapeplugin.fixes.levelled_operand import levelled_operand
from tb_shapeplugin.fixes.made_of_sizes import made_of_sizes
from tb_shapeplugin.fixes.parameter_shape import parameter_shape
from tb_shapeplugin.fixes.plain_attribute import plain_attribute
from tb_shapeplugin.fixes.producer_width import producer_width
from tb_shapeplugin.fixes.situation import Candidate, Situation
from tb_shapeplugin.fixes.suggestion import suggestion
from tb_shapeplugin.fixes.surplus_size import surplus_size
from tb_shapeplugin.fixes.window import window
from tb_shapeplugin.fixes.written_index import written_index
from tb_shapeplugin.fixes.written_number import written_number

Propose: TypeAlias = Callable[[Situation], Iterator[Candidate]]

FIXES: tuple[Propose, ...] = (
    layer_argument,
    producer_width,
    input_shape,
    inserted_step,
    window,
    input_side,
    call_argument,
    written_number,
    written_index,
    surplus_size,
    levelled_operand,
    made_of_sizes,
    plain_attribute,
    parameter_shape,
    dtype_and_device,
    checked_input,
    suggestion,
)
