-- ConversationSummary of libs/contracts, except for its pull request, and the pin and read mark of a user: the query of
-- a page replaces these.
-- `concat` looks up once a statement how a column is written, `json_build_object` once a value. All text goes through
-- `to_json`, which escapes; what is written as it is has a type that needs no escape.
CREATE OR REPLACE FUNCTION app.conversation_summary(c app.conversation) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat('{"id":"', c.id, '","orgId":', to_json(c.org_id), ',"title":', to_json(c.title), ',"status":', to_json(c.status),
    ',"executionStatus":', to_json(c.execution_status), ',"sandboxStatus":', to_json(c.sandbox_status),
    ',"repository":', coalesce(to_json(c.repository)::text, 'null'), ',"branch":', coalesce(to_json(c.branch)::text, 'null'), ',"model":', to_json(c.model),
    ',"createdBy":{"id":', to_json(c.created_by), ',"label":', to_json(c.created_by_label),
    '},"createdAt":"', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    '","updatedAt":"', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    '","head":', c.head, ',"costUsd":"', trim_scale(c.cost_usd), '","promptTokens":', c.prompt_tokens, ',"completionTokens":', c.completion_tokens,
    ',"stopReason":', CASE WHEN c.status IN ('stopped', 'paused', 'failed', 'waiting') AND (c.halted_by IS NOT NULL OR c.status_state->'failure'->>'code' IS NOT NULL)
      THEN json_build_object('code', c.status_state->'failure'->>'code', 'by', CASE WHEN c.status IN ('stopped', 'paused') THEN c.halted_by END)::text ELSE 'null' END,
    ',"tags":', CASE WHEN c.tags = '{}' THEN '[]' ELSE to_json(c.tags)::text END,
    ',"archivedAt":', coalesce('"' || to_char(c.archived_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null'),
    ',"deletedAt":', coalesce('"' || to_char(c.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null'),
    ',"pinned":false,"pullRequest":null,"readSeq":0}')
$$;
