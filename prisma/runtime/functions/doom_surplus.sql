-- Dooms up to p_count slots without a claim in a pool that has too many. Ready ones that no replica has leased come
-- first, the oldest first; then those that are being made; then leased ones, whose holders fail to bind them and take
-- others. Returns how many.
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
