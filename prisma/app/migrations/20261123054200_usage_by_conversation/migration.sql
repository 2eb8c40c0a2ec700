-- slipway: expand-only
-- Usage by conversation: app.usage_day once more, with the conversation. Made in the same commit from the same rows, so that both come to the same sums, and a
-- conversation's own cost is the ledger's too: calls that were aborted or failed included, whatever its sandbox says.
CREATE TABLE app.usage_conversation (
  org_id text NOT NULL,
  day date NOT NULL,
  user_id text NOT NULL,
  repository text NOT NULL,
  model text NOT NULL,
  -- Nil: counted before there was this table.
  conversation_id uuid NOT NULL,
  user_label text NOT NULL,
  requests bigint NOT NULL,
  failed bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost_usd numeric(20,10) NOT NULL,
  unpriced bigint NOT NULL,
  PRIMARY KEY (org_id, day, user_id, repository, model, conversation_id)
);
ALTER TABLE app.usage_conversation ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.usage_conversation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.usage_conversation USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.usage_conversation TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.usage_conversation TO slipway_app, slipway_app_system;

CREATE OR REPLACE FUNCTION app.fold_ledger(p_after bigint, p_upto bigint, p_rows jsonb) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  UPDATE app.usage_cursor SET position = p_upto, read_at = now() WHERE source = 'llm-gateway' AND position = p_after;
  IF NOT FOUND THEN RETURN false; END IF;
  WITH page AS (
    SELECT r.org, (r.at AT TIME ZONE 'UTC')::date AS day, coalesce(r."user", c.created_by, 'unknown') AS user_id, coalesce(c.repository, '') AS repository, r.model, r.conversation,
      max(CASE WHEN r."user" IS NULL OR r."user" = c.created_by THEN coalesce(c.created_by_label, '') ELSE '' END) AS user_label, count(*) AS requests, count(*) FILTER (WHERE r.failed) AS failed, sum(r.prompt) AS prompt, sum(r.cached) AS cached,
      sum(r.completion) AS completion, sum(r.cost) AS cost, count(*) FILTER (WHERE NOT r.priced) AS unpriced
    FROM jsonb_to_recordset(p_rows) AS r(org text, conversation uuid, "user" text, model text, prompt bigint, cached bigint, completion bigint, cost numeric, priced boolean, failed boolean, at timestamptz)
    LEFT JOIN app.conversation c ON c.id = r.conversation AND c.org_id = r.org
    GROUP BY 1, 2, 3, 4, 5, 6
  ), by_conversation AS (
    INSERT INTO app.usage_conversation AS u (org_id, day, user_id, repository, model, conversation_id, user_label, requests, failed, prompt_tokens, cached_tokens, completion_tokens, cost_usd, unpriced)
      SELECT p.org, p.day, p.user_id, p.repository, p.model, p.conversation, p.user_label, p.requests, p.failed, p.prompt, p.cached, p.completion, p.cost, p.unpriced FROM page p
      ORDER BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (org_id, day, user_id, repository, model, conversation_id) DO UPDATE SET
      user_label = CASE WHEN excluded.user_label = '' THEN u.user_label ELSE excluded.user_label END,
      requests = u.requests + excluded.requests, failed = u.failed + excluded.failed, prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
      cached_tokens = u.cached_tokens + excluded.cached_tokens, completion_tokens = u.completion_tokens + excluded.completion_tokens,
      cost_usd = u.cost_usd + excluded.cost_usd, unpriced = u.unpriced + excluded.unpriced
  ), of_conversation AS (
    UPDATE app.conversation c SET cost_usd = c.cost_usd + s.cost, prompt_tokens = c.prompt_tokens + s.prompt, completion_tokens = c.completion_tokens + s.completion
    FROM (SELECT p.org, p.conversation, sum(p.cost) AS cost, sum(p.prompt) AS prompt, sum(p.completion) AS completion FROM page p GROUP BY 1, 2) s
    WHERE c.id = s.conversation AND c.org_id = s.org
  )
  INSERT INTO app.usage_day AS u (org_id, day, user_id, repository, model, user_label, requests, failed, prompt_tokens, cached_tokens, completion_tokens, cost_usd, unpriced)
    SELECT p.org, p.day, p.user_id, p.repository, p.model, max(p.user_label), sum(p.requests), sum(p.failed), sum(p.prompt), sum(p.cached), sum(p.completion), sum(p.cost), sum(p.unpriced)
    FROM page p GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (org_id, day, user_id, repository, model) DO UPDATE SET
    user_label = CASE WHEN excluded.user_label = '' THEN u.user_label ELSE excluded.user_label END,
    requests = u.requests + excluded.requests, failed = u.failed + excluded.failed, prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
    cached_tokens = u.cached_tokens + excluded.cached_tokens, completion_tokens = u.completion_tokens + excluded.completion_tokens,
    cost_usd = u.cost_usd + excluded.cost_usd, unpriced = u.unpriced + excluded.unpriced;
  RETURN true;
END $$;

-- What was counted until now has no conversation: both tables come to the same. Under the lock of the cursor, so that no page is added in between.
DO $$
BEGIN
  PERFORM 1 FROM app.usage_cursor WHERE source = 'llm-gateway' FOR UPDATE;
  PERFORM set_config('role', 'slipway_app_system', true);
  INSERT INTO app.usage_conversation
    (org_id, day, user_id, repository, model, conversation_id, user_label, requests, failed, prompt_tokens, cached_tokens, completion_tokens, cost_usd, unpriced)
    SELECT d.org_id, d.day, d.user_id, d.repository, d.model, '00000000-0000-0000-0000-000000000000', d.user_label, d.requests, d.failed, d.prompt_tokens, d.cached_tokens,
      d.completion_tokens, d.cost_usd, d.unpriced FROM app.usage_day d;
END $$;
