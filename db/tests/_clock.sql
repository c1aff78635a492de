-- The ledger's clock in the hands of a test, until its transaction ends.

-- freeze: from now on it is this moment.
create function pg_temp.freeze(p_at timestamptz) returns void language plpgsql as $$
begin
    execute format(
        'create or replace function plane._now() returns timestamptz language sql volatile return %L::timestamptz',
        p_at);
end;
$$;

-- later: so much time goes by, all leases and schedules considered.
create function pg_temp.later(p_by interval) returns void language plpgsql as $$
begin
    perform pg_temp.freeze(plane._now() + p_by);
end;
$$;
