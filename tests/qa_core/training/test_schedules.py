from qa_core.training.schedules import triangle


def test_up_and_down():
    factor = triangle(10, warm_up=0.2)
    assert [round(factor(step), 3) for step in range(11)] == [0.5, 1, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0]
