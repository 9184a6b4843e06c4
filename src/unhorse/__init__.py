"""unhorse finds backdoors in NLP transformer models."""
