"""Lists of servers as spreadsheets and people write them; what is hostile or broken is refused with its line."""

from __future__ import annotations

import time

import pytest

from collector.importing_entries import MOST_BYTES, BadList
from collector.importing_text import decode, read


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_table_is_read_with_the_separator_that_its_first_line_has(separator: str) -> None:
    text = separator.join(["Name", "Host Name".replace(" ", ""), "PORT", "Tags"]) + "\n"
    text += separator.join(["orders", "db1", "3307", '"prod, eu"']) + "\n"
    entry = read(text).entries[0]
    assert entry.values == {"name": "orders", "host": "db1", "port": "3307", "tags": "prod, eu"}


def test_lines_keep_the_numbers_that_an_editor_shows() -> None:
    found = read("\n# our servers\nname;host\na;db1\n\n;\n# gone: db2\nb;db3\n")
    assert [(one.line, one.values["host"]) for one in found.entries] == [(4, "db1"), (8, "db3")]
    assert [one.line for one in read("sep=;\r\nhost\r\ndb1\r\ndb2\r\n").entries] == [3, 4]
    assert [one.line for one in read("# x\n- host: a\n\n- port: 1\n  host: b\n- mysql://u@c\n").entries] == [2, 4, 6]


def test_a_byte_order_mark_and_the_ends_of_lines_of_other_systems_do_not_matter() -> None:
    assert read(decode("\ufeffhost,name\r\ndb1,데이터\r\n".encode())).entries[0].values == {
        "host": "db1",
        "name": "데이터",
    }
    assert len(read("host\rdb1\rdb2").entries) == 2


def test_addresses_alone_need_no_first_line() -> None:
    found = read("mysql://tidemark@db1:3306\nmysql://tidemark@db2,second,prod\n")
    assert [one.values.get("url") for one in found.entries] == ["mysql://tidemark@db1:3306", "mysql://tidemark@db2"]


def test_columns_that_mean_nothing_here_are_named_and_left_out() -> None:
    found = read("host,owner,passwrod\ndb1,ann,secret\n")
    assert found.entries[0].values == {"host": "db1"}
    assert found.remarks == ("Not read: owner, passwrod.",)


def test_a_cell_too_many_is_a_problem_of_its_line_alone() -> None:
    found = read("host,tags\ndb1,prod,eu\ndb2,prod\n")
    assert "3 cells" in found.entries[0].problems[0]
    assert found.entries[1].problems == ()


def test_a_password_keeps_its_spaces_and_separators_in_quotes() -> None:
    assert read('host,password\ndb1," a,b;""c "\n').entries[0].values["password"] == ' a,b;"c '


YAML = """
servers:
  - name: no
    host: db1
    port: 3307
    tags: [prod, "eu"]
    password: "0123"
    owner: ann
  - {host: db2, name: ~, memory: 8G}
  - mysql://tidemark@db3
"""


def test_yaml_stays_the_text_that_was_written() -> None:
    found = read(YAML)
    assert found.entries[0].values == {
        "name": "no",
        "host": "db1",
        "port": "3307",
        "tags": "prod,eu",
        "password": "0123",
    }
    assert found.entries[1].values == {"host": "db2", "name": "", "memory": "8G"}
    assert found.entries[2].values == {"url": "mysql://tidemark@db3"}
    assert found.remarks == ("Not read: owner.",)


def test_json_is_yaml_too() -> None:
    assert read('[{"host": "db1", "port": 3306}]').entries[0].values == {"host": "db1", "port": "3306"}


def test_a_key_that_comes_twice_is_a_problem_of_its_server() -> None:
    assert "port is there twice" in read("- host: a\n  port: 1\n  port: 2\n").entries[0].problems[0]


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing to read"),
        ("   \n# only words\n", "nothing to read"),
        ("foo,bar\n1,2\n", "has to name the columns"),
        ("host,name\n", "no server"),
        ("host,host\na,b\n", "there twice"),
        ('host\n"db1\ndb2\n', "From line 2 on the quotes do not match"),
        ('name,host\na,"db\n1"\n', "From line 2 on the quotes do not match"),
        ("host\ndb\x001\n", r"Line 2 has a control character \(U\+0000\)"),
        ("host\nok\ndb\x1b[31m\n", r"Line 3 has a control character \(U\+001B\)"),
        ("host\n" + "x" * 20_001, "Line 2 is longer than 20,000"),
        ("host\n" + "db\n" * 2_001, "more than 2,000 servers"),
        ("- host: db\n" * 2_001, "more than 2,000 servers"),
        ("host\n" + "db1\n" * 300_000, "larger than 1 MB"),
        ("- &x\n  host: a\n- *x\n", "Line 1 uses an anchor"),
        ("- host: *x\n", "Line 1 uses an anchor"),
        ("servers:\n" + BOMB, "no list of servers"),
        ("- " + BOMB.replace("\n", "\n  "), "anchor"),
        ("- !!python/object/apply:os.system ['id']\n", r"type tag"),
        ("- host: !!binary aGk=\n", r"type tag"),
        ("[" * 20_000, "no list of servers"),
        ("[\n" * 20_000, "no list of servers"),
        ("- host: a: b\n", "Line 1 is no YAML"),
        ("- host: a\n---\n- host: b\n", "Line 2 begins another document"),
        ("servers: db1\n", "no list of servers"),
        ("- - host: a\n", "no list of servers"),
        ("- [a, b]\n", "no list of servers"),
        ("- host: {a: b}\n", "no list of servers"),
        ("servers:\n- host: a\nmore: 1\n", "no list of servers"),
    ],
)
def test_what_is_broken_or_hostile_is_refused_at_once_with_its_place(text: str, said: str) -> None:
    began = time.monotonic()
    with pytest.raises(BadList, match=said):
        read(text)
    # What grows without end (an entity in an entity, a bracket in a bracket) would take minutes and gigabytes.
    assert time.monotonic() - began < 20


def test_other_encodings_are_refused_with_the_line_and_what_to_choose() -> None:
    with pytest.raises(BadList, match=r"Line 2 is not UTF-8 text.*CSV UTF-8"):
        decode("host,name\ndb1,데이터\n".encode("cp949"))
    with pytest.raises(BadList, match="Line 1 is not UTF-8"):
        decode("host,name\n".encode("utf-16"))
    with pytest.raises(BadList, match="1 MB"):
        decode(b"x" * (MOST_BYTES + 1))


def test_two_thousand_servers_are_read() -> None:
    assert len(read("".join(f"- name: n{n}\n  host: h{n}\n  tags: [a, b]\n" for n in range(2000))).entries) == 2000
    assert len(read("name,host\n" + "".join(f"n{n},h{n}\n" for n in range(2000))).entries) == 2000
