-- slipway: expand-only
-- What model calls cost, rolled up from the gateway's ledger; what an organization and its people may spend; and the orders in which an admin lists conversations.

-- One row a day (UTC), person, repository and model. repository is '' for conversations that have none.
CREATE TABLE app.usage_day (
  org_id text NOT NULL,
  day date NOT NULL,
  user_id text NOT NULL,
  repository text NOT NULL,
  model text NOT NULL,
  -- As the conversations named the person last, for when nobody else knows the name any more.
  user_label text NOT NULL,
  requests bigint NOT NULL,
  failed bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost_usd numeric(20,10) NOT NULL,
  -- Calls of models without a known price: they count nothing in cost_usd.
  unpriced bigint NOT NULL,
  PRIMARY KEY (org_id, day, user_id, repository, model)
);

-- How far the ledger is rolled up. It moves in the transaction that adds the rows, so that each row is added once.
CREATE TABLE app.usage_cursor (
  source text PRIMARY KEY,
  position bigint NOT NULL,
  read_at timestamptz(3)
);
INSERT INTO app.usage_cursor (source, position) VALUES ('llm-gateway', 0);
GRANT SELECT ON app.usage_cursor TO slipway_app, slipway_app_system;
GRANT UPDATE ON app.usage_cursor TO slipway_app_system;

CREATE TABLE app.budget (
  org_id text PRIMARY KEY,
  enabled boolean NOT NULL DEFAULT true,
  -- Day of the month on which the count begins again, at 00:00 UTC.
  reset_day integer NOT NULL DEFAULT 1 CHECK (reset_day BETWEEN 1 AND 28),
  -- Null: no limit.
  org_limit_usd numeric(20,4),
  member_limit_usd numeric(20,4),
  -- Counts changes by people: the ETag.
  version integer NOT NULL DEFAULT 1,
  -- Counts changes of app.budget_stop; told_version is the one that the gateway has.
  stops_version bigint NOT NULL DEFAULT 0,
  told_version bigint NOT NULL DEFAULT 0
);

CREATE TABLE app.budget_override (
  org_id text NOT NULL,
  user_id text NOT NULL,
  -- Null: no limit of their own.
  limit_usd numeric(20,4),
  changed_at timestamptz(3) NOT NULL DEFAULT now(),
  changed_by text NOT NULL,
  PRIMARY KEY (org_id, user_id)
);

