"""Questions: what is one, that params stay as they were written, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgplane.edge.problems import Problem
from pgplane.edge.questions import Question, parse

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def refused(body: bytes) -> Problem:
    with pytest.raises(Problem) as raised:
        parse(body)
    return raised.value


def test_a_question_has_an_operation_params_and_a_version() -> None:
    body = b' {"version": 2,"params" : {"from": "2013-01-01"} , "operation":"daily"} \n'
    assert parse(body) == Question("daily", '{"from": "2013-01-01"}', 2)


def test_params_and_version_may_be_left_out() -> None:
    assert parse(b'{"operation": "airlines"}') == Question("airlines", "{}", None)
    assert parse(b'{"operation": "airlines", "version": null}').version is None


@pytest.mark.parametrize(
    "params",
    [
        '{"n":12345678901234567890123456789, "d": 0.1000000000000000055511151231257827}',
        '{"e":1E400, "z": -0.0, "t": 1.10}',
        '{ "a" : [ 1 ,\t2 ] ,\r\n"b":{} }',
        '{"\\u00e9": "\\ud83d\\ude00", "é": "😀", "}": "{\\"", "twice": 1, "twice": 2}',
    ],
)
def test_params_survive_digit_for_digit(params: str) -> None:
    assert parse(f'{{"operation":"x","params":{params},"version":1}}'.encode()).params == params


@given(st.dictionaries(st.text(), JSON), st.booleans(), st.sampled_from([None, 2]))
def test_any_object_survives(params: dict[str, object], ascii_only: bool, indent: int) -> None:
    text = json.dumps(params, ensure_ascii=ascii_only, indent=indent)
    body = f'{{"params":{text},"operation":"x"}}'.encode("utf-8", "surrogatepass")
    assert parse(body).params == text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"{",
        b'{"operation"}',
        b'{"operation":}',
        b'{"operation":"x",}',
        b'{,"operation":"x"}',
        b'{"operation":"x" "params":{}}',
        b'{"operation":"x"} {}',
        b'{"operation":"x"}\0',
        b'{"operation":"\0"}',
        b'{"operation":"x","params":{"a":NaN}}',
        b'{"operation":"x","params":{"a":-Infinity}}',
        b'{"operation":"x","params":{"a":01}}',
        b'{"operation":"x","params":{"a":"\x01"}}',
        b'{"operation":"x","params":{"a":"\n"}}',
        b"{'operation':'x'}",
        b'{1:"x"}',
        b'{"operation":"\xff"}',
        b'\xef\xbb\xbf{"operation":"x"}',
        b"nonsense",
    ],
)
def test_what_is_no_json_is_a_bad_request(body: bytes) -> None:
    problem = refused(body)
    assert (problem.status, problem.code) == (400, "BAD_JSON")
    assert problem.detail.startswith("the body is not ")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"[]", "the body must be a JSON object"),
        (b'"x"', "the body must be a JSON object"),
        (b"null", "the body must be a JSON object"),
        (b"{}", "operation must name an operation"),
        (b'{"operation":7}', "operation must name an operation"),
        (b'{"operation":""}', "operation must name an operation"),
        (b'{"operation":"x","operation":"y"}', "operation is given twice"),
        (b'{"operation":"x","version":0}', "version must be a whole number from 1 on"),
        (b'{"operation":"x","version":"1"}', "version must be a whole number from 1 on"),
        (b'{"operation":"x","version":1.0}', "version must be a whole number from 1 on"),
        (b'{"operation":"x","version":true}', "version must be a whole number from 1 on"),
        (b'{"operation":"x","params":' + b'{"a":' * 9999 + b"1" + b"}" * 9999 + b"}", "nested"),
        (b'{"operation":"x","envelope":{"client":"acme"}}', "and nothing else"),
    ],
)
def test_json_of_another_shape_is_unprocessable(body: bytes, detail: str) -> None:
    problem = refused(body)
    assert problem.status == 422
    assert detail in problem.detail


@pytest.mark.parametrize("params", [b"[]", b"null", b'"{}"', b"1", b"true"])
def test_params_must_be_an_object(params: bytes) -> None:
    problem = refused(b'{"operation":"x","params":' + params + b"}")
    assert (problem.status, problem.code) == (422, "PARAMS_NOT_OBJECT")
