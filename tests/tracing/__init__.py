"""Tests of traces: which spans there are, who decides what is traced, what is logged, and the export."""
