-- A surface whose jobs have blobs, for the tests of blobs; its clock is frozen.
\ir ../../_clock.sql
\ir ../requests/_surface.sql

-- held: a new job that w1 has just claimed, of the caller whose scope key is pg_temp.key().
create function pg_temp.held(p_queue text) returns bigint language plpgsql as $$
declare
    v_job_id bigint;
begin
    v_job_id := pg_temp.asked(p_queue, (select count(*)::integer from plane.jobs where queue = p_queue));
    perform plane.claim_one(p_queue, 'w1');
    return v_job_id;
end;
$$;

-- put: the number of a new blob of the job's first attempt, with this text in it.
create function pg_temp.put(p_job_id bigint, p_text text default 'abc', p_attempt integer default 1) returns integer language sql as $$
    select plane.put_blob(p_job_id, p_attempt, 'text/plain', 'a.txt', convert_to(p_text, 'UTF8'))
$$;

-- finished: a done job with a blob.
create function pg_temp.finished(p_queue text, p_text text default 'abc') returns bigint language plpgsql as $$
declare
    v_job_id bigint := pg_temp.held(p_queue);
begin
    perform pg_temp.put(v_job_id, p_text);
    perform plane.complete_job(v_job_id, 1, '{"blob": 1}');
    return v_job_id;
end;
$$;

-- sharing: a done job whose result uses the blobs of that one.
create function pg_temp.sharing(p_queue text, p_blobs_of bigint) returns bigint language plpgsql as $$
declare
    v_job_id bigint := pg_temp.held(p_queue);
begin
    perform plane.complete_job(v_job_id, 1, '{"blob": 1}', p_cache => 'hit', p_blobs_of => p_blobs_of);
    return v_job_id;
end;
$$;

-- text_of: what the scope reads of the job's blob, from its first byte on.
create function pg_temp.text_of(p_queue text, p_job_id bigint, p_blob integer default 1) returns text language sql as $$
    select convert_from(plane.read_blob(p_queue, p_job_id, p_blob, pg_temp.key(), 0, 1048576), 'UTF8')
$$;

-- gone, unknown: what reading the job's blob is answered with.
create function pg_temp.gone(p_queue text, p_job_id bigint, p_what text) returns text language sql as $$
    select throws_ok(format('select pg_temp.text_of(%L, %s)', p_queue, p_job_id), 'PL410', 'the blob has expired', p_what)
$$;
create function pg_temp.unknown(p_queue text, p_job_id bigint, p_what text, p_blob integer default 1) returns text language sql as $$
    select throws_ok(format('select pg_temp.text_of(%L, %s, %L)', p_queue, p_job_id, p_blob), 'PL404', 'no such blob', p_what)
$$;

-- chunks: how many pieces of the job's blobs there are.
create function pg_temp.chunks(p_job_id bigint) returns bigint language sql as $$
    select count(*) from plane.blob_chunk where job_id = p_job_id
$$;
