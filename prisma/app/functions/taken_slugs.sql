-- Which of these slugs are taken by organizations.
CREATE OR REPLACE FUNCTION app.taken_slugs(p_slugs text[])
RETURNS TABLE (slug text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY SELECT o.slug FROM app.org o WHERE o.slug = ANY (p_slugs);
END $$;
