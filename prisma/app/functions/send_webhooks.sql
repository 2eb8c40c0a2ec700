-- Adds a message for each webhook of the organization that subscribes to the event, with the job that sends it.
-- Messages hold ids and states only.
CREATE OR REPLACE FUNCTION app.send_webhooks(p_org text, p_event text, p_conversation uuid, p_data jsonb) RETURNS void
LANGUAGE sql AS $$
  WITH made AS (
    INSERT INTO app.webhook_message (id, org_id, webhook_id, event, conversation_id, body)
    SELECT 'msg_' || replace(gen_random_uuid()::text, '-', ''), p_org, w.id, p_event, p_conversation,
      jsonb_build_object('type', p_event, 'timestamp', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'data', p_data)::text
    FROM app.outgoing_webhook w WHERE w.org_id = p_org AND w.state = 'active' AND p_event = ANY (w.events)
    RETURNING id
  )
  INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
  SELECT gen_random_uuid(), p_org, 'webhook-message', made.id, jsonb_build_object('orgId', p_org, 'messageId', made.id), clock_timestamp() - interval '1 hour' FROM made
$$;
