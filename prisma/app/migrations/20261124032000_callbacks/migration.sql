-- slipway: expand-only
-- What is said in threads of providers: that a request was seen, how far its conversation is, and why something was refused.

CREATE TABLE app.thread_answer (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  connection_id text NOT NULL REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  thread_key text NOT NULL,
  -- seen: a reaction. progress: the one comment that is edited. notice: one sentence to one actor.
  kind text NOT NULL,
  -- Of seen: the deed. Of notice: the reason and the actor. Else empty.
  subject text NOT NULL DEFAULT '',
  -- Null for a notice.
  conversation_id uuid REFERENCES app.conversation (id) ON DELETE CASCADE,
  -- What calls about the thread need.
  place jsonb NOT NULL,
  -- Of seen: what is reacted to. Of notice: its reason.
  detail jsonb NOT NULL DEFAULT '{}',
  -- Stands in the comment, unseen: by it the comment is found again when the outcome of its creation is unknown. Random, so that nobody has written it before us.
  marker text NOT NULL,
  -- waiting, shown or given-up.
  state text NOT NULL DEFAULT 'waiting',
  -- The provider's id of the comment.
  external_id text,
  url text,
  -- Hash of what the provider has acknowledged to show.
  shown text,
  edited_at timestamptz(3),
  -- Set before a comment is created and kept while its outcome is unknown.
  tried_at timestamptz(3),
  -- One job at a time calls the provider; `turn` fences off a job whose time was over.
  busy_until timestamptz(3),
  turn integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  failing_since timestamptz(3),
  retry_at timestamptz(3),
  problem text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX thread_answer_connection_id_thread_key_kind_subject_key ON app.thread_answer (connection_id, thread_key, kind, subject);
CREATE INDEX thread_answer_conversation_id_idx ON app.thread_answer (conversation_id);

ALTER TABLE app.thread_answer ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.thread_answer FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.thread_answer USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.thread_answer TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.thread_answer TO slipway_app, slipway_app_system;

-- Came from a thread: only the answer to such a message is shown there.
ALTER TABLE app.inbox_message ADD COLUMN from_thread boolean NOT NULL DEFAULT false;

-- No call before limited_until, which the provider has said; paced_until spreads calls out, so that what has waited for a provider does not come all at once.
ALTER TABLE app.integration_connection ADD COLUMN limited_until timestamptz(3);
ALTER TABLE app.integration_connection ADD COLUMN paced_until timestamptz(3);

-- Wants the answers of a conversation brought up to date, at the next look of the worker. No-op for a conversation of no thread.
CREATE FUNCTION app.want_answer(p_org text, p_conversation uuid) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
  SELECT gen_random_uuid(), p_org, 'integration-answer', p_conversation::text, jsonb_build_object('orgId', p_org, 'conversationId', p_conversation), clock_timestamp() - interval '1 hour'
  WHERE EXISTS (SELECT 1 FROM app.integration_thread t WHERE t.org_id = p_org AND t.conversation_id = p_conversation)
  ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = excluded.enqueued_at
$$;

CREATE FUNCTION app.answer_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.want_answer(NEW.org_id, NEW.id);
  RETURN NULL;
END $$;
-- Whoever changes the state: a sandbox, a request, worker. A run that begins and ends in one batch changes the head alone.
CREATE TRIGGER answer_change AFTER UPDATE ON app.conversation FOR EACH ROW
  WHEN (NEW.status IS DISTINCT FROM OLD.status OR NEW.execution_status IS DISTINCT FROM OLD.execution_status
    OR (NEW.head IS DISTINCT FROM OLD.head AND NEW.status IN ('finished', 'failed')))
  EXECUTE FUNCTION app.answer_change();
