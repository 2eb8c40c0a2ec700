import type { McpConfig } from '@slipway/contracts/agent';

/** Names of headers and variables whose values are credentials. */
const PROOF = /key|token|secret|pass|credential|auth|cookie|session/i;
/** Shape of a credential under any name: long, without blanks, of letters and digits. */
const TOKEN = /^(?=\S*\d)(?=\S*[A-Za-z])[^\s/:]{20,}$/;
const MIN_LENGTH = 8;

/**
 * Parts of server settings that are never returned, in the forms in which they are sent. A reference to a secret is
 * none: the secret is known by itself.
 */
export function credentialsIn(config: McpConfig): string[] {
  const found: string[] = [];
  const note = (value: string | null | undefined): void => {
    if (value == null || value.includes('${')) return;
    const bare = value.replace(/^(?:Bearer|Basic|Token)\s+/i, '');
    for (const each of [value, bare]) if (each.length >= MIN_LENGTH) found.push(each);
  };
  for (const { env, headers, auth, url, args } of Object.values(config)) {
    for (const value of [...inAddress(url ?? ''), ...inArguments(args ?? [])]) if (TOKEN.test(value)) note(value);
    for (const [name, value] of Object.entries({ ...env, ...headers }))
      if (PROOF.test(name) || TOKEN.test(value)) note(value);
    if (typeof auth === 'string') {
      if (auth !== 'oauth') note(auth);
    } else if (auth?.strategy === 'header') for (const value of Object.values(auth.headers)) note(value);
    else if (auth?.strategy === 'bearer' || auth?.strategy === 'api_key') note(auth.value);
    else if (auth?.strategy === 'basic') {
      note(auth.password);
      note(Buffer.from(`${auth.username}:${auth.password ?? ''}`).toString('base64'));
    }
  }
  return found;
}

/** Parts of an address that may be credentials: many servers take theirs so. */
function inAddress(text: string): string[] {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url === null ? [] : [url.password, ...url.searchParams.values(), ...url.pathname.split('/')];
}

/** Values of options whose names say that they are credentials; a package may be called like a token. */
function inArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const [name = '', ...value] = arg.split('=');
    if (!PROOF.test(name)) return [];
    return value.length > 0 ? [value.join('=')] : name.startsWith('-') ? [args[index + 1] ?? ''] : [];
  });
}
