-- _storable: JSON in which every text can be read as text; all else as it was.
begin;
select plan(33);

-- given a session that reads backslashes in its own way, and is the first to call
set local standard_conforming_strings = off;
select is(plane._storable(E'"\\u0000"')::text, E'"\\ufffd"', 'a caller''s settings change nothing');
set local standard_conforming_strings = on;

create function pg_temp.becomes(p_given text, p_stored text, p_what text) returns text language sql as $$
    select is(plane._storable(p_given::json)::text, p_stored, p_what)
$$;
create function pg_temp.stays(p_given text, p_what text) returns text language sql as $$
    select pg_temp.becomes(p_given, p_given, p_what)
$$;

-- given JSON that any text can hold
select pg_temp.stays(null, 'nothing stays nothing');
select pg_temp.stays('null', 'a null stays a null');
select pg_temp.stays(E' {"b" : 1.0,\n"a":1e400, "a": 2 } ', 'blanks, numbers and the order of keys stay');
select pg_temp.stays('"\u0001 \u00e4 \uFFFD \n \\ \""', 'other characters stay as they are written');
select pg_temp.stays('"u0000 0000"', 'letters and digits stay');
select pg_temp.stays('"\ud83d\ude00 \uD83D\uDE00\ud83d\ude01"', 'characters written as two halves stay');

-- given a NUL
select pg_temp.becomes('"\u0000"', '"\ufffd"', 'a NUL is replaced');
select pg_temp.becomes('"\u0000\u0000a\u0000"', '"\ufffd\ufffda\ufffd"', 'so is every one');
select pg_temp.becomes('"\u000041"', '"\ufffd41"', 'its four digits end it');
select pg_temp.becomes('{"a\u0000": {"b": ["\u0000"]}}', '{"a\ufffd": {"b": ["\ufffd"]}}', 'wherever it stands');
select pg_temp.becomes('[1.0,  "\u0000"]', '[1.0,  "\ufffd"]', 'and everything around it stays');

-- given backslashes before the letters u0000
select pg_temp.stays('"\\u0000"', 'one backslash and letters are no NUL');
select pg_temp.becomes('"\\\u0000"', '"\\\ufffd"', 'one backslash and a NUL are');
select pg_temp.stays('"\\\\u0000"', 'two backslashes and letters are none');
select pg_temp.becomes('"\\\\\u0000"', '"\\\\\ufffd"', 'two backslashes and a NUL are');
select pg_temp.becomes('"\\u0000 \u0000 \\u0000"', '"\\u0000 \ufffd \\u0000"', 'side by side they are told apart');
select pg_temp.becomes('"\"\u0000\n\\"', '"\"\ufffd\n\\"', 'other escapes are not taken for a backslash');

-- given half a character
select pg_temp.becomes('"\ud83d"', '"\ufffd"', 'a first half alone is replaced');
select pg_temp.becomes('"\ude00"', '"\ufffd"', 'so is a second half alone');
select pg_temp.becomes('"\uDCE9t\uDCE9"', '"\ufffdt\ufffd"', 'in capitals too');
select pg_temp.becomes('"\ude00\ud83d"', '"\ufffd\ufffd"', 'so are two halves the wrong way round');
select pg_temp.becomes('"\ud83d\ud83d\ude00"', '"\ufffd\ud83d\ude00"', 'a half before a character is replaced, the character stays');
select pg_temp.becomes('"\ud83d\ude00\ude00"', '"\ud83d\ude00\ufffd"', 'so is a half behind one');
select pg_temp.becomes('"\ud83d \ude00"', '"\ufffd \ufffd"', 'halves with something between are two');
select pg_temp.becomes('"\ud83d\u0000\ude00"', '"\ufffd\ufffd\ufffd"', 'also with a NUL between');
select pg_temp.becomes('"\\ud83d\ude00"', '"\\ud83d\ufffd"', 'letters behind a backslash are no half');
select pg_temp.stays('"\\ud83d \\ude00 \\\\ud83d"', 'however many');

-- then what comes out can be read
select lives_ok(
    format('select %L::jsonb', plane._storable('["\u0000", "\ud83d", "\ude00\ud83d", "\\u0000", "\\\ude00", "\ud83d\ude00"]')),
    'all that was replaced is text again');
select is(
    plane._storable('{"message": "caf\udcc3\udca9\u0000"}') ->> 'message', E'caf\ufffd\ufffd\ufffd', 'and reads as such');
select is(
    plane._storable(('"' || repeat('\\', 500000) || '\u0000"')::json)::text, '"' || repeat('\\', 500000) || '\ufffd"',
    'a megabyte of backslashes is as good as one');
select is(
    plane._storable(('"' || repeat('\u0000', 170000) || '"')::json)::text, '"' || repeat('\ufffd', 170000) || '"',
    'and so is a megabyte of NULs');
set local statement_timeout = '20s';
select is(
    plane._storable(('"' || repeat('\udc00', 170000) || '"')::json)::text, '"' || repeat('\ufffd', 170000) || '"',
    'and so is a megabyte of halves');

select * from finish();
rollback;
