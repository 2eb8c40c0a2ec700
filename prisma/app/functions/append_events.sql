-- Appends a batch to a conversation's log in one round trip and one commit.
--
-- p_epoch null: an event of the platform itself, neither fenced nor counted.
-- Otherwise the batch must carry the conversation's current epoch, and producer sequences that follow `acked` without
-- a hole.
-- Those at or below `acked` are skipped. An event whose id is in the log already is acknowledged and not stored twice.
-- The row lock on the conversation is held to commit, so `seq` has no gaps and readers see it in order.
--
-- p_patch: columns of the conversation that follow from the batch (status, execution_status, status_state, cost_usd,
-- prompt_tokens, completion_tokens, title, steps, start_status, sandbox_status). Absent keys stay.
-- outcome: ok | stale | gap | missing. stored: ids of the events that were stored, ascending from first_seq.
-- When the agent's turn ends, the first message that waits for that is queued for delivery, with its job.
-- Storage is counted: a sandbox's events are of class 'work' until its conversation is to pause, and 'ending' from
-- then on.
CREATE OR REPLACE FUNCTION app.append_events(
  p_org text, p_conversation uuid, p_epoch integer, p_lease_ms integer,
  p_producer bigint[], p_ids uuid[], p_kinds text[], p_events text[], p_patch jsonb
) RETURNS TABLE (outcome text, acked bigint, head bigint, first_seq bigint, stored uuid[])
LANGUAGE plpgsql AS $$
DECLARE
  c record;
  g record;
  v_stored uuid[];
  v_acked bigint;
  v_first bigint;
  v_bytes bigint;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT t.head, t.epoch, t.acked, t.execution_status INTO c FROM app.conversation t WHERE t.id = p_conversation FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'missing'::text, 0::bigint, 0::bigint, 0::bigint, '{}'::uuid[];
    RETURN;
  END IF;
  IF p_epoch IS NOT NULL AND p_epoch <> c.epoch THEN
    RETURN QUERY SELECT 'stale'::text, c.acked, c.head, 0::bigint, '{}'::uuid[];
    RETURN;
  END IF;
  v_acked := c.acked;
  IF p_epoch IS NOT NULL AND cardinality(p_producer) > 0 THEN
    SELECT min(p) INTO v_first FROM unnest(p_producer) p WHERE p > c.acked;
    IF v_first IS NOT NULL AND v_first <> c.acked + 1 THEN
      RETURN QUERY SELECT 'gap'::text, c.acked, c.head, 0::bigint, '{}'::uuid[];
      RETURN;
    END IF;
    SELECT greatest(c.acked, max(p)) INTO v_acked FROM unnest(p_producer) p;
  END IF;
  WITH fresh AS (
    SELECT u.*, row_number() OVER (ORDER BY u.ord) AS n
    FROM unnest(p_producer, p_ids, p_kinds, p_events) WITH ORDINALITY AS u(producer, id, kind, body, ord)
    WHERE (p_epoch IS NULL OR u.producer > c.acked)
      AND NOT EXISTS (SELECT 1 FROM app.event e WHERE e.conversation_id = p_conversation AND e.event_id = u.id)
  ), inserted AS (
    INSERT INTO app.event (conversation_id, seq, org_id, epoch, producer_seq, event_id, kind, event)
    SELECT p_conversation, c.head + f.n, p_org, c.epoch, CASE WHEN p_epoch IS NULL THEN NULL ELSE f.producer END, f.id, f.kind, f.body::json FROM fresh f
    RETURNING seq, event_id, kind
  ), consumed AS (
    UPDATE app.inbox_message m SET state = 'consumed' FROM inserted i WHERE i.kind = 'MessageEvent' AND m.id = i.event_id AND m.conversation_id = p_conversation
  )
  SELECT coalesce(array_agg(i.event_id ORDER BY i.seq), '{}'), (SELECT coalesce(sum(octet_length(f.body) + app.event_overhead()), 0) FROM fresh f) INTO v_stored, v_bytes FROM inserted i;

  UPDATE app.conversation t SET
    head = t.head + cardinality(v_stored),
    acked = v_acked,
    log_bytes = t.log_bytes + v_bytes,
    lease_until = CASE WHEN p_epoch IS NULL THEN t.lease_until ELSE now() + p_lease_ms * interval '1 millisecond' END,
    updated_at = CASE WHEN cardinality(v_stored) > 0 THEN now() ELSE t.updated_at END,
    status = coalesce(p_patch->>'status', t.status),
    execution_status = coalesce(p_patch->>'execution_status', t.execution_status),
    sandbox_status = coalesce(p_patch->>'sandbox_status', t.sandbox_status),
    start_status = coalesce(p_patch->>'start_status', t.start_status),
    status_state = coalesce((p_patch->'status_state')::json, t.status_state),
    steps = coalesce(p_patch->'steps', t.steps),
    title = coalesce(p_patch->>'title', t.title),
    cost_usd = coalesce((p_patch->>'cost_usd')::numeric, t.cost_usd),
    prompt_tokens = coalesce((p_patch->>'prompt_tokens')::bigint, t.prompt_tokens),
    completion_tokens = coalesce((p_patch->>'completion_tokens')::bigint, t.completion_tokens)
  WHERE t.id = p_conversation
  RETURNING t.log_bytes + t.blob_bytes + t.snapshot_bytes AS total, t.granted_bytes, t.reserve_bytes, t.desired INTO g;
  IF g.total > g.granted_bytes THEN
    PERFORM app.grant_storage(p_org, p_conversation, g.total, g.granted_bytes, g.reserve_bytes,
      CASE WHEN p_epoch IS NULL THEN 'platform' WHEN g.desired = 'rest' THEN 'ending' ELSE 'work' END);
  END IF;

  -- A short turn begins and ends in one batch. Its text is searched, not parsed: an event may hold NUL or half a
  -- character, which no operator of JSON takes; a quote within a string is escaped, so no words look like these.
  IF p_patch->>'execution_status' IN ('finished', 'idle') AND g.desired = 'run' AND (c.execution_status = 'running' OR EXISTS (
    SELECT 1 FROM unnest(p_ids, p_kinds, p_events) AS u(id, kind, body)
    WHERE u.kind = 'ConversationStateUpdateEvent' AND u.id = ANY (v_stored)
      AND u.body::text LIKE '%"key":"execution_status"%' AND u.body::text LIKE '%"value":"running"%')) THEN
    UPDATE app.inbox_message m SET held = false WHERE m.org_id = p_org AND m.id = (
      SELECT n.id FROM app.inbox_message n WHERE n.org_id = p_org AND n.conversation_id = p_conversation AND n.state = 'queued' AND n.held
      ORDER BY n.position LIMIT 1);
    IF FOUND THEN
      INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
      VALUES (gen_random_uuid(), p_org, 'conversation-deliver', p_conversation::text,
        jsonb_build_object('orgId', p_org, 'conversationId', p_conversation), clock_timestamp())
      ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp();
    END IF;
  END IF;

  RETURN QUERY SELECT 'ok'::text, v_acked, c.head + cardinality(v_stored), c.head + 1, v_stored;
END $$;
