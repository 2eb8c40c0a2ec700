import { CreateMcpServer, MAX_MCP_SERVERS, type McpValue, SecretName } from '@slipway/contracts/secrets';
import { sentenceOf, wordsOfIssue } from '../../api/sentence.ts';
import type { Translate } from '../../messages/translate.ts';
import { lineOfFault } from './json-fault.ts';
import { secretNameFor } from './server-entries.ts';

/** One server of a pasted file: what would be kept, or why not. */
export interface PastedServer {
  readonly name: string;
  /** `null`: `problems` say why. */
  readonly server: CreateMcpServer | null;
  /** Values of the file that would be kept as secrets of these names. */
  readonly secrets: ReadonlyArray<{ readonly name: string; readonly value: string }>;
  readonly problems: readonly string[];
  /** What of it is not taken over. */
  readonly left: readonly string[];
  /** Its address or its arguments seem to hold a proof, and those are no secret here. */
  readonly open: boolean;
}

export type Pasted = { readonly servers: readonly PastedServer[] } | { readonly fault: string };

/** Names and looks of what nobody but its server should read. */
const PROOF = /key|token|secret|pass|credential|auth|cookie|session/i;
const TOKEN = /^(?=\S*\d)(?=\S*[A-Za-z])[^\s/:]{20,}$/;
/** A whole value that names a variable, with a word before it at most: `Bearer ${TOKEN}`. */
const REFERENCE = /^([^$]{0,100})\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}$/;
const SCHEME = /^(Bearer|Basic|Token)\s+/i;
/** What Claude, VS Code, Cursor and OpenHands call the ways. */
const TRANSPORTS: Readonly<Record<string, 'stdio' | 'http' | 'sse'>> = {
  stdio: 'stdio',
  http: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
  streamable_http: 'http',
  shttp: 'http',
  sse: 'sse',
};
const KNOWN = new Set([
  'type',
  'transport',
  'command',
  'args',
  'env',
  'url',
  'serverUrl',
  'headers',
  'auth',
  'disabled',
  'enabled',
  'description',
]);

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The servers of a file as Claude, Cursor, VS Code or OpenHands write it: a map by name, under `mcpServers`, `servers`
 * or nothing. What in it looks like a proof is taken for a secret, under a name that no other has. Nothing of what was
 * pasted is in a fault but names.
 */
export function readPasted(
  t: Translate,
  text: string,
  taken: { readonly servers: ReadonlySet<string>; readonly secrets: ReadonlySet<string> },
): Pasted {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { fault: t('adminMcp.invalidJsonSeeLineComments', { line: lineOfFault(text) }) };
  }
  const map = mapOf(json);
  if (map === null) return { fault: t('adminMcp.mcpserversIsMissingAnObject') };
  const names = Object.keys(map);
  if (names.length === 0) return { fault: t('adminMcp.mcpserversIsEmpty') };
  if (names.length > MAX_MCP_SERVERS)
    return { fault: t('adminMcp.theFileHasServersAn', { count: names.length, max: MAX_MCP_SERVERS }) };
  const secretNames = new Set(taken.secrets);
  return { servers: names.map((name) => readServer(t, name, { given: map[name], taken: taken.servers, secretNames })) };
}

function mapOf(json: unknown): Json | null {
  if (!isObject(json)) return null;
  for (const key of ['mcpServers', 'mcp_servers', 'servers']) if (isObject(json[key])) return json[key];
  // A bare map: every value has to look like a server.
  const values = Object.values(json);
  return values.length > 0 && values.every((value) => isObject(value) && ('command' in value || 'url' in value))
    ? json
    : null;
}

