-- slipway: expand-only
-- Access tokens that credential-broker gets with a client's secret (docs/decisions/0065).
ALTER TABLE app.credential
  DROP CONSTRAINT credential_form_check,
  ADD CONSTRAINT credential_form_check
    CHECK (form IN ('bearer', 'basic', 'header', 'oauth-client-credentials', 'aws-sigv4', 'placeholder'));
