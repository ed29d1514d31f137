\set aid random(1, 100000 * :scale)
update pgbench_accounts set abalance = abalance + 1 where aid = :aid;