function readServer(
  t: Translate,
  name: string,
  {
    given,
    taken,
    secretNames,
  }: { readonly given: unknown; readonly taken: ReadonlySet<string>; readonly secretNames: Set<string> },
): PastedServer {
  const secrets: Array<{ name: string; value: string }> = [];
  const problems: string[] = [];
  const notes: Notes = { secrets, problems, secretNames };
  if (!isObject(given))
    return { name, server: null, secrets, problems: [t('adminMcp.thisIsNotAnObject')], left: [], open: false };
  const left = Object.keys(given).filter((field) => !KNOWN.has(field));
  const url = given['url'] ?? given['serverUrl'];
  const said = given['type'] ?? given['transport'];
  const transport =
    said === undefined || said === null
      ? url === undefined
        ? 'stdio'
        : looksLikeSse(url)
          ? 'sse'
          : 'http'
      : TRANSPORTS[String(said)];
  if (transport === undefined)
    problems.push(t('adminMcp.mustBeStdioHttpOr', { given: given['type'] === undefined ? 'transport' : 'type' }));
  if (taken.has(name.trim())) problems.push(t('adminMcp.aServerWithThisName'));
  const values = (field: 'env' | 'headers'): Record<string, McpValue> => {
    const record = given[field] ?? {};
    if (!isObject(record)) {
      problems.push(t('adminMcp.isNotAnObject', { field }));
      return {};
    }
    return Object.fromEntries(
      Object.entries(record).map(([entry, value]) => [entry, mcpValueOf(t, { server: name, entry, value }, notes)]),
    );
  };
  const enabled = given['disabled'] !== true && given['enabled'] !== false;
  const request =
    transport === 'stdio'
      ? { name, enabled, transport, command: given['command'], args: given['args'] ?? [], env: values('env') }
      : { name, enabled, transport, url, headers: { ...values('headers'), ...authOf(t, name, given['auth'], notes) } };
  const parsed = CreateMcpServer.safeParse(request);
  if (!parsed.success && transport !== undefined)
    for (const issue of parsed.error.issues)
      problems.push(sentenceOf(t, `${issue.path.join('.') || 'it'}: ${wordsOf(t, wordsOfIssue(issue))}`));
  return {
    name,
    server: problems.length === 0 ? (parsed.data ?? null) : null,
    secrets,
    problems: [...new Set(problems)],
    left,
    open: holdsProof(url, given['args']),
  };
}

interface Notes {
  readonly secrets: Array<{ name: string; value: string }>;
  readonly problems: string[];
  /** Those that there are, and those that this file takes. */
  readonly secretNames: Set<string>;
}

function mcpValueOf(
  t: Translate,
  { server, entry, value }: { readonly server: string; readonly entry: string; readonly value: unknown },
  { secrets, problems, secretNames }: Notes,
): McpValue {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    problems.push(t('adminMcp.isNotText', { entry }));
    return { value: '' };
  }
  const text = String(value);
  const reference = REFERENCE.exec(text);
  if (reference !== null && SecretName.safeParse(reference[2]).success)
    return { secret: reference[2] ?? '', prefix: reference[1] ?? '' };
  if (/\$\{(?:input|env):/.test(text)) {
    problems.push(t('adminMcp.promptsForAValueWhich', { entry }));
    return { value: '' };
  }
  const [prefix = ''] = SCHEME.exec(text) ?? [];
  const bare = text.slice(prefix.length);
  if (bare === '' || text.includes('${') || (prefix === '' && !PROOF.test(entry) && !TOKEN.test(text)))
    return { value: text };
  const wanted = secretNameFor(server, entry);
  let name = wanted;
  for (let count = 2; secretNames.has(name); count += 1) name = `${wanted}_${count}`;
  secretNames.add(name);
  secrets.push({ name, value: bare });
  return { secret: name, prefix };
}

/** OpenHands' `auth`: a token, or a strategy with its fields. */
function authOf(t: Translate, server: string, auth: unknown, notes: Notes): Record<string, McpValue> {
  if (auth === undefined || auth === null) return {};
  const fields = isObject(auth) ? auth : { strategy: auth === 'oauth' ? 'oauth2' : 'bearer', value: auth };
  const of = (header: string, text: unknown) => ({
    [header]: mcpValueOf(t, { server, entry: header, value: text }, notes),
  });
  switch (fields['strategy']) {
    case 'none':
      return {};
    case 'bearer':
      return of('Authorization', t('adminMcp.bearer', { fields: String(fields['value'] ?? '').replace(SCHEME, '') }));
    case 'api_key':
      return of(String(fields['header_name'] ?? 'x-api-key'), fields['value']);
    case 'header':
      return Object.assign(
        {},
        ...Object.entries(isObject(fields['headers']) ? fields['headers'] : {}).map(([name, value]) => of(name, value)),
      );
    case 'oauth2':
      notes.problems.push(t('adminMcp.thisServerNeedsABrowser'));
      return {};
    default:
      notes.problems.push(t('adminMcp.thisTypeOfAuthenticationIs'));
      return {};
  }
}

function looksLikeSse(url: unknown): boolean {
  return typeof url === 'string' && URL.canParse(url) && /\/sse\/?$/.test(new URL(url).pathname);
}

function holdsProof(url: unknown, args: unknown): boolean {
  const address = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null;
  if (address !== null && [...address.searchParams].some(([name, value]) => PROOF.test(name) || TOKEN.test(value)))
    return true;
  return (
    Array.isArray(args) &&
    args.some(
      (arg) =>
        typeof arg === 'string' &&
        (/^-.*(?:key|token|secret|password)\b/i.test(arg) ||
          TOKEN.test(arg.replace(/^.*=/, '').replace(/^@[^/]+\//, ''))),
    )
  );
}

const wordsOf = (t: Translate, message: string): string =>
  /expected string, received undefined/i.test(message) ? t('adminMcp.isMissing') : message;
