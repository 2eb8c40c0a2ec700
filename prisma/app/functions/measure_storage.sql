-- What a conversation holds, counted from its rows.
CREATE OR REPLACE FUNCTION app.measure_storage(p_org text, p_conversation uuid) RETURNS TABLE (log_bytes bigint, blob_bytes bigint, snapshot_bytes bigint)
LANGUAGE sql STABLE AS $$
  SELECT
    (SELECT coalesce(sum(octet_length(e.event::text) + app.event_overhead()), 0)::bigint FROM app.event e WHERE e.org_id = p_org AND e.conversation_id = p_conversation)
      + (SELECT coalesce(sum(octet_length(m.text) + app.event_overhead()), 0)::bigint FROM app.inbox_message m WHERE m.org_id = p_org AND m.conversation_id = p_conversation),
    (SELECT coalesce(sum(b.bytes), 0)::bigint FROM app.conversation_blob r JOIN app.blob b ON b.org_id = r.org_id AND b.sha256 = r.sha256
      WHERE r.org_id = p_org AND r.conversation_id = p_conversation)
      + (SELECT coalesce(sum(a.bytes), 0)::bigint FROM app.attachment a WHERE a.org_id = p_org AND a.conversation_id = p_conversation),
    (SELECT coalesce(sum(octet_length(s.changes::text) + octet_length(s.patch)), 0)::bigint FROM app.workspace_snapshot s WHERE s.org_id = p_org AND s.conversation_id = p_conversation)
$$;
