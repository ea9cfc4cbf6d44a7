"""What a user sees of a file whose labels are words and whose columns have names."""

from tools.first_hour import names


def test_eval_and_inspect_print_the_words_and_the_columns():
    shown = names.eval_of_words()
    assert "recall: fine " in shown and ", worn " in shown and "log loss" in shown
    assert "features   2: vibration, temperature" in shown
    assert "'worn'" in shown and "'fine'" in shown


def test_one_word_against_the_others():
    assert "recall: not worn " in (shown := names.eval_of_one_word()) and ", worn " in shown


def test_c_has_the_names():
    assert names.exported_c().splitlines() == [
        "/* The features, by place:",
        " * 0 vibration, 1 temperature */",
        'static const char *const pump_label_names[] = {"fine", "worn"};',
    ]


def test_the_features_of_windows_have_the_names_of_the_channels():
    shown = names.features_of_windows()
    assert "channels   2: vibration, temperature" in shown and "vibration_std" in shown, shown
