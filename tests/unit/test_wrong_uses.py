"""Wrong uses of settings for poker players and experimenters: each gets one clear line, exit code 2 and no output."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.cli import pace
from tests.command import tacit

SPOT = "no_limit_holdem(board=3s7hTdKs,pot=400,stack=2000,range0=AA|KK,range1=QQ|JJ,{})"
WRITTEN: dict[str, Callable[[str], list[str]]] = {
    "lock": lambda text: ["solve", "kuhn_poker", "--iterations", "1", "--lock", text],
    "at": lambda text: ["show", "kuhn.tacit", "--at", text],
    "top": lambda text: ["equity", text, "KK"],
    "settings": lambda text: ["train", *shlex.split(text)],
    "seeds": lambda text: ["train", "rebel", "kuhn_poker", "--preset", "smoke", *shlex.split(text)],
    "sweep": lambda text: ["train", "rebel", "kuhn_poker", "--preset", "smoke", "--run", "r", *shlex.split(text)],
    "check": lambda text: ["check", *shlex.split(text)],
    "equity": lambda text: ["equity", *shlex.split(text)],
    "show": lambda text: ["show", *shlex.split(text)],
    "report": lambda text: ["report", *shlex.split(text)],
}
"""The command of a use, by its option; other options are a spot's parameters. A use that begins with tacit is a command."""

