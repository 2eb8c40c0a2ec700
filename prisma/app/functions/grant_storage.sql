-- Takes blocks for a conversation that now holds p_total, or gives back those that it needs no more. The caller holds
-- the lock on the conversation's row.
-- p_class: 'work' keeps to the limit; 'ending' (a conversation that is being paused) may take 256 KiB of the reserve;
-- 'platform' is the platform's own, of bounded size, and is always kept.
-- Raises SL507 when there is no room: nothing of the transaction is stored then.
CREATE OR REPLACE FUNCTION app.grant_storage(p_org text, p_conversation uuid, p_total bigint, p_granted bigint, p_reserve bigint, p_class text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_block constant bigint := 65536;
  v_new bigint := (greatest(p_total, 0) + v_block - 1) / v_block * v_block;
  v_more bigint := v_new - p_granted;
  v_used bigint;
  v_own bigint;
  v_limit bigint;
  v_over bigint := 0;
BEGIN
  IF v_more = 0 THEN RETURN; END IF;
  LOOP
    UPDATE app.org_storage s SET used_bytes = greatest(0, s.used_bytes + v_more) WHERE s.org_id = p_org RETURNING s.used_bytes, s.limit_bytes INTO v_used, v_own;
    EXIT WHEN FOUND;
    INSERT INTO app.org_storage (org_id) VALUES (p_org) ON CONFLICT (org_id) DO NOTHING;
  END LOOP;
  v_limit := app.storage_limit(v_own);
  IF v_more > 0 AND v_used > v_limit THEN
    v_over := p_reserve + CASE WHEN p_class = 'ending' THEN v_more ELSE 0 END;
    IF p_class = 'work' OR (p_class = 'ending' AND (v_over > 4 * v_block OR v_used > v_limit + app.storage_reserve(v_limit))) THEN
      RAISE EXCEPTION 'storage full: % of % bytes', v_used - v_more, v_limit USING ERRCODE = 'SL507';
    END IF;
  END IF;
  UPDATE app.conversation SET granted_bytes = v_new, reserve_bytes = v_over WHERE id = p_conversation;
END $$;
