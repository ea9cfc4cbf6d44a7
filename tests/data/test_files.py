"""Recordings as samples: every row, in order, and errors that name the line."""

import io
import re
import tracemalloc
import zipfile
from contextlib import closing

import numpy as np
import pytest
from each import each

from edgesvm.data import CsvRows, NpzRows, RowsError
from edgesvm.data.rows import NO_LABEL
from edgesvm.link import open_rows


def csv_file(tmp_path, text):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    return path


def all_rows(source, n=2):
    X, y = zip(*source.chunks(n), strict=True)
    return np.concatenate(X), np.concatenate(y) if source.labelled else None


NAN = [np.nan] * 2


@each(
    "text, options, X, y",
    [
        ("0.5,1,1\n-2,3e1,-1\n\n4,5,1\n", {}, [[0.5, 1], [-2, 30], [4, 5]], [1, -1, 1]),
        ("when,Class,a\n8:00,1,3\n9:00,0,5\n", {"drop_columns": ("when",)}, [[3], [5]], [1, 0]),
        *[("a,b,c\n1,2,3\n", {"label_column": at}, [[2, 3]], [1]) for at in ("a", "0", -3, "-3")],
        ("inf,1\n1e300,0\n", {}, [[np.inf], [np.inf]], [1, 0]),  # the host must refuse it
        ("\ufeff1,2,0\n3,4,1\n", {}, [[1, 2], [3, 4]], [0, 1]),  # a byte order mark
        ("\ufefflabel,a,b\n1,2,0\n", {}, [[2, 0]], [1]),
        ("a,b\n?,1\n2,0\n", {"missing": "mean"}, [[0], [2]], [1, 0]),
        ("a,b\n1,2\n,3\n", {"label_column": "none"}, [[1, 2], NAN], None),
    ],
)
def test_rows_and_labels_of_a_csv_file(tmp_path, text, options, X, y):
    found, labels = all_rows(CsvRows(csv_file(tmp_path, text), **options))
    np.testing.assert_array_equal(found, np.array(X, np.float32))
    assert labels is y or labels.tolist() == y


HARD = """0 -0 +0 .5 5. 1e0 -1E+5 00012 0.1 0.30000000000000004 9007199254740991 9007199254740993
9007199254740992.5 1e22 1e23 1e-22 1e-23 123456789012345678 12345678901234567890123 0.1e-6
179769313486231570e291 1.7976931348623159e308 5e-324 2.4703282292062327e-324 2.2250738585072011e-308
2.2250738585072014e-308 8.5e-45 1.00000017881393421514957253748434595763683319091796875 0e999 1e-400
1e400 -inf infinity 000000000000000000000000000001.5 0.000000000000000000000000000000000001
3.4028235677973366e38 16777217 6.1e-5 4.35 2.5e15 72057594037927945 1e-5 1e15
123456789012345 -12345678.9012345 1234567890.123456"""


def test_a_number_is_what_python_reads(tmp_path):
    hard = HARD.split()
    path = csv_file(tmp_path, "x,target\n" + "".join(f" {text} ,{text}\r\n" for text in hard))
    X, y = all_rows(CsvRows(path, targets=True, keep_columns=("x",)), n=50)
    expected = np.array([float(text) for text in hard])
    assert y.tobytes() == expected.tobytes()
    with np.errstate(over="ignore"):
        assert X.tobytes() == expected.astype(np.float32).tobytes()
    path.write_text("".join(f"{text.replace('.', ',')};0\n" for text in hard))
    y = all_rows(CsvRows(path, targets=True, label_column=0, keep_columns=(1,)))[1]
    assert y.tobytes() == expected.tobytes()


