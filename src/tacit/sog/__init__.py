"""Student of Games: continual re-solving, growing trees and sound self-play."""
