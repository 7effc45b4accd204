"""Student of Games: sound self-play, its query buffer and its trainer; DeepStack is the same without self-play."""
