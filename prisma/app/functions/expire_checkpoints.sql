-- Lets the checkpoints of a conversation expire whose time is over. Their rows stay; their packs are theirs no more.
-- The newest durable one stays, and those that are kept (`kept_checkpoint`). @returns how many expired.
-- p_days: of the organization. At most p_limit at a time.
CREATE OR REPLACE FUNCTION app.expire_checkpoints(p_org text, p_conversation uuid, p_days integer, p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_active timestamptz;
  v_ids uuid[];
BEGIN
  PERFORM set_config('app.org', p_org, true);
  -- One in the trash keeps what it has.
  SELECT t.updated_at INTO v_active FROM app.conversation t WHERE t.org_id = p_org AND t.id = p_conversation FOR UPDATE;
  IF NOT FOUND THEN RETURN 0; END IF;
  SELECT coalesce(array_agg(d.id), '{}') INTO v_ids FROM (
    SELECT k.id FROM app.checkpoint k WHERE k.org_id = p_org AND k.conversation_id = p_conversation AND k.state = 'durable'
      AND app.due_checkpoint(k, v_active, p_days) AND k.id <> (
        SELECT n.id FROM app.checkpoint n WHERE n.org_id = p_org AND n.conversation_id = p_conversation AND n.state = 'durable'
        ORDER BY n.seq DESC, n.durable_at DESC, n.id DESC LIMIT 1)
    ORDER BY k.id LIMIT p_limit FOR UPDATE) d;
  -- Statements of their own: they see forks, pins and names that were committed while the locks were waited for.
  SELECT coalesce(array_agg(k.id), '{}') INTO v_ids FROM app.checkpoint k
    WHERE k.org_id = p_org AND k.id = ANY (v_ids) AND k.state = 'durable' AND NOT app.kept_checkpoint(k) AND app.due_checkpoint(k, v_active, p_days);
  UPDATE app.checkpoint k SET state = 'expired' WHERE k.org_id = p_org AND k.id = ANY (v_ids);
  DELETE FROM app.checkpoint_pack r WHERE r.org_id = p_org AND r.checkpoint_id = ANY (v_ids);
  RETURN cardinality(v_ids);
END $$;
