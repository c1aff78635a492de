-- _answers_within: _answers, whose reader has room for so many bytes and one result. What is left out is not detoasted.
create or replace function plane._answers_within(
    p_queue      plane.queue,
    p_job_ids    bigint[],
    p_scope_keys text[],
    p_max_bytes  integer
)
    returns setof plane.job_answer
    language plpgsql
    stable
as $$
declare
    v_answer plane.job_answer;
    v_bytes  bigint := 0;
begin
    if p_max_bytes < 0 then
        raise exception using
            errcode = '22023',
            message = 'max_bytes must not be negative',
            detail = format('max_bytes=%s', p_max_bytes),
            hint = '0 leaves out every result and error, NULL none.';
    end if;
    for v_answer in
        select * from plane._answers(p_queue, p_job_ids, p_scope_keys)
    loop
        if v_bytes < p_max_bytes then
            v_bytes := v_bytes + coalesce(octet_length(v_answer.result::text), 0)
                + coalesce(octet_length(v_answer.error::text), 0);
        elsif v_answer.result is not null or v_answer.error is not null then
            v_answer.result := null;
            v_answer.error := null;
            v_answer.left_out := true;
        end if;
        return next v_answer;
    end loop;
end;
$$;

revoke all on function plane._answers_within(plane.queue, bigint[], text[], integer) from public;

comment on function plane._answers_within(plane.queue, bigint[], text[], integer) is
'As _answers, with results and errors until their bytes reach max_bytes, the last of them whole; the others are left out.
Raises 22023 max_bytes must not be negative.';
