import { mkdir, rename, writeFile } from 'node:fs/promises';
import type { IncomingMessage, Server } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { preloadLlm } from '@slipway/llm';
import { createLogger, type Logger, logSettings } from '@slipway/telemetry';
import { Activation, type BlankCondition } from './activation/activation.js';
import { ActivationLatch } from './activation/activation-latch.js';
import { readPublicKey } from './activation/activation-token.js';
import type { Caller } from './activation/caller.js';
import { archiveRoutes } from './archive/archive.routes.js';
import { ArchiveReads } from './archive/archive-reads.js';
import { Restores } from './archive/restores.js';
import { Checkpoints } from './checkpoints/checkpoints.js';
import { checkpointRoutes } from './checkpoints/checkpoints.routes.js';
import type { Config } from './config.js';
import { conversationEditRoutes } from './conversations/conversation-edit.routes.js';
import { Conversations } from './conversations/conversations.js';
import { conversationRoutes } from './conversations/conversations.routes.js';
import { openapiRoute } from './http/openapi.route.js';
import { preloadOutgoing } from './http/outgoing.js';
import { type Route, Router } from './http/router.js';
import { createHttpServer, listen } from './http/server.js';
import { trajectoryRoute } from './log/trajectory.js';
import { listingRoutes } from './openhands/listing.routes.js';
import { inRuntimes, openhandsRoutes } from './openhands/openhands.routes.js';
import { settingsRoutes } from './openhands/settings.routes.js';
import { AppModelCredentials } from './run/app-model-credentials.js';
import { ActionServerClient } from './sandbox/action-server-client.js';
import { bashRoutes } from './sandbox/bash.routes.js';
import { BashEvents } from './sandbox/bash-events.js';
import { HeldSecrets } from './sandbox/held-secrets.js';
import { mcpRoutes } from './sandbox/mcp.routes.js';
import { secretRoutes } from './sandbox/secret.routes.js';
import { vscodeRoutes } from './sandbox/vscode.routes.js';
import { workspaceRoutes } from './sandbox/workspace.routes.js';
import { SecretMask } from './secrets/secret-mask.js';
import { Activity, serviceRoutes } from './service.routes.js';
import { appControlRoutes } from './settings/app-control.routes.js';
import { EventSockets } from './sockets/event-sockets.js';
import { LiveSockets } from './sockets/live-sockets.js';
import { KeepWarm } from './warm/keep-warm.js';

/**
 * How long a stop waits for the app to take the last events. Milliseconds; with what follows it is over within 2 s. The
 * log has them in any case.
 */
const FLUSH_MS = 1_200;
/**
 * From listening to loading what the first calls need, which costs tens of milliseconds: neither the start nor a claim
 * waits for it. Milliseconds.
 */
const PRELOAD_AFTER_MS = 250;
/** Captures that are not durable yet, or a quarter of the volume where that is less. Bytes. */
const MAX_STAGED_BYTES = 1024 ** 3;
/** Poll interval of a stopping sandbox for the read of its workspace. Milliseconds. */
const LOOK_MS = 200;

export interface AgentServer {
  readonly port: number;
  readonly logger: Logger;
  /**
   * Flushes what is left to the app, closes sockets and conversations. A sandbox in use then answers for its workspace
   * until its grace period ends.
   */
  stop(): Promise<void>;
}

