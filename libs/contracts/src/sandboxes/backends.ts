/** What everything but its adapter needs to know of a backend that runs sandboxes. */
interface SandboxBackendFacts {
  /** Programs of one sandbox cannot reach those of another, or the host's. Production refuses one that is not. */
  readonly isolated: boolean;
  /** Whether a port of a sandbox is the sandbox's own. Where it is the host's, only agent-server is reachable. */
  readonly ownPorts: boolean;
}

export const SANDBOX_BACKEND_NAMES = ['process', 'kubernetes'] as const;
export type SandboxBackendName = (typeof SANDBOX_BACKEND_NAMES)[number];

/** A new backend is a line here, one in runtime-api's `backends.ts`, and a folder in `libs/sandbox/src/adapters`. */
export const SANDBOX_BACKENDS: Readonly<Record<SandboxBackendName, SandboxBackendFacts>> = {
  process: { isolated: false, ownPorts: false },
  kubernetes: { isolated: true, ownPorts: true },
};