-- That a share of a limit was reached: once a cycle and threshold. user_id is '' for the organization's own limit.
CREATE TABLE app.budget_notice (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  org_id text NOT NULL,
  user_id text NOT NULL,
  cycle_start date NOT NULL,
  cycle_end date NOT NULL,
  threshold integer NOT NULL,
  spent_usd numeric(20,10) NOT NULL,
  limit_usd numeric(20,4) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX budget_notice_once_key ON app.budget_notice (org_id, user_id, cycle_start, threshold);
CREATE INDEX budget_notice_org_id_created_at_idx ON app.budget_notice (org_id, created_at DESC, id DESC);

-- Whose limit is reached, until when; '' for the whole organization. Made by app.settle_budget alone.
CREATE TABLE app.budget_stop (
  org_id text NOT NULL,
  user_id text NOT NULL,
  limit_usd numeric(20,4) NOT NULL,
  until timestamptz(3) NOT NULL,
  PRIMARY KEY (org_id, user_id)
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['usage_day', 'budget', 'budget_override', 'budget_notice', 'budget_stop'] LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON app.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', t);
    EXECUTE format('CREATE POLICY system ON app.%I TO slipway_app_system USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON app.%I TO slipway_app, slipway_app_system', t);
  END LOOP;
END $$;

-- The cycle that a moment lies in: its first day, and the first day of the next.
CREATE FUNCTION app.budget_cycle(p_reset_day integer, p_now timestamptz, OUT first_day date, OUT next_day date)
LANGUAGE sql IMMUTABLE AS $$
  SELECT s.first_day, (s.first_day + interval '1 month')::date
  FROM (SELECT (date_trunc('month', (p_now AT TIME ZONE 'UTC') - (p_reset_day - 1) * interval '1 day') + (p_reset_day - 1) * interval '1 day')::date AS first_day) s
$$;

-- Adds ledger rows after p_after, up to p_upto, once: false, and nothing is added, when the cursor is not at p_after (another worker was quicker, or this one repeats itself).
-- p_rows: [{org, conversation, user, model, prompt, cached, completion, cost, priced, failed, at}]. A row of a conversation that is gone counts without a repository.
-- Works as the system role for its own transaction: one page holds calls of many organizations.
CREATE FUNCTION app.fold_ledger(p_after bigint, p_upto bigint, p_rows jsonb) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  UPDATE app.usage_cursor SET position = p_upto, read_at = now() WHERE source = 'llm-gateway' AND position = p_after;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO app.usage_day AS u (org_id, day, user_id, repository, model, user_label, requests, failed, prompt_tokens, cached_tokens, completion_tokens, cost_usd, unpriced)
    SELECT r.org, (r.at AT TIME ZONE 'UTC')::date, coalesce(r."user", c.created_by, 'unknown'), coalesce(c.repository, ''), r.model,
      max(coalesce(c.created_by_label, '')), count(*), count(*) FILTER (WHERE r.failed), sum(r.prompt), sum(r.cached), sum(r.completion), sum(r.cost),
      count(*) FILTER (WHERE NOT r.priced)
    FROM jsonb_to_recordset(p_rows) AS r(org text, conversation uuid, "user" text, model text, prompt bigint, cached bigint, completion bigint, cost numeric, priced boolean, failed boolean, at timestamptz)
    LEFT JOIN app.conversation c ON c.id = r.conversation AND c.org_id = r.org
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (org_id, day, user_id, repository, model) DO UPDATE SET
    user_label = CASE WHEN excluded.user_label = '' THEN u.user_label ELSE excluded.user_label END,
    requests = u.requests + excluded.requests, failed = u.failed + excluded.failed, prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
    cached_tokens = u.cached_tokens + excluded.cached_tokens, completion_tokens = u.completion_tokens + excluded.completion_tokens,
    cost_usd = u.cost_usd + excluded.cost_usd, unpriced = u.unpriced + excluded.unpriced;
  RETURN true;
END $$;

-- Who has which limit and has spent what of it in the cycle of p_now: '' the organization, then its members and whoever else spent or has an override. limit_usd is null where there is none.
-- Sees what the caller sees.
CREATE FUNCTION app.budget_spending(p_org text, p_now timestamptz, p_reset_day integer, p_org_limit numeric, p_member_limit numeric)
RETURNS TABLE (user_id text, overridden boolean, limit_usd numeric, spent_usd numeric)
LANGUAGE sql STABLE AS $$
  WITH spend AS (
    SELECT d.user_id, sum(d.cost_usd) AS spent FROM app.usage_day d, app.budget_cycle(p_reset_day, p_now) c
    WHERE d.org_id = p_org AND d.day >= c.first_day AND d.day < c.next_day GROUP BY d.user_id
  ), person AS (
    SELECT s.user_id FROM spend s UNION SELECT m.user_id FROM app.membership m WHERE m.org_id = p_org UNION SELECT o.user_id FROM app.budget_override o WHERE o.org_id = p_org
  )
  SELECT '', false, p_org_limit, coalesce((SELECT sum(s.spent) FROM spend s), 0)
  UNION ALL
  SELECT p.user_id, o.user_id IS NOT NULL, CASE WHEN o.user_id IS NULL THEN p_member_limit ELSE o.limit_usd END, coalesce(s.spent, 0)
  FROM person p LEFT JOIN spend s ON s.user_id = p.user_id LEFT JOIN app.budget_override o ON o.org_id = p_org AND o.user_id = p.user_id
$$;

-- Brings the stops and the notices of an organization to what its limits and its spending are at p_now. Repeating it changes nothing.
-- Blocked is who has spent the limit or more. One after the other for an organization, by the lock on its budget.
CREATE FUNCTION app.settle_budget(p_org text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  b app.budget;
  v_cycle record;
  v_before text;
  v_after text;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT * INTO b FROM app.budget WHERE org_id = p_org FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT string_agg(concat_ws(' ', s.user_id, s.limit_usd, s.until), ',' ORDER BY s.user_id) INTO v_before FROM app.budget_stop s WHERE s.org_id = p_org;
  SELECT * INTO v_cycle FROM app.budget_cycle(b.reset_day, p_now);
  WITH limited AS MATERIALIZED (
    SELECT s.user_id, s.limit_usd, s.spent_usd FROM app.budget_spending(p_org, p_now, b.reset_day, b.org_limit_usd, b.member_limit_usd) s
    WHERE b.enabled AND s.limit_usd IS NOT NULL
  ), freed AS (
    DELETE FROM app.budget_stop t WHERE t.org_id = p_org AND NOT EXISTS (SELECT 1 FROM limited l WHERE l.user_id = t.user_id AND l.spent_usd >= l.limit_usd)
  ), stopped AS (
    INSERT INTO app.budget_stop AS t (org_id, user_id, limit_usd, until)
      SELECT p_org, l.user_id, l.limit_usd, v_cycle.next_day::timestamp AT TIME ZONE 'UTC' FROM limited l WHERE l.spent_usd >= l.limit_usd
    ON CONFLICT (org_id, user_id) DO UPDATE SET limit_usd = excluded.limit_usd, until = excluded.until
      WHERE (t.limit_usd, t.until) IS DISTINCT FROM (excluded.limit_usd, excluded.until)
  )
  INSERT INTO app.budget_notice (org_id, user_id, cycle_start, cycle_end, threshold, spent_usd, limit_usd)
    SELECT p_org, l.user_id, v_cycle.first_day, v_cycle.next_day, t, l.spent_usd, l.limit_usd
    FROM limited l, unnest(ARRAY[50, 80, 90, 100]) t WHERE l.spent_usd * 100 >= l.limit_usd * t ORDER BY l.user_id, t
  ON CONFLICT (org_id, user_id, cycle_start, threshold) DO NOTHING;
  SELECT string_agg(concat_ws(' ', s.user_id, s.limit_usd, s.until), ',' ORDER BY s.user_id) INTO v_after FROM app.budget_stop s WHERE s.org_id = p_org;
  IF v_before IS DISTINCT FROM v_after THEN UPDATE app.budget SET stops_version = stops_version + 1 WHERE org_id = p_org; END IF;
END $$;

-- Orders and filters of the list of conversations. A batch of events changes updated_at and is no HOT update then; one that only renews the lease still is.
-- cost_usd itself would not do: under row-level security an index is used for a comparison only if that is leakproof, and those of numeric are not.
ALTER TABLE app.conversation ADD COLUMN cost_micros bigint GENERATED ALWAYS AS ((cost_usd * 1000000)::bigint) STORED;
CREATE INDEX conversation_org_id_updated_at_idx ON app.conversation (org_id, updated_at DESC, id DESC);
CREATE INDEX conversation_org_id_cost_micros_idx ON app.conversation (org_id, cost_micros DESC, id DESC);
CREATE INDEX conversation_org_id_created_by_created_at_idx ON app.conversation (org_id, created_by, created_at DESC, id DESC);
CREATE INDEX conversation_org_id_repository_idx ON app.conversation (org_id, repository, created_at DESC, id DESC);
CREATE INDEX conversation_org_id_status_idx ON app.conversation (org_id, status, created_at DESC, id DESC);
