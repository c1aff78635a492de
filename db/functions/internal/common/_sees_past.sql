-- _sees_past: an older snapshot shows what no longer is, and not what has come since. An expression: it is asked often.
create or replace function plane._sees_past()
    returns boolean
    language sql
    stable
return current_setting('transaction_isolation') in ('repeatable read', 'serializable');

revoke all on function plane._sees_past() from public;

comment on function plane._sees_past() is
'Whether all statements of the transaction go by one snapshot.';
