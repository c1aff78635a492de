-- Raises unless waiters have the state that functions rely on.
select state from plane.waiter where false;
