import { type OpenHandsOperation, operationsOfOpenHands } from '../../apps/agent-server/dist/openhands/operations.js';
import { runtimeOperations } from '../../apps/runtime-api/dist/runtimes/openhands-operations.js';
import { type GeneratedFile, NOTICE } from './generated-file.ts';

const STATES: Readonly<Record<OpenHandsOperation['state'], string>> = {
  same: 'same',
  more: 'same, with additions',
  differs: 'differs',
  'not-here': 'not here (501)',
};

/** `docs/compatibility.md`: what OpenHands' clients find here, route by route. The tables are what tests hold against the routes. */
export function compatibility(): GeneratedFile {
  const count = (state: OpenHandsOperation['state']): number => operationsOfOpenHands.filter((operation) => operation.state === state).length;
  const content = `<!-- ${NOTICE} -->
# Compatibility with OpenHands

\`tests/openhands-sdk\` lets \`openhands-sdk\`, \`openhands-workspace\` and \`openhands-tools\` 1.58.0 from PyPI, unmodified, drive our agent-server and runtime-api: conversations with tools, streaming,
confirmation and rejection, secrets, forks, questions beside the task, condensing, pause, interrupt, connections that break, titles, attaching, commands, 100 MB of upload and download, git, skills,
and a workspace that runtime-api starts, pauses, resumes and stops. Every event of those conversations is read by the SDK's own classes, which refuse a field that they do not know.

What is not offered is refused with 501, \`feature.not-here\` and a sentence on what takes its place. Failures are problem documents (\`errors/README.md\`) in place of \`{"detail": …}\`; \`detail\` is in them, too.

## What differs on purpose

| what | here |
|---|---|
| times | UTC with \`Z\`; theirs of events are local times without a zone. Those are read as UTC where a client sends one |
| positions | a page of events begins at an event's id; the app's own streams have sequence numbers without gaps |
| the log | an event is seen by anyone only after the disk holds it. The app has the log by acknowledged batches (\`ingest\`), in place of webhooks that drop what is not taken |
| sockets | history and live events come in order, each once; a slow reader is told to connect again (1013) and misses nothing; 1,000 subscribers a conversation. Compression that a client offers is declined |
| events of ours | \`execution_status\`, \`stats\` and the like as theirs, beside keys of ours in \`ConversationStateUpdateEvent\`; fields of ours are left out where its SDK reads, and an action that OpenHands has no class for is shown as \`MCPToolAction\` with its fields as \`data\` |
| tools | the model is offered those that the agent of the start names and that are known here; all of ours when it names none |
| the model's key | is never handed back, and neither are other proofs of a start |
| activation | a sandbox belongs to nobody until one signed claim: before it every route but probes answers 503 |

## agent-server

${operationsOfOpenHands.length} operations: ${count('same')} the same, ${count('more')} the same with additions, ${count('differs')} that differ, ${count('not-here')} that are not here. Header \`X-Session-API-Key\`, or a bearer.

| operation | state | |
|---|---|---|
${operationsOfOpenHands.map(({ method, path, state, note }) => `| \`${method} ${path}\` | ${STATES[state]} | ${note} |`).join('\n')}

Beside them: \`GET /openapi.json\` (every route of this server), \`POST /api/slipway/secrets\` and \`/api/slipway/conversations/{id}/settings\`, \`…/revoke_rule\` (the app's), \`/api/archive/…\` (the platform's), \`GET /api/git/patch\`.

| socket | state | |
|---|---|---|
| \`/sockets/events/{conversation_id}\` | same | First frame \`{"type":"auth","session_api_key":…}\` within 10 s, or the header; \`resend_mode=all\\|since\`, \`after_timestamp\`. \`full_state\` when the subscription stands and when a run is over. Closes with 4001, 4004, 1013 |
| \`/sockets/bash-events\` | same | The same proof |

## runtime-api

Header \`X-API-Key\`. Called by the SDK's \`APIRemoteWorkspace\`, by the app server of V1 and by the \`RemoteRuntime\` of V0.

| operation | callers | state | |
|---|---|---|---|
${runtimeOperations.map(({ method, path, state, note, callers }) => `| \`${method} ${path}\` | ${callers.join(', ')} | ${STATES[state]} | ${note} |`).join('\n')}

\`work_hosts\` is empty: ports of a sandbox are reached through sandbox-gateway, by a grant. The server that V0's client expects inside of its sandbox (\`/execute_action\` with V0's actions) is not here.

## The app

| what | state | |
|---|---|---|
| \`/api/v1/sandboxes\` (\`OpenHandsCloudWorkspace\`): \`POST\`, \`GET ?id=\`, \`POST /{id}/pause\`, \`/resume\`, \`DELETE /{id}\` | same, with additions | A sandbox is that of a conversation without a task, and \`id\` is the conversation's. Its address is an origin of sandbox-gateway, which needs its wildcard name; the key is the caller's own and lasts twelve hours. \`DELETE\` gives the sandbox back; the conversation stays. That of somebody else only an admin may delete (403). \`sandbox_spec_id\` changes nothing; \`GET /search\` lists those that the caller started, without their keys. \`/workspace\` is the workspace on every backend, for files and commands alike, so its default \`working_dir\` works; it is there once something was put into it |
| \`GET /api/v1/users/me\`, \`GET /api/v1/sandboxes/{id}/settings/secrets\` (its \`get_llm\`, \`get_secrets\`, \`get_mcp_config\`) | differs | The model's name and the names of secrets. The model's key and address, and the values, are in the sandbox: agent-server gives them to a conversation that names neither, and knows the references of \`get_secrets\` as its own. No value is ever read out, and tool servers come with the app's own conversations |
| \`/api/organizations/{org}/switch\` | not here | Nothing remembers a current organization: it is in the address, in \`X-Org-Id\`, or the key's |
| \`DELETE /api/organizations/{org}\` | not here | \`DELETE /api/v1/orgs/{org}\` asks for its name |
| \`/api/organizations/{org}/members/financial\` | not here | What each has spent is in \`/api/v1/orgs/{org}/members\` and \`…/budgets\` |
| names of images | differs | \`GET /api/warm-runtime-configs\` of runtime-api lists the templates (\`slipway-sandbox\` unless the installation has its own); a start with another name is a 422 that lists them |
| webhooks of a sandbox (\`/api/v1/webhooks\`) | differs | \`/ingest/v1\`, acknowledged, fenced by epoch |

Addresses of sandboxes on your own machine end in \`.localhost\`.
Browsers resolve such names to the machine itself, as RFC 6761 says; Python and some systems' resolvers do not.
There, set \`SANDBOX_GATEWAY_URL\` to a name with a wildcard record for 127.0.0.1, or give the client the address by path:
\`http://localhost:3006/<conversation>/8000\` with the key in \`X-Session-API-Key\`.
`;
  return { path: 'docs/compatibility.md', content };
}
