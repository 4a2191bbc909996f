"""ONNX graphs: exported, quantised, and opened with little memory and time."""
