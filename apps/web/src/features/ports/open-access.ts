import type { OpenSandboxAccess } from '@slipway/contracts/sandboxes';

/** What one user has open of one port. Each time that it is opened is an access of its own; they end together. */
export interface OpenPort {
  readonly port: number;
  readonly user: OpenSandboxAccess['person'];
  readonly ids: readonly string[];
  /** Both of the newest: all last equally long, so it is the last to end by itself. */
  readonly openedAt: string;
  readonly endsAt: string;
}

/** One line a port and user, in the order of the list: newest first. */
export function openPorts(list: readonly OpenSandboxAccess[]): OpenPort[] {
  const lines = new Map<string, OpenPort>();
  for (const { id, port, person: user, createdAt, endsAt } of list) {
    const key = `${port} ${user.id}`;
    const line = lines.get(key) ?? { port, user, ids: [], openedAt: createdAt, endsAt };
    lines.set(key, { ...line, ids: [...line.ids, id] });
  }
  return [...lines.values()];
}
