"""Charts: one description of what is drawn, and pure functions that turn it into SVG, a table, or data for Plotly."""
