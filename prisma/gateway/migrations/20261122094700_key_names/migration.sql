-- slipway: expand-only
-- The management routes find a key by its SHA-256 and by its alias.
CREATE INDEX virtual_key_hash_idx ON gateway.virtual_key (hash);
CREATE INDEX virtual_key_alias_idx ON gateway.virtual_key (alias) WHERE alias IS NOT NULL;