@each("missing", ["skip", "mean", "keep"])
def test_many_rows_are_read_as_one_by_one(tmp_path, missing):
    targets, rng = missing == "keep", np.random.default_rng(3)
    numbers = [*map(str, rng.normal(size=20).round(3)), "1e3", "", "nan"]
    labels = ["1.5", "-2", "nan", ""] if targets else ["wet", "dry", '" dry "', ""]
    lines = [
        f"2024-01-{1 + i // 1440:02d} {i // 60 % 24:02d}:{i % 60:02d},{rng.choice(numbers)},"
        f"{rng.choice(['red', 'green'] + ['blue'] * (i > 10_100))},{rng.choice(labels)}\n"
        for i in range(10_300)
    ]
    path, found = csv_file(tmp_path, "".join(lines)), []
    for _ in range(2):
        rows = CsvRows(path, missing=missing, targets=targets)
        found.append([])
        if found[1:]:
            rows._lines.read = lambda n, _, to, read=rows._lines.read: read(n, [], to)
        for n in (10_200, 200):
            X, y = rows.read(n)
            found[-1] += X.tobytes(), y.tobytes(), rows.times, rows.n_missing, rows.first_missing
        found[-1] += rows.n_rows, rows.n_classes, rows.class_names
        assert 0 < len(rows.times) < 200 and rows.n_missing > 1000
    assert found[0] == found[1]


def test_a_row_without_a_label_does_not_count_for_the_mean(tmp_path):
    path = csv_file(tmp_path, "a,b,label\n4,1,0\n,5,1\n6,7,na\n")
    X, _ = all_rows(CsvRows(path, missing="mean"))
    np.testing.assert_array_equal(X, [[4, 1], [4, 5], NAN])


LABELS = """5 idle 5: 0 1 0|01234 1234 01234: 0 1 0|1E3 1000 12_1 121: 0 1 2 3
- + none null NA ?: 0 1 2 3 4 5|True TRUE true False: 0 0 0 1|grün grän: 0 1|12345678901 2: 0 1
+1 -1 1.0: 1 -1 1|70001 2 nan 2: 70001 2 2"""


@each("case", re.split("[|\n]", LABELS))
def test_labels_are_integers_or_as_they_are_written(tmp_path, case):
    labels, numbers = (half.split() for half in case.split(": "))
    rows = "".join(f"{i % 7},{label}\n" for i, label in enumerate(labels))
    words = [labels[numbers.index(number)] for number in dict.fromkeys(numbers)]
    for encoding in ("utf-8", "cp1252", "utf-16"):
        (tmp_path / "rows.csv").write_text(f"a,label\n{rows}", encoding=encoding)
        source = CsvRows(tmp_path / "rows.csv")
        X, y = all_rows(source, 99)
        assert y[~np.isnan(X[:, 0])].tolist() == list(map(int, numbers))
        assert source.class_names == (words if "0" in numbers else [])
        assert source.n_classes == len(set(numbers))
        assert "nan" not in labels or "1 rows have no label; the first in line 4" in source.told[0]


def test_csv_is_read_no_further_than_asked(tmp_path):
    source = CsvRows(csv_file(tmp_path, "1,0\n2,0\nnot,a,row\n"))
    assert len(source.read(2).X) == 2 and not source.told
    assert not len(source.read(1).X) and "in line 3: 'not,a,row' (3 col" in source.told[0]


FORMS = r"""a,b,label\r1,2,0\r3,4,1\r~a,b,label\n\r1,2,0\n\r3,4,1\n\r~a b  label\n1 2 0\n 3 4  1 \n
1,0 2 0\n3 4,0 1\n~sep=;\na;b;label\n1,0;2;0\n3;4;1\n~a|b|label\n1|2|0\n3| 4 |1\n
"a","b","label"\n"1",2,"0"\n"3","4","1"\n
a,b,label,\n1,2,0,\n3,4,1,\n~a,empty,b,label\n1,,2,0\n3,,4,1\n~@7 1,2,0\n@8 3,4,1\n
\x1b[32m1,2,0\x1b[0m\n\x1b[31m3,4,1\x1b[0m\n~a,b,label\n1 \u00b0C,2 %,0\n3 \u00b0C,4%,1\n
a,b,label\n1 C,2 hPa,0\n3 C,4 hPa,1\n~a=1,b=2,label=0\na=3,b=4,label=1\n~[1, 2, 0]\n[3, 4, 1]\n
a: 1 C  b: 2 %  label: 0\na: 3 C  b: 4 %  label: 1\n
aX = 1 | aY = 2 | on = 0\naX = 3 | aY = 4 | on = 1\n
{"label": 0, "a": 1, "b": 2}\n{"label": 1, "a": 3, "b": 4}\n"""


