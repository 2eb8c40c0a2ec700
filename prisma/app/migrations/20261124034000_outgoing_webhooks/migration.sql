-- slipway: expand-only
-- Addresses of organizations that are sent what becomes of conversations, and the log of what was sent.

CREATE TABLE app.outgoing_webhook (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  events text[] NOT NULL,
  -- active, disabled or failing.
  state text NOT NULL DEFAULT 'active',
  state_reason text,
  -- Nothing was taken since then.
  failing_since timestamptz(3),
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX outgoing_webhook_org_id_name_id_idx ON app.outgoing_webhook (org_id, name, id);

-- Signing secrets, each under a data key of the organization: the present one, and for a day the one before.
CREATE TABLE app.outgoing_webhook_secret (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  webhook_id text NOT NULL REFERENCES app.outgoing_webhook (id) ON DELETE CASCADE,
  sealed bytea NOT NULL,
  key_version integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Null: until it is replaced.
  valid_until timestamptz(3),
  FOREIGN KEY (org_id, key_version) REFERENCES app.org_data_key (org_id, version) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX outgoing_webhook_secret_webhook_id_idx ON app.outgoing_webhook_secret (webhook_id);
CREATE INDEX outgoing_webhook_secret_org_id_key_version_idx ON app.outgoing_webhook_secret (org_id, key_version);

-- Kept for 14 days.
CREATE TABLE app.webhook_message (
  -- The webhook-id of the message.
  id text PRIMARY KEY,
  org_id text NOT NULL,
  webhook_id text NOT NULL REFERENCES app.outgoing_webhook (id) ON DELETE CASCADE,
  event text NOT NULL,
  conversation_id uuid,
  -- The bytes that are sent at every attempt.
  body text NOT NULL,
  -- waiting, delivered or given-up.
  state text NOT NULL DEFAULT 'waiting',
  attempts integer NOT NULL DEFAULT 0,
  next_at timestamptz(3) NOT NULL DEFAULT now(),
  last_at timestamptz(3),
  last_status integer,
  last_answer text,
  problem text,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX webhook_message_webhook_id_created_at_id_idx ON app.webhook_message (webhook_id, created_at DESC, id DESC);
CREATE INDEX webhook_message_created_at_idx ON app.webhook_message (created_at);
CREATE INDEX webhook_message_conversation_id_idx ON app.webhook_message (conversation_id) WHERE conversation_id IS NOT NULL;

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['outgoing_webhook', 'outgoing_webhook_secret', 'webhook_message'] LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON app.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', t);
    EXECUTE format('CREATE POLICY system ON app.%I TO slipway_app_system USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON app.%I TO slipway_app, slipway_app_system', t);
  END LOOP;
END $$;

-- A message to each webhook of the organization that wants the event, with the job that sends it. Ids and states alone.
CREATE FUNCTION app.send_webhooks(p_org text, p_event text, p_conversation uuid, p_data jsonb) RETURNS void
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

CREATE FUNCTION app.webhook_change() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  v_event text := CASE WHEN NEW.status = 'finished' THEN 'conversation.finished' WHEN NEW.status = 'failed' THEN 'conversation.failed' ELSE 'conversation.waiting' END;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM app.outgoing_webhook w WHERE w.org_id = NEW.org_id AND w.state = 'active' AND v_event = ANY (w.events)) THEN RETURN NULL; END IF;
  -- The state is as it was: a run may have begun and ended among the events that came at once.
  IF v_event <> 'conversation.waiting' AND NEW.status = OLD.status AND NOT EXISTS (
    SELECT 1 FROM app.event e WHERE e.conversation_id = NEW.id AND e.seq > OLD.head AND e.kind = 'ConversationStateUpdateEvent'
      AND (e.event -> 'key')::text = '"execution_status"' AND (e.event -> 'value')::text IN ('"finished"', '"error"', '"stuck"')
  ) THEN RETURN NULL; END IF;
  PERFORM app.send_webhooks(NEW.org_id, v_event, NEW.id, jsonb_build_object('organizationId', NEW.org_id, 'conversationId', NEW.id, 'status', NEW.status));
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_change AFTER UPDATE ON app.conversation FOR EACH ROW
  WHEN ((NEW.status IN ('finished', 'failed') AND (NEW.status IS DISTINCT FROM OLD.status OR NEW.head IS DISTINCT FROM OLD.head))
    OR (NEW.execution_status = 'waiting_for_confirmation' AND OLD.execution_status IS DISTINCT FROM NEW.execution_status))
  EXECUTE FUNCTION app.webhook_change();
