-- Deletes a conversation's checkpoints at once, and the keys of the packs that no other conversation refers to: what is
-- left of them in a store or a backup cannot be read. The caller holds the lock on the conversation's row.
CREATE OR REPLACE FUNCTION app.forget_checkpoints(p_org text, p_conversation uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_packs text[];
BEGIN
  SELECT coalesce(array_agg(DISTINCT r.pack_id), '{}') INTO v_packs FROM app.checkpoint_pack r
    JOIN app.checkpoint k ON k.org_id = r.org_id AND k.id = r.checkpoint_id
    WHERE r.org_id = p_org AND k.conversation_id = p_conversation;
  DELETE FROM app.checkpoint k WHERE k.org_id = p_org AND k.conversation_id = p_conversation;
  PERFORM 1 FROM app.pack p WHERE p.org_id = p_org AND (p.id = ANY (v_packs) OR p.stored_by = p_conversation) ORDER BY p.id FOR UPDATE;
  -- A statement of its own: it sees the references that were committed while the locks were waited for.
  UPDATE app.pack p SET wrapped_key = NULL, key_version = NULL, doomed_at = coalesce(p.doomed_at, now()),
    state = CASE p.state WHEN 'live' THEN 'doomed' ELSE p.state END
    WHERE p.org_id = p_org AND (p.id = ANY (v_packs) OR p.stored_by = p_conversation)
      AND NOT EXISTS (SELECT 1 FROM app.checkpoint_pack r WHERE r.org_id = p_org AND r.pack_id = p.id);
END $$;
