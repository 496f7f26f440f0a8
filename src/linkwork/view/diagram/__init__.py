"""Control diagrams to look at and to edit: layout, drawing, and changes of the model file behind them."""
