-- Writes intents until the pool's unclaimed population reaches its target. Counted from rows under the pool's row
-- lock: two leaders at once cannot make too many.
-- A slot that is leased to a replica is as blank as one that is ready. A doomed slot counts until it is gone. p_ids:
-- fresh ids, of which as many are used as are needed. Returns the new slots.
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
