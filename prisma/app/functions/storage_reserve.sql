-- Room beyond the limit for what was promised before it was reached: 5 %, from 1 MiB to 64 MiB.
CREATE OR REPLACE FUNCTION app.storage_reserve(p_limit bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT least(greatest(p_limit / 20, 1048576), 67108864)
$$;
