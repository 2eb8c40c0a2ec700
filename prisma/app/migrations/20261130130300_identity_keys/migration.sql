-- slipway: expand-only
-- Workload identity: the keys that sign tokens of conversations, and forms of credentials that the column does not know.

-- Of the installation and of no organization.
CREATE TABLE app.identity_key (
  -- The thumbprint of the public key (RFC 7638): `kid`.
  id text PRIMARY KEY,
  public_key jsonb NOT NULL,
  -- The private key under the master key, for `identity-key:<id>`.
  sealed bytea NOT NULL,
  -- It is published before, and signs until the next one does.
  signs_from timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.identity_key TO slipway_app_system;

-- `use` says the form; this column is not written any more.
ALTER TABLE app.credential ALTER COLUMN form DROP NOT NULL;
