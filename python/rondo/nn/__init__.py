"""Layers: drop-in ones for `torch.nn.LSTM`, `GRU` and `RNN`, and `Recurrent`, which makes a layer of any cell;
`split_heads` deals its heads to several processes."""

from .. import _torch as _torch  # says what is missing where PyTorch is
from ._heads import split_heads
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
    "Recurrent",
    "split_heads",
]
