"""What a search does about the searches below it: its *safety*.

- `sampled`: one random iteration is played until the next search (ReBeL, section 6). Safe, because nobody knows which one.
- `re-solving`: the average is played, and the next search leaves the opponent what this one promised it. Safe as well.
- `unsafe`: the average is played, and everyone is believed to play it. An opponent who knows the beliefs does something else.
"""

SAMPLED, RE_SOLVING, UNSAFE = "sampled", "re-solving", "unsafe"
SAFETY = (SAMPLED, RE_SOLVING, UNSAFE)