/** Wires one sandbox's agent-server and starts to listen. */
export async function startAgentServer(config: Config): Promise<AgentServer> {
  const logger = createLogger('agent-server', logSettings(config));
  const key = readPublicKey(config.ACTIVATION_PUBLIC_KEY);
  await mkdir(config.STATE_DIR, { recursive: true });
  const mask = new SecretMask();
  mask.add([config.ACTION_SERVER_TOKEN]);
  const actionServer = new ActionServerClient(config.ACTION_SERVER_URL, config.ACTION_SERVER_TOKEN);
  const restores = await Restores.open(config.STATE_DIR);
  const reads = new ArchiveReads();
  const warm = new KeepWarm({
    run: (request, signal) => actionServer.runCommand(request, signal),
    everyMs: config.WARM_EVERY_SECONDS * 1_000,
  });
  const condition: BlankCondition = {
    get obstacle() {
      return restores.obstacle;
    },
    get problem() {
      return restores.damage ?? warm.problem;
    },
    get warmedAt() {
      return warm.warmedAt;
    },
  };
  const activation = new Activation(
    config,
    key,
    await ActivationLatch.open(config.STATE_DIR),
    logger,
    condition,
    (env, keys) => {
      warm.stop();
      mask.add(keys);
      actionServer.addEnv(env);
    },
  );
  const directory = path.join(config.STATE_DIR, 'conversations');
  const checkpoints = new Checkpoints({
    directory,
    workspace: actionServer.checkpoints,
    maxStagedBytes: Math.min(MAX_STAGED_BYTES, (config.ARCHIVE_MAX_BYTES ?? Number.POSITIVE_INFINITY) / 4),
    logger,
  });
  const conversations = new Conversations(directory, { actionServer, mask, checkpoints, logger });
  const held = new HeldSecrets(actionServer, mask);
  const models = new AppModelCredentials();
  const activity = new Activity();
  const bash = new BashEvents(actionServer, (text) => mask.text(text));
  const routes: Route[] = [
    ...serviceRoutes(activity, conversations),
    ...activation.routes(),
    ...archiveRoutes({ config, key, activation, restores, reads, conversations, actionServer, logger }),
    ...checkpointRoutes({ config, key, checkpoints }),
    ...conversationRoutes(conversations, held, mask, models),
    ...appControlRoutes(conversations, actionServer),
    ...conversationEditRoutes(conversations),
    ...inRuntimes([
      trajectoryRoute(conversations),
      ...bashRoutes(bash),
      ...workspaceRoutes(conversations, actionServer, config.WORKSPACE_DIR, mask),
      ...vscodeRoutes(actionServer, config),
    ]),
    ...secretRoutes(held),
    ...settingsRoutes(models),
    ...mcpRoutes(actionServer, mask),
    ...listingRoutes(conversations, actionServer, config.WORKSPACE_DIR),
    // Last: what is refused may be offered by a route above.
    ...openhandsRoutes(actionServer, config.WORKSPACE_DIR),
  ];
  const router = new Router([...conversations.orgConfirmation.guard(routes), openapiRoute(routes)]);
  const authorize = (request: IncomingMessage): Caller => {
    const caller = activation.authorize(request);
    activity.used();
    return caller;
  };
  const http = createHttpServer(router, authorize, logger);
  const live = new LiveSockets({ actionServer, mask, used: () => activity.workedIn() });
  const sockets = new EventSockets(conversations, bash, live, activation, logger);
  sockets.listenOn(http);
  const port = await listen(http, config.HOST, config.PORT);
  await announce(config.STATE_DIR, port);
  // Once it listens, and before it is claimed: a claim that comes sooner pays for it itself.
  setTimeout(() => void preload().finally(() => warm.start()), PRELOAD_AFTER_MS).unref();
  logger.info({ port, slot_id: config.SLOT_ID }, 'listening');
  const stop = async (): Promise<void> => {
    const holdsWork = config.STOP_GRACE_SECONDS > 0 && !activation.untouched && !reads.isFresh();
    await endWork({ http, sockets, conversations, warm }, holdsWork);
    if (holdsWork) {
      logger.info({ seconds: config.STOP_GRACE_SECONDS }, 'waiting for the workspace to be saved');
      // The kubelet does not shorten a grace period that has begun: the sandbox ends by itself.
      const began = performance.now();
      while (!reads.isTaken(began) && performance.now() - began < config.STOP_GRACE_SECONDS * 1_000)
        await wait(LOOK_MS);
    }
    http.closeAllConnections();
  };
  return { port, logger, stop };
}

/** Loads the HTTP client and the model's. A failure is shown by the first call. */
async function preload(): Promise<void> {
  await Promise.all([preloadOutgoing(), preloadLlm()]);
}

/** Whole or not at all: who waits for the file reads it as soon as it is there. */
async function announce(stateDir: string, port: number): Promise<void> {
  const file = path.join(stateDir, 'listening.json');
  await writeFile(`${file}.draft`, JSON.stringify({ port, pid: process.pid }));
  await rename(`${file}.draft`, file);
}

interface WorkParts {
  readonly http: Server;
  readonly sockets: EventSockets;
  readonly conversations: Conversations;
  readonly warm: KeepWarm;
}

/**
 * @param staysOpen runtime-api may still read the workspace, by the platform's signature. The agents are idle, so the
 * files do not change.
 */
async function endWork({ http, sockets, conversations, warm }: WorkParts, staysOpen: boolean): Promise<void> {
  warm.stop();
  if (!staysOpen) http.close();
  const open = await conversations.opened();
  const signal = AbortSignal.timeout(FLUSH_MS);
  await Promise.all(open.map((conversation) => conversation.flush(signal)));
  sockets.close();
  await Promise.all(open.map((conversation) => conversation.close()));
}
