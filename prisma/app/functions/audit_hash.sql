-- What the hash of an entry covers. A column that is added later must stay out of it: every earlier hash would be
-- wrong.
CREATE OR REPLACE FUNCTION app.audit_hash(p_previous bytea, p_seq bigint, e app.audit_entry) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
  SELECT sha256(p_previous || convert_to(jsonb_build_array(
    p_seq, e.id, e.org_id, e.actor_kind, e.actor_id, e.actor_label, e.via_key, e.action, e.target, e.detail, e.before, e.after, e.request_id, e.address,
    (extract(epoch FROM e.created_at) * 1000)::bigint)::text, 'UTF8'))
$$;
