-- A lease is holder and lease_until on a ready slot, and no state of its own.

-- As before, without a state that no slot has.
CREATE OR REPLACE FUNCTION runtime.plan_slots(p_pool text, p_ids text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE p record; v_population integer;
BEGIN
  SELECT * INTO p FROM runtime.pool WHERE pool_id = p_pool FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT count(*) INTO v_population FROM runtime.slot WHERE pool_id = p_pool AND state IN ('intent', 'provisioning', 'ready', 'doomed');
  RETURN QUERY INSERT INTO runtime.slot (slot_id, pool_id, template, pod_name)
    SELECT id, p_pool, p.template, 'sb-' || id FROM unnest(p_ids) WITH ORDINALITY u(id, n) WHERE n <= p.target - v_population
    RETURNING slot_id;
END $$;

-- Takes up to p_count slots that nobody was given out of a pool that has too many: ready ones that no replica has leased first, the oldest first; then those that are being
-- made; then leased ones, whose holders fail to bind them and take others. Returns how many.
CREATE OR REPLACE FUNCTION runtime.doom_surplus(p_pool text, p_count integer, p_reason text) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE v_doomed integer;
BEGIN
  WITH surplus AS MATERIALIZED (
    SELECT slot_id FROM runtime.slot WHERE pool_id = p_pool AND state IN ('intent', 'provisioning', 'ready')
    ORDER BY (holder IS NOT NULL AND lease_until > now()), state = 'ready' DESC, created_at LIMIT p_count FOR UPDATE SKIP LOCKED
  )
  UPDATE runtime.slot s SET state = 'doomed', epoch = s.epoch + 1, reason = p_reason, changed_at = now() FROM surplus
    WHERE s.slot_id = surplus.slot_id AND s.state IN ('intent', 'provisioning', 'ready');
  GET DIAGNOSTICS v_doomed = ROW_COUNT;
  RETURN v_doomed;
END $$;
