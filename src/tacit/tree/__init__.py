"""Games as public trees: compiling, subgames, forests, beliefs and strategies."""
