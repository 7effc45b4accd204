"""Student of Games: sound self-play on public trees and on boards; DeepStack is the same without self-play."""
