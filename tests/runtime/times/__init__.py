"""Tests of `runtime/times`."""
