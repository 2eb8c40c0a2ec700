import {
  CLOSED_SANDBOX_PORTS,
  MIN_SANDBOX_PORT,
  SANDBOX_PORTS,
  SandboxTicketForm,
  sandboxPortOf,
} from '@slipway/contracts/sandboxes';
import type { Translate } from '../../messages/translate.ts';

/** One place in a sandbox. `path` begins with a slash. */
export interface PortAddress {
  readonly port: number;
  readonly path: string;
}

/** What apps listen on by themselves. Not 8000: in a sandbox that is agent-server's. */
export const USUAL_PORTS = [3000, 5173, 8080] as const;

const ADDRESS = /^(?:(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])?:)?([a-z0-9-]+)([/?#]\S*)?$/i;
const MAX_PATH = SandboxTicketForm.shape.path.unwrap().maxLength ?? 0;

/**
 * What a user types or copies from a dev server's words: `5173`, `:5173`, `localhost:5173/admin`, `vscode`. Else a
 * sentence that says what is wrong.
 */
export function readPortAddress(t: Translate, text: string): PortAddress | string {
  const typed = text.trim();
  if (typed === '') return t('ports.enterAPortSuchAs');
  const match = ADDRESS.exec(typed);
  const name = match?.[1]?.toLowerCase() ?? '';
  if (match === null || (!/^\d+$/.test(name) && sandboxPortOf(name) === null)) return t('ports.enterAPortSuchAs5173');
  const port = sandboxPortOf(name);
  if (port === null)
    return CLOSED_SANDBOX_PORTS.has(Number(name))
      ? t('ports.portIsReservedByThe', { name })
      : t('ports.portsRangeFromTo65535', { min: MIN_SANDBOX_PORT });
  const rest = match[2] ?? '/';
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return path.length > MAX_PATH ? t('ports.thePathIsLongerThan', { max: MAX_PATH }) : { port, path };
}

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(SANDBOX_PORTS).map(([name, port]) => [port, name === 'vscode' ? 'VS Code' : name]),
);

/** What listens on a port that has a name; `null` for an app's. */
export function portName(port: number): string | null {
  return NAMES.get(port) ?? null;
}
