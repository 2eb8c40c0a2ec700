-- A page of an organization's conversations in one round trip, as the JSON of the response.
-- p_sort: created, updated, cost; the latest or most expensive first, after (p_after, p_after_id). p_after is a time
-- as text, or millionths of a dollar. Null filters do not apply; a repository of '' is none.
-- p_shown: `open` (neither archived nor deleted), `archived`, `all` of these, `deleted`.
-- p_pinned_by: only what this user has pinned.
-- A search in another order than that of creation covers the newest 1,000 matches.
-- data: ConversationSummary of libs/contracts, p_limit of them, 200 at most. last and last_id: the position of the
-- last, null when there are no more.
CREATE OR REPLACE FUNCTION app.list_conversations(
  p_org text, p_sort text, p_limit integer, p_after text, p_after_id uuid,
  p_status text, p_owner text, p_repository text, p_model text, p_created_after timestamptz, p_created_before timestamptz, p_search text,
  p_shown text, p_tag text, p_pinned_by text
) RETURNS TABLE (data text, last text, last_id uuid)
-- Never through the rows of every other organization, however small the table seems.
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_key text := CASE p_sort WHEN 'updated' THEN 'updated_at' WHEN 'cost' THEN 'cost_micros' ELSE 'created_at' END;
  v_type text := CASE p_sort WHEN 'cost' THEN 'bigint' ELSE 'timestamptz' END;
  v_ids uuid[];
BEGIN
  PERFORM set_config('app.org', p_org, true);
  IF p_shown = 'deleted' THEN PERFORM set_config('app.deleted', 'shown', true); END IF;
  IF p_sort = 'created' AND p_after IS NULL AND num_nonnulls(p_status, p_owner, p_repository, p_model, p_created_after, p_created_before, p_search, p_tag, p_pinned_by) = 0 AND p_shown = 'open' THEN
    -- What every screen asks for first: each row is found once, and by a plan that is kept, because the inner bound tells the planner that there are few. Rows are aggregated as they come.
    v_ids := ARRAY(
      SELECT near.id FROM (SELECT c.id FROM app.conversation c WHERE c.org_id = p_org AND c.archived_at IS NULL AND c.deleted_at IS NULL ORDER BY c.created_at DESC, c.id DESC LIMIT 201) near LIMIT p_limit + 1);
    SELECT string_agg(page.summary, ',') INTO data FROM (
      SELECT near.summary
      FROM (SELECT app.conversation_summary(c) AS summary FROM app.conversation c WHERE c.org_id = p_org AND c.archived_at IS NULL AND c.deleted_at IS NULL ORDER BY c.created_at DESC, c.id DESC LIMIT 200) near LIMIT p_limit) page;
  ELSE
    -- Only the filters that are given, so that each has the plan of its own; no value gets into the text.
    EXECUTE 'SELECT ARRAY(SELECT c.id FROM app.conversation c WHERE c.org_id = $1'
      || CASE p_shown WHEN 'open' THEN ' AND c.archived_at IS NULL AND c.deleted_at IS NULL' WHEN 'archived' THEN ' AND c.archived_at IS NOT NULL AND c.deleted_at IS NULL'
           WHEN 'deleted' THEN ' AND c.deleted_at IS NOT NULL' ELSE ' AND c.deleted_at IS NULL' END
      || CASE WHEN p_after IS NULL THEN '' ELSE format(' AND (c.%I, c.id) < ($2::%s, $3)', v_key, v_type) END
      || CASE WHEN p_status IS NULL THEN '' ELSE ' AND c.status = $4' END
      || CASE WHEN p_owner IS NULL THEN '' ELSE ' AND c.created_by = $5' END
      || CASE WHEN p_repository IS NULL THEN '' WHEN p_repository = '' THEN ' AND c.repository IS NULL' ELSE ' AND c.repository = $6' END
      || CASE WHEN p_model IS NULL THEN '' ELSE ' AND c.model = $7' END
      || CASE WHEN p_created_after IS NULL THEN '' ELSE ' AND c.created_at >= $8' END
      || CASE WHEN p_created_before IS NULL THEN '' ELSE ' AND c.created_at < $9' END
      || CASE WHEN p_tag IS NULL THEN '' ELSE ' AND c.tags <> ''{}'' AND c.tags @> ARRAY[$12]' END
      || CASE WHEN p_pinned_by IS NULL THEN '' ELSE ' AND c.id = ANY (ARRAY(SELECT p.conversation_id FROM app.conversation_pin p WHERE p.org_id = $1 AND p.user_id = $13))' END
      || CASE WHEN p_search IS NULL THEN '' WHEN p_sort = 'created' THEN ' AND c.title_folded LIKE $10'
           ELSE ' AND c.id = ANY (ARRAY(SELECT t.id FROM app.conversation t WHERE t.org_id = $1 AND t.title_folded LIKE $10 ORDER BY t.created_at DESC, t.id DESC LIMIT 1000))' END
      || format(' ORDER BY c.%I DESC, c.id DESC LIMIT $11)', v_key)
      INTO v_ids
      USING p_org, p_after, p_after_id, p_status, p_owner, p_repository, p_model, p_created_after, p_created_before,
        '%' || regexp_replace(lower(p_search), '([\\%_])', '\\\1', 'g') || '%', p_limit + 1, p_tag, p_pinned_by;
    SELECT string_agg(app.conversation_summary(c), ',' ORDER BY u.n) INTO data
      FROM unnest(v_ids[1:p_limit]) WITH ORDINALITY AS u(id, n) JOIN app.conversation c ON c.id = u.id AND c.org_id = p_org;
  END IF;
  data := '[' || coalesce(data, '') || ']';
  IF cardinality(v_ids) > p_limit THEN
    last_id := v_ids[p_limit];
    SELECT CASE p_sort WHEN 'cost' THEN c.cost_micros::text
        ELSE to_char((CASE p_sort WHEN 'updated' THEN c.updated_at ELSE c.created_at END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END
      INTO last FROM app.conversation c WHERE c.id = last_id AND c.org_id = p_org;
  END IF;
  RETURN NEXT;
END $$;

-- As releases before tags and archives call it.
CREATE OR REPLACE FUNCTION app.list_conversations(
  p_org text, p_sort text, p_limit integer, p_after text, p_after_id uuid,
  p_status text, p_owner text, p_repository text, p_model text, p_created_after timestamptz, p_created_before timestamptz, p_search text
) RETURNS TABLE (data text, last text, last_id uuid)
LANGUAGE sql AS $$
  SELECT * FROM app.list_conversations(p_org, p_sort, p_limit, p_after, p_after_id, p_status, p_owner, p_repository, p_model, p_created_after, p_created_before, p_search,
    'open', NULL, NULL)
$$;
