-- Gives a conversation that was made in this transaction the log of another one up to p_seq: the same events under the
-- same ids and places, as the platform's own (epoch 0, no producer), with the contents that they refer to. Its sandbox
-- will write under epoch 2, which reads this log first. What was sent or counted of these events is not again.
-- Raises SL507 when the organization's storage has no room.
CREATE OR REPLACE FUNCTION app.fork_log(p_org text, p_source uuid, p_seq bigint, p_fork uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_log bigint;
  v_blob bigint;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  WITH copied AS (
    INSERT INTO app.event (conversation_id, seq, org_id, epoch, producer_seq, event_id, kind, event, created_at)
    SELECT p_fork, e.seq, p_org, 0, NULL, e.event_id, e.kind, e.event, e.created_at FROM app.event e
    WHERE e.org_id = p_org AND e.conversation_id = p_source AND e.seq <= p_seq
    RETURNING event
  )
  SELECT coalesce(sum(octet_length(c.event::text) + app.event_overhead()), 0) INTO v_log FROM copied c;
  WITH referred AS (
    INSERT INTO app.conversation_blob (conversation_id, sha256, org_id)
    SELECT p_fork, b.sha256, p_org FROM app.conversation_blob b
    WHERE b.org_id = p_org AND b.conversation_id = p_source AND EXISTS (
      SELECT 1 FROM app.event e WHERE e.conversation_id = p_fork AND strpos(e.event::text, b.sha256) > 0)
    RETURNING sha256
  )
  SELECT coalesce(sum(b.bytes), 0) INTO v_blob FROM referred r JOIN app.blob b ON b.org_id = p_org AND b.sha256 = r.sha256;
  UPDATE app.conversation t SET head = p_seq, epoch = 1, forked_from = p_source, forked_seq = p_seq, base_commit = s.base_commit
  FROM app.conversation s WHERE t.org_id = p_org AND t.id = p_fork AND s.org_id = p_org AND s.id = p_source;
  INSERT INTO app.trace_export (conversation_id, org_id, upto)
  SELECT p_fork, p_org, p_seq FROM app.trace_export t WHERE t.org_id = p_org AND t.conversation_id = p_source;
  INSERT INTO app.analytics_conversation (conversation_id, org_id, upto, state)
  SELECT p_fork, p_org, p_seq, a.state FROM app.analytics_conversation a WHERE a.org_id = p_org AND a.conversation_id = p_source;
  PERFORM app.count_storage(p_org, p_fork, v_log, v_blob, 0, 'work');
END $$;
