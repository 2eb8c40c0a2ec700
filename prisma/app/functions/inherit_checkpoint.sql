-- Gives a fork the checkpoint that it begins with: a row of its own with the packs of p_source, which is its parent.
-- The fork's conversation and its copy of the log exist, in this transaction or before it. Epoch 0: nothing of the
-- fork's own sandbox. Idempotent by p_id.
-- outcome: ok | gone (no such conversation, or no such source) | expired | early (the event is not in the fork's log) |
-- conflict (the id is another checkpoint's).
CREATE OR REPLACE FUNCTION app.inherit_checkpoint(p_org text, p_source uuid, p_conversation uuid, p_id uuid) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v_from uuid;
  v_count integer;
  k app.checkpoint;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT s.conversation_id INTO v_from FROM app.checkpoint s WHERE s.org_id = p_org AND s.id = p_source;
  PERFORM 1 FROM app.conversation t WHERE t.org_id = p_org AND t.id IN (v_from, p_conversation) ORDER BY t.id FOR UPDATE;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  SELECT s.* INTO k FROM app.checkpoint s WHERE s.org_id = p_org AND s.id = p_source FOR SHARE;
  IF NOT FOUND OR v_count <> 2 THEN RETURN 'gone'; END IF;
  IF EXISTS (SELECT 1 FROM app.checkpoint o WHERE o.org_id = p_org AND o.id = p_id) THEN
    RETURN CASE WHEN EXISTS (SELECT 1 FROM app.checkpoint o WHERE o.org_id = p_org AND o.id = p_id AND o.parent_id = p_source AND o.conversation_id = p_conversation)
      THEN 'ok' ELSE 'conflict' END;
  END IF;
  IF k.state <> 'durable' THEN RETURN 'expired'; END IF;
  IF NOT EXISTS (SELECT 1 FROM app.event e WHERE e.org_id = p_org AND e.conversation_id = p_conversation AND e.event_id = k.after_event_id AND e.seq = k.seq) THEN
    RETURN 'early';
  END IF;
  INSERT INTO app.checkpoint (org_id, id, conversation_id, seq, after_event_id, epoch, parent_id, root, content_hash, reason, quiet, complete,
    skipped, secrets, files, logical_bytes, new_bytes, taken_at)
  VALUES (p_org, p_id, p_conversation, k.seq, k.after_event_id, 0, p_source, k.root, k.content_hash, 'fork', k.quiet, k.complete,
    k.skipped, k.secrets, k.files, k.logical_bytes, 0, k.taken_at);
  INSERT INTO app.checkpoint_pack (org_id, checkpoint_id, pack_id)
    SELECT p_org, p_id, r.pack_id FROM app.checkpoint_pack r WHERE r.org_id = p_org AND r.checkpoint_id = p_source;
  RETURN 'ok';
END $$;
