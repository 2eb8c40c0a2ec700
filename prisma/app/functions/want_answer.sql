-- Requests an update of a conversation's answers at the worker's next sweep. No-op for a conversation without a
-- thread.
CREATE OR REPLACE FUNCTION app.want_answer(p_org text, p_conversation uuid) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
  SELECT gen_random_uuid(), p_org, 'integration-answer', p_conversation::text, jsonb_build_object('orgId', p_org, 'conversationId', p_conversation), clock_timestamp() - interval '1 hour'
  WHERE EXISTS (SELECT 1 FROM app.integration_thread t WHERE t.org_id = p_org AND t.conversation_id = p_conversation)
  ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = excluded.enqueued_at
$$;
