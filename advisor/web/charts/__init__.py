"""The six charts of the server page: one module a chart, all out of one read of the sample history."""