WRONG: dict[str, list[tuple[str, str]]] = {
    "street sizes": [
        ("bets=1/", "'1/' has an empty menu between slashes: write sizes, or none"),
        ("bets=/1", "'/1' has an empty menu between slashes: write sizes, or none"),
        ("bets=1//1", "'1//1' has menus for 3 streets, and 2 streets are left on the"),
        ("bets=1/1/1", "'1/1/1' has menus for 3 streets, and 2 streets are left on the"),
        ("bets=1|/1", "'' in '1|' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("bets=half/1", "'half' in 'half' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("bets=1/none|1", "'none' in 'none|1' is no bet: none stands alone"),
        ("bets=1,1", "no_limit_holdem has no parameter '1': commas separate"),
        ("bets=1 / two", "'two' in ' two' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("bets=0/1", "'0' in '0' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("bets=1\\1", "'1\\\\1' in '1\\\\1' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("bets=1;2", "'1;2' in '1;2' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("bets=50%", "'50%' in '50%' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("bets=1/1e400", "'1e400' in '1e400' is no bet: write sizes in pots, 3x, geo,"),
    ],
    "player sizes": [
        ("bets2=1", "no_limit_holdem has no parameter 'bets2': did you mean bets?"),
        ("bets1=big", "'big' in 'big' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("bets0=1/1/1", "'1/1/1' has menus for 3 streets, and 2 streets are left on the"),
        ("raises0=0", "'0' in '0' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("raises1=-1", "'-1' in '-1' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("raises2=1", "no_limit_holdem has no parameter 'raises2': did you mean raises?"),
        ("bets0=3x", "3x in bets multiplies the last bet, and on the turn there is"),
        ("bets_0=1", "no_limit_holdem has no parameter 'bets_0': did you mean bets0?"),
        ("raises0=none|1", "'none' in 'none|1' is no bet: none stands alone"),
        ("raise0=1", "no_limit_holdem has no parameter 'raise0': did you mean raises0?"),
        ("bets0=1,bets0=2", "bets0 is given twice"),
    ],
    "donks": [
        ("donk=0.5", "no_limit_holdem has no parameter 'donk': did you mean donks?"),
        ("donks=2x", "2x in donks multiplies the last bet, and on the turn there is"),
        ("donks=none|1", "'none' in 'none|1' is no bet: none stands alone"),
        ("donks=0", "'0' in '0' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("donks=-1", "'-1' in '-1' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("donks=1/1/1", "'1/1/1' has menus for 3 streets, and 2 streets are left on the"),
        ("donks=lead", "'lead' in 'lead' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("donks=0.5/", "'0.5/' has an empty menu between slashes: write sizes, or none"),
        ("donks0=1", "no_limit_holdem has no parameter 'donks0': did you mean donks?"),
        ("donks1=0.5", "no_limit_holdem has no parameter 'donks1': did you mean donks?"),
        ("donks=nan", "'nan' in 'nan' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("donks=inf", "'inf' in 'inf' is no bet: write sizes in pots, 3x, geo, 2geo"),
    ],
    "geo": [
        ("bets=5geo", "'5geo' in '5geo' is no bet: geo is over 1 to 4 streets, like"),
        ("bets=0geo", "'0geo' in '0geo' is no bet: geo is over 1 to 4 streets, like"),
        ("bets=-1geo", "'-1geo' in '-1geo' is no bet: write sizes in pots, 3x, geo,"),
        ("bets=1.5geo", "'1.5geo' in '1.5geo' is no bet: write sizes in pots, 3x, geo,"),
        ("bets=geo2", "'geo2' in 'geo2' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("bets=geo(2)", "'geo(2)' in 'geo(2)' is no bet: write sizes in pots, 3x, geo,"),
        ("bets=geometric", "'geometric' in 'geometric' is no bet: write sizes in pots, 3x,"),
        ("bets=ge", "'ge' in 'ge' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("bets=2 geo 3", "'2 geo 3' in '2 geo 3' is no bet: write sizes in pots, 3x, geo,"),
        ("bets=geo/", "'geo/' has an empty menu between slashes: write sizes, or none"),
        ("bets=geo%", "'geo%' in 'geo%' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("bets=geo/geo/geo", "'geo/geo/geo' has menus for 3 streets, and 2 streets are left"),
    ],
    "multiples": [
        ("raises=1x", "'1x' in '1x' is no raise: it must be to more than 1x the last"),
        ("raises=0x", "'0x' in '0x' is no raise: it must be to more than 1x the last"),
        ("raises=-2x", "'-2x' in '-2x' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("raises=x", "'x' in 'x' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("raises=xx", "'xx' in 'xx' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("raises=3xx", "'3xx' in '3xx' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("raises=3*", "'3*' in '3*' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("raises=x3", "'x3' in 'x3' is no bet: write sizes in pots, 3x, geo, 2geo and"),
        ("bets=3x", "3x in bets multiplies the last bet, and on the turn there is"),
        ("raises=nanx", "'nanx' in 'nanx' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("raises=infx", "'infx' in 'infx' is no bet: write sizes in pots, 3x, geo, 2geo"),
        ("raises=3x/2x/2x", "'3x/2x/2x' has menus for 3 streets, and 2 streets are left on"),
    ],
    "all-in threshold": [
        ("allin_threshold=-1", "allin_threshold must be a share of the pot, from 0 (none) up,"),
        ("allin_threshold=nan", "allin_threshold must be a share of the pot, from 0 (none) up,"),
        ("allin_threshold=inf", "allin_threshold must be a share of the pot, from 0 (none) up,"),
        ("allin_threshold=10%", "allin_threshold must be a number, not '10%'"),
        ("allin_threshold=half", "allin_threshold must be a number, not 'half'"),
        ("allin_threshold=", "allin_threshold must be a number, not ''"),
        ("allin_threshold=0.1|0.2", "allin_threshold must be a number, not '0.1|0.2'"),
        ("allin_threshold=1/2", "allin_threshold must be a number, not '1/2'"),
        ("allin_threshold=-0.01", "allin_threshold must be a share of the pot, from 0 (none) up,"),
        ("allin_threshold=1e", "allin_threshold must be a number, not '1e'"),
        ("allin_threshold=true", "allin_threshold must be a number, not 'true'"),
        ("all_in_threshold=0.1", "no_limit_holdem has no parameter 'all_in_threshold': did you"),
        ("allin-threshold=0.1", "no_limit_holdem has no parameter 'allin-threshold': commas"),
    ],
    "merge threshold": [
        ("merge_threshold=-1", "merge_threshold must be a share of the pot, from 0 (none) up,"),
        ("merge_threshold=nan", "merge_threshold must be a share of the pot, from 0 (none) up,"),
        ("merge_threshold=inf", "merge_threshold must be a share of the pot, from 0 (none) up,"),
        ("merge_threshold=10%", "merge_threshold must be a number, not '10%'"),
        ("merge_threshold=close", "merge_threshold must be a number, not 'close'"),
        ("merge_threshold=", "merge_threshold must be a number, not ''"),
        ("merge_threshold=0.1|0.2", "merge_threshold must be a number, not '0.1|0.2'"),
        ("merge_threshold=1/2", "merge_threshold must be a number, not '1/2'"),
        ("merge_threshold=-0.01", "merge_threshold must be a share of the pot, from 0 (none) up,"),
        ("merge_threshold=1e", "merge_threshold must be a number, not '1e'"),
        ("merge_threshold=0,1", "no_limit_holdem has no parameter '1': commas separate"),
        ("merge=0.1", "no_limit_holdem has no parameter 'merge'"),
    ],
    "menu": [
        ("menu=GTO", "there is no menu 'GTO': choose one of push, pot, simple,"),
        ("menu=standard|pot", "there is no menu 'standard|pot': choose one of push, pot,"),
        ("menu=standard/pot", "there is no menu 'standard/pot': choose one of push, pot,"),
        ("menu=Pot", "there is no menu 'Pot': choose one of push, pot, simple,"),
        ("menu=pots", "there is no menu 'pots': choose one of push, pot, simple,"),
        ("menu=1", "there is no menu '1': choose one of push, pot, simple,"),
        ("menu=none", "there is no menu 'none': choose one of push, pot, simple,"),
        ("menu=allin", "there is no menu 'allin': choose one of push, pot, simple,"),
        ("menu=pot simple", "there is no menu 'pot simple': choose one of push, pot, simple,"),
        ("menu=push!", "there is no menu 'push!': choose one of push, pot, simple,"),
        ("menus=pot", "no_limit_holdem has no parameter 'menus': did you mean menu?"),
        ("menu", "menu needs a value: write menu=..."),
        ("menu=standard,bets=wide", "'wide' in 'wide' is no bet: write sizes in pots, 3x, geo, 2geo"),
    ],
    "rake": [
        ("rake=0.05", "no_limit_holdem takes no rake: what the house takes makes the"),
        ("rake", "no_limit_holdem takes no rake: what the house takes makes the"),
        ("rake=5%", "no_limit_holdem takes no rake: what the house takes makes the"),
        ("rake=0", "no_limit_holdem takes no rake: what the house takes makes the"),
        ("rake_cap=3", "no_limit_holdem takes no rake_cap: what the house takes makes"),
        ("rake=", "no_limit_holdem takes no rake: what the house takes makes the"),
        ("RAKE=1", "no_limit_holdem takes no RAKE: what the house takes makes the"),
        ("bets=1,rake=0.01", "no_limit_holdem takes no rake: what the house takes makes the"),
        ("rake=none", "no_limit_holdem takes no rake: what the house takes makes the"),
        ("rake=0.05,rake_cap=3", "no_limit_holdem takes no rake: what the house takes makes the"),
        ("house=0.05", "no_limit_holdem has no parameter 'house'"),
    ],
    "top": [
        ("top", "cannot read 'top': write top and a share of all hands, above 0%"),
        ("top%", "cannot read 'top%': write top and a share of all hands, above"),
        ("top 20", "cannot read 'top20': write top and a share of all hands, above"),
        ("20%", "cannot read '20%': write top and a share of all hands, above 0%"),
        ("top 0%", "cannot read 'top0%': write top and a share of all hands, above"),
        ("top 100.1%", "cannot read 'top100.1%': write top and a share of all hands,"),
        ("top -5%", "cannot read 'top-5%': write top and a share of all hands, above"),
        ("top x%", "cannot read 'topx%': write top and a share of all hands, above"),
        ("top 20%%", "cannot read 'top20%%': write top and a share of all hands,"),
        ("top 5%-10%", "cannot read 'top5%-10%': write top and a share of all hands,"),
        ("top 20% 72o", "cannot read 'top20%72o': write top and a share of all hands,"),
        ("top nan%", "cannot read 'topnan%': write top and a share of all hands,"),
        ("best 20%", "cannot read 'best20%': write top and a share of all hands,"),
        ("bottom 20%", "cannot read 'bottom20%': write top and a share of all hands,"),
    ],
    "lock": [
        ("", "cannot read the lock '': write 'check / bet to 100:"),
        ("check", "cannot read the lock 'check': write 'check / bet to 100:"),
        ("check:", "cannot read the lock 'check:': write 'check / bet to 100:"),
        ("check: bet", "lock at 'check': cannot read 'bet' in 'bet': write 'check / bet"),
        ("check: raise=2", "lock at 'check': the share '2' of 'raise' must be a number from"),
        ("check: raise=0.5", "lock at 'check': the shares of J sum to 0.5, not to 1"),
        ("check: fold=1", "lock at 'check': no action 'fold' there: choose one of check,"),
        ("dance: call=1", "lock at 'dance': no 'dance' after the start: choose one of"),
        ("check: raise=half,call=half", "lock at 'check': the share 'half' of 'raise' must be a number"),
        ("check: raise: A; call: rest", "lock at 'check': the player who acts there never holds A: it"),
        ("check / check: call=1", "lock at 'check / check': nobody acts after 'check / check':"),
        ("check: raise=0.5,raise=0.5", "lock at 'check': cannot read 'raise=0.5' in"),
        ("check: call: rest; raise: rest", "lock at 'check': only one action can have the rest"),
        ("bet: call=-1,fold=2", "lock at 'bet': the share '-1' of 'call' must be a number from 0"),
        ("tacit solve kuhn_poker --lock nofile.json", "no file of locks at nofile.json"),
        (
            "tacit solve kuhn_poker --iterations 1 --lock 'check: call=1' --lock 'check: raise=1'",
            "lock at 'check': another lock",
        ),
        ("tacit solve leduc_poker --depth 1 --leaf zero --lock 'bet: call=1' --iterations 1", "--lock cannot be used with"),
    ],
    "at": [
        ("dance", "no 'dance' after the start: choose one of check, bet"),
        ("bet / call", "nobody acts after 'bet / call': choose a line that ends where"),
        ("bet / call / bet", "no 'bet' after bet / call: the game is over there"),
        ("check / dance", "no 'dance' after check: choose one of check, bet"),
        ("check check", "no 'check check' after the start: choose one of check, bet"),
        ("check,bet", "no 'check,bet' after the start: choose one of check, bet"),
        ("fold", "no 'fold' after the start: choose one of check, bet"),
        ("BET", "no 'BET' after the start: choose one of check, bet"),
        ("3", "no '3' after the start: choose one of check, bet"),
        ("check / bet / call", "nobody acts after 'check / bet / call': choose a line that ends"),
        ("tacit solve kuhn_poker --iterations 1 --at dance", "no 'dance' after the start: choose one of check, bet"),
        ("tacit solve kuhn_poker --iterations 1 --at 'bet / call'", "nobody acts after 'bet / call': choose a line that"),
        (
            "tacit report 'no_limit_holdem(board=AsKd???,pot=600,stack=2000,menu=pot)' --at 'bet 9' --boards 1 --iterations 1",
            "no 'bet 9' after the start: choose",
        ),
    ],
    "settings": [
        ("rebel --settings --preset tiny", "unknown preset 'tiny': choose one of paper, cpu, gpu, smoke"),
        ("alphazero --settings", "unknown system 'alphazero': choose one of rebel, sog,"),
        ("rebel nogame --settings", "unknown game 'nogame': see `tacit games`"),
        ("rebel --settings --set hidden=64", "--settings shows what --set changes for a game: name one"),
        ("rebel kuhn_poker --settings --set hiden=64", "unknown setting 'hiden': did you mean hidden?"),
        ("rebel kuhn_poker --settings --set hidden", "cannot read the setting 'hidden': write key=value"),
        ("rebel kuhn_poker --settings --set hidden=-1", "hidden must be at least 1, not -1"),
        ("rebel kuhn_poker --settings --set hidden=64 --set hidden=32", "--set hidden is given twice: to sweep, write"),
        ("rebel kuhn_poker --settings --seed -1", "Invalid value for '--seed'"),
        ("dqn limit_holdem --settings", "limit_holdem(small_blind=5,big_blind=10,board=,pot=0) does not"),
        ("deepstack tic_tac_toe --settings", "tic_tac_toe hides nothing, so there are no situations to draw"),
        ("blueprint kuhn_poker --settings", "blueprint is for hold'em, not for kuhn_poker"),
        ("rebel kuhn_poker --settings --set hidden=16,32", "hidden must be a whole number, at least 1, not '16,32'"),
        ("rebel kuhn_poker --settings --seeds 3", "--settings lists settings and trains nothing: leave out"),
        ("rebel kuhn_poker --setting", "No such option: --setting (Possible options: --set, --settings)"),
        ("nfsp --settings --preset gpu", "unknown preset 'gpu': choose one of paper, cpu, smoke"),
        ("rebel kuhn_poker --settings --run x", "--settings lists settings and trains nothing: leave out --run,"),
    ],
    "seeds": [
        ("--run r --seeds 0", "Invalid value for '--seeds'"),
        ("--run r --seeds -1", "Invalid value for '--seeds'"),
        ("--run r --seeds two", "Invalid value for '--seeds'"),
        ("--run r --seeds 2.5", "Invalid value for '--seeds'"),
        ("--run r --seeds 5000", "Invalid value for '--seeds'"),
        ("--seeds 2", "name a folder for the run: --run DIR (or add --settings to see"),
        ("--run r --seeds 2 --set seed=1", "--seeds counts from --seed on: leave out --set seed"),
        ("--run r --seeds 2 --resume", "r has no runs to resume"),
        ("--run r --seeds 2 --start-from x", "--start-from is for a single run: leave out --seeds and lists"),
        ("--run r --workers 2", "--workers needs --engine local, or several runs: --seeds N or a list"),
        ("--run r --seeds 2 --workers 0", "Invalid value for '--workers'"),
        ("--run kuhn.tacit --seeds 2", "cannot write kuhn.tacit/plan.json: File exists"),
        ("--run r --seeds 2 --device tpu", "torch cannot compute on the device 'tpu', choose cpu or cuda:"),
        ("--run r --seeds 2 --time-limit soon", "cannot read the time 'soon': write 90s, 10m or 1h"),
        ("--run r --seeds 2 --seed 4294967295", "seed must be between 0 and 4294967295, not 4294967296"),
    ],
    "sweep": [
        ("--set hidden=16,", "cannot read the values of hidden in '16,': write hidden=a,b,c"),
        ("--set hidden=,16", "cannot read the values of hidden in ',16': write hidden=a,b,c"),
        ("--set hidden=16,16", "hidden has a value twice in '16,16': give every value once"),
        ("--set hidden=16,many", "hidden must be a whole number, at least 1, not 'many'"),
        ("--set hidden=16,-1", "hidden must be at least 1, not -1"),
        ("--set hiden=16,32", "unknown setting 'hiden': did you mean hidden?"),
        ("--set hidden=16,32 --set hidden=64", "--set hidden is given twice: to sweep, write hidden=16,32,64"),
        ("--set =16,32", "unknown setting '': choose one of solver, iterations, depth,"),
        ("--set hidden", "cannot read the setting 'hidden': write key=value"),
        ("--set ''", "cannot read the setting '': write key=value"),
        ("--set solver=cfr,dcfr,gto", "solver must be one of cfr, cfr+, linear-cfr, dcfr, pcfr+, fp,"),
        ("--set seed=0,1 --seeds 2", "--seeds counts from --seed on: leave out --set seed"),
        ("--set 'hidden=16;32'", "hidden must be a whole number, at least 1, not '16;32'"),
        ("--set hidden=16,32 --start-from x", "--start-from is for a single run: leave out --seeds and lists"),
        ("--set 'hidden=16, 32, x'", "hidden must be a whole number, at least 1, not ' x'"),
    ],
    "check": [
        ("", "Missing argument"),
        ("nofile.py:Game", "no Python file at nofile.py"),
        ("kuhn.tacit", "cannot read the game 'kuhn.tacit': write name or"),
        ("bad.py:Game", "bad.py cannot be imported: SyntaxError: '(' was never closed"),
        ("empty.py:Game", "empty.py defines no Game called Game"),
        ("empty.py", "cannot read the game 'empty.py': write"),
        ("empty.py:", "cannot read the game 'empty.py:': write"),
        ("nogame", "unknown game 'nogame': see `tacit games`"),
        ("'kuhn_poker(cards='", "cannot read the game 'kuhn_poker(cards=': write name or"),
        ("notagame.py:Thing", "notagame.py: Thing is not a game: write class Thing(tacit.Game)"),
        ("'notagame.py:Thing(size=3)'", "notagame.py: Thing is not a game: write class Thing(tacit.Game)"),
        ("notagame.py:number", "notagame.py: number is not a game: write class number(tacit.Game)"),
        ("kuhn_poker --histories 0", "Invalid value for '--histories'"),
        ("openspiel:nogame", "OpenSpiel has no game 'nogame': did you mean nfg_game?"),
        ("kuhn_poker leduc_poker", "Got unexpected extra argument(s) (leduc_poker)"),
        ("notagame.py:Half", "notagame.py: Half is not a game: write class Half(tacit.Game)"),
    ],
    "equity": [
        ("AA", "Missing argument"),
        ("AA KK QQ", "Got unexpected extra argument(s) (QQ)"),
        ("AA ''", "the range is empty: write AA, AKs, AKo, AK, AsKd, TT+, A9s-A6s,"),
        ("Ax KK", "'x' in 'Ax' is no rank: a hand has two of 23456789TJQKA"),
        ("AA KK:2", "the weight 2 in 'KK:2' is not between 0 and 1: write a number"),
        ("AsAh AsKs", "no hand of one range can be held together with one of the"),
        ("AA KK --board 3s7h", "--board must have 3, 4 or 5 cards, or none, not 2"),
        ("AA KK --board 3s7hTdTd", "Td comes twice in '3s7hTdTd'"),
        ("AA KK --board 3s7h1d", "'1d' in '3s7h1d' is no card: a rank of 23456789TJQKA and a suit"),
        ("AA KK --boards 3", "No such option: --boards (Possible options: --board, --hands)"),
        ("AA- KK", "cannot read '' in 'AA-': write AA, AKs, AKo, AK, AsKd, TT+,"),
        ("AKs+QQ KK", "cannot read 'AKs+QQ': write AA, AKs, AKo, AK, AsKd, TT+,"),
        ("AsAs KK", "As comes twice in 'AsAs'"),
    ],
    "show": [
        ("", "Missing argument"),
        ("nothing.tacit", "no agent 'nothing.tacit': give a run folder, a network or"),
        ("random", "random plays more than one game: name one, like --game"),
        ("kuhn.tacit --grid x.png", "--grid is for hold'em, not for kuhn_poker"),
        ("kuhn.tacit --csv x.txt", "cannot write x.txt: the name must end in .csv"),
        ("kuhn.tacit --csv kuhn.tacit", "--csv would replace kuhn.tacit itself: choose another file"),
        ("kuhn.tacit --game leduc_poker", "kuhn.tacit is a solve of kuhn_poker, not of leduc_poker"),
        ("kuhn.tacit --at", "Option '--at' requires an argument."),
        ("kuhn.tacit x", "Got unexpected extra argument(s) (x)"),
        ("empty.py", "empty.py is not a checkpoint, or is damaged"),
        (".", "no checkpoint at checkpoints/network.safetensors"),
        ("always-call --game nogame", "unknown game 'nogame': see `tacit games`"),
        ("holdem-search --game no_limit_holdem", "holdem-search does not play by a table: give a file of tacit"),
    ],
    "report": [
        ("kuhn_poker", "'kuhn_poker' leaves no card of the board open: write ? for"),
        ("'no_limit_holdem(board=3s7hTd2c,pot=400)'", "'no_limit_holdem(board=3s7hTd2c,pot=400)' leaves no card of the"),
        ("'no_limit_holdem(board=????,pot=400)' --boards 0", "Invalid value for '--boards'"),
        ("'no_limit_holdem(board=????)'", "pot must be even, at least 2 and below both stacks together,"),
        ("'no_limit_holdem(board=????,pot=400)' --target half", "cannot read the target 'half': write an exploitability"),
        ("'no_limit_holdem(board=????,pot=400)' --solver gto", "unknown solver 'gto': choose one of cfr, cfr+, linear-cfr,"),
        ("'no_limit_holdem(board=????,pot=400)' --plot x.txt", "cannot write x.txt: the name must end in .png, .svg, .pdf"),
        ("'no_limit_holdem(board=????,pot=400)' --boards many", "Invalid value for '--boards'"),
        ("'no_limit_holdem(board=?????????,pot=400)'", "board must have 0, 3, 4 or 5 cards, not 9"),
        ("limit_holdem", "'limit_holdem' leaves no card of the board open: write ? for"),
        ("'no_limit_holdem(board=????,pot=400,rake=1)'", "no_limit_holdem takes no rake: what the house takes makes the"),
        ("'no_limit_holdem(board=AsAs??,pot=400)'", "As comes twice in 'AsAs'"),
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a saved solve, and with Python files that define no game."""
    path = tmp_path_factory.mktemp("wrong")
    (path / "empty.py").write_text("")
    (path / "bad.py").write_text("class Game(\n")
    (path / "notagame.py").write_text("class Thing: pass\nnumber = 3\nclass Half:\n    name = 'half'\n")
    assert tacit("solve", "kuhn_poker", "--iterations", "5", "--save", "kuhn.tacit", cwd=path).returncode == 0
    return path


def _arguments(option: str, use: str) -> list[str]:
    if use.startswith("tacit "):
        return shlex.split(use)[1:]
    return WRITTEN.get(option, lambda text: ["solve", SPOT.format(text), "--iterations", "1"])(use)


@pytest.mark.parametrize(("option", "use", "message"), [(option, *case) for option, cases in WRONG.items() for case in cases])
def test_a_wrong_use_gets_one_clear_line(
    option: str, use: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "FIRST_PAUSE", 1e9)  # on a slow machine the import of torch would print a line
    before = sorted(folder.rglob("*"))
    refused = tacit(*_arguments(option, use), cwd=folder)
    assert refused.returncode == 2, refused.stdout
    assert message in refused.stderr
    assert refused.stderr.startswith("tacit: ")
    assert refused.stderr.count("\n") == 1
    assert not refused.stdout
    assert [path for path in folder.rglob("*") if path not in before and "__pycache__" not in path.parts] == []


def test_every_option_has_ten_wrong_uses() -> None:
    assert {option: len(cases) for option, cases in WRONG.items() if len(cases) < 10} == {}
