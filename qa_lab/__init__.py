"""The laboratory: training, evaluation, fitting of what ships, studies."""
