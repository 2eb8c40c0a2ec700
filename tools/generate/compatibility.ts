import { type OpenHandsOperation, operationsOfOpenHands } from '../../apps/agent-server/dist/openhands/operations.js';
import { runtimeOperations } from '../../apps/runtime-api/dist/sessions/openhands-operations.js';
import { type GeneratedFile, NOTICE } from './generated-file.ts';
import { prose } from './prose.ts';

const STATES: Readonly<Record<OpenHandsOperation['state'], string>> = {
  same: 'same',
  more: 'same, with additions',
  differs: 'differs',
  'not-here': 'not here (501)',
};

/** What is another than OpenHands' by intent, in sentences. */
const DIFFERENCES: readonly (readonly [string, string])[] = [
  [
    'Times',
    'UTC with `Z`. Theirs of events are local times without a zone; those are read as UTC where a client sends one.',
  ],
  ['Positions', "A page of events begins at an event's id. The app's own streams have sequence numbers without gaps."],
  [
    'The log',
    'Nobody sees an event before the disk holds it. The app gets the log by acknowledged batches (`ingest`), in place of webhooks that drop what is not taken.',
  ],
  [
    'Sockets',
    'History and live events come in order, each once. A slow reader is asked to connect again (1013) and misses nothing. A conversation has up to 1,000 subscribers. Compression that a client offers is declined.',
  ],
  [
    'Events of ours',
    '`execution_status`, `stats` and the like are as theirs, beside keys of ours in `ConversationStateUpdateEvent`. Fields of ours are left out where its SDK reads. An action that OpenHands has no class for is shown as `MCPToolAction` with its fields as `data`.',
  ],
  [
    'Tools',
    'The model is offered those that the agent of the start names and that are known here; all of ours when it names none.',
  ],
  ["The model's key", 'It is never handed back, and neither is any other credential of a start.'],
  [
    'Activation',
    'A sandbox belongs to nobody until one signed claim. Before it every route except probes answers 503.',
  ],
];

/** What is to say of the app's routes, in sentences. */
const APP: readonly (readonly [string, string])[] = [
  [
    '`/api/v1/sandboxes`',
    "`POST`, `GET ?id=`, `POST /{id}/pause`, `/resume` and `DELETE /{id}`. A sandbox is that of a conversation without a task, and `id` is the conversation's. Its address is an origin of sandbox-gateway, which needs its wildcard name; the key is the caller's own and lasts twelve hours. `DELETE` gives the sandbox back; the conversation stays. That of another user only an admin may delete (403). `sandbox_spec_id` changes nothing. `GET /search` lists those that the caller started, without their keys. `/workspace` is the workspace on every backend, for files and commands alike, so its default `working_dir` works; it is there once something was put into it.",
  ],
  [
    '`get_llm`, `get_secrets`, `get_mcp_config`',
    "They get the model's name and the names of secrets. The model's key and address, and the values, are in the sandbox: agent-server gives them to a conversation that names neither, and knows the references of `get_secrets` as its own. No value is ever read out. Tool servers come with the app's own conversations.",
  ],
  ['`…/switch`', "There is no current organization to switch: it is in the address, in `X-Org-Id`, or the key's."],
  ['`DELETE /api/organizations/{org}`', '`DELETE /api/v1/orgs/{org}` asks for its name.'],
  ['`…/members/financial`', "Each member's spending is in `/api/v1/orgs/{org}/members` and `…/budgets`."],
  [
    'Names of images',
    '`GET /api/warm-runtime-configs` of runtime-api lists the templates (`slipway-sandbox` unless the installation has its own). A start with another name is a 422 that lists them.',
  ],
  ['Webhooks of a sandbox', '`/ingest/v1`, acknowledged and fenced by epoch, takes their place.'],
];

/**
 * `docs/compatibility.md`: what OpenHands' clients find here, route by route. The tables are what tests hold against
 * the routes.
 */
