import {
  CreateMcpServer,
  type McpServer,
  type McpValue,
  SecretName,
  SecretValue,
  UpdateMcpServer,
} from '@slipway/contracts/secrets';
import { z } from 'zod';
import type { Translate } from '../../messages/translate.ts';

/** A header or a variable as it is edited. Of the last fields only those of its `kind` count. */
export interface Entry {
  /** Of the row, not of the header. */
  readonly id: string;
  readonly name: string;
  /** `fresh`: a secret that is kept together with the server. */
  readonly kind: 'text' | 'secret' | 'fresh';
  readonly text: string;
  /** What stands before the secret. */
  readonly prefix: string;
  /** Of a fresh one: empty as long as nobody named it otherwise than `secretNameFor`. */
  readonly secret: string;
  readonly secretValue: string;
}

export interface ServerValues {
  readonly name: string;
  readonly transport: McpServer['transport'];
  readonly enabled: boolean;
  readonly command: string;
  /** One a line. */
  readonly args: string;
  readonly url: string;
  readonly entries: readonly Entry[];
}

export const EMPTY_ENTRY: Omit<Entry, 'id'> = {
  name: '',
  kind: 'text',
  text: '',
  prefix: '',
  secret: '',
  secretValue: '',
};

function entriesOf(values: Readonly<Record<string, McpValue>>): Entry[] {
  return Object.entries(values).map(([name, value]) => ({
    ...EMPTY_ENTRY,
    id: name,
    name,
    ...('secret' in value
      ? { kind: 'secret' as const, secret: value.secret, prefix: value.prefix }
      : { text: value.value }),
  }));
}

export function valuesOf(server: McpServer | null): ServerValues {
  if (server === null)
    return { name: '', transport: 'http', enabled: true, command: '', args: '', url: '', entries: [] };
  const { name, transport, enabled } = server;
  return server.transport === 'stdio'
    ? {
        name,
        transport,
        enabled,
        command: server.command,
        args: server.args.join('\n'),
        url: '',
        entries: entriesOf(server.env),
      }
    : { name, transport, enabled, command: '', args: '', url: server.url, entries: entriesOf(server.headers) };
}

/** A row that nothing was typed into. */
const isBlank = ({ name, text, secretValue }: Entry): boolean =>
  name.trim() === '' && text === '' && secretValue === '';

/** The secrets that are to be kept first. */
export function freshSecrets({ name: server, entries }: ServerValues): Array<{ name: string; value: string }> {
  return entries.flatMap((entry) =>
    entry.kind === 'fresh' && !isBlank(entry) ? [{ name: nameOfSecret(server, entry), value: entry.secretValue }] : [],
  );
}

/** What is wrong with the rows that no schema of a server sees: it would lose one of two of a name. */
function faultsOf(t: Translate, { name: server, entries }: ServerValues): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  const fresh = new Set<string>();
  for (const entry of entries) {
    if (isBlank(entry)) continue;
    const name = entry.name.trim();
    if (name === '') faults.push(t('adminMcp.oneOfThemHasNo'));
    else if (seen.has(name.toLowerCase())) faults.push(t('adminMcp.isUsedTwice', { name }));
    seen.add(name.toLowerCase());
    if (entry.kind === 'secret' && entry.secret === '') faults.push(t('adminMcp.chooseASecret', { name }));
    if (entry.kind !== 'fresh') continue;
    const secret = SecretName.safeParse(nameOfSecret(server, entry));
    if (fresh.has(nameOfSecret(server, entry))) faults.push(t('adminMcp.sameSecretName', { name }));
    fresh.add(nameOfSecret(server, entry));
    if (!secret.success)
      faults.push(
        t('adminMcp.wrongSecretName', { name, why: secret.error.issues[0]?.message ?? t('adminMcp.isNotValid') }),
      );
    if (!SecretValue.safeParse(entry.secretValue).success) faults.push(t('adminMcp.secretNeedsValue', { name }));
  }
  return faults;
}

function requestOf({ name, transport, enabled, command, args, url, entries }: ServerValues): object {
  const record = Object.fromEntries(
    entries.filter((entry) => !isBlank(entry)).map((entry) => [entry.name.trim(), mcpValueOf(name, entry)]),
  );
  return transport === 'stdio'
    ? { name, enabled, transport, command, args: args.split('\n').filter((line) => line !== ''), env: record }
    : { name, enabled, transport, url: url.trim(), headers: record };
}

function mcpValueOf(server: string, entry: Entry): McpValue {
  return entry.kind === 'text' ? { value: entry.text } : { secret: nameOfSecret(server, entry), prefix: entry.prefix };
}

/** The secret that a row names. */
export function nameOfSecret(server: string, { kind, name, secret }: Entry): string {
  return secret.trim() !== '' || kind !== 'fresh' ? secret.trim() : secretNameFor(server, name);
}

const edited = (t: Translate) =>
  z.custom<ServerValues>().superRefine((values, context) => {
    for (const message of faultsOf(t, values).slice(0, 1))
      context.addIssue({ code: 'custom', path: ['entries'], message });
  });
/** From what is typed to the request; what is wrong with it stands at the names of the fields. */
export const newServer = (t: Translate) => edited(t).transform(requestOf).pipe(CreateMcpServer);
export const changedServer = (t: Translate) =>
  edited(t)
    .transform((values) => {
      const { transport: _, ...change } = requestOf(values) as { transport: unknown };
      return change;
    })
    .pipe(UpdateMcpServer);

/** A name for the secret of a header: `GitHub`, `Authorization` → `GITHUB_AUTHORIZATION`. */
export function secretNameFor(server: string, entry: string): string {
  const plain = `${server}_${entry}`
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase()
    .slice(0, 100);
  const name = /^[0-9]/.test(plain) || plain === '' ? `MCP_${plain}` : plain;
  return SecretName.safeParse(name).success ? name : `MCP_${name}`;
}
