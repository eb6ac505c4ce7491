"""Tests of metrics: what is counted, the bounds of labels, several processes, and the rules of alerts."""
