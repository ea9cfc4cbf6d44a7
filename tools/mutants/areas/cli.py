"""The commands."""

from mutant import Area, mutants_of

AREA = Area(
    "cli",
    ("tests/cli", "tests/test_run_on_a_pty.py"),
    (
        *mutants_of(
            "edgesvm/cli/arguments.py",
            (
                "lambda number: number >= 1,",
                "lambda number: number >= 0,",
                "a count of nothing is taken",
            ),
            (
                "lambda number: 0 < number < 1e9",
                "lambda number: number < 1e9",
                "a negative time is taken",
            ),
            ("and ends[0] < ends[1]", "", "an empty range is taken"),
        ),
        *mutants_of(
            "edgesvm/cli/status.py",
            (
                "        except OSError:\n",
                "        except KeyError:\n",
                "a log on a full disk ends learning",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/serving.py",
            (
                "        if options.save:\n            model.save(options.save)\n",
                "        pass\n",
                "nothing is saved at the end",
            ),
            (
                'if broken := summary["broken_identities"]:',
                "if broken := []:",
                "counts that do not add up are no failure",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/stopping.py",
            (
                "        numbers.append(signal.SIGHUP)\n",
                "        pass\n",
                "a session that drops costs the model",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/evaluate.py",
            (
                "    with saved_model.claimed_snapshot(options.save) if options.save else nullcontext():\n",
                "    with nullcontext():\n",
                "two processes may write the snapshot of eval",
            ),
            (
                '    summary["log_lost"] = status.lost\n',
                '    summary["log_lost"] = 0\n',
                "lines that eval could not write are not counted",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/saved_model.py",
            (
                "    if model.n_features_in_ != n_inputs:\n",
                "    if False:\n",
                "a model of another width is gone on with",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/window_options.py",
            (
                '            found.append((f"no {option}", f"{option} {value}"))\n',
                "            continue\n",
                "a saved model without windows is gone on with as one with them",
            ),
            ("    check(options)\n", "", "options of windows are ignored without --window"),
        ),
        *mutants_of(
            "edgesvm/cli/raw_samples.py",
            (
                "self._samples = InOrder(chain.window, chain.gap)",
                "self._samples = InOrder(chain.window, lambda: None)",
                "windows of a recording span its gaps",
            ),
            (
                "label_of(label)",
                "label",
                "--positive does not reach the votes of windows",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/link_options.py",
            (
                "                silent_after=options.silent_after,\n",
                "",
                "the time of a silence does not reach the link",
            ),
        ),
        *mutants_of(
            "edgesvm/__init__.py",
            (
                "import edgesvm_command  # noqa: F401",
                "import sys  # noqa: F401",
                "Ctrl-C during the imports of -m is a traceback",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/run.py",
            (
                "round(1e6 / options.set_rate)",
                "round(1e3 / options.set_rate)",
                "the rate asked of a node is in another unit",
            ),
            (
                "runner.step(at_most=left)",
                "runner.step()",
                "more samples are learned than asked for",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/stopping.py",
            ("        self.stopping = True\n", "", "SIGTERM does not end a command"),
            (
                "            if self.stopping:\n                raise Stop\n",
                "",
                "a signal that came before a wait does not end it",
            ),
        ),
        *mutants_of(
            "edgesvm/cli/__init__.py",
            (
                "        return code if _flushed() else 1",
                "        return code",
                "a reader that is gone is no failure",
            ),
            (
                "    except (ValueError, TypeError) as error:\n        return _fail(str(error), 2)",
                "    except (ValueError, TypeError) as error:\n        return _fail(str(error), 1)",
                "wrong use has the code of a failure",
            ),
        ),
    ),
)
