"""NFSP on limit hold'em, a game too large to compile (section 4.3): hands, memories and networks as tensors on one device."""
