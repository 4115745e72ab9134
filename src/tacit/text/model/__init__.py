"""The trained model: features, the conditional random field, calibration, strict mode."""
