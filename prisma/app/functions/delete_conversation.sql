-- Deletes a conversation and what it counts for. Its other rows are deleted afterwards, a batch at a time. False:
-- there is no such conversation.
CREATE OR REPLACE FUNCTION app.delete_conversation(p_org text, p_conversation uuid) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_granted bigint;
BEGIN
  PERFORM 1 FROM app.conversation t WHERE t.org_id = p_org AND t.id = p_conversation FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM app.forget_checkpoints(p_org, p_conversation);
  DELETE FROM app.conversation t WHERE t.org_id = p_org AND t.id = p_conversation RETURNING t.granted_bytes INTO v_granted;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM app.egress_rule r WHERE r.org_id = p_org AND r.scope = 'conversation' AND r.scope_value = p_conversation::text;
  UPDATE app.org_storage s SET used_bytes = greatest(0, s.used_bytes - v_granted) WHERE s.org_id = p_org;
  RETURN true;
END $$;
