"""The engine for limit hold'em, which is too large to compile: hands, memories and networks as tensors on one device."""
