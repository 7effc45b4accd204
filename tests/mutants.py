"""Breaks the core steps of every algorithm, one at a time in a copy of the sources, and reports which test notices.

    make mutants                                  all of them
    python -m tests.mutants "never explores"      those whose name contains the text

A surviving mutant means that a step can be wrong without any test failing. A mutant whose text is not found needs updating.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Mutant:
    """One step, done wrong.

    Attributes:
      name: What goes wrong.
      file: The file in `src/tacit` that is changed.
      right: The correct text, which occurs there once.
      wrong: The text that replaces it.
      tests: The tests that should notice, as pytest selects them in `tests/unit`.
    """

    name: str
    file: str
    right: str
    wrong: str
    tests: str


MUTANTS = (
    Mutant(
        "compare: evaluation takes an unlimited share of the time",
        "comparison/work.py",
        "max(trainer.seconds * MARK_GROWTH, trainer.seconds + clock() - began)",
        "trainer.seconds * MARK_GROWTH",
        "test_comparison.py::test_judging_takes_no_time_and_no_more_of_it_than_work",
    ),
    Mutant(
        "compare: a saved run with other settings is reused",
        "comparison/kept.py",
        "plan.preset, plan.settings.get(system, {}), system, seed]",
        "plan.preset, system, seed]",
        "test_comparison.py::test_a_file_belongs_to_one_plan_system_and_seed",
    ),
    Mutant(
        "compare: seeds that report later count too early",
        "comparison/marks.py",
        "bisect.bisect_right(self.marks, seconds, key=lambda mark: mark.seconds)",
        "min(len(self.marks), 1 + bisect.bisect_right(self.marks, seconds, key=lambda mark: mark.seconds))",
        "test_comparison.py::test_a_band_counts_each_seed_with_its_latest_figure",
    ),
    Mutant(
        "compare: deterministic systems are run once for each seed",
        "comparison/compare.py",
        "range(1 if name in DETERMINISTIC else seeds)",
        "range(seeds)",
        "test_comparison.py::test_a_comparison_continues_with_the_runs_that_are_there",
    ),
    Mutant(
        "workers: Student of Games keeps all games in every worker",
        "sog/train.py",
        "config.games // workers)",
        "config.games)",
        "test_scale_systems.py::test_a_cycle_of_student_of_games_is_shared_by_its_workers",
    ),
    Mutant(
        "workers: recursive queries crowd out self-play",
        "sog/train.py",
        "        super().follow(weights, epoch)\n        self._begin_cycle()\n",
        "        super().follow(weights, epoch)\n",
        "test_scale_systems.py::test_workers_forget_queries_that_would_crowd_out_self_play",
    ),
    Mutant(
        "workers: Student of Games solves queries with old weights",
        "sog/train.py",
        '            self.policies.net.load_state_dict(unprefixed("policy", weights))\n        self._forward.refresh()\n',
        '            self.policies.net.load_state_dict(unprefixed("policy", weights))\n',
        "test_scale_systems.py::test_a_worker_makes_what_the_trainer_makes_with_the_same_weights",
    ),
    Mutant(
        "workers: networks of hold'em are not published",
        "rebel/holdem/train.py",
        "            self.example_source.publish()\n",
        "",
        "test_scale_systems.py::test_a_run_learns_from_nothing_but_its_example_source_and_publishes_what_it_learnt",
    ),
    Mutant(
        "workers: policies of hold'em stay in the worker",
        "rebel/holdem/train.py",
        "**made, **heard}",
        "**made}",
        "test_scale_systems.py::test_a_run_learns_from_nothing_but_its_example_source_and_publishes_what_it_learnt",
    ),
    Mutant(
        "workers: a user's own system draws the same in every life",
        "training/search_trainer.py",
        "np.random.default_rng(numbers)",
        "np.random.default_rng(numbers[:-1])",
        "test_scale_systems.py::test_every_worker_and_every_life_has_random_numbers_of_its_own",
    ),
    Mutant(
        "matches by crews: deals are passed on in the order they arrive",
        "processes.py",
        "        early[at] = answer\n",
        "        early[place] = answer\n",
        "test_scale_matches.py::test_answers_are_handed_on_in_turn",
    ),
    Mutant(
        "matches by crews: one order takes all the deals",
        "arena/workers.py",
        "(PIECES * self._num_workers)",
        "1",
        "test_scale_matches.py::test_orders_grow_while_they_take_no_time_and_leave_some_for_everybody",
    ),
    Mutant(
        "matches by crews: every order begins with the first deal",
        "arena/workers.py",
        'began, first = time.perf_counter(), order[1]["first"]',
        "began, first = time.perf_counter(), 0",
        "test_scale_matches.py::test_a_match_is_the_same_whoever_plays_its_deals",
    ),
    Mutant(
        "playthroughs by crews: every piece is the first",
        "search/playthroughs.py",
        'slice(order[1]["first"], order[1]["first"] + order[1]["count"])',
        'slice(0, order[1]["count"])',
        "test_scale_matches.py::test_playthroughs_are_the_same_in_whatever_order_pieces_come",
    ),
    Mutant(
        "engine: an answer to a finished order counts",
        "scale/orders.py",
        "wanted = self._open.pop(order, None) is not None",
        "wanted = self._open.pop(order, None) is not None or True",
        "test_scale.py::test_workers_have_two_orders_each_and_an_answer_to_one_that_is_done_is_dropped",
    ),
    Mutant(
        "run: non-finite weights are written",
        "training/run.py",
        "if tensor.is_floating_point() and not bool(tensor.isfinite().all()):",
        "if False:",
        "test_faults.py::test_weights_that_are_no_numbers_are_never_written",
    ),
    Mutant(
        "run: a removed folder is created again",
        "training/run.py",
        "                folder.require_ours()\n                folder.add_epoch(progress)\n",
        "                folder.path.mkdir(exist_ok=True)\n                folder.add_epoch(progress)\n",
        "test_faults.py::test_a_folder_in_which_another_run_begins_is_left_to_it",
    ),
    Mutant(
        "run: a write into a removed folder recreates it",
        "files.py",
        "path.parent.mkdir(exist_ok=True)  #",
        "path.parent.mkdir(parents=True, exist_ok=True)  #",
        "test_faults.py::test_a_folder_removed_just_before_any_write_is_told_in_the_same_line",
    ),
    Mutant(
        "run: a write that failed because its folder was removed blames the disk",
        "training/folder.py",
        "            self.require_ours()\n            raise\n",
        "            raise\n",
        "test_faults.py::test_a_folder_removed_just_before_any_write_is_told_in_the_same_line",
    ),
    Mutant(
        "run: a clock that runs backwards is trusted",
        "training/steady.py",
        "max(self._seconds + passed, math.nextafter(self._seconds, math.inf))",
        "self._seconds + passed",
        "test_faults.py::test_a_clock_that_jumps_back_takes_no_time",
    ),
    Mutant(
        "runs: networks are pruned although none would open",
        "training/prune.py",
        "if file != plays]",
        "]",
        "test_runs_command.py",
    ),
    Mutant(
        "runs: networks are deleted without --yes",
        "cli/runs.py",
        "        if yes:\n            remove(files)",
        "        if True:\n            remove(files)",
        "test_runs_command.py",
    ),
    Mutant(
        "runs: metrics that lack an epoch count as whole",
        "training/verify.py",
        "None if known == list(range(1, kept + 1)) else _gap(known, kept)",
        "None",
        "test_runs_command.py",
    ),
    Mutant(
        "replay: files are changed instead of written anew",
        "learning/spill.py",
        "    def forget_before(self, number: int) -> None:\n",
        "    def forget_before(self, number: int) -> None:\n"
        "        for span in self._spans:\n"
        "            if span.end <= number:\n"
        "                self._file.with_name(span.name).unlink()\n",
        "test_spilled_replay.py",
    ),
    Mutant(
        "replay: rows in files are sampled as the rows after them",
        "learning/spill.py",
        "numbers[chosen] - span.first",
        "(numbers[chosen] - span.first + 1) % (span.end - span.first)",
        "test_spilled_replay.py",
    ),
    Mutant(
        "replay: a checkpoint keeps what lies in files, too",
        "learning/replay.py",
        "rows = self._in_memory(self._files.end, self.added)",
        "rows = self._in_memory(self.added - self._rows, self.added)",
        "test_spilled_replay.py",
    ),
    Mutant(
        "replay: a checkpoint does not name the files of examples",
        "training/system.py",
        '**({"spilled": spilled} if spilled else {})',
        "**{}",
        "test_spilled_replay.py",
    ),
    Mutant(
        "checkpoint: a changed file is read",
        "nets/checkpoint.py",
        "(digest is not None or known == FORMAT) and not _is_signed(content, digest)",
        "False",
        "test_checkpoint.py::test_no_bit_of_a_checkpoint_can_be_flipped_unnoticed",
    ),
    Mutant(
        "checkpoint: a missing digest goes unnoticed",
        "nets/checkpoint.py",
        "(digest is not None or known == FORMAT)",
        "digest is not None",
        "test_checkpoint.py::test_no_bit_of_a_checkpoint_can_be_flipped_unnoticed",
    ),
    Mutant(
        "checkpoint: parts are deleted that a related file still names",
        "nets/checkpoint.py",
        "and _family(file.stem) == family and file not in without:",
        "and file == path:",
        "test_checkpoint.py test_kept_checkpoints.py",
    ),
    Mutant(
        "checkpoint: a part that is damaged is not written again",
        "nets/checkpoint.py",
        "part.is_file() and part.read_bytes() == content",
        "part.is_file()",
        "test_checkpoint.py",
    ),
    Mutant(
        "checkpoint: the old file is deleted before the new one is written",
        "nets/checkpoint.py",
        "    parts = [write_part(path, part) for part in others]\n",
        "    remove_tensors(path)\n    parts = [write_part(path, part) for part in others]\n",
        "test_checkpoint.py",
    ),
    Mutant(
        "run: only the last checkpoint is kept",
        "training/folder.py",
        "KEPT_CHECKPOINTS = 2",
        "KEPT_CHECKPOINTS = 1",
        "test_kept_checkpoints.py",
    ),
    Mutant(
        "run: older checkpoints are deleted before the new one exists",
        "training/folder.py",
        "        save_tensors(self.checkpoint_file(trainer.epoch), *",
        "        for file in list(self.checkpoints().values())[:-1]:\n            remove_tensors(file)\n"
        "        save_tensors(self.checkpoint_file(trainer.epoch), *",
        "test_kept_checkpoints.py",
    ),
    Mutant(
        "run: checkpoints later than the restored one stay",
        "training/folder.py",
        "in [*self.kept_networks().items(), *self.checkpoints().items()]:",
        "in [*self.kept_networks().items()]:",
        "test_kept_checkpoints.py",
    ),
    Mutant(
        "outside: nesting that Python cannot follow is a crash",
        "files.py",
        '    except RecursionError:\n        raise ValueError("nested too deeply") from None\n',
        '    except MemoryError:\n        raise ValueError("nested too deeply") from None\n',
        "test_secure.py::test_json_has_one_kind_of_error test_secure.py::test_a_file_of_brackets_is_a_damaged_file",
    ),
    Mutant(
        "outside: rules may answer with probabilities that do not sum to one",
        "games/answers.py",
        "    if not abs(total - 1.0) <= _TOLERANCE:\n",
        "    if False:\n",
        "test_answers.py",
    ),
    Mutant(
        "outside: payoffs that are not numbers are compiled",
        "tree/opening.py",
        "answers.payoff(game, arrival.state)",
        "float(game.returns(arrival.state)[0])",
        "test_answers.py",
    ),
    Mutant(
        "outside: a plan file is trusted unchecked",
        "training/plan.py",
        "    if plan is None or not _is_plan(plan):\n",
        "    if plan is None:\n",
        "test_fuzz.py::test_every_input_is_taken_or_refused_in_a_line[plans]",
    ),
    Mutant(
        "outside: remote users can open any folder on the server as an opponent",
        "web/play/opponents.py",
        '    if context.get("files", True) or opponent in',
        "    if True or opponent in",
        "test_secure.py::test_a_stranger_opens_no_file_of_the_server_by_its_path",
    ),
    Mutant(
        "outside: a flood is never told from a fast tab",
        "web/guard.py",
        "        self.is_flood = not self._patience.allows(now)\n",
        "        self.is_flood = False\n",
        "../web/test_flood.py::test_a_flood_is_told_from_a_tab_that_is_a_little_fast",
    ),
    Mutant(
        "repeatable: what ReBeL draws is different every time",
        "rebel/train.py",
        "        self._numpy = np.random.default_rng(config.seed)\n",
        "        self._numpy = np.random.default_rng()\n",
        "test_repeatable.py",
    ),
    Mutant(
        "engine: orders of the dead are lost",
        "scale/orders.py",
        "        self._again.extend(self._given[number])\n",
        "",
        "test_scale.py::test_orders_of_the_dead_go_to_whoever_is_free_first",
    ),
    Mutant(
        "engine: the slowest worker is waited for",
        "scale/orders.py",
        "if self._given[number] or not self._open:",
        "if True:",
        "test_scale.py::test_free_workers_try_the_last_orders_too_and_the_first_answer_counts",
    ),
    Mutant(
        "engine: a worker has one order at a time",
        "scale/orders.py",
        "while len(given) < AHEAD and",
        "while len(given) < 1 and",
        "test_scale.py::test_workers_have_two_orders_each_and_an_answer_to_one_that_is_done_is_dropped",
    ),
    Mutant(
        "engine: lots are learnt from at any age of their weights",
        "scale/engine.py",
        "if answer.age > MOST_AGE * AHEAD * self._size:",
        "if False:",
        "test_scale.py::test_lots_made_with_weights_that_are_too_old_are_thrown_away",
    ),
    Mutant(
        "engine: workers keep the first weights they receive",
        "scale/local.py",
        "if version != known:",
        "if known < 0:",
        "test_scale.py::test_local_workers_hear_what_is_shared_anew",
    ),
    Mutant(
        "engine: each life of a worker has the same random numbers",
        "scale/self_play.py",
        "reseed(*self.seed, number, life)",
        "reseed(*self.seed, number)",
        "test_scale.py::test_every_worker_and_every_life_has_random_numbers_of_its_own",
    ),
    Mutant(
        "engine: all workers share the first GPU",
        "scale/local.py",
        "self._gpus[number % len(self._gpus)]",
        "self._gpus[0]",
        "test_scale.py::test_workers_are_dealt_the_gpus_that_we_may_use",
    ),
    Mutant(
        "ray: GPUs of a cluster are not counted",
        "scale/ray_crew.py",
        "room += int(min(cpus, by_gpu))",
        "room += int(cpus)",
        "test_scale.py::test_how_many_workers_a_cluster_holds",
    ),
    Mutant(
        "ray: actors receive only the first weights",
        "scale/ray_crew.py",
        "new = self._known[number] != version",
        "new = self._known[number] < 0",
        "test_scale_ray.py::test_what_is_shared_is_one_object_and_workers_hear_of_the_next",
    ),
    Mutant(
        "ray: an actor's death is not reported",
        "scale/ray_crew.py",
        "            self._forget(number)\n            return number, None\n",
        "            return None\n",
        "test_scale_ray.py::test_actors_answer_every_order_once_though_one_is_killed_and_one_stands_still",
    ),
    Mutant(
        "engine: workers are not told of the epoch",
        "training/system.py",
        "        self.epoch = epoch\n        self.load_weights",
        "        self.load_weights",
        "test_scale.py::test_a_worker_makes_what_the_trainer_makes_with_the_same_weights",
    ),
    # Regret matching and averages
    Mutant(
        "old regrets are not discounted",
        "solvers/schedules.py",
        "RegretStep(positive, negative,",
        "RegretStep(1.0, 1.0,",
        "test_solvers.py",
    ),
    Mutant("the floor of CFR+ is missing", "solvers/schedules.py", "RegretStep(floor=0.0, ", "RegretStep(", "test_solvers.py"),
    Mutant(
        "rows: averages without own reach",
        "kernels/numba_rows.py",
        "gather(own_reach, above, block, _LANES) * splat(average_weight, _LANES)",
        "splat(average_weight, _LANES)",
        "test_solvers.py",
    ),
    Mutant(
        "lanes: averages without own reach",
        "kernels/numba_lanes.py",
        "weight * load(strategy, edge, lanes))",
        "load(strategy, edge, lanes))",
        "test_solvers.py",
    ),
    Mutant(
        "hands: averages without own reach",
        "kernels/hand_blocks.py",
        "+ share * played)",
        "+ share)",
        "test_hand_tree.py test_solve_holdem.py",
    ),
    Mutant(
        "players answer the strategies before the last update",
        "solvers/driver.py",
        "for players in ((0,), (1,)) if self.schedule.alternating else ((0, 1),):",
        "for players in ((0, 1),):",
        "test_solvers.py",
    ),
    Mutant(
        "responses pick the worst action",
        "kernels/numba_rows.py",
        "where_greater(ranked, top, splat(",
        "where_greater(top, ranked, splat(",
        "test_solvers.py test_fictitious_play.py",
    ),
    Mutant(
        "updates at once are made twice in one call",
        "kernels/numba_rows.py",
        "            if not alternating:\n                break",
        "            if False:\n                break",
        "test_sequences.py",
    ),
    Mutant(
        "rows: player 1 is paid what player 0 gets",
        "tree/sequences.py",
        "np.negative(paid.data, out=paid.data)",
        "np.abs(paid.data, out=paid.data)",
        "test_sequences.py",
    ),
    Mutant(
        "fictitious play answers the latest strategy alone",
        "solvers/driver.py",
        "faced = self.mean_reaches[1 - player]",
        "faced = self.reaches[1 - player]",
        "test_fictitious_play.py",
    ),
    # Games that do not fit
    Mutant(
        "the states a sweep keeps stand for themselves alone",
        "tree/sweeps.py",
        "weight *= len(moves) / len(kept)",
        "weight *= 1.0",
        "test_games.py",
    ),
    Mutant(
        "a walk does not look ahead",
        "tree/estimate.py",
        "max(taken, self._needed(num_histories, taken))",
        "taken",
        "test_games.py",
    ),
    # Card removal
    Mutant(
        "folds forget card removal",
        "kernels/card_removal.py",
        "chips * (_others(total, h, cards, by_card) + load(reach, same[h], VECTOR))",
        "chips * total",
        "test_hand_tree.py",
    ),
    Mutant(
        "the opponent's hand of the same cards is taken away twice",
        "kernels/card_removal.py",
        "(_others(total, h, cards, by_card) + load(reach, same[h], VECTOR))",
        "(_others(total, h, cards, by_card))",
        "test_hand_tree.py",
    ),
    Mutant(
        "one card of an orbit stands for itself alone",
        "kernels/hand_blocks.py",
        "for copy in range(copy_start[block], copy_start[block + 1], max(1, size)):",
        "for copy in range(0):",
        "test_suits.py",
    ),
    # Threads
    Mutant(
        "threads do not wait for each other",
        "threads.py",
        "while _arrived(place) < last:",
        "while _arrived(place) < 0:",
        "test_threads.py",
    ),
    Mutant(
        "a part of the cards is not handed up",
        "kernels/hand_streams.py",
        "for unit in units[member::members]:",
        "for unit in units[2 * member :: members]:",
        "test_hand_streams.py",
    ),
    # Search
    Mutant(
        "leaves are not weighted by the opponent's reach",
        "search/numba_kernels.py",
        "if at_leaf and weighted:",
        "if at_leaf:",
        "test_search.py",
    ),
    Mutant(
        "leaves keep the values of the first iteration",
        "solvers/valuation.py",
        "is not None and later:",
        "is not None:",
        "test_core_steps.py",
    ),
    Mutant(
        "the strategy after the sampled iteration is taken",
        "solvers/driver.py",
        "if not self.responds:  # the average",
        "if self.responds:  # the average",
        "test_core_steps.py test_search.py",
    ),
    # Re-solving
    Mutant(
        "the range that enters a gadget lags behind",
        "solvers/gadget.py",
        "        return self.entering\n",
        "        return mean * 0.0 + 1.0\n",
        "test_gadget.py",
    ),
    Mutant(
        "the opponent cannot opt out", "solvers/gadget.py", "(values, self._promised)):", "(values, values)):", "test_gadget.py"
    ),
    Mutant(
        "hold'em promises nothing",
        "agents/hand_search.py",
        "worth[tree.hands(START)] * met",
        "0.0 * worth[tree.hands(START)] * met",
        "test_holdem_agent.py",
    ),
    Mutant(
        "hold'em samples the iteration after",
        "agents/hand_search.py",
        "- driver.iteration - (not driver.responds)",
        "- driver.iteration",
        "test_holdem_agent.py",
    ),
    # ReBeL
    Mutant(
        "beliefs come from the explored strategy",
        "rebel/selfplay.py",
        "batch, believed, reaches, leaf, game)",
        "batch, explored, reaches, leaf, game)",
        "test_core_steps.py",
    ),
    Mutant("never explores", "rebel/selfplay.py", "explorer, self.exploration)", "explorer, 0.0)", "test_core_steps.py"),
    Mutant(
        "always follows the last iteration",
        "rebel/selfplay.py",
        "integers(self.search.warm_iterations + 1,",
        "integers(self.search.config.iterations,",
        "test_core_steps.py",
    ),
    Mutant(
        "playthroughs are averaged without own reach",
        "search/playthroughs.py",
        "(own * batch.view(",
        "(batch.view(",
        "test_core_steps.py",
    ),
    Mutant(
        "root values are learnt as they come, not divided by likelihood",
        "search/groups.py",
        "sums.T / (weight * likely.where(likely > 1e-9, torch.nan))",
        "sums.T / weight",
        "test_search.py test_rebel.py",
    ),
    # NFSP
    Mutant(
        "behaviour is learnt from average play",
        "nfsp/tabular/selfplay.py",
        "if games.best_response[game, player]:\n",
        "if not games.best_response[game, player]:\n",
        "test_nfsp.py",
    ),
    Mutant(
        "the reservoir forgets",
        "nfsp/tabular/memory.py",
        "max(capacity / (offered + 1), least_probability)",
        "1.0",
        "test_nfsp.py",
    ),
    Mutant("the target network is never refitted", "nfsp/tabular/learn.py", "        target[:] = params\n", "", "test_nfsp.py"),
    Mutant(
        "what follows is worth nothing",
        "nfsp/tabular/learn.py",
        "value += ahead[following]",
        "value += np.float32(0.0)",
        "test_nfsp.py",
    ),
    Mutant(
        "everyone always plays best responses",
        "nfsp/tabular/selfplay.py",
        "uniform(streams, stream) < anticipation",
        "uniform(streams, stream) < 2.0",
        "test_nfsp.py",
    ),
    # Deep CFR and policy gradients
    Mutant(
        "Deep CFR: all iterations weigh the same",
        "deep_cfr/learn.py",
        "scale * np.float32(samples.iteration[player, item])",
        "np.float32(1.0)",
        "test_deep_cfr.py",
    ),
    Mutant(
        "Deep CFR: the mean over the traverser's actions is not subtracted",
        "deep_cfr/traversals.py",
        "                    values[entry - first] -= value\n",
        "                    values[entry - first] -= 0.0\n",
        "test_deep_cfr.py",
    ),
    Mutant(
        "Deep CFR: the second player's advantages have the wrong sign",
        "deep_cfr/traversals.py",
        "        unit = -unit\n",
        "        unit = unit\n",
        "test_deep_cfr.py",
    ),
    Mutant(
        "Deep CFR: no positive advantage means uniform play",
        "deep_cfr/learn.py",
        "(1.0 if entry == best else 0.0)",
        "1.0 / (last - first)",
        "test_deep_cfr.py",
    ),
    Mutant(
        "Deep CFR: the latest samples are kept, not a uniform sample",
        "deep_cfr/memory.py",
        "below(streams, stream, offered + 1)",
        "offered % capacity",
        "test_deep_cfr.py",
    ),
    Mutant(
        "Single Deep CFR: reach does not weigh",
        "deep_cfr/averages.py",
        "iteration * reach[self._rows[mine]] * strategy[mine]",
        "iteration * strategy[mine]",
        "test_deep_cfr.py",
    ),
    Mutant(
        "policy gradients: RPG does not count the better actions",
        "policy_gradient/rounds.py",
        "factor = better if update == RPG else np.float32(1.0)",
        "factor = np.float32(1.0)",
        "test_policy_gradient.py",
    ),
    Mutant(
        "policy gradients: the second player learns the first one's winnings",
        "policy_gradient/rounds.py",
        "np.float32(1.0 if player == 0 else -1.0)",
        "np.float32(1.0)",
        "test_policy_gradient.py",
    ),
    # Monte Carlo CFR
    Mutant(
        "MCCFR: outcome sampling forgets how likely its own draws were",
        "kernels/numba_walks.py",
        "sums.regret[entry] += weight * other / sampled * (",
        "sums.regret[entry] += weight * other * (",
        "test_sampling.py",
    ),
    Mutant(
        "MCCFR: chance sampling forgets the opponent's reach",
        "kernels/numba_walks.py",
        "return (own * share, other) if mine else (own, other * share)",
        "return (own * share, other) if mine else (own, other)",
        "test_sampling.py",
    ),
    Mutant(
        "MCCFR: regrets change what is played in the same walk",
        "kernels/numba_walks.py",
        "if sums.asked[infostate] != 2 * iteration + traverser:",
        "if True:",
        "test_sampling.py::test_it_is_linear_cfr_where_nothing_is_left_to_sample",
    ),
    Mutant(
        "MCCFR: a baseline is counted in full where an action was drawn",
        "kernels/numba_walks.py",
        "values[action] = expected + ((found - expected) / chance if action == taken else 0.0)",
        "values[action] = expected + (found / chance if action == taken else 0.0)",
        "test_sampling.py::test_a_sampled_regret_is_the_exact_one_on_average",
    ),
    Mutant(
        "MCCFR: averages weigh all iterations alike where they should be linear",
        "kernels/numba_walks.py",
        "part = weight * own / sampled",
        "part = own / sampled",
        "test_sampling.py::test_it_is_linear_cfr_where_nothing_is_left_to_sample",
    ),
    Mutant(
        "MCCFR: outcome sampling explores nothing",
        "kernels/numba_walks.py",
        "EXPLORATION = 0.6",
        "EXPLORATION = 0.0",
        "test_sampling.py",
    ),
    # Measures
    Mutant(
        "AIVAT adds no correction", "arena/aivat.py", "total += float(worth / weight) - value", "total += 0.0", "test_aivat.py"
    ),
    Mutant(
        "LBR does not update what it believes",
        "arena/lbr.py",
        "self.beliefs * self._policy.probabilities(before)[before.actions.index(action)]",
        "self.beliefs * 1.0",
        "test_lbr.py",
    ),
    Mutant(
        "exploitability is one player's gain",
        "evaluation/exact.py",
        "return self.nash_conv / 2",
        "return self.best_response_values[0]",
        "test_solvers.py",
    ),
    # Continual re-solving
    Mutant(
        "what a search promises comes from its last iteration",
        "solvers/driver.py",
        "self.row_sum += self.clock.average_weight * self.passes.row_cfv(player)",
        "self.row_sum.copy_(self.clock.average_weight * self.passes.row_cfv(player))",
        "test_search.py test_resolving.py",
    ),
    Mutant(
        "re-solving keeps the range of the root",
        "search/continual.py",
        "return normalised_reach(arrived, mine",
        "return normalised_reach(torch.ones_like(arrived), mine",
        "test_resolving.py",
    ),
    Mutant(
        "a warm-up counts in averages",
        "solvers/schedules.py",
        "average_weight=weight * (t > warm_up)",
        "average_weight=weight",
        "test_resolving.py",
    ),
    # Sound self-play
    Mutant(
        "queries have the gadget's first range",
        "solvers/driver.py",
        "            self._take_roots()\n",
        "",
        "test_sog.py",
    ),
    Mutant(
        "queries are of the iteration after the sampled one",
        "search/groups.py",
        "sampled = (sample_iteration == iteration)",
        "sampled = (sample_iteration + 1 == iteration)",
        "test_sog.py",
    ),
    Mutant(
        "self-play never explores",
        "sog/selfplay.py",
        "strategy.lerp(uniform, self._mix)",
        "strategy",
        "test_sog.py",
    ),
    Mutant(
        "ranges follow the mixed strategy",
        "sog/selfplay.py",
        "self._moves.follow(classes, self.ranges, strategy, move",
        "self._moves.follow(classes, self.ranges, strategy.lerp(uniform, self._mix), move",
        "test_sog.py",
    ),
    Mutant(
        "promised values come from another spot",
        "sog/selfplay.py",
        "self.promises[games, seat, spot[games]]",
        "self.promises[games, seat, 0 * spot[games]]",
        "test_sog.py",
    ),
    Mutant(
        "values are not zero-sum",
        "nets/zero_sum.py",
        "return values - torch.where",
        "return values - 0.0 * torch.where",
        "test_zero_sum.py",
    ),
    Mutant(
        "only one player's values are corrected",
        "nets/zero_sum.py",
        "for feature in range(2 * H):",
        "for feature in range(H):",
        "test_zero_sum.py",
        # Growing trees
    ),
    Mutant(
        "growing: averages without own reach",
        "search/growing/kernels.py",
        "average_weight * f.reach[b, player, row], 0.0, 0",
        "average_weight, 0.0, 0",
        "test_growing_search.py",
    ),
    Mutant(
        "growing: leaf values without the opponent's likelihood",
        "search/growing/kernels.py",
        "f.cfv[b, player, row] *= f.leaf_value[b, player, row]",
        "f.cfv[b, player, row] = f.leaf_value[b, player, row]",
        "test_growing_search.py",
    ),
    Mutant(
        "growing: the chance of being at a node is forgotten",
        "search/growing/expansion.py",
        "f.scale[b, parent] * t.state_chance[above]",
        "f.scale[b, parent]",
        "test_growing_search.py",
    ),
    Mutant(
        "growing: walks never follow PUCT",
        "search/growing/expansion.py",
        "if uniform(f.random, b) < puct_share:",
        "if uniform(f.random, b) < 0.0 * puct_share:",
        "test_growing_search.py",
    ),
    Mutant(
        "growing: walks ignore the beliefs at the root",
        "search/growing/expansion.py",
        "        if total > 0.0:\n            weight *=",
        "        if total < 0.0:\n            weight *=",
        "test_growing_search.py",
    ),
    Mutant(
        "growing: chance ignores the private states",
        "search/growing/expansion.py",
        "and t.row_parent[1][second] == rows[1]",
        "",
        "test_growing_search.py",
    ),
    Mutant(
        "growing: the gadget's range lags behind by one update",
        "search/growing/search.py",
        "entering = gadget.answer(forest.cfv[:, player, roots].copy(), step)",
        "entering = gadget.entering\n                    gadget.answer(forest.cfv[:, player, roots].copy(), step)",
        "test_growing_search.py",
    ),
    Mutant(
        "growing: promises are not divided by the likelihood of their own iterations",
        "search/growing/result.py",
        "node_likelihood(self.steps.tables, self.forest, b, node, opponent, self.forest.reach_sum[b, 1 - opponent])",
        "node_likelihood(self.steps.tables, self.forest, b, node, opponent, self.forest.reach[b, 1 - opponent])",
        "test_growing_search.py",
    ),
    Mutant(
        "growing: all updates have the same weight",
        "search/growing/search.py",
        "self._schedule.step(update), gadget)",
        "self._schedule.step(1), gadget)",
        "test_growing_search.py",
    ),
    Mutant(
        "growing: closed actions match regrets",
        "search/growing/kernels.py",
        "        if f.opened[b, e] != CLOSED:\n            f.opened",
        "        if f.opened[b, e] != -1:\n            f.opened",
        "test_growing_search.py",
    ),
    Mutant(
        "growing: at averages a leaf is worth the whole sum and not its latest part",
        "search/growing/kernels.py",
        "(f.leaf_sum[b, player, row] - before) / update_weight",
        "f.leaf_sum[b, player, row] / update_weight",
        "test_growing_agent.py",
    ),
    Mutant(
        "growing: networks are queried on states they never learnt",
        "search/growing/search.py",
        "(classes != NO_CLASS) & ~known[classes]",
        "(classes == -9)",
        "test_growing_agent.py",
    ),
    Mutant(
        "growing: the agent forgets what it promised",
        "agents/growing_planner.py",
        "None if known else result.promised(0, child, 1 - self._player)",
        "None",
        "test_growing_agent.py",
    ),
    Mutant(
        "growing: the agent forgets its own range",
        "agents/growing_planner.py",
        "self._search(root, path, here.reaches(),",
        "self._search(root, path, above.roots,",
        "test_growing_agent.py",
    ),
    Mutant(
        "games share openings that have too few leaves",
        "sog/selfplay.py",
        "np.clip(leaves // self._per_search, 1, SHARED)",
        "np.clip(leaves, SHARED, SHARED)",
        "test_sog.py",
    ),
    Mutant(
        "inner queries have the ranges of the average strategy",
        "search/queries.py",
        "below = reaches_below(search, batch, result.believed_strategy, result.sampled_reaches)",
        "below = reaches_below(search, batch, result.average_strategy, result.sampled_reaches)",
        "test_sog.py",
    ),
    Mutant(
        "boards: regrets without the opponent's reach",
        "search/boards/kernels.py",
        "faced = reach[node, 1 - player] * np.float32",
        "faced = np.float32",
        "test_boards.py",
    ),
    Mutant(
        "boards: averages without the own reach",
        "search/boards/kernels.py",
        "own = weight * reach[node, player]",
        "own = weight",
        "test_boards.py",
    ),
    Mutant(
        "boards: walks by PUCT alone",
        "search/boards/kernels.py",
        "if uniform_32(random, tree) < 0.5:",
        "if uniform_32(random, tree) < 0.0:",
        "test_boards.py",
    ),
    Mutant(
        "boards: values are those of the player to act",
        "search/boards/search.py",
        "np.where(actor[playing] == 0, value, -value)",
        "value",
        "test_boards.py",
    ),
    Mutant(
        "boards: moves without the uniform mix",
        "sog/boards/selfplay.py",
        "self._mix * uniform",
        "0.0 * uniform",
        "test_board_runs.py",
    ),
    Mutant(
        "boards: the outcome is the other player's",
        "sog/boards/selfplay.py",
        "own = np.where(actor == 0, value, -value)",
        "own = np.where(actor == 1, value, -value)",
        "test_board_runs.py",
    ),
    # The blueprint
    Mutant(
        "blueprint: averages count visits alike for all actions",
        "blueprint/mccfr.py",
        "none, _FOUR) + positive * scale)",
        "none, _FOUR) + splat(np.float32(1.0), _FOUR))",
        "test_blueprint.py::test_mccfr_finds_the_value_of_kuhn_poker",
    ),
    Mutant(
        "blueprint: regrets without what the strategy is worth",
        "blueprint/mccfr.py",
        "none, _FOUR) - splat(value, _FOUR)",
        "none, _FOUR)",
        "test_blueprint.py::test_mccfr_finds_the_value_of_kuhn_poker",
    ),
    Mutant(
        "blueprint: the second player counts the first player's winnings",
        "blueprint/mccfr.py",
        "np.float32(1.0 if traverser == 0 else -1.0)",
        "np.float32(1.0)",
        "test_blueprint.py::test_mccfr_finds_the_value_of_kuhn_poker",
    ),
    Mutant(
        "blueprint: the opponent's actions are all as likely",
        "blueprint/mccfr.py",
        "action += count_at_most(load_at(bounds, LANES * block, np.float32(0.0), _FOUR), drawn)",
        "action = int(uniform(streams, stream) * count)",
        "test_blueprint.py::test_mccfr_finds_the_value_of_kuhn_poker",
    ),
    Mutant(
        "blueprint: entries without an action are drawn",
        "blueprint/betting_tree.py",
        "NO_ACTION = np.float32(-1e30)",
        "NO_ACTION = np.float32(1.0)",
        "test_blueprint.py::test_mccfr_finds_the_value_of_kuhn_poker",
    ),
    Mutant(
        "blueprint: a second block of actions begins at nothing",
        "blueprint/mccfr.py",
        "upto = running(positive) + splat(total, _FOUR)",
        "upto = running(positive)",
        "test_blueprint.py::test_decisions_with_many_actions_are_drawn_and_averaged_like_others",
    ),
    Mutant(
        "blueprint: the last batch of deals is filled up",
        "blueprint/mccfr.py",
        "some = min(left, BATCH)",
        "some = BATCH",
        "test_blueprint.py::test_epochs_weigh_linearly",
    ),
    Mutant(
        "blueprint: cards of the board come twice",
        "blueprint/deals.py",
        "while (dead >> np.uint64(card)) & one:",
        "while card < 0:",
        "test_blueprint.py::test_boards_of_deals_are_new_cards",
    ),
    Mutant(
        "blueprint: epochs weigh alike",
        "blueprint/train.py",
        "np.float32(self.epoch / (self.epoch + 1))",
        "np.float32(1.0)",
        "test_blueprint.py::test_epochs_weigh_linearly",
    ),
    Mutant(
        "blueprint: players hold the same card",
        "blueprint/deals.py",
        "if firsts & seconds == 0:",
        "if firsts == firsts:",
        "test_blueprint.py::test_deals_follow_the_ranges_and_tell_the_winner",
    ),
    Mutant(
        "blueprint: suits are not renamed on a board of a row",
        "blueprint/buckets.py",
        "strengths[names[hand]]",
        "strengths[hand]",
        "test_blueprint.py::test_tables_of_buckets_are_what_single_boards_say",
    ),
    # Checkpoints
    Mutant(
        "checkpoints: any part will do",
        "nets/checkpoint.py",
        'if _digest(content, size=8) != part.stem.rpartition(".")[2]:',
        "if not content:",
        "test_checkpoint.py::test_a_set_that_is_not_whole_is_no_checkpoint",
    ),
    # ReBeL at hold'em
    Mutant(
        "hold'em: next cards ignore both hands",
        "rebel/holdem/selfplay.py",
        "return comb(left - 2, count) / comb(left - 4, count)",
        "return 1.0",
        "test_rebel_holdem.py::test_the_mean_over_next_cards_is_what_a_hand_leads_by_now",
    ),
    Mutant(
        "hold'em: what a card does to the odds is learnt",
        "rebel/holdem/selfplay.py",
        "expected, known = boards.leads(beliefs.flip(0)), dealt.boards.leads(reaches.flip(0))",
        "expected, known = boards.leads(beliefs.flip(0)), 0.0",
        "test_rebel_holdem.py::test_what_a_card_does_to_the_odds_is_not_learnt",
    ),
    Mutant(
        "hold'em: both players win",
        "nets/round_net.py",
        "return values - surplus[None, :, :, None]",
        "return values",
        "test_paper_network.py::test_values_sum_to_zero_only_where_they_are_made_to",
    ),
    Mutant(
        "appendix G: names of suits are forgotten",
        "nets/appendix_g.py",
        "cards.device)[names].gather(1, places)",
        "cards.device)[0 * names].gather(1, places)",
        "test_paper_network.py::test_names_of_suits_matter_only_without_symmetry",
    ),
    Mutant(
        "appendix G: whole values are learnt as if odds were added",
        "rebel/holdem/learner.py",
        "beyond if self.net.helps.odds else beyond + odds",
        "beyond",
        "test_paper_network.py::test_a_network_learns_values_beyond_odds_or_whole_ones",
    ),
    Mutant(
        "hold'em: hands keep their suits when boards are renamed",
        "cards/dealing.py",
        "_unnamed_hands(device)[renaming]",
        "_unnamed_hands(device)[0 * renaming]",
        "test_rebel_holdem.py::test_boards_are_dealt_up_to_names_of_suits_and_hands_keep_their_places",
    ),
    Mutant(
        "hold'em: small beliefs are forgotten",
        "rebel/holdem/stored.py",
        "return (roots * STEPS).round()",
        "return (roots * STEPS / 16).round()",
        "test_stored_examples.py",
    ),
    Mutant(
        "hold'em: hands that a card excludes are learnt",
        "rebel/holdem/stored.py",
        "beyond=values.masked_fill(kept.beyond == UNKNOWN, torch.nan)",
        "beyond=values",
        "test_stored_examples.py",
    ),
    Mutant(
        "warm start: the policy is forgotten",
        "solvers/warm.py",
        "regret = regret + steadiness * spread * proposed",
        "regret = regret + steadiness * spread",
        "test_round_policies.py::test_a_search_that_starts_from_an_equilibrium_stays_there",
    ),
    Mutant(
        "warm start: regrets against the policy itself",
        "solvers/warm.py",
        "passes.update_regrets(player, response, regrets, aside",
        "passes.update_regrets(player, driver.strategy + 0.0, regrets, aside",
        "test_round_policies.py::test_regrets_of_a_warm_start_are_those_against_a_best_response",
    ),
    Mutant(
        "policies: both players' beliefs change places",
        "nets/round_policies.py",
        "for player in (actor, 1 - actor)",
        "for player in (1 - actor, actor)",
        "test_round_policies.py::test_examples_of_decisions_are_what_averages_play_there",
    ),
    Mutant(
        "hold'em: stored beliefs meet themselves",
        "rebel/holdem/stored.py",
        "beliefs.flip(1).transpose(0, 1)",
        "beliefs.transpose(0, 1)",
        "test_stored_examples.py",
    ),
    Mutant(
        "hold'em: averages without own reach",
        "kernels/numba_street.py",
        "average[hand] += weight * reached[hand]",
        "average[hand] += weight",
        "test_street_passes.py",
    ),
    Mutant(
        "hold'em: a fold pays both",
        "kernels/street_passes.py",
        "amount if player == 0 else -amount",
        "amount",
        "test_street_passes.py",
    ),
    Mutant(
        "hold'em: leaves ignore reach",
        "kernels/street_passes.py",
        "return opponent_reach[rows].sum(2, keepdim=True)",
        "return opponent_reach[rows].sum(2, keepdim=True) * 0.0 + 1.0",
        "test_street_passes.py",
    ),
    Mutant(
        "hold'em: round ends are valued by odds alone",
        "nets/numba_round_end.py",
        "(lead[hand] + likely[hand] * (result[hand] - excess))",
        "(lead[hand] + 0.0 * likely[hand] * (result[hand] - excess))",
        "test_rebel_holdem.py::test_a_network_does_not_know_the_names_of_suits "
        "test_rebel_holdem.py::test_values_are_zero_sum_and_the_same_in_both_layouts",
    ),
    # Searches of hold'em by planes, by the clock and by several processes
    Mutant(
        "planes: results for half of the beliefs are never refreshed",
        "solvers/valuation.py",
        "        self._changed.add(player)\n",
        "",
        "test_board_passes.py::test_a_search_that_asks_for_what_changed_is_one_that_asks_for_all",
    ),
    Mutant(
        "modified CFR-AVE: the previous values are not subtracted",
        "solvers/valuation.py",
        "before.lerp(current.to(before), 1.0 / share)",
        "current / share",
        "test_board_passes.py::test_modified_cfr_ave_finds_what_the_latest_strategy_is_worth",
    ),
    Mutant(
        "planes: surplus stays with one player",
        "nets/numba_round_end.py",
        "surplus += part",
        "surplus = part",
        "test_board_passes.py::test_the_fused_end_of_the_network_is_the_network_s",
    ),
    Mutant(
        "planes: lanes in another order",
        "kernels/board_passes.py",
        "entries[:, 0, self._lanes]",
        "entries[:, 0, self._lanes.flip(0)]",
        "test_board_passes.py::test_a_board_by_planes_is_searched_as_the_tree_of_its_hands",
    ),
    Mutant(
        "planes: a hand meets itself",
        "cards/numba_boards.py",
        "(total - shared + np.float64(weights[hand]))",
        "(total - shared)",
        "test_street_passes.py::test_hands_meet_and_lead_as_counted_one_board_at_a_time",
    ),
    Mutant(
        "the clock is ignored",
        "agents/budget.py",
        "(self._clock() + each <= deadline and not watcher.is_cut())",
        "(each <= deadline and not watcher.is_cut())",
        "test_board_passes.py::test_a_search_stops_in_time",
    ),
    Mutant(
        "intermediate searches take all the time",
        "agents/budget.py",
        "self._deadline if is_last else",
        "self._deadline if True else",
        "test_board_passes.py::test_a_search_stops_in_time",
    ),
    Mutant(
        "every deal draws the same random numbers",
        "arena/match.py",
        "[seed, stream, number]",
        "[seed, stream]",
        "test_scale_matches.py::test_a_deal_does_not_depend_on_those_before_it",
    ),
    # Networks of round beginnings
    Mutant(
        "starts: means over cards count blocked cards",
        "rebel/holdem/starts.py",
        "return result / (left - 4)",
        "return result / left",
        "test_round_starts.py",
    ),
    Mutant(
        "starts: values ignore the opponent's reach",
        "rebel/holdem/starts.py",
        "found * total.flip(0) / unit",
        "found / unit",
        "test_round_starts.py",
    ),
    Mutant(
        "starts: what the search found is left out of targets",
        "rebel/holdem/selfplay.py",
        "card_factor(boards, count) * (values - known)",
        "0.0 * (values - known)",
        "test_round_starts.py",
    ),
    Mutant(
        "starts: hands keep the places they had before the card",
        "cards/dealing.py",
        "place[parent].gather(1, was))",
        "was)",
        "test_round_starts.py",
    ),
    # The workbench: views, locks, menus, settings and parts of one's own
    Mutant(
        "views: values by the wrong reach",
        "evaluation/node_views.py",
        "_given(cfv, part.counterfactual_reach)",
        "_given(cfv, part.counterfactual_reach * part.reach)",
        "test_node_views.py::test_views_are_sums_over_all_histories",
    ),
    Mutant(
        "views: weights without the opponent",
        "tree/strategy.py",
        "likely = reach[kept] * faced[player][kept]",
        "likely = reach[kept]",
        "test_node_views.py::test_views_are_sums_over_all_histories",
    ),
    Mutant(
        "views: equities count ties as wins",
        "tree/hand_strategy.py",
        "lead = weaker + beaten - below[-1]",
        "lead = 2 * weaker - below[-1]",
        "test_node_views.py::test_equities_are_those_of_pokerkit",
    ),
    Mutant(
        "lines: twins share a name",
        "tree/public_lines.py",
        "if counts[key] > 1:",
        "if counts[key] > 9:",
        "test_node_views.py::test_lines_name_every_public_state",
    ),
    Mutant(
        "locks: payoffs ignore them",
        "tree/held.py",
        "payoff=tree.payoff * likely",
        "payoff=tree.payoff",
        "test_locks.py::test_the_free_part_is_an_equilibrium_by_the_linear_program",
    ),
    Mutant(
        "locks: the locked player still chooses",
        "tree/held.py",
        "np.where(fixed[player_rows.entry], tree.num_entries, player_rows.entry)",
        "np.where(fixed[player_rows.entry], player_rows.entry, player_rows.entry)",
        "test_locks.py::test_the_free_part_is_an_equilibrium_by_the_linear_program",
    ),
    Mutant(
        "locks: play in trees of hands is not put back",
        "kernels/hand_blocks.py",
        "                values[at + h] = value\n",
        "                values[at + h] = value * 0\n",
        "test_locks.py::test_a_locked_river_has_the_value_of_the_linear_program",
    ),
    Mutant(
        "locks: a card does not tell suits apart",
        "tree/hand_tree.py",
        "if all(RENAMED_CARDS[number, card] == card for card in cards)",
        "if True",
        "test_locks.py::test_a_lock_that_tells_suits_apart_is_solved_without_taking_them_for_equal",
    ),
    Mutant(
        "menus: the wrong player was the aggressor",
        "games/betting.py",
        "memory = 0, 1 - player if",
        "memory = 0, player if",
        "test_spots.py::test_menus test_spots.py::test_menus_with_names_are_written_out",
    ),
    Mutant(
        "menus: geometric sizes over too many streets",
        "games/sizes.py",
        "min(size.streets, streets_left)",
        "size.streets",
        "test_spots.py::test_menus test_spots.py::test_menus_with_names_are_written_out",
    ),
    Mutant(
        "menus: multiples of everything put in",
        "games/sizes.py",
        "(size.times - 1.0) * (facing - begun)",
        "(size.times - 1.0) * facing",
        "test_spots.py::test_menus test_spots.py::test_menus_with_names_are_written_out",
    ),
    Mutant(
        "ranges: the top is counted by kinds",
        "cards/ranges.py",
        "left -= len(hands)",
        "left -= 1",
        "test_equity.py::test_the_top_is_as_much_as_it_says",
    ),
    Mutant(
        "reports: boards equal up to suits count once",
        "cards/boards.py",
        "DrawnBoard(cards, count, count * weight)",
        "DrawnBoard(cards, count, weight)",
        "test_report.py::test_all_boards_are_there_once_up_to_suits",
    ),
    Mutant(
        "settings: the least is out of range",
        "training/ranges.py",
        "self.least <= number <= self.most",
        "self.least < number <= self.most",
        "test_settings.py",
    ),
    Mutant(
        "sizes: only the last visit counts",
        "search/workload.py",
        "visits = visits + arriving",
        "visits = arriving",
        "test_settings.py",
    ),
    Mutant(
        "seeds: all runs have one",
        "training/plan.py",
        "str(self.seed + number), **self.settings",
        "str(self.seed), **self.settings",
        "test_many_runs.py",
    ),
    Mutant(
        "own parts: files are never read again",
        "games/own.py",
        "if name in sys.modules and _stamps.get(name) == stamp:",
        "if name in sys.modules:",
        "test_own_games.py::test_a_file_is_imported_once_until_it_changes",
    ),
    Mutant(
        "own parts: leaves of any shape",
        "leaves/checked.py",
        "values.shape != beliefs.shape",
        "False",
        "test_own_parts.py::test_a_leaf_evaluator_of_ones_own_is_asked_at_leaves",
    ),
    # The browser app
    Mutant(
        "web: a frame tells what the opponent holds",
        "web/play/hand.py",
        '"kind": self._stage.kind, **',
        '"kind": self._stage.kind, "leak": str(self._theirs), **',
        "../web/test_secrecy.py",
    ),
    Mutant(
        "web: beliefs are sent without training mode",
        "web/play/desk.py",
        "elif self._training:",
        "elif True:",
        "../web/test_secrecy.py",
    ),
    Mutant(
        "web: a tab with many messages goes first",
        "web/pool.py",
        "process.waiting.popitem(last=False)",
        "process.waiting.popitem(last=True)",
        "../web/test_load.py::test_tabs_take_turns_and_none_can_fill_the_queue",
    ),
    Mutant(
        "web: other sites may connect",
        "web/guard.py",
        'origin.partition("://")[2] != host',
        "False",
        "../web/test_server.py::test_other_sites_are_refused",
    ),
    Mutant(
        "web: costs count on an opponent that plays anything",
        "web/play/oracle.py",
        "passes.entries(strategy), passes.entries(trembling)",
        "passes.entries(strategy), passes.entries(tree.uniform_strategy())",
        "../web/test_judging.py",
    ),
    Mutant(
        "web: the deal of unknown players is not corrected",
        "web/play/luck.py",
        "AivatEstimator([None, None], [values, values], line)",
        "AivatEstimator([None, None], [lambda public, reaches: (0.0, values(public, reaches)[1])] * 2, line)",
        "../web/test_judging.py",
    ),
    Mutant(
        "minimax: both players want the same",
        "agents/minimax.py",
        "if self.game.actor(state) == 0 else -1.0",
        "if self.game.actor(state) == 0 else 1.0",
        "test_minimax.py",
    ),
    Mutant(
        "continuations: leaves learn at beliefs, not at reaches",
        "solvers/valuation.py",
        "self._decisions.answer(player, self.beliefs, weight, play.clock)",
        "self._decisions.answer(player, self.beliefs, weight * 0 + 1, play.clock)",
        "test_continuations.py::test_choosing_a_last_action_is_taking_it",
    ),
    Mutant(
        "continuations: choices are never settled",
        "solvers/valuation.py",
        "            self._decisions.settle(player)\n",
        "            pass\n",
        "test_continuations.py::test_choosing_a_last_action_is_taking_it",
    ),
    Mutant(
        "continuations: choices settle before both have answered",
        "leaves/continuations.py",
        "self._next[player].copy_(torch.where(",
        "self.choice[player].copy_(torch.where(",
        "test_continuations.py::test_choosing_a_last_action_is_taking_it",
    ),
    Mutant(
        "continuations: regrets at leaves are not discounted",
        "leaves/continuations.py",
        "(regret * discount + instant)",
        "(regret + instant)",
        "test_continuations.py::test_choosing_a_last_action_is_taking_it",
    ),
    Mutant(
        "continuations: regrets at leaves have no floor",
        "leaves/continuations.py",
        ".clamp(min=step.floor)",
        "",
        "test_continuations.py::test_choosing_a_last_action_is_taking_it",
    ),
    Mutant(
        "continuations: leaves do not predict",
        "leaves/continuations.py",
        "(regret + step.prediction * instant)",
        "regret",
        "test_continuations.py::test_choosing_a_last_action_is_taking_it",
    ),
    Mutant(
        "continuations: decisions are asked once where nothing is hidden",
        "solvers/valuation.py",
        "passes.knows_leaves and self._decisions is None",
        "passes.knows_leaves",
        "test_continuations.py::test_decisions_are_asked_again_where_nothing_is_hidden",
    ),
    Mutant(
        "continuations: a choice meets the wrong player's beliefs",
        "leaves/continuations.py",
        "beliefs[other * H : (other + 1) * H]",
        "beliefs[player * H : (player + 1) * H]",
        "test_continuations.py::test_search_finds_the_value_of_the_game_with_choices",
    ),
    Mutant(
        "continuations: player 1 is paid what player 0 is",
        "leaves/continuations.py",
        "else -operator.transpose(1, 0, 3, 2)",
        "else operator.transpose(1, 0, 3, 2)",
        "test_continuations.py::test_search_finds_the_value_of_the_game_with_choices",
    ),
    Mutant(
        "continuations: operators leave out chance on the way",
        "leaves/continuations.py",
        "nodes.joint(node).sum() * below[",
        "below[",
        "test_continuations.py::test_operators_are_expected_values_by_the_rules",
    ),
    Mutant(
        "continuations: operators leave out what is played on the way",
        "leaves/continuations.py",
        "= shares[:, rows.entry[here]]",
        "= 1.0",
        "test_continuations.py::test_operators_are_expected_values_by_the_rules",
    ),
    Mutant(
        "continuations: tiles use the numbers of the first leaf",
        "leaves/continuations.py",
        "        column[place] = np.arange(len(kinds))\n",
        "",
        "test_continuations.py::test_tiles_give_each_leaf_the_matrix_of_its_kind",
    ),
    Mutant(
        "continuations: leaf weights leave out chance",
        "search/groups.py",
        " * self._odds.chance\n",
        "\n",
        "test_continuations.py::test_weights_of_leaves_make_values_counterfactual",
    ),
    Mutant(
        "continuations: means over a class forget reaches",
        "leaves/continuation_sets.py",
        "(_own_reach(tree, strategy) + _RARE) * strategy",
        "strategy",
        "test_continuations.py::test_a_continuation_plays_the_mean_over_the_states_of_a_class",
    ),
    Mutant(
        "continuations: biased shares do not sum to 1",
        "leaves/continuation_sets.py",
        "(tree.normalise(version) for version in biased)",
        "biased",
        "test_continuations.py::test_biased_continuations_multiply_a_kind_of_action",
    ),
    Mutant(
        "continuations: responses answer the blueprint alone",
        "leaves/continuation_sets.py",
        "        plans = plans + realisation_plan(tree, strategies[-1])\n",
        "",
        "test_continuations.py::test_responses_answer_the_mean_of_all_before_them",
    ),
    Mutant(
        "continuations: responses answer the blueprint, not search",
        "search/continuations.py",
        "realisation_plan(tree, played) + _BLUEPRINT_SHARE * realisation_plan(tree, blueprint)",
        "realisation_plan(tree, blueprint)",
        "test_continuations.py::test_each_response_to_search_beats_what_search_played",
    ),
    Mutant(
        "continuations: searches below ignore the promised values",
        "search/solve.py",
        "RE_SOLVING if isinstance(evaluator, DecidingEvaluator) else SAMPLED",
        "SAMPLED",
        "test_continuations.py::test_searches_below_keep_what_was_promised_unless_told_otherwise",
    ),
)


def caught_by(mutant: Mutant, copy: Path) -> str:
    """Returns the test that catches a mutant in a copy of the sources, `survived`, or why the mutant could not be tried."""
    file = copy / "tacit" / mutant.file
    source = file.read_text()
    if source.count(mutant.right) != 1:
        return f"not found once in {mutant.file}"
    file.write_text(source.replace(mutant.right, mutant.wrong))
    tests = [f"tests/unit/{test}" for test in mutant.tests.split()]
    environment = {**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--tb=no", *tests]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    file.write_text(source)
    failed = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith("FAILED")]
    if done.returncode not in (0, 1) or (done.returncode == 1 and not failed):
        return f"tests broke: {done.stdout[-200:]}"
    return failed[0].removeprefix("tests/unit/") if failed else "survived"


def compiles(mutant: Mutant) -> bool:
    """Returns whether numba has to compile everything again for a mutant."""
    return "compiled import" in (ROOT / "src" / "tacit" / mutant.file).read_text()


def main() -> int:
    """Tries the mutants; returns 1 if any was not caught."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(ROOT / "src", Path(folder, "src"), ignore=shutil.ignore_patterns("__pycache__"))
        for mutant in sorted((mutant for mutant in MUTANTS if wanted in mutant.name), key=compiles):
            start = time.perf_counter()
            verdict = caught_by(mutant, copy)
            missed += "::" not in verdict
            print(f"{mutant.name}: {verdict} ({time.perf_counter() - start:.0f} s)", flush=True)
    print(f"{missed} not caught")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
