import torch

from generators.training.torch_networks import evaluating


def test_evaluation_restores_the_training_mode():
    model = torch.nn.Dropout(0.5).train()
    with evaluating(model):
        assert not model.training
        assert not torch.is_grad_enabled()
    assert model.training
    assert torch.is_grad_enabled()