@each("text", [text.encode().decode("unicode-escape") for text in re.split("[~\n]", FORMS)])
def test_how_cells_and_lines_end(tmp_path, text):
    (tmp_path / "rows.csv").write_bytes(text.encode())
    X, y = all_rows(CsvRows(tmp_path / "rows.csv"))
    assert (X.tolist(), y.tolist()) == ([[1, 2], [3, 4]], [0, 1])


def test_a_new_word_behind_those_looked_at_is_told(tmp_path):
    rows = "".join(f"{i % 7},{'ab'[i % 2]},{i % 3}\n" for i in range(10_000))
    source = CsvRows(csv_file(tmp_path, f"x,word,label\n{rows}1,c,0\n"))
    assert all_rows(source, 10_001)[0][-1].tolist() == [1, 0, 0]
    assert "1 cells of column 'word' are new" in source.told[0] and "10,002: c" in source.told[0]


@each(
    "text, message",
    [
        ("", "has no rows"),
        ("\n\n", "has no rows"),
        ("a,b,label\n", "header but no rows"),
        ("1,2,0\n" * 20 + "1,2\n" * 9, r"9 lines.*line 21: '1,2' \(2 columns, not 3\); of 29"),
        ("5\n6\n", "no column left for features"),
        ("1,2,0.25\n1,2,0.5\n", "column 2 has 0.25; without labels"),
    ],
)
def test_csv_errors_name_the_place(tmp_path, text, message):
    with pytest.raises(RowsError, match=message):
        all_rows(CsvRows(csv_file(tmp_path, text)))


@each(
    "first, second, options, is_header",
    [
        ("0,1,2", "5,6,1", {}, True),
        ("0,1,kind", "5,6,wet", {}, True),
        ("3,7,kind", "5,6,1", {}, True),
        ("3,7,label", "5,6,wet", {}, True),
        ("3,7,kind", "5,6,wet", {"label_column": "kind"}, True),
        ("1,2,3", "5,6,1", {"header": True}, True),
        ("0,1", "5,1", {}, False),
        ("1,2,3", "4,5,6", {}, False),
        ("3,7,wet", "5,6,dry", {}, False),
        ("0,wet", "1,dry", {}, False),
        ("0,1,2", "5,6,1", {"header": False}, False),
    ],
)
def test_whether_a_first_line_of_numbers_is_a_header(tmp_path, first, second, options, is_header):
    X, _ = all_rows(CsvRows(csv_file(tmp_path, f"{first}\n{second}\n"), **options))
    rows = [second] if is_header else [first, second]
    assert X.tolist() == [[float(x) for x in row.split(",")[:-1]] for row in rows]


DAMAGED = ["1.0,2", "\0\0", "7,8,1\0\0", "# restarted", "a,b,label", "x,y,1", '7,"8,1']
HOLES = ["7,ERR,1", "7,#N/A,1", "--,8,1", "7,-nan(ind),1", "7,ovf,1", "7,1_5,1"]


@each("line", [*DAMAGED, *HOLES])
def test_a_damaged_line_costs_that_line_or_cell(tmp_path, line):
    path = csv_file(tmp_path, "a,b,label\n" + "1,2,0\n3,4,1\n" * 5 + f"{line}\n5,6,0\n")
    source = CsvRows(path, missing="mean")
    X, y = all_rows(source, 100)
    assert X[-1].tolist() == [5, 6] and len(X) == 11 + (line in HOLES) and set(y) == {0, 1}
    lost, odd = line in DAMAGED, "_" in line
    assert ["the first in line 12: " in told for told in source.told] == [True] * (lost or odd)
    if lost and line[0] != "#":
        with pytest.raises(RowsError, match=r"at most 0%"):
            all_rows(CsvRows(path, bad_lines=0))


