"""The engine for limit hold'em, a game too large to compile: hands, memories and networks are tensors on one device."""
