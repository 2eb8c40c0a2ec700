-- The account of an identity. The first sign-in also makes the personal organization and its owner, in the same
-- transaction.
-- Concurrent sign-ins of one identity wait for each other on the account's unique key and make one account and one
-- organization.
-- A name or e-mail address that the identity provider has changed is taken over.
CREATE OR REPLACE FUNCTION app.sign_in(p_issuer text, p_subject text, p_name text, p_email text, p_user text, p_org text, p_slug text)
RETURNS TABLE (user_id text, created boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_user text;
  v_slug text := p_slug;
  v_try integer := 1;
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  INSERT INTO app.user_account AS a (id, issuer, subject, name, email) VALUES (p_user, p_issuer, p_subject, p_name, p_email)
    ON CONFLICT (issuer, subject) DO UPDATE SET name = excluded.name, email = excluded.email
    RETURNING a.id INTO v_user;
  IF v_user <> p_user THEN
    RETURN QUERY SELECT v_user, false;
    RETURN;
  END IF;
  LOOP
    INSERT INTO app.org (id, slug, name, kind) VALUES (p_org, v_slug, p_name, 'personal') ON CONFLICT (slug) DO NOTHING;
    EXIT WHEN FOUND;
    v_try := v_try + 1;
    v_slug := p_slug || '-' || v_try;
  END LOOP;
  INSERT INTO app.membership (org_id, user_id, role) VALUES (p_org, p_user, 'owner');
  INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, action, target, detail)
    VALUES (gen_random_uuid(), p_org, 'user', p_user, 'org.create', p_org, jsonb_build_object('kind', 'personal', 'slug', v_slug));
  RETURN QUERY SELECT p_user, true;
END $$;
