-- slipway: expand-only
-- What conversations came to: what they cost by parts, how long people waited, and what became of their pull requests.

-- Of a repository's address, whoever wrote it: host and path in small letters, without user, `.git` and slashes at the end. '' for none.
CREATE FUNCTION app.repository_name(p_address text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(regexp_replace(regexp_replace(coalesce(p_address, ''), '^[A-Za-z][A-Za-z0-9+.-]*://([^/@]*@)?', ''), '(\.git)?/*$', '', 'i'))
$$;

-- One row a conversation, kept when that is deleted: it holds no text of anybody. Not a foreign key, for the same reason.
CREATE TABLE app.conversation_outcome (
  org_id text NOT NULL,
  conversation_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  user_id text NOT NULL,
  user_label text NOT NULL,
  -- app.repository_name of it.
  repository text NOT NULL,
  model text NOT NULL,
  -- What it was begun by: a provider's name, service-account or user. Null: not looked at yet.
  source text,
  -- The ledger's, from app.fold_ledger: the same sum as app.usage_conversation has.
  cost_usd numeric(20,10) NOT NULL DEFAULT 0,
  -- The part of calls that the model did not answer.
  failed_calls_usd numeric(20,10) NOT NULL DEFAULT 0,
  prompt_tokens bigint NOT NULL DEFAULT 0,
  completion_tokens bigint NOT NULL DEFAULT 0,
  -- From here on by worker, turn by turn as they end: answered calls of turns that ended in an error.
  failed_turns_usd numeric(20,10) NOT NULL DEFAULT 0,
  turns integer NOT NULL DEFAULT 0,
  failed_turns integer NOT NULL DEFAULT 0,
  -- From the first message to the agent's first event. Milliseconds.
  start_wait_ms bigint,
  -- From each question of an agent to its answer. Milliseconds.
  approval_waits_ms bigint[] NOT NULL DEFAULT '{}',
  -- When its log last had something that was looked at.
  last_at timestamptz(3),
  -- Turns that ended up to this position of the log are counted; and the head at the last look.
  upto bigint NOT NULL DEFAULT 0,
  read_head bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (org_id, conversation_id)
);
CREATE INDEX conversation_outcome_org_id_created_at_idx ON app.conversation_outcome (org_id, created_at);

-- One row a pull request, however many conversations published it, kept when they are deleted. Everything of it is what its host has answered, never what a delivery claims.
CREATE TABLE app.pull_request_outcome (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  org_id text NOT NULL,
  provider text NOT NULL,
  host text NOT NULL,
  -- owner/name, as it was last called.
  repository text NOT NULL,
  number integer NOT NULL,
  -- The one by which it was last published; it may be gone.
  connection_id text,
  -- Published first by this one, then: the pull request counts where and when that does.
  conversation_id uuid NOT NULL,
  begun_at timestamptz(3) NOT NULL,
  base text,
  -- Our last pushes to its branch, one of each conversation at least. The newest 20.
  pushed_shas text[] NOT NULL DEFAULT '{}',
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed', 'merged')),
  -- First seen as no draft.
  ready_at timestamptz(3),
  first_review_at timestamptz(3),
  merged_at timestamptz(3),
  closed_at timestamptz(3),
  merge_sha text,
  -- Of people after our last push; null: unknown, or not looked at yet.
  human_commits integer,
  -- How many of the 14 days after the merge were read whole: 0, 1, 7 or 14.
  watched_days integer NOT NULL DEFAULT 0,
  reverted_at timestamptz(3),
  edited_at timestamptz(3),
  -- False: not all of its files could be looked at, so that none edited is no answer.
  edits_read boolean NOT NULL DEFAULT true,
  -- False: there were more commits than are looked through for a revert.
  reverts_read boolean NOT NULL DEFAULT true,
  -- When its host is asked again; null: never by itself.
  next_at timestamptz(3),
  attempts integer NOT NULL DEFAULT 0,
  -- Why the last look did not come to its end.
  problem text,
  -- When its host last said how it is.
  seen_at timestamptz(3)
);
CREATE UNIQUE INDEX pull_request_outcome_place_key ON app.pull_request_outcome (org_id, host, lower(repository), number);
CREATE INDEX pull_request_outcome_org_id_begun_at_idx ON app.pull_request_outcome (org_id, begun_at);
CREATE INDEX pull_request_outcome_next_at_idx ON app.pull_request_outcome (next_at) WHERE next_at IS NOT NULL;

-- Which conversations published which pull request.
CREATE TABLE app.pull_request_work (
  org_id text NOT NULL,
  pull_request_id uuid NOT NULL REFERENCES app.pull_request_outcome (id) ON DELETE CASCADE,
  conversation_id uuid NOT NULL,
  PRIMARY KEY (pull_request_id, conversation_id)
);
CREATE INDEX pull_request_work_org_id_conversation_id_idx ON app.pull_request_work (org_id, conversation_id);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['conversation_outcome', 'pull_request_outcome', 'pull_request_work'] LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON app.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', t);
    EXECUTE format('CREATE POLICY system ON app.%I TO slipway_app_system USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON app.%I TO slipway_app, slipway_app_system', t);
  END LOOP;
END $$;

-- Every conversation has its row from its first commit on, so that none that is deleted early is missing from what was spent.
CREATE FUNCTION app.note_conversation_outcome() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO app.conversation_outcome (org_id, conversation_id, created_at, user_id, user_label, repository, model)
    VALUES (NEW.org_id, NEW.id, NEW.created_at, NEW.created_by, NEW.created_by_label, app.repository_name(NEW.repository), NEW.model)
  ON CONFLICT (org_id, conversation_id) DO UPDATE SET repository = excluded.repository, model = excluded.model;
  RETURN NULL;
END $$;
CREATE TRIGGER conversation_outcome_begun AFTER INSERT ON app.conversation FOR EACH ROW EXECUTE FUNCTION app.note_conversation_outcome();
CREATE TRIGGER conversation_outcome_changed AFTER UPDATE OF repository, model ON app.conversation FOR EACH ROW
  WHEN (OLD.repository IS DISTINCT FROM NEW.repository OR OLD.model IS DISTINCT FROM NEW.model) EXECUTE FUNCTION app.note_conversation_outcome();

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
  -- After the conversations, as whoever changes a conversation has their rows in this order, too.
  UPDATE app.conversation_outcome o SET cost_usd = o.cost_usd + s.cost, failed_calls_usd = o.failed_calls_usd + s.failed_cost, prompt_tokens = o.prompt_tokens + s.prompt,
    completion_tokens = o.completion_tokens + s.completion
  FROM (
    SELECT r.org, r.conversation, sum(r.cost) AS cost, coalesce(sum(r.cost) FILTER (WHERE r.failed), 0) AS failed_cost, sum(r.prompt) AS prompt, sum(r.completion) AS completion
    FROM jsonb_to_recordset(p_rows) AS r(org text, conversation uuid, prompt bigint, completion bigint, cost numeric, failed boolean) GROUP BY 1, 2
  ) s WHERE o.org_id = s.org AND o.conversation_id = s.conversation;
  RETURN true;
END $$;

-- What there is already. Under the lock of the cursor, so that no page is added in between. What calls that failed cost was not kept until now.
DO $$
BEGIN
  PERFORM 1 FROM app.usage_cursor WHERE source = 'llm-gateway' FOR UPDATE;
  PERFORM set_config('role', 'slipway_app_system', true);
  INSERT INTO app.conversation_outcome (org_id, conversation_id, created_at, user_id, user_label, repository, model, cost_usd, prompt_tokens, completion_tokens)
    SELECT c.org_id, c.id, c.created_at, c.created_by, c.created_by_label, app.repository_name(c.repository), c.model, coalesce(u.cost, 0), coalesce(u.prompt, 0), coalesce(u.completion, 0)
    FROM app.conversation c LEFT JOIN (
      SELECT org_id, conversation_id, sum(cost_usd) AS cost, sum(prompt_tokens) AS prompt, sum(completion_tokens) AS completion FROM app.usage_conversation GROUP BY 1, 2
    ) u ON u.org_id = c.org_id AND u.conversation_id = c.id
  ON CONFLICT (org_id, conversation_id) DO NOTHING;
  -- Each as open, to be asked after: what its host says of it counts. Not all at once.
  INSERT INTO app.pull_request_outcome (org_id, provider, host, repository, number, connection_id, conversation_id, begun_at, base, pushed_shas, next_at)
    SELECT DISTINCT ON (p.org_id, p.host, lower(p.repository), p.number) p.org_id, p.provider, p.host, p.repository, p.number, p.connection_id, p.conversation_id,
      coalesce(p.published_at, p.created_at), p.base, array_remove(ARRAY[p.pushed_sha], NULL), now() + random() * interval '1 day'
    FROM app.pull_request p WHERE p.number IS NOT NULL ORDER BY p.org_id, p.host, lower(p.repository), p.number, coalesce(p.published_at, p.created_at), p.id
  ON CONFLICT DO NOTHING;
  INSERT INTO app.pull_request_work (org_id, pull_request_id, conversation_id)
    SELECT o.org_id, o.id, p.conversation_id FROM app.pull_request p
    JOIN app.pull_request_outcome o ON o.org_id = p.org_id AND o.host = p.host AND lower(o.repository) = lower(p.repository) AND o.number = p.number
  ON CONFLICT DO NOTHING;
END $$;
