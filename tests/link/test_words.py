"""Labels of a text link that are words, and the column that they are in."""

import pytest
from each import each
from fake_port import Clock, text_link

from edgesvm import ByteSVM, load
from edgesvm.errors import NoSchema
from edgesvm.link import LineParser, SampleRing
from edgesvm.serve.taught import taught


def parser(n_features=2, **options):
    made = LineParser(n_features, **options)
    made.expect(SampleRing(64, n_features))
    return made


def fed(into, *lines):
    """Labels of these lines, None for those without one."""
    list(into.feed("".join(f"{line}\n" for line in lines).encode()))
    assert into.broken_identities() == []
    batch = into.ring.take()
    return [y if has else None for y, has in zip(batch.y.tolist(), batch.has_label, strict=True)]


def test_a_word_is_a_label_once_it_has_come_twice():
    into = parser()
    labels = fed(into, "1,2,fine", "1,2,fine", "1,2,worn", "1,2,wprn", "1,2,worn", "1,2,worn")
    assert into.words == ["fine", "worn"]
    assert labels == [None, 0, None, None, None, 1]  # a word in between may be an error as well


@each(
    "lines, expected, words",
    [
        ("5 idle 5 idle 7 7 100 -3", [5, None, 5, 6, None, 7, 100, -3], "0 1 2 3 4 5 idle 7"),
        ("idle idle 5 5.0 5 idle", [None, 0, None, 1, 1, 0], "idle 5"),
        ("grün grün grau", [None, 0, None], "grün"),
        ("31 idle idle", [31], ""),  # there is no number left
    ],
)
def test_integers_beside_words_are_words(lines, expected, words):
    into = parser()
    assert fed(into, *(f"1,2,{label}" for label in lines.split())) == expected
    assert into.words == words.split()


@each("end, label", [("fine,", 0), ("1,", 1), ("", None), ("1", 1)])
def test_a_separator_behind_the_label_is_none(end, label):
    """With known columns or without."""
    lines = [f"1.5,2.5,{end}"] * 6
    assert fed(parser(), *lines)[-1] == label
    link, _ = text_link(Clock(), "\n".join(["", *lines, ""]).encode())
    assert link.schema.n_features == 2 and link.take().X.tolist()[-1] == [1.5, 2.5]


def test_refused_lines_are_told_by_cause():
    text = "\n1,2,on" * 50 + "\n1,2,gr\xfcn" * 9 + "\n1,12:30,on" * 3 + "\n1,2,0.5\n"
    link, _ = text_link(Clock(), text.encode("latin-1"))
    while link.poll(0.0):
        link.release(len(link.take().y))
    told = link.refused_lines()
    assert "3 bad_char, 1 bad_label" in told and "'1,2,0.5'; its last" in told, told
    assert link.class_names == ["on", r"gr\xfcn"]


def test_words_beyond_the_table_are_refused():
    into = parser(1)
    for k in range(40):
        list(into.feed(f"1,w{k}\n1,w{k}\n".encode()))
    assert len(into.words) == 32 and into.counters()["bad_label"] == 16


@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_label_column(at):
    cells = ["0.5", "1.5"]
    cells.insert(at, "7")
    into = parser(label_at=at)
    assert fed(into, ",".join(cells)) == [7]
    assert into.ring.take().X.tolist() == [[0.5, 1.5]]
    assert fed(parser(label_at=3), "1,2,3") == []  # there is no such column


def test_decimal_commas_behind_other_separators():
    for line in ("1,5;-2,5;3", "1,5 -2,5 3", "1,5\t-2,5\t3"):
        into = parser()
        assert fed(into, line) == [3]
        assert into.ring.take().X.tolist() == [[1.5, -2.5]]


@pytest.mark.parametrize("header", ["state,x,y", "x:0,y:0,state:1"])
def test_a_column_by_its_name(header):
    rows = "\n1,2,3" * 4 if header[0] == "s" else "\nx:0,y:0,state:1" * 4
    link, _ = text_link(Clock(), f"{header}{rows}\n".encode(), label="state")
    assert link.schema.n_features == 2
    with pytest.raises(NoSchema, match="no line names a column 'label'"):
        text_link(Clock(), f"{header}{rows}\n".encode(), label="label")


def test_a_model_keeps_the_words(tmp_path):
    lines = "\n" + "".join(f"{k % 2},1,{('worn', 'fine')[k % 2]}\n" for k in range(60))
    link, _ = text_link(Clock(), lines.encode())
    runner = taught(link, ByteSVM().allocate(2), answers=True)
    while runner.step(0.0):
        pass
    assert runner.pupil.learned > 40 and set(runner.pupil.learner.classes_) == {"fine", "worn"}
    assert (
        set(runner.pupil.score.confusion) == {"fine", "worn"} and runner.pupil.score.accuracy > 0.8
    )
    runner.pupil.learner.save(tmp_path / "m.esvm")
    labels = load(tmp_path / "m.esvm").classes_.tolist()
    other, _ = text_link(Clock(), lines.replace("fine", "lost").encode())
    other.name_classes(labels)
    assert set(other.class_names) >= {"fine", "lost", "worn"}
    numbered, _ = text_link(Clock(), b"\n1,2,1\n1,2,1\n1,2,1\n1,2,0\n")
    with pytest.raises(ValueError, match="but the link has integers"):
        numbered.name_classes(labels)
    with pytest.raises(ValueError, match="but the link has"):
        other.name_classes([0, 1])


def test_answers_on_a_text_link_have_the_word():
    link, port = text_link(Clock(), b"\n" + b"1,2,worn\n" * 5)
    link.send_prediction(3, 0, 0.5)
    link.poll(0.0)
    assert b"!3 worn 0 0.5\n" in bytes(port.written)


def test_labels_that_look_like_a_signal():
    link, _ = text_link(Clock(), b"\n" + b"".join(b"1,2,%d\n" % (k * k) for k in range(30)))
    while link.poll(0.0) and len(batch := link.take().y):
        link.release(len(batch))
    assert "looks like a signal" in link.doubt()
    link, _ = text_link(Clock(), b"\n" + b"".join(b"1,2,%d\n" % (k % 10) for k in range(60)))
    while link.poll(0.0) and len(batch := link.take().y):
        link.release(len(batch))
    assert link.doubt() is None
