#!/bin/sh
# Makes .env with secrets of this machine, once; it is never written over. The address: where pods find this machine, for kind the gateway of its Docker network.
set -eu
cd "$(dirname "$0")"
address=${1:?usage: ./make-env.sh ADDRESS}
[ ! -e .env ] || { echo ".env is there already; nothing was changed"; exit 1; }
umask 077
secret() { openssl rand -hex 32; }
{
  echo "HOST_ADDRESS=$address"
  for name in POSTGRES_PASSWORD APP_PASSWORD RUNTIME_PASSWORD GATEWAY_PASSWORD SANDBOX_PASSWORD REDIS_PASSWORD KEYCLOAK_PASSWORD OIDC_CLIENT_SECRET \
    SESSION_SECRET ENCRYPTION_KEY INGEST_SECRET RUNTIME_API_KEY LLM_GATEWAY_MASTER_KEY SANDBOX_ACCESS_SECRET EGRESS_SECRET; do
    echo "$name=$(secret)"
  done
  echo "ACTIVATION_PRIVATE_KEY=$(openssl genpkey -algorithm ed25519 -outform DER | base64 -w0)"
} > .env
# Which hosts sandboxes of the classes packages and allow-list reach; docs/operate/egress.md. None yet.
[ -e egress-rules.json ] || echo '{ "commonHosts": [], "packageHosts": [], "templates": [] }' > egress-rules.json
chmod 644 egress-rules.json
# The apps run as 10001, and write only here.
mkdir -p data/workspaces data/ledger
chown 10001:10001 data/workspaces data/ledger 2>/dev/null || echo "as root: chown 10001:10001 data/workspaces data/ledger"
