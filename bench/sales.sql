-- What a customer bought in the branches that the caller may see: the latest thirty days of it.
select s.sold_on, count(*) as sales, sum(s.amount) as amount
from sale as s
where s.customer = :customer
    and s.branch = any(:scope)
group by s.sold_on
order by s.sold_on desc
limit 30
