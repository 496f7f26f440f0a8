"""What tests share: models, references, runs, processes, browsers."""
