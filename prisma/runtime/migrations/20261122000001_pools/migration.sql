-- Pools that follow their demand, and that say what is in their way. Written by the replica that leads; read by all.

ALTER TABLE runtime.pool
  -- Why sandboxes of this pool do not come up, in the words of the place where they should run. Null when they do.
  ADD COLUMN problem_code text,
  ADD COLUMN problem_detail text,
  ADD COLUMN problem_at timestamptz(3),
  -- Measured p99 from the intent of a sandbox until it is ready. Null until one has become ready.
  ADD COLUMN lead_seconds double precision,
  -- What the forecast remembers (libs/domain/src/pool-forecast.ts): a leader that takes over goes on with it.
  ADD COLUMN forecast jsonb;

-- Claims that wanted a sandbox of a pool, a row a second in which there were any. Each replica adds its own once a second; the leader reads and forgets them.
CREATE TABLE runtime.arrival (
  pool_id text NOT NULL,
  at timestamptz(0) NOT NULL,
  count integer NOT NULL CHECK (count > 0),
  PRIMARY KEY (pool_id, at)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON runtime.arrival TO slipway_runtime, slipway_runtime_system;

-- As before; a slot that is leased to a replica is as blank as one that is ready.
CREATE OR REPLACE FUNCTION runtime.plan_slots(p_pool text, p_ids text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE p record; v_population integer;
BEGIN
  SELECT * INTO p FROM runtime.pool WHERE pool_id = p_pool FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT count(*) INTO v_population FROM runtime.slot WHERE pool_id = p_pool AND state IN ('intent', 'provisioning', 'ready', 'leased', 'doomed');
  RETURN QUERY INSERT INTO runtime.slot (slot_id, pool_id, template, pod_name)
    SELECT id, p_pool, p.template, 'sb-' || id FROM unnest(p_ids) WITH ORDINALITY u(id, n) WHERE n <= p.target - v_population
    RETURNING slot_id;
END $$;

-- Adds a replica's arrivals of one second, by this server's clock. Not waited for to reach the disk: a forecast that misses a second is none the worse.
CREATE FUNCTION runtime.add_arrivals(p_pools text[], p_counts integer[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL synchronous_commit = off;
  INSERT INTO runtime.arrival AS a (pool_id, at, count)
    SELECT u.pool_id, date_trunc('second', clock_timestamp()), u.count FROM unnest(p_pools, p_counts) AS u(pool_id, count) ORDER BY 1
    ON CONFLICT (pool_id, at) DO UPDATE SET count = a.count + excluded.count;
END $$;

-- Takes up to p_count slots that nobody was given out of a pool that has too many: those that are ready first, the oldest first. Returns how many.
-- One that a replica has leased is left to it: it may be given out at this moment.
CREATE FUNCTION runtime.doom_surplus(p_pool text, p_count integer, p_reason text) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE v_doomed integer;
BEGIN
  WITH surplus AS MATERIALIZED (
    SELECT slot_id FROM runtime.slot WHERE pool_id = p_pool AND state IN ('intent', 'provisioning', 'ready')
    ORDER BY state = 'ready' DESC, created_at LIMIT p_count FOR UPDATE SKIP LOCKED
  )
  UPDATE runtime.slot s SET state = 'doomed', epoch = s.epoch + 1, reason = p_reason, changed_at = now() FROM surplus
    WHERE s.slot_id = surplus.slot_id AND s.state IN ('intent', 'provisioning', 'ready');
  GET DIAGNOSTICS v_doomed = ROW_COUNT;
  RETURN v_doomed;
END $$;
