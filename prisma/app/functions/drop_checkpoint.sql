-- Lets one checkpoint expire because a user deletes it, whatever its name or pin.
-- outcome: ok (also when it has expired already) | missing (no such checkpoint) | forked (another conversation goes back
-- to it).
CREATE OR REPLACE FUNCTION app.drop_checkpoint(p_org text, p_conversation uuid, p_id uuid) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v_state text;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  PERFORM 1 FROM app.conversation t WHERE t.org_id = p_org AND t.id = p_conversation FOR UPDATE;
  SELECT k.state INTO v_state FROM app.checkpoint k WHERE k.org_id = p_org AND k.conversation_id = p_conversation AND k.id = p_id FOR UPDATE;
  IF NOT FOUND THEN RETURN 'missing'; END IF;
  IF EXISTS (SELECT 1 FROM app.checkpoint f WHERE f.org_id = p_org AND f.parent_id = p_id AND f.conversation_id <> p_conversation) THEN
    RETURN 'forked';
  END IF;
  UPDATE app.checkpoint k SET state = 'expired', name = NULL, pinned_by = NULL WHERE k.org_id = p_org AND k.id = p_id;
  DELETE FROM app.checkpoint_pack r WHERE r.org_id = p_org AND r.checkpoint_id = p_id;
  RETURN 'ok';
END $$;
