-- slipway: expand-only
-- A page of an organization's conversations in one round trip, as the JSON that is answered.

-- For searches: every title of an organization is looked at, in an index, without the conversations themselves.
ALTER TABLE app.conversation ADD COLUMN title_folded text GENERATED ALWAYS AS (lower(title)) STORED;
CREATE INDEX conversation_org_id_titles_idx ON app.conversation (org_id, created_at DESC, id DESC) INCLUDE (title_folded);

-- p_sort: created, updated, cost; the latest or the dearest first, after (p_after, p_after_id), where p_after is a time as text, or millionths of a dollar. Null filters hold nothing back;
-- a repository of '' is none. A search in another order than that of creation looks at the newest 1,000 that it finds.
-- data: ConversationSummary of libs/contracts, p_limit of them at most; last and last_id: the position of the last of them, null when there are no more.
CREATE FUNCTION app.list_conversations(
  p_org text, p_sort text, p_limit integer, p_after text, p_after_id uuid,
  p_status text, p_owner text, p_repository text, p_model text, p_created_after timestamptz, p_created_before timestamptz, p_search text
) RETURNS TABLE (data text, last text, last_id uuid)
-- Never through the rows of every other organization, however small the table seems.
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_key text := CASE p_sort WHEN 'updated' THEN 'updated_at' WHEN 'cost' THEN 'cost_micros' ELSE 'created_at' END;
  v_type text := CASE p_sort WHEN 'cost' THEN 'bigint' ELSE 'timestamptz' END;
  v_ids uuid[];
BEGIN
  PERFORM set_config('app.org', p_org, true);
  IF p_sort = 'created' AND p_after IS NULL AND num_nonnulls(p_status, p_owner, p_repository, p_model, p_created_after, p_created_before, p_search) = 0 THEN
    -- What every screen asks for first keeps its plan.
    v_ids := ARRAY(SELECT c.id FROM app.conversation c WHERE c.org_id = p_org ORDER BY c.created_at DESC, c.id DESC LIMIT p_limit + 1);
  ELSE
    -- Only the filters that are given, so that each has the plan of its own; no value gets into the text.
    EXECUTE 'SELECT ARRAY(SELECT c.id FROM app.conversation c WHERE c.org_id = $1'
      || CASE WHEN p_after IS NULL THEN '' ELSE format(' AND (c.%I, c.id) < ($2::%s, $3)', v_key, v_type) END
      || CASE WHEN p_status IS NULL THEN '' ELSE ' AND c.status = $4' END
      || CASE WHEN p_owner IS NULL THEN '' ELSE ' AND c.created_by = $5' END
      || CASE WHEN p_repository IS NULL THEN '' WHEN p_repository = '' THEN ' AND c.repository IS NULL' ELSE ' AND c.repository = $6' END
      || CASE WHEN p_model IS NULL THEN '' ELSE ' AND c.model = $7' END
      || CASE WHEN p_created_after IS NULL THEN '' ELSE ' AND c.created_at >= $8' END
      || CASE WHEN p_created_before IS NULL THEN '' ELSE ' AND c.created_at < $9' END
      || CASE WHEN p_search IS NULL THEN '' WHEN p_sort = 'created' THEN ' AND c.title_folded LIKE $10'
           ELSE ' AND c.id = ANY (ARRAY(SELECT t.id FROM app.conversation t WHERE t.org_id = $1 AND t.title_folded LIKE $10 ORDER BY t.created_at DESC, t.id DESC LIMIT 1000))' END
      || format(' ORDER BY c.%I DESC, c.id DESC LIMIT $11)', v_key)
      INTO v_ids
      USING p_org, p_after, p_after_id, p_status, p_owner, p_repository, p_model, p_created_after, p_created_before,
        '%' || regexp_replace(lower(p_search), '([\\%_])', '\\\1', 'g') || '%', p_limit + 1;
  END IF;
  RETURN QUERY
    WITH page AS MATERIALIZED (
      SELECT u.n, c.id, c.org_id, c.title, c.status, c.execution_status, c.sandbox_status, c.repository, c.branch, c.model, c.created_by, c.created_by_label, c.head, c.cost_usd,
        c.cost_micros, c.prompt_tokens, c.completion_tokens,
        to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created, to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS updated
      FROM unnest(v_ids[1:p_limit]) WITH ORDINALITY AS u(id, n) JOIN app.conversation c ON c.id = u.id AND c.org_id = p_org
    )
    SELECT '[' || coalesce(string_agg(json_build_object(
        'id', p.id, 'orgId', p.org_id, 'title', p.title, 'status', p.status, 'executionStatus', p.execution_status, 'sandboxStatus', p.sandbox_status,
        'repository', p.repository, 'branch', p.branch, 'model', p.model, 'createdBy', json_build_object('id', p.created_by, 'label', p.created_by_label),
        'createdAt', p.created, 'updatedAt', p.updated, 'head', p.head, 'costUsd', trim_scale(p.cost_usd)::text,
        'promptTokens', p.prompt_tokens, 'completionTokens', p.completion_tokens)::text, ',' ORDER BY p.n), '') || ']',
      max(CASE WHEN p.n = p_limit AND cardinality(v_ids) > p_limit
        THEN CASE p_sort WHEN 'cost' THEN p.cost_micros::text WHEN 'updated' THEN p.updated ELSE p.created END END),
      CASE WHEN cardinality(v_ids) > p_limit THEN v_ids[p_limit] END
    FROM page p;
END $$;