export function compatibility(): GeneratedFile {
  const count = (state: OpenHandsOperation['state']): number =>
    operationsOfOpenHands.filter((operation) => operation.state === state).length;
  const content = `<!-- ${NOTICE} -->
# Compatibility with OpenHands

For whoever drives Slipway with OpenHands' clients: what they find here, route by route.

${prose(`\`tests/openhands-sdk\` lets \`openhands-sdk\`, \`openhands-workspace\` and \`openhands-tools\` 1.58.0 from PyPI, unmodified, drive our agent-server and runtime-api. It covers conversations with tools, streaming, confirmation and rejection, secrets, forks, questions beside the task and condensing. It covers pause, interrupt, broken connections, titles, attaching, commands, 100 MB of upload and download, git and skills. It also covers a workspace that runtime-api starts, pauses, resumes and stops. The SDK's own classes read every event of those conversations; they refuse a field that they do not know.`)}

${prose(`What is not offered is refused with 501, \`feature.not-here\` and a sentence on what takes its place. Failures are problem documents ([errors](errors/README.md)) in place of \`{"detail": …}\`. \`detail\` is in them, too.`)}

## What differs on purpose

${DIFFERENCES.map(([what, text]) => `- ${prose(`**${what}**: ${text}`, '  ')}`).join('\n')}

## agent-server

${prose(`${operationsOfOpenHands.length} operations: ${count('same')} the same, ${count('more')} the same with additions, ${count('differs')} that differ, ${count('not-here')} that are not here. The credential is the header \`X-Session-API-Key\`, or a bearer token.`)}

| operation | state | |
|---|---|---|
${operationsOfOpenHands.map(({ method, path, state, note }) => `| \`${method} ${path}\` | ${STATES[state]} | ${note} |`).join('\n')}

Beside them:

- \`GET /openapi.json\`: every route of this server
- \`POST /api/slipway/secrets\`: the app's
- \`/api/slipway/conversations/{id}/settings\`, \`…/revoke_rule\`: the app's
- \`/api/archive/…\`: the platform's
- \`GET /api/git/patch\`

| socket | state |
|---|---|
| \`/sockets/events/{conversation_id}\` | same |
| \`/sockets/bash-events\` | same |

Both authenticate by the first frame \`{"type":"auth","session_api_key":…}\` within 10 s,
or by the header.
The first takes \`resend_mode=all|since\` and \`after_timestamp\`.
It sends \`full_state\` when the subscription begins and when a run ends,
and closes with 4001, 4004 or 1013.

## runtime-api

The credential is the header \`X-API-Key\`.
The SDK's \`APIRemoteWorkspace\`, the app server of V1 and the \`RemoteRuntime\` of V0 call it.

| operation | callers | state | |
|---|---|---|---|
${runtimeOperations.map(({ method, path, state, note, callers }) => `| \`${method} ${path}\` | ${callers.join(', ')} | ${STATES[state]} | ${note} |`).join('\n')}

\`work_hosts\` is empty: ports of a sandbox are reached through sandbox-gateway, by a grant.
The server that V0's client expects inside its sandbox (\`/execute_action\` with V0's actions) is not
here.

## The app

| what | state |
|---|---|
| \`/api/v1/sandboxes\` (\`OpenHandsCloudWorkspace\`) | same, with additions |
| \`GET /api/v1/users/me\`, \`GET /api/v1/sandboxes/{id}/settings/secrets\` | differs |
| \`/api/organizations/{org}/switch\` | not here |
| \`DELETE /api/organizations/{org}\` | not here |
| \`/api/organizations/{org}/members/financial\` | not here |
| names of images | differs |
| webhooks of a sandbox (\`/api/v1/webhooks\`) | differs |

${APP.map(([what, text]) => `- ${prose(`**${what}**: ${text}`, '  ')}`).join('\n')}

### Addresses of sandboxes on your own computer

They end in \`.localhost\`.
Browsers resolve such names to the computer itself, as RFC 6761 says;
Python and some systems' resolvers do not.
There, set \`SANDBOX_GATEWAY_URL\` to a name with a wildcard record for 127.0.0.1,
or give the client the address by path: \`http://localhost:3006/<conversation>/8000\` with the key in
\`X-Session-API-Key\`.

See also: [LiteLLM's routes](compatibility-litellm.md), [API keys](api-keys.md),
[the REST API](api/README.md).
`;
  return { path: 'docs/compatibility.md', content };
}
