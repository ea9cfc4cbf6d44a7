"""What a user sees of files as they come."""

from tools.first_hour import files


def test_a_german_table():
    shown = files.eval_of_a_german_table()
    assert "separated by semicolon; numbers may have a decimal comma" in shown, shown
    assert "columns left out: millis (it rises with every row), Raum (constant)" in shown
    assert "column Farbe is 3 features: blau, grau, rot" in shown
    assert "8 rows passed over: a cell is missing (--missing mean fills it)" in shown
    assert "8 rows with the mean where a cell is missing" in files.eval_with_holes_filled()
    shown = files.run_on_a_file()
    assert "5 features per sample" in shown and "400 samples" in shown, shown
    assert "worn " in shown and "fine " in shown


def test_all_columns_that_are_no_numbers_in_one_message():
    shown = files.eval_of_columns_that_are_no_numbers()
    assert "column 'id' (100 values), column 'name' (40 values)" in shown, shown
    assert "--drop-column id --drop-column name" in shown


def test_a_watch_of_a_file_and_eval_without_labels():
    shown = files.watch_of_a_file()
    assert "2024-03-01 00:10:00  watching" in shown, shown
    assert "2024-03-01 00:33:22  ALARM 1" in shown and ": y " in shown
    assert shown.endswith("exit code 3\n")
    shown = files.eval_without_labels()
    assert "has no labels: edgesvm watch pump.csv --learn 1000" in shown, shown
    assert "1 alarms" in shown and shown.endswith("exit code 0\n")


def test_one_class_and_rare_faults():
    shown = files.eval_of_one_class()
    assert "only one label seen" in shown and "100.0 %" not in shown, shown
    assert "runs" not in (shown := files.eval_of_rare_faults()), shown
