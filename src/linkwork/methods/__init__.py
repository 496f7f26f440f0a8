"""Methods: how a model is moved. `registry` has the table of them, `capabilities` what each can do."""
