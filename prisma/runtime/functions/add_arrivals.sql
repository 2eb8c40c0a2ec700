-- Adds a replica's arrivals of one second, by this server's clock. Commits asynchronously: a forecast that misses a
-- second is no worse.
CREATE OR REPLACE FUNCTION runtime.add_arrivals(p_pools text[], p_counts integer[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL synchronous_commit = off;
  INSERT INTO runtime.arrival AS a (pool_id, at, count)
    SELECT u.pool_id, date_trunc('second', clock_timestamp()), u.count FROM unnest(p_pools, p_counts) AS u(pool_id, count) ORDER BY 1
    ON CONFLICT (pool_id, at) DO UPDATE SET count = a.count + excluded.count;
END $$;
