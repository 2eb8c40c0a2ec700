import type { OpenSandboxAccess } from '@slipway/contracts/sandboxes';

/** What one person has open of one port. Each time that it is opened is an access of its own; they end together. */
export interface OpenPort {
  readonly port: number;
  readonly person: OpenSandboxAccess['person'];
  readonly ids: readonly string[];
  /** Both of the newest: all last equally long, so it is the last to end by itself. */
  readonly openedAt: string;
  readonly endsAt: string;
}

/** One line a port and person, in the order of the list: newest first. */
export function openPorts(list: readonly OpenSandboxAccess[]): OpenPort[] {
  const lines = new Map<string, OpenPort>();
  for (const { id, port, person, createdAt, endsAt } of list) {
    const key = `${port} ${person.id}`;
    const line = lines.get(key) ?? { port, person, ids: [], openedAt: createdAt, endsAt };
    lines.set(key, { ...line, ids: [...line.ids, id] });
  }
  return [...lines.values()];
}
