/** What an app's image is made of. Paths of the checkout are relative to its root. */
export interface AppPlan {
  readonly description: string;
  /** Where it listens unless PORT says otherwise. */
  readonly port: number;
  /** What a container starts. */
  readonly entry: string;
  /** Programs in /opt/slipway by the built file that each is bundled from. */
  readonly programs: Readonly<Record<string, string>>;
  /** Programs that are bundled when the build made them. */
  readonly optional?: Readonly<Record<string, string>>;
  /**
   * Folders that are copied as they are: `from` in the checkout to `to` below /opt/slipway, files that match `only`.
   */
  readonly folders?: readonly { readonly from: string; readonly to: string; readonly only: RegExp }[];
  /** dd-trace lies beside its main program, and is read when it is preloaded (docs/operate/datadog.md). */
  readonly datadog?: true;
  /** Made by Next.js, which bundles by itself. */
  readonly next?: true;
}

const main = (app: string): Readonly<Record<string, string>> => ({ 'main.js': `apps/${app}/dist/main.js` });

/** The apps that have an image, by the name of their workspace. Ports are those of docs/configuration.md. */
export const APPS = {
  'app-server': {
    description: 'REST, sign-in, conversations, event ingest and sockets',
    port: 3000,
    entry: 'main.js',
    datadog: true,
    programs: {
      ...main('app-server'),
      'migrate.js': 'apps/app-server/dist/operate/migrate/main.js',
      'rotate-keys.js': 'apps/app-server/dist/operate/rotate-keys/main.js',
      'verify-audit.js': 'apps/app-server/dist/audit/verify/main.js',
      'operator.js': 'apps/app-server/dist/operate/operator/main.js',
    },
    folders: [
      { from: 'node_modules/swagger-ui-dist', to: 'reference', only: /^swagger-ui(-bundle\.js|\.css)$/ },
      {
        from: 'prisma',
        to: 'prisma',
        only: /^(app|runtime|gateway)\/(migrations\/[^/]+\/migration\.sql|functions\/(\w+\.sql|versions\.json))$/,
      },
    ],
  },
  worker: {
    description: 'Jobs: starts, deliveries, pauses and recovery of conversations',
    port: 3001,
    entry: 'main.js',
    datadog: true,
    programs: main('worker'),
  },
  'runtime-api': {
    description: 'The pools of sandboxes, and the only holder of rights in the cluster',
    port: 3002,
    entry: 'main.js',
    datadog: true,
    programs: { ...main('runtime-api'), 'copy-workspaces.js': 'apps/runtime-api/dist/copy-workspaces/main.js' },
    optional: { 'preflight.js': 'apps/runtime-api/dist/preflight/main.js' },
  },
  'llm-gateway': {
    description: 'Models for agents, with a key a conversation and a ledger',
    port: 3003,
    entry: 'main.js',
    programs: main('llm-gateway'),
  },
  'sandbox-gateway': {
    description: 'The proxy into sandboxes for people and SDKs',
    port: 3006,
    entry: 'main.js',
    programs: main('sandbox-gateway'),
  },
  'egress-proxy': {
    description: 'The way out of sandboxes, to the hosts that they may reach',
    port: 3007,
    entry: 'main.js',
    programs: main('egress-proxy'),
  },
  'credential-broker': {
    description: 'Credentials in requests of sandboxes, which never have them',
    port: 3010,
    entry: 'main.js',
    programs: main('credential-broker'),
  },
  web: { description: 'The pages', port: 3004, entry: 'server.js', programs: {}, next: true },
} as const satisfies Readonly<Record<string, AppPlan>>;

export type AppName = keyof typeof APPS;

export const APP_NAMES = Object.keys(APPS) as AppName[];

export function isApp(name: string): name is AppName {
  return Object.hasOwn(APPS, name);
}
