import math

import pytest
import torch

from generators.conversation.language_model import LanguageModel, LanguageModelConfig
from qa_core.networks.decoder_types import END_ID, START_ID
from qa_core.networks.poolings import pad

V = 7
CONFIG = LanguageModelConfig(V, dimension=3, hidden=4, layers=2, dropout=0.0, uniform=0.5)
TIED = LanguageModelConfig(V, dimension=3, hidden=4, layers=2, dropout=0.0, uniform=0.5, tied=True)


def network(config: LanguageModelConfig) -> LanguageModel:
    torch.manual_seed(1)
    return LanguageModel(config).eval()


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_a_tiny_network_by_hand():
    model = LanguageModel(LanguageModelConfig(5, dimension=1, hidden=1, layers=1, dropout=0.0)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(0.0 if "bias" in name else 1.0)
        model.words.E_tune[:, 0] = torch.tensor([9.0, 9.0, 0.5, 9.0, -0.3])
        model.output.weight[:, 0] = torch.tensor([0.0, 0.0, 0.0, 1.0, 2.0])
    expected, h, c = [], 0.0, 0.0
    for given, told in ((0.5, 4), (-0.3, END_ID)):
        gate, new = sigmoid(given + h), math.tanh(given + h)
        c = gate * c + gate * new
        h = gate * math.tanh(c)
        z = math.tanh(h)
        logits = [0.0, 0.0, 0.0, z, 2 * z]
        expected.append(logits[told] - math.log(sum(map(math.exp, logits))))
    target, everywhere = torch.tensor([[4, END_ID]]), torch.ones(1, 2, dtype=torch.bool)
    assert model.token_log_likelihood(target, everywhere)[0].tolist() == pytest.approx(expected, abs=1e-6)
    assert model.log_likelihood(target, everywhere).item() == pytest.approx(sum(expected), abs=1e-6)


@pytest.mark.parametrize("config", [CONFIG, TIED], ids=["own softmax", "tied"])
def test_steps_find_what_whole_texts_do_and_padding_changes_nothing(config: LanguageModelConfig):
    model = network(config)
    texts = [[6, 5, END_ID], [END_ID], [4, END_ID]]
    target, mask = pad(texts)
    with torch.no_grad():
        whole = model.token_log_likelihood(target, mask)
        dense = model.token_distributions(target, mask)
        for row, text in enumerate(texts):
            state, before = model.start(1), START_ID
            for place, word in enumerate(text):
                logits, state = model.step(state, torch.tensor([before]))
                assert whole[row, place].item() == pytest.approx(logits.log_softmax(1)[0, word].item(), abs=1e-6)
                before = word
        assert (whole[~mask] == 0).all()
        alone = model.log_likelihood(*pad(texts[:1]))
    torch.testing.assert_close(alone[0], whole[0].sum())
    torch.testing.assert_close(dense.gather(1, target[mask].unsqueeze(1)).squeeze(1), whole[mask])
    torch.testing.assert_close(dense.exp().sum(1), torch.ones(int(mask.sum())))


def test_states_are_chosen_row_by_row():
    model = network(CONFIG)
    with torch.no_grad():
        _, state = model.step(model.start(2), torch.tensor([4, 5]))
        logits, _ = model.step(state.select(torch.tensor([1, 1, 0])), torch.tensor([6, 6, 6]))
        both, _ = model.step(state, torch.tensor([6, 6]))
    torch.testing.assert_close(logits, both[[1, 1, 0]])


def test_a_tied_softmax_shares_the_word_vectors():
    model = network(TIED)
    assert model.output.weight is model.words.E_tune
    assert "output.weight" not in dict(model.named_parameters())


def test_a_vocabulary_of_special_words_alone_is_refused():
    with pytest.raises(ValueError, match="Expected words beside the 4 special ones, but got a vocabulary of 4"):
        LanguageModelConfig(4)
