"""What operators see of the service's work: traces and metrics for a collector, slow questions, health."""
