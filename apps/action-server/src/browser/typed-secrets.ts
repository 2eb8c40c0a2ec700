import { SlipwayError } from '@slipway/errors';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { line } from './page-text.js';
import { isThisMachine } from './way-out.js';

/** How the model writes a secret that it does not know: as it is asked to, or as it has seen one masked. */
const NAMED = /<secret>\s*([A-Za-z_]\w*)\s*<\/secret>|<secret:([A-Za-z_]\w*)>/g;

/** Whether the text has a secret in it by name. */
export function namesSecret(text: string): boolean {
  return text.search(NAMED) >= 0;
}

/**
 * The text with the values in place of the names, for a page of this origin.
 * @throws SlipwayError `browser.refused`: there is no such secret, or its site is another. Neither has a value in it.
 */
export function withSecrets(
  text: string,
  origin: string,
  environment: ShellEnvironment,
): { text: string; names: readonly string[] } {
  const names = new Set<string>();
  const filled = text.replaceAll(NAMED, (_whole, asked: string | undefined, seen: string | undefined) => {
    const name = asked ?? seen ?? '';
    const secret = environment.typed(name);
    if (secret === undefined)
      throw new SlipwayError(
        'browser.refused',
        `Not typed: there is no secret ${name}. There are: ${environment.typedNames.slice(0, 50).join(', ') || 'none'}.`,
      );
    if (!takes(origin, secret.host))
      throw new SlipwayError(
        'browser.refused',
        `Not typed: the secret ${name} is for ${secret.host === null ? 'servers of the sandbox alone (localhost): whoever keeps it can name a site that takes it' : `pages of https://${secret.host} alone`}, and this field is of ${line(origin, 200)}.`,
      );
    names.add(name);
    return secret.value;
  });
  return { text: filled, names: [...names] };
}

/**
 * A site takes it over TLS alone; a server of the sandbox needs none. A page of the workspace is no server: anybody may
 * have written it.
 */
function takes(origin: string, host: string | null): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null) return false;
  if (host === null) return isThisMachine(url.hostname) && url.hostname !== 'workspace.localhost';
  return url.protocol === 'https:' && url.host === new URL(`https://${host}`).host;
}
