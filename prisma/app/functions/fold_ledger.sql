-- Adds ledger rows after p_after, up to p_upto, exactly once. False, and nothing is added, when the cursor is not at
-- p_after: another worker was quicker, or this one retries.
-- p_rows: [{org, conversation, user, model, prompt, cached, completion, cost, priced, failed, at}]. Rows of a deleted
-- conversation count without a repository.
-- Takes the system role for its transaction: one page holds calls of many organizations.
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