def test_a_column_that_is_not_there(tmp_path):
    path = csv_file(tmp_path, "a,b\n1,2\n")
    with pytest.raises(RowsError, match=r"no column 'spam': it has a, b"):
        CsvRows(path, label_column="spam")
    with pytest.raises(RowsError, match="2 columns; there is no index 2"):
        CsvRows(path, label_column=2)


def test_npz_prefers_whole_sets_and_takes_training_ones(tmp_path):
    X = np.arange(6, dtype=np.uint8).reshape(3, 2)
    np.savez(tmp_path / "a.npz", X_train=X, y_train=[1, -1, 1], X_test=X + 1, y_test=[0, 0, 0])
    source = open_rows(tmp_path / "a.npz")
    assert source.n_classes == 2
    for n in (2, 5):  # each pass begins anew
        rows, y = all_rows(source, n)
        assert rows.dtype == np.float32
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(y, [1, -1, 1])


def test_npz_without_labels_and_what_is_no_npz(tmp_path):
    np.savez(tmp_path / "bare.npz", X=np.ones((3, 1)))
    bare = NpzRows(tmp_path / "bare.npz")
    assert next(bare.chunks(5)).y is None and not bare.labelled
    (tmp_path / "a.npz").write_bytes(b"not a zip file")
    with pytest.raises(RowsError, match="not an npz file"):
        open_rows(tmp_path / "a.npz")
    with pytest.raises(RowsError, match="for CSV files"):
        open_rows(tmp_path / "a.npz", label_column="x")


def test_npz_of_a_csr_matrix(tmp_path):
    csr = {
        "data": [1.0, 2.0, 3.0],
        "indices": np.array([2, 0, 1], np.uint16),
        "indptr": [0, 1, 1, 3],
    }
    arrays = {f"X_train_{name}": array for name, array in csr.items()}
    np.savez(tmp_path / "a.npz", **arrays, n_features=4, y_train=[1, -1, 1])
    source = open_rows(tmp_path / "a.npz")
    assert (source.n_features, source.n_classes, source.labelled) == (4, 2, True)
    first, last = source.chunks(2)
    assert [x.tolist() for x in first.X] == [[0, 0, 1, 0], [0, 0, 0, 0]]
    assert [x.tolist() for x in last.X] == [[2, 3, 0, 0]]
    assert first.X.dtype == np.float32 and first.y.tolist() == [1, -1]


