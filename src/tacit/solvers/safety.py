"""A search's *safety*: how it relates to the searches below it.

- `sampled`: plays one random iteration until the next search (ReBeL, section 6). Safe, because the opponent cannot know which.
- `re-solving`: plays the average, and the next search gives the opponent no more than this one promised it. Also safe.
- `unsafe`: plays the average and believes that everyone does. An opponent who knows the beliefs can exploit them.
"""

SAMPLED, RE_SOLVING, UNSAFE = "sampled", "re-solving", "unsafe"
SAFETY = (SAMPLED, RE_SOLVING, UNSAFE)
