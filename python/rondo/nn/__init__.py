"""Layers: drop-in ones for `torch.nn.LSTM`, `GRU` and `RNN`, and `Recurrent`, which makes a layer of any cell;
`split_heads` deals its heads to several processes, `split_sequence` the steps of its sequences."""

from .. import _torch as _torch  # says what is missing where PyTorch is
from ._heads import split_heads
from ._sequence import PartOfSequence, split_sequence
from .ready import HGRN, SLSTM, BlockGRU, LayerNormLSTM, MinGRU, MinLSTM, ParaGRU, ParaLSTM
from .recurrent import Recurrent
from .rnn import GRU, LSTM, RNN

__all__ = [
    "GRU",
    "HGRN",
    "LSTM",
    "RNN",
    "SLSTM",
    "BlockGRU",
    "LayerNormLSTM",
    "MinGRU",
    "MinLSTM",
    "ParaGRU",
    "ParaLSTM",
    "PartOfSequence",
    "Recurrent",
    "split_heads",
    "split_sequence",
]