@each(
    "arrays, message",
    [
        ({"Z": np.ones(3)}, "neither X nor X_train: Z"),
        ({"X": np.ones(3)}, "must be numbers of shape"),
        ({"X": np.ones((0, 3))}, "must be numbers of shape"),
        ({"X": np.ones((2, 2)), "y": np.ones(3)}, r"y has shape \(3,\) for 2 rows"),
        ({"X": np.ones((2, 2)), "y": np.array([0.5, 1])}, "integers or strings"),
        ({"X": np.ones((2, 2)), "y": np.array([0, 70000])}, "do not fit"),
        ({"X": np.array([[None, 1]])}, "not an npz file of plain arrays"),
        ({"X_data": [1], "X_indices": [3], "X_indptr": [0, 1], "n_features": 3}, "in column 3"),
        ({"X_data": [1], "X_indices": [0.5], "X_indptr": [0, 1], "n_features": 3}, "integers"),
        ({"X_data": [1], "X_indices": [0], "X_indptr": [0, 1], "n_features": []}, "n_features"),
        ({"X_data": [1], "X_indices": [0], "X_indptr": [[0, 1]], "n_features": 3}, "1 dimension"),
    ],
)
def test_npz_errors(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(RowsError, match=message):
        NpzRows(tmp_path / "a.npz")


@each("names", [("X", "y"), ("X_data", "X_indices", "X_indptr")])
def test_a_small_npz_that_unpacks_to_a_gigabyte_is_refused_before_it_does(tmp_path, names):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            shape = (96 << 20, 1) if name == "X" else (96 << 20,)
            with archive.open(f"{name}.npy", "w") as member:
                fields = {"descr": "|i1", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(member, fields)
                for _ in range(96):
                    member.write(bytes(1 << 20))
        archive.writestr("n_features.npy", npy(np.array(3)))
    assert path.stat().st_size < 1 << 19
    tracemalloc.start()
    try:
        with pytest.raises(RowsError, match=r"unpacks to 96.0 MiB.*uncompressed"):
            NpzRows(path)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@each("shape", [(1 << 40, 4), (3, 1 << 40), (2, 4), (1 << 62, 1 << 62), (-3, 4)])
@each("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_header_that_lies_about_its_array_is_refused(tmp_path, shape, compression):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", compression) as archive:
        archive.writestr("X.npy", lying(shape, np.ones((3, 4)).tobytes()))
    tracemalloc.start()
    try:
        with pytest.raises(RowsError, match="not an npz file of plain arrays, or is damaged"):
            NpzRows(tmp_path / "a.npz")
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def lying(shape, data):
    file = io.BytesIO()
    fields = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, fields)
    return file.getvalue() + data


def test_labels_of_an_npz_are_numbered_part_by_part(tmp_path):
    rng = np.random.default_rng(0)
    n = (1 << 16) + 5
    for column in (
        rng.integers(-3, 4, n),
        rng.choice(["b", "a", "longer"], n),
        rng.random(n) < 0.5,
    ):
        np.savez(tmp_path / "a.npz", X=np.ones((n, 1), np.int8), y=column)
        source = NpzRows(tmp_path / "a.npz")
        names, index = np.unique(column, return_inverse=True)
        expected = index if column.dtype.kind == "U" else column
        np.testing.assert_array_equal(all_rows(source, 1000)[1], expected)
        assert source.n_classes == len(names)
        assert source.class_names == (list(names) if column.dtype.kind == "U" else [])


ESCAPE = "\x1b]0;owned\x07\u202e"


def test_names_of_columns_and_labels_cannot_command_a_terminal(tmp_path):
    text = f"{ESCAPE}a,b,class\n1,2,{ESCAPE}wet\n3,4,dry\n"
    source = CsvRows(csv_file(tmp_path, text))
    all_rows(source)
    assert source.class_names == ["\\x1b]0;owned\\x07\\u202ewet", "dry"]
    with pytest.raises(RowsError) as caught:
        CsvRows(tmp_path / "rows.csv", label_column="spam")
    assert str(caught.value).isprintable() and "owned" in str(caught.value)
    with closing(CsvRows(tmp_path / "rows.csv", drop_columns=(f"{ESCAPE}a",))) as rest:
        assert rest.n_features == 1
    np.savez(tmp_path / "a.npz", X=np.ones((2, 1)), y=np.array([f"{ESCAPE}wet", "dry"]))
    assert all(name.isprintable() for name in NpzRows(tmp_path / "a.npz").class_names)
    np.savez(tmp_path / "b.npz", **{f"{ESCAPE}Z": np.ones(3)})
    with pytest.raises(RowsError, match="neither X nor X_train") as caught:
        NpzRows(tmp_path / "b.npz")
    assert str(caught.value).isprintable()


def test_targets_are_numbers_and_a_missing_cell_is_nan(tmp_path):
    path = csv_file(tmp_path, "a,b,flow\n1,,0.1\n?,2,-1e300\n3,4,na\n")
    rows = CsvRows(path, targets=True, missing="keep")
    X, y = all_rows(rows)
    nan = np.nan
    np.testing.assert_array_equal(X, np.array([[1, nan], [nan, 2], [3, 4]], np.float32))
    np.testing.assert_array_equal(y, [0.1, -1e300, nan])
    assert (rows.n_missing, rows.first_missing) == (3, 2)
    assert np.isnan(all_rows(open_rows(path, targets=True))[0]).sum() == 2  # so by default
    path = csv_file(tmp_path, "a,flow\n1,on\n?,off\n3,\n")
    X, y = all_rows(CsvRows(path, missing="keep"))
    assert np.isnan(X).sum() == 1 and y.tolist() == [0, 1, NO_LABEL]


def test_targets_of_an_npz_file_are_read_as_they_are(tmp_path):
    path, y = tmp_path / "rows.npz", np.array([0.1, 1e9, np.nan])
    np.savez(path, X=np.eye(3), y=y)
    rows = open_rows(path, targets=True)
    np.testing.assert_array_equal(all_rows(rows)[1], y)
    assert rows.targets and rows.n_classes == 0
    with pytest.raises(RowsError, match="integers or strings"):
        open_rows(path)
    np.savez(path, X=np.eye(2), y=np.array(["a", "b"]))
    with pytest.raises(RowsError, match="must be numbers to be targets"):
        open_rows(path, targets=True)


def spreadsheet(n=80):
    rows = [f"{10 * i};{i * 7 % 11},5;{('a', 'b', 'c')[i % 3]};4;{i % 2}" for i in range(n)]
    return "ms;x;kind;room;label\n" + "\n".join(rows) + "\n"


@each("name", ["time", "Timestamp", "load"])
def test_unix_seconds_with_several_rows_each_are_no_feature(tmp_path, name):
    rows = "".join(f"{1700000000 + i // 4},{i * 7 % 11},{i % 2}\n" for i in range(80))
    source = CsvRows(csv_file(tmp_path, f"{name},x,label\n{rows}"))
    all_rows(source)
    assert source.feature_names == (("x",) if name != "load" else ("load", "x"))
    assert (f"{name} (a time that never falls)" in "; ".join(source.notes)) == (name != "load")


def test_a_spreadsheet_with_words_and_columns_of_no_use(tmp_path):
    source = CsvRows(csv_file(tmp_path, spreadsheet()))
    X, y = all_rows(source)
    assert source.feature_names == ("x", "kind=a", "kind=b", "kind=c")
    np.testing.assert_array_equal(X[:2], [[0.5, 1, 0, 0], [7.5, 0, 1, 0]])
    assert y.tolist() == [0, 1] * 40 and (source.n_classes, source.n_rows) == (2, 80)
    assert "ms (it rises with every row), room (constant)" in "; ".join(source.notes)
    kept = CsvRows(tmp_path / "rows.csv", keep_columns=("ms", 3))
    assert kept.feature_names == ("ms", "x", "kind=a", "kind=b", "kind=c", "room")
    kept.close()
    unlabelled = CsvRows(tmp_path / "rows.csv", label_column="none")
    assert "room" in unlabelled.feature_names  # what is constant may tell a fault later
    unlabelled.close()
    with pytest.raises(RowsError, match=r"column 'kind' \(3 values\).*drop_columns='kind'"):
        CsvRows(tmp_path / "rows.csv", encode=2)
    few = CsvRows(csv_file(tmp_path, spreadsheet(40)))  # too few to judge
    assert few.feature_names[0] == "ms" and "room" in few.feature_names
    few.close()


@each(
    "first, second, apart",
    [
        ("2024-03-01 00:00:00", "2024-03-01 00:00:05", 5),
        ("2024-03-01T00:00:00+01:00", "2024-03-01T00:01:00+01:00", 60),
        ("01.03.2024 10:00", "01.03.2024 11:00", 3600),
        ("3/1/2024 10:00", "3/1/2024 10:15", 900),
        ("13/02/2024", "13/03/2024", 29 * 86400),
        ("02/13/2024 11:59 AM", "02/13/2024 12:00 PM", 60),
        ("2024/01/02 10:00:00.5", "2024/01/02 10:00:01.5", 1),
        ("2024-03-01T00:00:00Z", "2024-03-01T00:00:05Z", 5),
        ("9:59", "10:01", 120),
    ],
)
def test_time_stamps(tmp_path, first, second, apart):
    source = CsvRows(csv_file(tmp_path, f"when,a,label\n{first},1,0\n{second},2,1\n"))
    assert source.seconds_apart == apart and source.feature_names == ("a",)
    source.read(2)
    assert source.times[1] - source.times[0] == apart
    source.close()


def test_y_among_three_axes_is_no_label(tmp_path):
    for header, expected in (("x,y,z", ("x", "y")), ("x1,y,x2", ("x1", "x2"))):
        source = CsvRows(csv_file(tmp_path, f"{header}\n1,0,1\n2,1,0\n"))
        assert source.feature_names == expected
        source.close()
