import { createServer, type Server } from 'node:http';
import type { Logger } from '@slipway/telemetry';
import { Accounts } from './accounts.js';
import type { Config } from './config.js';
import { openStore } from './identity-store.js';
import { sweepArtifacts } from './oidc-adapter.js';
import { createProvider } from './provider.js';
import { SecondFactors } from './second-factors.js';
import { SignInPages } from './sign-in-pages.js';

/** How often what is over is deleted from the store. Milliseconds. */
const SWEEP_MS = 3_600_000;
/** Longest that a client may take to send its request. Milliseconds. */
const REQUEST_TIMEOUT_MS = 15_000;

/** The issuer as a server that does not listen yet; `close` also closes its store. */
export async function createIdentityServer(
  config: Config,
  logger: Logger,
  stopping?: AbortSignal,
): Promise<{ server: Server; close: () => Promise<void> }> {
  const store = openStore(config.DATA_DIR);
  sweepArtifacts(store);
  const accounts = new Accounts(store);
  await accounts.ensureDemo();
  const provider = createProvider(config, store, accounts);
  provider.on('server_error', (_ctx, error) => logger.error({ err: error }, 'OIDC provider failed'));
  const pages = new SignInPages(provider, accounts, new SecondFactors(store), config);
  const handleOidc = provider.callback();
  const realmPath = new URL(config.ISSUER_URL).pathname;

  const server = createServer((request, response) => {
    const url = request.url ?? '/';
    const path = url.split('?')[0] ?? '/';
    if (path === '/ready' && stopping?.aborted === true)
      return void response.writeHead(503, { 'content-type': 'application/json' }).end('{"status":"draining"}');
    if (path === '/alive' || path === '/ready')
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}');
    if (!path.startsWith(`${realmPath}/`))
      return void response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
    pages
      .handle(request, response, path)
      .then((handled) => {
        if (handled) return;
        // The issuer has a path: oidc-provider finds it as the difference between these two.
        Object.assign(request, { originalUrl: url, url: url.slice(realmPath.length) });
        return handleOidc(request, response);
      })
      .catch((error: unknown) => {
        logger.error({ err: error }, 'request failed');
        if (response.headersSent) response.destroy();
        else response.writeHead(500, { 'content-type': 'text/plain' }).end('Something broke. Try again.\n');
      });
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  const sweeper = setInterval(() => sweepArtifacts(store), SWEEP_MS).unref();
  return {
    server,
    close: async () => {
      clearInterval(sweeper);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      store.close();
    },
  };
}
